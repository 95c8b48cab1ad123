"""Where the `hippo` program starts. A plain `hippo recall` or `hippo archive` is answered here; all else goes to the
command framework.

The framework's import takes longer than the search for a name, and a search is what people and agents wait for. What is
not plainly an option known here is the framework's: it alone knows what is wrong with it, and what help to give.
"""

import contextlib
import errno
import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from hippo_core.errors import HippoError

if TYPE_CHECKING:
    from hippo_core.recall.present import Style

_REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)  # by the system: nothing of ours is at fault
_ARCHIVE = {"--all": "everywhere", "--json": "as_json"}
_FLAGS = {"recall": {**_ARCHIVE, "--explain": "explain"}, "archive": _ARCHIVE}
_MOST = {"recall": 50, "archive": 100}  # that may be asked for


def main() -> None:
    # Read when NumPy is imported: its algebra starts a thread a core, which spin and are waited for at the end. Nothing
    # here is large enough to be shared out.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    answer = plain_search(sys.argv[1:])
    # An old console needs its colours translated.
    if answer is None or (os.name == "nt" and sys.stdout and sys.stdout.isatty()):
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


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """UTF-8 on both streams, and an error of ours as its one line with its code."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us; another file would be opened under its number
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        yield
    except HippoError as error:
        _stop(str(error), error.exit_code)
    except KeyboardInterrupt:
        _stop("Stopped. What was stored before stays stored.", 130)
    except BrokenPipeError:
        _close_output()
        sys.exit(0)
    except OSError as error:
        if error.filename is None or error.errno not in _REFUSED:
            _stop_unforeseen(error)
        reason = f"{error.filename} cannot be read or written ({error.strerror})"
        _stop(f"{reason}. Check that the folder is yours and that its disk is writable.", 1)
    except Exception as error:
        _stop_unforeseen(error)


def _stop_unforeseen(error: Exception) -> NoReturn:
    """Nobody is helped by a page of our source."""
    from hippo_core.log import unforeseen

    _close_output()
    line = " ".join(unforeseen(error).split())
    _stop(f"hippo stopped at an unforeseen error: {line}. What was stored before stays stored.", 1)


def _close_output() -> None:
    """Leave nothing that Python would try, and fail, to write when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop(line: str, code: int) -> NoReturn:
    print(line, file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
