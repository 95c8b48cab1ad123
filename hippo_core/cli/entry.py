"""Where the `hippo` program starts. A plain `hippo recall` or `hippo archive` is answered here; all else goes to the
command framework.

The framework's import takes longer than the search for a name, and a search is what people and agents wait for. What is
not plainly an option known here is the framework's: it alone knows what is wrong with it, and what help to give.
"""

import gc
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hippo_core.cli.failing import plain_errors

if TYPE_CHECKING:
    from hippo_core.recall.present import Style

_ARCHIVE = {"--all": "everywhere", "--json": "as_json"}
_FLAGS = {"recall": {**_ARCHIVE, "--explain": "explain"}, "archive": _ARCHIVE}
_MOST = {"recall": 50, "archive": 100}  # that may be asked for


def main() -> None:
    # Read when NumPy is imported: its algebra starts a thread a core, which spin and are waited for at the end. Nothing
    # here is large enough to be shared out.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    answer = plain_search(sys.argv[1:])
    if answer is None:
        from hippo_core.cli.main import main as framework

        return framework()
    gc.disable()  # looking for garbage would be a twentieth of the whole
    with plain_errors():
        from hippo_core.cli.asking import coloured
        from hippo_core.recall.present import unstyled

        shown, warning = answer(coloured if sys.stdout.isatty() else unstyled)
        print(shown, flush=True)
        if warning:
            print(warning, file=sys.stderr, flush=True)
    os._exit(0)  # all is printed and closed; taking down what was imported would be a tenth of the whole


def plain_search(arguments: Sequence[str]) -> "Callable[[Style], tuple[str, str | None]] | None":
    """What answers, when the arguments are `recall` or `archive`, words and the options known here."""
    command, *rest = arguments or [""]
    if command not in _FLAGS:
        return None
    words: list[str] = []
    chosen: dict[str, object] = {}
    following = iter(rest)
    for argument in following:
        if argument in _FLAGS[command]:
            chosen[_FLAGS[command][argument]] = True
        elif argument == "-k":
            count = next(following, "")
            if not (count.isascii() and count.isdigit() and len(count) <= 3 and 1 <= int(count) <= _MOST[command]):
                return None
            chosen["count"] = int(count)
        elif argument.startswith("-"):
            return None
        else:
            words.append(argument)
    if command == "recall":
        from hippo_core.cli.answer import Request, answer

        return partial(answer, Request(" ".join(words), **chosen))
    from hippo_core.cli.answer_archive import ArchiveRequest, answer_archive

    return partial(answer_archive, ArchiveRequest(" ".join(words), **chosen))


if __name__ == "__main__":
    main()
