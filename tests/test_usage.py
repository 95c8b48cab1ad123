"""What paid services were asked is counted once by whoever asked, without words, and adds up whatever dies."""

import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from hippo_core import usage
from hippo_core.cli.dream import dream_command
from hippo_core.cli.status import status_command
from hippo_core.config import save
from hippo_core.ops.status import look
from hippo_core.ops.uninstall import uninstall
from hippo_core.usage import Used, note, service_at, sum_up, used

ROOT = Path(__file__).resolve().parent.parent
NOVEMBER, DECEMBER = datetime(2026, 11, 27, 12).timestamp(), datetime(2026, 12, 4, 12).timestamp()


@pytest.fixture
def at(monkeypatch):
    return lambda moment: monkeypatch.setenv("HIPPO_NOW", str(moment))


def total(paths):
    return {(use.service, use.model): (use.requests, use.tokens) for use in used(paths)}


def test_months_are_apart_and_all_of_them_together(paths, at):
    at(NOVEMBER), note("OpenAI", "small", 300), note("Voyage", "lite", 7)
    at(DECEMBER), note("OpenAI", "small", 40), note("OpenAI", "small", 2)
    assert used(paths) == [Used("OpenAI", "small", 42, 2, 342, 3), Used("Voyage", "lite", 0, 0, 7, 1)]
    assert sorted(file.name for file in paths.usage.iterdir()) == ["2026-11.jsonl", "2026-12.jsonl"]


def test_the_month_is_the_user_s(paths, at, in_tokyo):
    at(1_796_050_800.0)  # 2026-11-30T15:00:00Z, midnight in Japan
    note("OpenAI", "small", 1)
    assert [file.name for file in paths.usage.iterdir()] == ["2026-12.jsonl"]


def test_summing_up_a_month_that_is_over_changes_no_sum(paths, at):
    at(NOVEMBER)
    for tokens in range(50):
        note("OpenAI", "small", tokens), note("Voyage", "lite", 1)
    at(DECEMBER), note("OpenAI", "small", 9)
    before, files = used(paths), {file.name: file.read_bytes() for file in paths.usage.iterdir()}
    sum_up(paths), sum_up(paths)
    assert used(paths) == before and (paths.usage / "2026-12.jsonl").read_bytes() == files["2026-12.jsonl"]
    assert len((paths.usage / "2026-11.jsonl").read_bytes().splitlines()) == 3  # of which the first is empty
    at(NOVEMBER), note("OpenAI", "small", 5), at(DECEMBER)  # a clock that was put back
    assert total(paths) == {("OpenAI", "small"): (52, 1_225 + 9 + 5), ("Voyage", "lite"): (50, 50)}


def test_a_month_is_left_alone_until_it_is_over_in_every_time_zone(paths, at):
    at(NOVEMBER), note("OpenAI", "small", 1), note("OpenAI", "small", 1)
    lines = (paths.usage / "2026-11.jsonl").read_bytes()
    at(datetime(2026, 12, 2, 12).timestamp()), sum_up(paths)
    assert (paths.usage / "2026-11.jsonl").read_bytes() == lines
    at(datetime(2026, 12, 3, 12).timestamp()), sum_up(paths)
    assert len((paths.usage / "2026-11.jsonl").read_bytes()) < len(lines)


def test_the_night_sums_up(store, paths, at):
    at(NOVEMBER), save(paths, embedder="off"), note("OpenAI", "small", 1), note("OpenAI", "small", 1)
    size = (paths.usage / "2026-11.jsonl").stat().st_size
    at(DECEMBER)
    assert CliRunner().invoke(dream_command).exit_code == 0
    assert (paths.usage / "2026-11.jsonl").stat().st_size < size and total(paths) == {("OpenAI", "small"): (2, 2)}


