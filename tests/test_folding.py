"""Long lines on a terminal are broken between words and stay where they belong; a pipe gets them as they are."""

import os
import re
import subprocess
import sys
from pathlib import Path
from unicodedata import combining, east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_core.cli import folding
from hippo_core.config import save
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL_SCOPE
from hippo_core.store import Store

ROOT = Path(__file__).resolve().parent.parent
_ABOUT = "2026-05-01 10:00 · api · session 0123abcd · “why the proxy drops it”"
HEAD = f"\x1b[1m3\x1b[0m  \x1b[36m{_ABOUT}\x1b[0m \x1b[32m0.52\x1b[0m"


@pytest.fixture
def fold(monkeypatch):
    def fold(text, columns, terminal=True):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
        monkeypatch.setenv("COLUMNS", str(columns))
        return folding.folded(text)

    return fold


def columns_of(line):
    wide = sum(east_asian_width(letter) in "WF" for letter in line)
    return len(line.expandtabs()) + wide - sum(map(bool, map(combining, line)))


def test_a_long_line_hangs_below_its_beginning(fold):
    said = "   a2 you: " + "the websocket drops " * 4 + "\n > a3 agent: " + "because nginx times out " * 3 + "\nshort"
    assert fold(said, 50).splitlines() == [
        "   a2 you: the websocket drops the websocket drops",
        "   the websocket drops the websocket drops",
        " > a3 agent: because nginx times out because nginx",
        "   times out because nginx times out",
        "short",
    ]


def test_a_headline_hangs_below_its_words_and_a_colour_takes_no_room(fold):
    plain = re.sub(r"\x1b\[\d+m", "", HEAD)
    assert fold(HEAD, len(plain)) == HEAD
    first, second = re.sub(r"\x1b\[\d+m", "", fold(HEAD, 60)).splitlines()
    assert first == "3  2026-05-01 10:00 · api · session 0123abcd · “why the" and second == "   proxy drops it” 0.52"


def test_a_line_of_a_list_hangs_below_what_follows_its_id(fold):
    for line in (
        "m18    decision · 1 year · api  Use the container",
        "\x1b[1mm18   \x1b[0m decision · 1 year · api  Use it all",
    ):
        first, *rest = re.sub(r"\x1b\[\d+m", "", fold(line, 36)).splitlines()
        assert first.startswith("m18    decision") and rest
        assert all(part.startswith(" " * (len(first) - len(first[3:].lstrip()))) for part in rest)


@pytest.mark.parametrize("label", [
    "  written by  ", "\x1b[1mwrong\x1b[0m  jobs         ", "    m1     ", "  2026-11-30 07:36  ", "! ",
])  # fmt: skip
def test_a_value_hangs_below_itself_and_not_below_its_label(fold, label):
    begin = re.sub(r"\x1b\[\d+m", "", label)
    first, second = (
        fold(label + "learned by the machine from one of my sessions", 45).replace(label, begin).splitlines()
    )
    assert first.startswith(begin + "learned") and second == " " * len(begin) + second.strip()


def test_a_path_or_a_command_alone_in_its_line_stays_whole_to_be_copied(fold):
    path = "      /srv/transcripts/" + "deeper/" * 8 + "921a2cac.jsonl:4"
    assert fold(path, 40) == path and "\n" in fold(f"{path} and more", 40)
    command = "    claude plugin marketplace add '/srv/data of mine/hippocampus/plugin'"
    assert fold(command, 40) == command and "\n" in fold(f"run: {command}", 40)


def test_what_has_no_spaces_and_is_twice_as_wide_is_broken_too(fold):
    lines = fold("   a1 you: " + "部署" * 40, 40).splitlines()
    assert "".join(line.strip() for line in lines) == "a1 you: " + "部署" * 40
    assert max(map(columns_of, lines)) == 39 and all(line.startswith("   ") for line in lines)


@pytest.mark.parametrize(("columns", "terminal"), [(40, False), (0, True), (12, True)])
def test_without_a_terminal_or_on_one_that_is_hardly_wide_enough_a_line_stays(fold, columns, terminal):
    assert fold("word " * 50, columns, terminal) == "word " * 50


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="/~")), st.integers(30, 60)
)
def test_no_line_is_wider_and_no_letter_is_lost(text, columns):
    parts = list(folding._parts(text, columns))
    assert all(columns_of(part) <= columns for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.skipif(os.name != "posix", reason="a terminal is made by the pty module here")
@pytest.mark.parametrize("command", ["recall --all websocket", "archive --all websocket", "show m1", "why m1"])
def test_commands_fold_on_a_terminal_and_only_there(paths, monkeypatch, command):
    import fcntl
    import pty
    import struct
    import termios

    hippo = [sys.executable, "-m", "hippo_core.cli.entry"]
    said = "The websocket drops because nginx times out. " * 5
    monkeypatch.delenv("COLUMNS", raising=False)
    save(paths, embedder="off")
    subprocess.run([*hippo, "remember", said], check=True, capture_output=True)
    _archive(paths, said)
    piped = subprocess.run([*hippo, *command.split()], check=True, capture_output=True, text=True).stdout
    assert said.strip() in piped
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    subprocess.run([*hippo, *command.split()], check=True, stdout=theirs, stdin=theirs)
    os.close(theirs)
    shown = re.sub(r"\x1b\[\d+m", "", os.read(ours, 1 << 16).decode()).replace("\r", "")
    os.close(ours)
    assert max(map(len, shown.splitlines())) <= 60 and " ".join(said.split()) in " ".join(shown.split())


def _archive(paths, text):
    with Store.open(paths.store) as store, store.transaction():
        source = store.progress.begin_source("/t.jsonl")
        message = Message("u1", "s1", Role.USER, text, 1.0, "/srv", 0)
        store.archive.append(message, scope=GLOBAL_SCOPE, source_id=source.id)


def test_a_long_run_of_blanks_at_the_end_of_a_line_is_no_hang():
    code = "from hippo_core.cli.folding import _parts; print(list(_parts('word' + ' ' * 400_000, 80)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "['word']\n"
