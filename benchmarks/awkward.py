"""Questions that cost a keyword search the most, made of the words that a store holds most. Used by the scripts beside
it.

What an index has to go through grows with how common a word is, with how many words stand in a row, and with what looks
like the name that is asked for and is not it.
"""

import string
from collections.abc import Sequence

from hippo_core.recall.query import read_query
from hippo_core.store import Store

COMMONEST = 60  # words, of which the questions are made
_BUDGETS = (20_000, 7_900, 3_900, 1_900, 900, 600)  # rows of a word, about which plans change


def commonest(store: Store) -> list[str]:
    """The commonest words that a question may hold, most rows first."""
    rows = store._db.execute("SELECT word FROM archive_word ORDER BY messages DESC").fetchall()
    return [word for (word,) in rows if word.isalpha() and not read_query(word).empty][:COMMONEST]


def commonest_in_memories(store: Store) -> list[str]:
    """The same of memories."""
    found = [pair for letter in string.ascii_lowercase for pair in store.memories.known_words(letter, range(1, 40))]
    words = [word for word, _ in sorted(found, key=lambda pair: -pair[1])]
    return [word for word in words if word.isalpha() and not read_query(word).empty][:COMMONEST]


def of_common_words(words: Sequence[str]) -> list[str]:
    """Questions of one to twelve of these."""
    return [" ".join(words[start : start + size]) for size in (1, 2, 4, 8, 12) for start in (0, 12, 24)]


def of_words_about(store: Store) -> list[str]:
    """Questions of so many words that a plan may just do with one way, or has to take the other."""
    rows = store._db.execute("SELECT word, messages FROM archive_word ORDER BY messages DESC").fetchall()
    asked = []
    for most in _BUDGETS:
        below = [word for word, count in rows if count <= most and word.isalpha() and not read_query(word).empty]
        asked += [" ".join(below[:size]) for size in (1, 2, 4, 8, 12) if len(below) >= size]
    return asked


def of_spellings(words: Sequence[str]) -> list[str]:
    """Names and quotations of common words, most of them spelled so by nobody."""
    quoted = [f'"{word}"' for word in words]
    return [
        f"--{words[0]}",
        f"${words[1].upper()}",
        "--force",
        "$HOME",
        "C++ C#",
        "10 20 30 40 50",
        " ".join(f"--{word}" for word in words[:8]),
        " ".join(f"--{one}-{other}" for one, other in zip(words[:8], words[8:16], strict=True)),
        quoted[0],
        " ".join(quoted[:3]),
        " ".join(quoted[:7]),
        " ".join(quoted[10:17]),
        '"in a" "on the" "to be" "and the" "it is" "of the" "for the"',
        f'"{" ".join(words[:2])}"',
        f'"{" ".join(words[:8])}"',
        f"x-{words[0]}",
        "_".join(words[:4]),
        "-".join(words[:20]),
        ".".join(words * 5),
        f'what did we say about {quoted[3]} and "--{words[4]}" in the {" ".join(words[5:8])}',
        f"why did `--force` fail in the {' '.join(words[5:9])}",
    ]


def of_times(words: Sequence[str]) -> list[str]:
    """Of what was said at a time, among very much that was not."""
    return [
        f"{asked} {time}"
        for asked in (words[0], " ".join(words[:7]), "--force", f'"{words[0]}" "{words[1]}"')
        for time in ("yesterday", "in the last 3 days", "last week", "last month")
    ]
