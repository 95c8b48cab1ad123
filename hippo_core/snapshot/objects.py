"""Git's formats, as far as a straight line of commits needs them: what its programs print, and what they take.

Starts no program and touches no file.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from hippo_core.snapshot.documents import Files, summary

REF = "refs/heads/main"
_WHO = "Hippocampus <hippocampus@localhost>"


@dataclass(frozen=True)
class Commit:
    """tree: the hash of each file's content, by path."""

    id: str
    at: int
    message: str
    tree: Mapping[str, str]


def blob_id(data: bytes) -> str:
    """The hash that git gives a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class Stream:
    """A history as `git fast-import` takes it, made of another one's commits. One that changes nothing is left out.

    Each says of itself what it holds now, not what it held.
    """

    def __init__(self, objects: Mapping[str, tuple[str, bytes]], keep: Callable[[str, bytes], bool]):
        self.parts: list[bytes] = []
        self.commits = 0
        self.newest: Files = {}
        self._objects, self._keep = objects, keep
        self._marks: dict[str, int] = {}
        self._before: dict[str, str] = {}

    def add(self, commit: Commit) -> None:
        readable = {path: blob for path, blob in commit.tree.items() if blob in self._objects}
        files = {path: self._objects[blob][1] for path, blob in readable.items()}
        kept = {path: blob for path, blob in readable.items() if self._keep(path, files[path])}
        self.newest = {path: files[path] for path in kept}
        if self.commits and kept == self._before:
            return
        for blob in sorted(set(kept.values()) - self._marks.keys()):
            self._marks[blob] = len(self._marks) + 1
            self.parts += [f"blob\nmark :{self._marks[blob]}\n".encode(), data_of(self._objects[blob][1])]
        # Without a `from`, a commit follows the one before it in the stream.
        self.parts += [commit_head(commit.at, summary(self._before, kept)), b"deleteall\n"]
        for path, blob in sorted(kept.items()):
            self.parts.append(f"M 100644 :{self._marks[blob]} {quoted(path)}\n".encode())
        self.commits += 1
        self._before = kept


def line_of(objects: Mapping[str, tuple[str, bytes]], head: str | None) -> list[Commit]:
    """The commits that lead to `head`, oldest first; to the newest there is where `head` is lost."""
    commits = {key: parse_commit(data) for key, (kind, data) in objects.items() if kind == "commit"}
    if head not in commits:
        last = commits.keys() - {parent for _, parent, _, _ in commits.values()}
        head = max(last, key=lambda key: (commits[key][2], key), default=None)
    line = []
    while head in commits:
        tree, parent, at, message = commits[head]
        line.append(Commit(head, at, message, dict(_walk(objects, tree))))
        head = parent
    return line[::-1]


def parse_commit(data: bytes) -> tuple[str, str | None, int, str]:
    """(tree, parent, time, message) of a commit object."""
    head, _, message = data.decode("utf-8", "replace").partition("\n\n")
    facts = dict(line.partition(" ")[::2] for line in head.splitlines())
    return facts["tree"], facts.get("parent"), int(facts["committer"].split()[-2]), message.strip()


def _walk(objects: Mapping[str, tuple[str, bytes]], tree: str, above: str = "") -> Iterator[tuple[str, str]]:
    """(path, hash) of the files of a tree; what cannot be read is left out."""
    data = objects.get(tree, ("tree", b""))[1]
    while data:
        head, _, rest = data.partition(b"\0")
        mode, _, name = head.partition(b" ")
        key, data = rest[:20].hex(), rest[20:]
        path = above + name.decode("utf-8", "surrogateescape")
        if mode == b"40000":
            yield from _walk(objects, key, path + "/")
        else:
            yield path, key


def parse_batch(out: bytes) -> tuple[dict[str, tuple[str, bytes]], int]:
    """The objects that `git cat-file --batch` printed, and to how many names it answered."""
    objects, at, read = {}, 0, 0
    while (end := out.find(b"\n", at)) >= 0:
        parts = out[at:end].decode("ascii", "replace").split()
        read, at = read + 1, end + 1
        if len(parts) == 3 and parts[2].isdigit():
            size = int(parts[2])
            if len(out) < at + size + 1:
                return objects, read - 1
            objects[parts[0]] = parts[1], out[at : at + size]
            at += size + 1
    return objects, read


def commit_head(at: int, message: str) -> bytes:
    """How a commit begins in a stream for `git fast-import`."""
    return f"commit {REF}\ncommitter {_WHO} {at} +0000\n".encode() + data_of(message.encode())


def data_of(data: bytes) -> bytes:
    """Any bytes in such a stream."""
    return b"data %d\n" % len(data) + data + b"\n"


def quoted(path: str) -> str:
    """A path in such a stream."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
