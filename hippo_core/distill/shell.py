"""Commands that the agent lists in shell blocks, each under what it is for: one memory for the list of a message.

A label is the line above a block, or a comment above a command in it. A single command is the business of the cues.
"""

import re
from collections.abc import Iterator

from hippo_core.distill.listings import LONGEST, Listing
from hippo_core.distill.markdown import plain
from hippo_core.model.types import MemoryType

FEWEST, MOST = 2, 5
_WORTH = 0.62
_LONGEST_COMMAND = 90
_LONGEST_LABEL = 6  # words

_BLOCK = re.compile(
    r"^[ \t]*```(?:bash|sh|shell|zsh|console|fish|powershell|cmd)[ \t]*\n(?P<body>.*?)^[ "
    r"\t]*```",
    re.M | re.S,
)
_PROMPT = re.compile(r"^[$❯%>] ")
_TITLE_SIGNS = re.compile(r"^[\s#*>\-\d.)]+|[\s*:]+$")
_NO_COMMAND = re.compile(r"^(?:[A-Z][A-Z0-9_]*=\S*$|[{}()\[\]]|EOF\b|\.\.\.|<)|<<|<[a-z][\w -]*>|\byour[-_ ]|\.\.\.$")
# Under these stands what is to be done now, or one of several.
_NO_LABEL = re.compile(
    r"\b(?:try|again|output|errors?|results?|examples?|options?|instead|or|alternativ\w*|then|next|now|you|your|me|"
    r"let|this|"
    r"that|it|verify|check|fix|debug|confirm|here|following|above|below|step|first|finally|expected|before|after|"
    r"old|new|"
    r"was|currently|previous\w*|vs)\b",
    re.I,
)


def command_list(text: str) -> Listing | None:
    """ "Commands: start the server: `..`; run the tests: `..`." where a message lists at least two."""
    if "```" not in text:
        return None
    told, length = [], 0
    for label, command in _labelled(text):
        length += len(label) + len(command) + 6
        if len(told) == MOST or length > LONGEST - 20:
            break
        told.append(f"{label[0].lower() + label[1:] if label[1:2].islower() else label}: `{command}`")
    return Listing(f"Commands: {'; '.join(told)}.", MemoryType.PROCEDURE, _WORTH) if len(told) >= FEWEST else None


def _labelled(text: str) -> Iterator[tuple[str, str]]:
    for block in _BLOCK.finditer(text):
        above = text[max(0, block.start() - 200) : block.start()].rstrip().rpartition("\n")[2]
        label = _label(above) if above.rstrip("* ").endswith(":") or above.lstrip().startswith(("#", "**")) else ""
        for line in block["body"].split("\n"):
            line = _PROMPT.sub("", line.strip())
            if line.startswith("#"):
                label = _label(line)
            elif label and line:
                if len(line) <= _LONGEST_COMMAND and not _NO_COMMAND.search(line) and "`" not in line:
                    yield label, line.partition("  #")[0].rstrip()
                label = ""


def _label(line: str) -> str:
    label = _TITLE_SIGNS.sub("", plain(line))
    return label if 1 <= len(label.split()) <= _LONGEST_LABEL and not _NO_LABEL.search(label) else ""
