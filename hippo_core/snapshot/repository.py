"""The git repository of the snapshots: one straight line of commits, written and read without a user's git settings.

A snapshot is a mapping of paths to bytes. Commits are made by `git fast-import` and read by `git cat-file`, so that no
hook, filter, ignore file or signature has a part in it. Knows nothing of memories, nor how git writes things down.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from hippo_core.errors import SnapshotError
from hippo_core.paths import ensure_private, move, remove_tree, write_atomic
from hippo_core.snapshot.documents import Files, summary
from hippo_core.snapshot.objects import (
    REF,
    Commit,
    Stream,
    blob_id,
    commit_head,
    data_of,
    line_of,
    parse_batch,
    parse_commit,
    quoted,
)

_PATIENCE = 300  # seconds for one git command
_NEW, _OLD = ".git.new", ".git.old"
_MOST_LOOSE = 2_000  # files that git keeps an object each in; a night makes about five
_LOOSE = ("*.json", "*.txt", "*.tsv")  # of ours, beside the folders
_UNFINISHED = (
    "objects/pack/tmp_*",
    "objects/pack/.tmp-*",
    "objects/??/tmp_obj_*",
    "objects/tmp_*",
    "fast_import_crash_*",
)
# Whatever a user's own settings, these hold: no hook, no signature, no conversion, nothing in the background.
_SETTINGS = ("core.hooksPath=" + os.devnull, "core.autocrlf=false", "core.fsmonitor=false", "gc.auto=0")


def git_program() -> str | None:
    """The git of this machine; None where there is none that works without asking the user."""
    program = shutil.which("git")
    if program == "/usr/bin/git" and sys.platform == "darwin":
        # Without Apple's developer tools this only opens a window that offers them.
        tools = subprocess.run(["/usr/bin/xcode-select", "-p"], stdin=subprocess.DEVNULL, capture_output=True)
        return program if tools.returncode == 0 else None
    return program


class Repository:
    """The repository in `folder`, whose working tree shows the newest snapshot. All methods need git but `discard`."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._git_folder = folder / ".git"

    @property
    def exists(self) -> bool:
        return self._git_folder.exists() or self.between_histories

    @property
    def between_histories(self) -> bool:
        """Whether an old history is being exchanged for a new one, or a crash interrupted that."""
        return any((self.folder / name).exists() for name in (_NEW, _OLD))

    def open(self) -> bool:
        """Make the repository where there is none, and finish what a crash left; whether it is sound."""
        self.finish_exchange()
        if not self._git_folder.exists():
            self._make(self._git_folder)
        try:
            self._git("fsck", "--full", "--no-dangling", "--no-progress")
            head = self._git("for-each-ref", "--format=%(refname)").decode().split()
            return head in ([], [REF]) and not self._is_headless(head)
        except SnapshotError:
            return False

    def finish_exchange(self) -> None:
        """Complete the exchange of an old history for a new one that a crash interrupted."""
        if (self.folder / _OLD).exists() and not self._git_folder.exists():
            move(self.folder / _NEW, self._git_folder)
        for name in (_OLD, _NEW):
            _remove(self.folder / name)

    def history(self) -> list[Commit]:
        """Every snapshot, oldest first."""
        return line_of(self._objects(), self._head())

    def newest(self) -> Commit | None:
        """The newest snapshot, without reading the others."""
        head = self._head()
        if head is None:
            return None
        entries = self._git("ls-tree", "-r", "-z", head).decode("utf-8", "surrogateescape").split("\0")
        tree = {path: facts.split()[2] for facts, _, path in (entry.partition("\t") for entry in entries) if path}
        _, _, at, message = parse_commit(self._git("cat-file", "commit", head))
        return Commit(head, at, message, tree)

    def files(self, commit: Commit) -> Files:
        """A snapshot's files."""
        objects = self._objects(sorted(set(commit.tree.values())))
        return {path: objects[blob][1] for path, blob in commit.tree.items()}

    @staticmethod
    def tree(files: Files) -> dict[str, str]:
        """The hash that git gives the content of each file, by path."""
        return {path: blob_id(data) for path, data in files.items()}

    def add(self, files: Files, at: float) -> bool:
        """Make `files` the newest snapshot and show them; False when they already are."""
        newest = self.newest()
        before, now = newest.tree if newest else {}, self.tree(files)
        if newest and before == now:
            self._show(files)
            return False
        parent = [f"from {newest.id}\n".encode()] if newest else []
        stream = [commit_head(int(at), summary(before, now)), *parent, b"deleteall\n"]
        for path, data in sorted(files.items()):
            stream += [f"M 100644 inline {quoted(path)}\n".encode(), data_of(data)]
        self._git("fast-import", "--quiet", "--force", stdin=b"".join(stream))
        self._show(files)
        if sum(1 for _ in self._git_folder.glob("objects/??/*")) > _MOST_LOOSE:
            self._git("repack", "-a", "-d", "-q")
        return True

    def rebuild(self, keep: Callable[[str, bytes], bool]) -> int:
        """Write the whole history anew with only the files that `keep`, and drop the old one; commits that are left.

        What cannot be read any more is left out, so this also mends a damaged repository as far as it goes.
        """
        self.finish_exchange()
        objects = self._objects()
        fresh = self.folder / _NEW
        self._make(fresh)
        stream = Stream(objects, keep)
        for commit in line_of(objects, self._head()):
            stream.add(commit)
        if stream.commits:
            self._git("fast-import", "--quiet", "--force", stdin=b"".join(stream.parts), git_folder=fresh)
        move(self._git_folder, self.folder / _OLD)
        move(fresh, self._git_folder)
        self.finish_exchange()
        self._show(stream.newest)
        return stream.commits

    def holds(self, doomed: Callable[[str, bytes], bool]) -> bool:
        """Whether any snapshot holds a doomed file, or anything lies about that belongs to no snapshot."""
        self.finish_exchange()
        for pattern in _UNFINISHED:
            for left_over in self._git_folder.glob(pattern):
                os.chmod(left_over, 0o600)  # git's files are read-only, and Windows does not let such go
                left_over.unlink()
        objects = self._objects()
        used = {(path, blob) for commit in line_of(objects, self._head()) for path, blob in commit.tree.items()}
        stray = {key for key, (kind, _) in objects.items() if kind == "blob"} - {blob for _, blob in used}
        return bool(stray) or any(blob not in objects or doomed(path, objects[blob][1]) for path, blob in used)

    def discard(self) -> None:
        """Delete the history and what is shown of it."""
        for name in (".git", _NEW, _OLD):
            _remove(self.folder / name)
        self._show({})

    # -- inside ------------------------------------------------------------------------------------------------------

    def _make(self, git_folder: Path) -> None:
        ensure_private(self.folder)
        _remove(git_folder)
        self._git("init", "--quiet", "--template=", git_folder=git_folder)
        (git_folder / "HEAD").write_text(f"ref: {REF}\n", encoding="ascii")

    def _head(self) -> str | None:
        try:
            return self._git("rev-parse", "--verify", "--quiet", REF + "^{commit}").decode().strip()
        except SnapshotError:
            return None

    def _is_headless(self, refs: Sequence[str]) -> bool:
        """Whether there are snapshots that no reference leads to."""
        return not refs and any(kind == "commit" for kind, _ in self._objects().values())

    def _objects(self, wanted: Iterable[str] | None = None) -> dict[str, tuple[str, bytes]]:
        """(kind, content) of objects by hash; all that can be read unless `wanted` names some."""
        if wanted is None:
            lines = self._git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)", tolerant=True).split()
            wanted = [line.decode("ascii", "replace") for line in lines if len(line) == 40]
        names = list(wanted)
        out = self._git("cat-file", "--batch", stdin="".join(f"{name}\n" for name in names).encode(), tolerant=True)
        objects, read = parse_batch(out)
        while read < len(names):  # git gave up at a damaged one
            names = names[read + 1 :]
            rest = "".join(f"{name}\n" for name in names).encode()
            more, read = parse_batch(self._git("cat-file", "--batch", stdin=rest, tolerant=True))
            objects |= more
        return objects

    def _show(self, files: Files) -> None:
        """Make the working tree hold these files. Only folders and names of ours are touched."""
        for path, data in files.items():
            target = self.folder / path
            if not target.is_file() or target.read_bytes() != data:
                write_atomic(target, data)
        shown = [file for place in ("rules", "memories", "plugin") for file in (self.folder / place).rglob("*")]
        for file in sorted([*shown, *(file for kind in _LOOSE for file in self.folder.glob(kind))], reverse=True):
            if file.is_dir() and not any(file.iterdir()):
                file.rmdir()
            elif file.is_file() and file.relative_to(self.folder).as_posix() not in files:
                file.unlink()
        if self._git_folder.exists() and git_program() and self._head():
            self._git("read-tree", REF)  # so that `git status` in there has nothing to say

    def _git(
        self, *arguments: str, stdin: bytes = b"", git_folder: Path | None = None, tolerant: bool = False
    ) -> bytes:
        """The output of a git command. tolerant: whatever there is of it, when it fails."""
        program = git_program()
        if program is None:
            raise SnapshotError("There is no git on this machine, which snapshots are kept with. Install git.")
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        place = ["--git-dir", str(git_folder or self._git_folder), "--work-tree", str(self.folder)]
        try:
            done = subprocess.run(
                [program, *settings, *place, *arguments],
                input=stdin,
                capture_output=True,
                env=self._environment(),
                cwd=self.folder,
                timeout=_PATIENCE,
                umask=0o077,  # else git's own files are readable for everybody
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SnapshotError(
                f"git {arguments[0]} could not be run ({error}). Memory itself is untouched."
            ) from error
        if done.returncode and not tolerant:
            said = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
            raise SnapshotError(f"git {arguments[0]} failed in {self.folder}: {said}. Memory itself is untouched.")
        return done.stdout

    def _environment(self) -> dict[str, str]:
        """This process's environment without anything that could bend git."""
        kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")}
        apart = {"HOME": str(self.folder / ".git"), "XDG_CONFIG_HOME": str(self.folder / ".git")}
        none = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return {**kept, **apart, **none, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def _remove(folder: Path) -> None:
    if folder.exists():
        remove_tree(folder)
