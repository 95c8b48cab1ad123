"""Which project a folder belongs to. Reads `.git` by hand: no subprocess, next to no import, so that hooks use it too.

A project is its repository: the remote URL, else the common git folder (worktrees and sub-folders agree). A folder that
is no repository is its own real path. The home folder is no project. A folder that was moved is what the user says it
is: JOINED, a file of the data folder, holds a line for each, `key, key of the earlier project, its label, identity`.
"""

import os
import sys

JOINED = "projects.tsv"


def project_key(identity):
    """The scope key of a project: `p` and 16 hex digits."""
    return "p" + short_digest(identity)


def blake2b(data, **how):
    """As in hashlib, which has it from the same place and brings all of OpenSSL along: a quarter of a hook."""
    try:
        from _blake2 import blake2b as made
    except ImportError:
        from hashlib import blake2b as made

    return made(data, **how)


def short_digest(text):
    """16 hex digits that stand for `text`."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def identify(folder):
    """(identity, label) of the project around `folder`, or None for the home folder and above it.

    `folder` may no longer exist, or belong to another machine: then it stands for itself.
    """
    home = _real(os.path.expanduser("~"))
    here = _real(folder) if os.path.isabs(folder) else folder
    if here == home or home.startswith(here.rstrip("/\\") + os.sep):
        return None
    step = here
    while os.path.isabs(step) and step != home:
        common = _common_git_folder(step)
        if common:
            url = _remote_url(os.path.join(common, "config"))
            root = os.path.dirname(common) if os.path.basename(common) == ".git" else step
            identity = normalise_remote(url) if url else "git:" + _real(common)
            return identity, os.path.basename(identity if url else root.rstrip("/\\"))
        parent = os.path.dirname(step)
        if parent == step:
            break
        step = parent
    return "path:" + here, _base_name(here)


def joined(data):
    """By scope key: (key, label, identity) of the earlier project that it goes on as. data: the data folder."""
    return parse_joined(_read(os.path.join(data, JOINED)))


def parse_joined(text):
    """What `format_joined` wrote."""
    rows = [line.split("\t") for line in text.splitlines()]
    return {row[0]: tuple(row[1:]) for row in rows if len(row) == 4}


def format_joined(rows):
    """JOINED as it is written."""
    lines = ["\t".join((key,) + tuple(" ".join(value.split()) for value in row)) for key, row in sorted(rows.items())]
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass")


def normalise_remote(url):
    """One spelling for every form of a remote: no scheme, credentials, port or `.git`; host in lower case.

    A path on this machine (`/srv/x.git`, `C:\\x`) stays a path.
    """
    text = url.strip().replace("\\", "/").rstrip("/")
    if text.endswith(".git"):
        text = text[:-4].rstrip("/")
    if "://" in text:
        scheme, text = text.split("://", 1)
        if scheme == "file":
            return "file:" + text
        host, _, path = text.partition("/")
    elif ":" in text and "/" not in text.split(":", 1)[0] and len(text.split(":", 1)[0]) > 1:
        host, _, path = text.partition(":")  # user@host:path, as scp writes it
    else:
        return "file:" + text
    host = host.rsplit("@", 1)[-1].split(":", 1)[0].lower()
    return host + "/" + path.strip("/")


def _real(path):
    """The real path. macOS finds a folder by any Unicode form of its name, and hands on now one, now another."""
    path = os.path.realpath(path)
    if sys.platform != "darwin" or path.isascii():
        return path
    from unicodedata import normalize

    return normalize("NFC", path)


def _common_git_folder(folder):
    """The git folder that all worktrees of `folder`'s repository share, or None where no repository begins."""
    dot_git = os.path.join(folder, ".git")
    if os.path.isdir(dot_git):
        return dot_git
    pointer = _read(dot_git)
    if not pointer.startswith("gitdir:"):
        return None
    git_folder = os.path.join(folder, pointer[len("gitdir:") :].strip())
    common = _read(os.path.join(git_folder, "commondir")).strip()
    return os.path.normpath(os.path.join(git_folder, common) if common else git_folder)


def _remote_url(config):
    """The URL of `origin`, else of the first remote, else None."""
    section, urls = "", {}
    for line in _read(config).splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line
        elif section.startswith("[remote ") and line.partition("=")[0].strip() == "url":
            urls.setdefault(section, line.partition("=")[2].strip().strip('"'))
    return urls.get('[remote "origin"]') or next(iter(urls.values()), None)


def _base_name(path):
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or path


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(100_000).lstrip("\ufeff")  # a byte order mark
    except OSError:
        return ""