_DIES = """
import os, sys
from pathlib import Path
from hippo_core import usage
from hippo_core.paths import Paths

count = 0
def trace(frame, event, arg):
    global count
    if frame.f_code.co_filename.endswith(("usage.py", "paths.py")):
        count += event == "line"
        if count == int(sys.argv[2]):
            os._exit(9)
    return trace
sys.settrace(trace)
usage.sum_up(Paths(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("line", range(1, 140, 9))
def test_killed_at_any_line_nothing_is_counted_twice_or_lost(paths, at, line):
    at(NOVEMBER), note("OpenAI", "small", 3), note("OpenAI", "small", 4), note("Voyage", "lite", 5)
    at(DECEMBER)
    subprocess.run([sys.executable, "-c", _DIES, str(paths.home), str(line)], check=False, cwd=ROOT)
    assert total(paths) == {("OpenAI", "small"): (2, 7), ("Voyage", "lite"): (1, 5)}
    sum_up(paths)
    assert total(paths) == {("OpenAI", "small"): (2, 7), ("Voyage", "lite"): (1, 5)}


def test_several_processes_at_once_lose_nothing(paths):
    code = "from hippo_core.usage import note\nfor _ in range(200): note('OpenAI', 'small', 3)"
    writers = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) for _ in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    assert total(paths) == {("OpenAI", "small"): (800, 2_400)}


@pytest.mark.parametrize("rest", [
    b'\n{"service": "OpenAI", "mod', b"\n\xff\xfe", b"\n[1]", b"\n7", b"\n" + b"[" * 100_000, b"\n{}",
    b'\n{"service": "OpenAI", "model": "small", "requests": 1, "tokens": -5}',
    b'\n{"service": "OpenAI", "model": "small", "requests": true, "tokens": 1}',
    b'\n{"service": "OpenAI", "model": "small", "requests": 1, "tokens": 1e300}',
    b'\n{"service": "OpenAI", "model": "small", "requests": 1, "tokens": 99999999999999999999999}',
    b'\n{"service": ["x"], "model": "small", "requests": 1, "tokens": 1}',
])  # fmt: skip
def test_a_line_that_is_cut_or_damaged_costs_only_itself(paths, at, rest):
    at(NOVEMBER), note("OpenAI", "small", 1)
    with (paths.usage / "2026-11.jsonl").open("ab") as file:
        file.write(rest)
    note("OpenAI", "small", 2)
    assert total(paths) == {("OpenAI", "small"): (2, 3)}
    (paths.usage / "2026-1.jsonl").write_bytes(b"not ours"), (paths.usage / "notes").mkdir()
    at(DECEMBER), sum_up(paths)
    assert total(paths) == {("OpenAI", "small"): (2, 3)}


def test_a_month_that_cannot_be_read_just_now_is_not_taken_for_an_empty_one(paths, at, monkeypatch):
    at(NOVEMBER), note("OpenAI", "small", 1), note("OpenAI", "small", 2)
    at(DECEMBER)
    read, failures = Path.read_bytes, [OSError("too many open files")]

    def read_bytes(path):
        if failures:
            raise failures.pop()
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    sum_up(paths)
    assert not failures and total(paths) == {("OpenAI", "small"): (2, 3)}


def test_what_cannot_be_noted_costs_the_answer_nothing(paths, at):
    paths.home.mkdir(parents=True)
    paths.usage.write_text("a file where the folder should be", encoding="utf-8")
    note("OpenAI", "small", 1)
    assert used(paths) == []
    sum_up(paths)
    at(1e18), note("OpenAI", "small", 1)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_the_files_are_the_owners_alone(paths):
    note("OpenAI", "small", 1)
    modes = [path.stat().st_mode & 0o777 for path in (paths.usage, *paths.usage.iterdir())]
    assert modes == [0o700, 0o600]


@pytest.mark.parametrize("url, name", [
    (None, "OpenAI"), ("", "OpenAI"), ("http://user:pass@models.example.org:8080/v1", "models.example.org"),
    ("nonsense", "OpenAI"), ("http://[", "OpenAI"),
])  # fmt: skip
def test_a_service_in_place_of_another_has_its_hosts_name_and_no_password(url, name):
    assert service_at(url, "OpenAI") == name


def test_status_names_each_service_and_what_it_was_asked_before_it_was_switched_off(store, paths, at):
    said = CliRunner().invoke(status_command).output
    assert "pays        nobody: offline; sessions are learned from without a model" in said and "used" not in said
    at(NOVEMBER), note("OpenAI", "text-embedding-3-small", 85_760)
    at(DECEMBER)
    said = CliRunner().invoke(status_command).output
    assert "used        OpenAI text-embedding-3-small: nothing this month, 85,760 tokens in all" in said
    note("OpenAI", "text-embedding-3-small", 12_340), note("elsewhere", "lite", None)
    lines = CliRunner().invoke(status_command).output.splitlines()
    first, second = (lines[place] for place, line in enumerate(lines) if "tokens" in line and "session" not in line)
    assert {first[14:], second[14:]} == {
        "OpenAI text-embedding-3-small: 12,340 tokens this month (1 request), 98,100 in all",
        "elsewhere lite: 1 request this month, 1 in all; it does not say of how many tokens",
    }


def test_what_is_used_is_in_no_store_and_goes_with_a_purge_alone(store, paths, tmp_path):
    store.close()
    before = paths.store.read_bytes()
    note("OpenAI", "small", 1)
    assert look(paths, str(tmp_path)).used == usage.used(paths) and paths.store.read_bytes() == before
    uninstall(paths, purge=True)
    assert not paths.usage.exists() and not paths.store.exists()


def test_an_uninstalled_memory_that_is_kept_keeps_what_it_cost(paths, store):
    store.close()
    paths.install_record.write_text("{}", encoding="utf-8")
    note("OpenAI", "small", 1)
    uninstall(paths, purge=False)
    assert used(paths) and not paths.install_record.exists()
