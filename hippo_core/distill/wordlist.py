"""A pattern for any of many words that is tried letter by letter, not word by word."""

import re
from collections.abc import Iterable
from typing import Any


def any_of(words: Iterable[str]) -> str:
    """The source of a pattern that matches the longest of `words` at a place."""
    tree: dict[str, Any] = {}
    for word in words:
        branch = tree
        for letter in word:
            branch = branch.setdefault(letter, {})
        branch[""] = {}
    return _source(tree)


def _source(tree: dict[str, Any]) -> str:
    branches = [re.escape(letter) + _source(rest) for letter, rest in sorted(tree.items()) if letter]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)})" + ("?" if "" in tree else "")
