"""What the installer says at its end: the figures that status has, whose memories they are, and what is left to do."""

import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from transcript_files import assistant, user, write

from hippo_core import config as settings
from hippo_core.cli.main import hippo
from hippo_core.ops import client
from hippo_core.ops.setup import set_up
from hippo_core.record import Record, installer, python_by_hand
from hippo_core.schedule import choose
from hippo_core.store import Store

SOURCE = Path(__file__).resolve().parents[1]


def row(said, name):
    """What stands behind a name in the summary."""
    (line,) = [line for line in said.splitlines() if line.startswith(f"  {name.ljust(10)}")]
    return line[12:]


def status(name):
    (line,) = [line for line in CliRunner().invoke(hippo, ["status"]).output.splitlines() if f"  {name} " in line]
    return line[14:]


@pytest.fixture
def set_up_again(paths, tmp_path, monkeypatch, capsys):
    """Runs what install.py runs in its environment, where no `claude` is on PATH; what it said."""
    settings.save(paths, embedder="off")
    monkeypatch.setenv("PATH", os.pathsep.join(["/usr/bin", "/bin"]))
    sessions = tmp_path / "sessions"

    def run():
        set_up(paths, SOURCE, [sessions])
        return capsys.readouterr().out

    run.sessions = sessions
    return run


SAID = (
    user("Why does the payments API limit requests at all?", 1),
    assistant("We decided to use a token bucket for rate limiting because partners send requests in bursts.", 2),
    user("From now on always run `make fixtures` before the integration tests.", 3),
)


def test_each_figure_is_the_one_that_status_has(set_up_again, isolated):
    write(set_up_again.sessions / "shop.jsonl", *SAID)
    at_home = [{**line, "uuid": f"home-{line['uuid']}", "sessionId": "home", "cwd": str(isolated)} for line in SAID]
    write(set_up_again.sessions / "home.jsonl", *at_home)
    said = set_up_again()
    assert row(said, "read") == "2 transcripts (all new), 4 May 2026" and status("read") == "2 transcripts"
    where = "6 messages of 2 sessions: 1 in 1 project, 1 outside any"
    assert row(said, "archived").startswith(f"{where}; ") and status("archived").startswith(where)
    projects = CliRunner().invoke(hippo, ["projects"]).output.splitlines()
    assert "shop  1 session, " in projects[0] and projects[1].startswith("Outside any project: 1 session, ")


def test_run_again_what_a_person_wrote_is_counted_apart_from_what_was_learned(set_up_again):
    write(set_up_again.sessions / "shop.jsonl", *SAID)
    first = set_up_again()
    assert "  yours" not in first and row(first, "learned").endswith("no model was called, nobody pays")
    CliRunner().invoke(hippo, ["remember", "The staging database is called heron."])
    again = set_up_again()
    assert row(again, "learned") == row(first, "learned") and row(again, "yours") == "1 memory in your own words"
    assert row(again, "read").startswith("1 transcript (none new), ")
    write(set_up_again.sessions / "more.jsonl", {**SAID[0], "uuid": "one-more", "sessionId": "s2"})
    assert row(set_up_again(), "read").startswith("2 transcripts (1 new or changed), ")


def test_jobs_are_registered_and_left_out_after_their_removal(set_up_again, paths):
    assert row(set_up_again(), "jobs").startswith("5 registered with ") and choose.chosen(paths) == "hooks"
    CliRunner().invoke(hippo, ["schedule", "remove"])
    assert row(set_up_again(), "jobs").startswith("switched off, and stay so until you run: ")
    assert choose.switched_off(paths)


def test_jobs_that_cannot_be_registered_stop_no_installation(set_up_again, monkeypatch):
    monkeypatch.setenv("HIPPO_SCHEDULER", "windows" if os.name == "posix" else "systemd")
    said = row(set_up_again(), "jobs")
    assert said.startswith("not registered; ") and said.endswith(
        "Without HIPPO_SCHEDULER, one that works is looked for."
    )


def test_with_a_service_that_costs_it_is_not_said_that_nobody_pays(set_up_again, paths, monkeypatch):
    settings.save(paths, embedder="openai")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    said = set_up_again()  # without a transcript nothing is asked of it
    assert "nobody pays" not in said and row(said, "pays").startswith("your OpenAI account")


def test_without_the_client_on_path_the_last_lines_are_what_to_run(set_up_again, paths):
    write(set_up_again.sessions / "shop.jsonl", *SAID)
    said = set_up_again()
    assert "Hippocampus is ready but for one step" in said and "is ready." not in said
    *_, left, why, first, second = said.splitlines()
    assert "no session gets memory" in left and "`claude` is not on PATH" in why and "two lines" in why
    assert [first.strip(), second.strip()] == list(client.by_hand(paths))
    assert shlex.split(first) == ["claude", "plugin", "marketplace", "add", str(paths.plugin)]
    shown = CliRunner().invoke(hippo, ["status"]).output.splitlines()
    place = next(number for number, line in enumerate(shown) if line.startswith("! Claude Code does not know"))
    assert [line.strip() for line in shown[place + 1 : place + 3]] == list(client.by_hand(paths))


def test_what_mends_is_named_by_its_full_path_while_it_is_there(paths, tmp_path, monkeypatch):
    checkout = tmp_path / "my checkout"
    checkout.mkdir()
    (checkout / "install.py").touch()
    paths.home.mkdir()
    Record(paths).put(source=str(checkout))
    monkeypatch.chdir(tmp_path)
    for said in (installer(), installer(" --with alerts")):
        script, *rest = shlex.split(said.removeprefix(python_by_hand()))
        assert script == str(checkout / "install.py")
        assert rest in ([], ["--with", "alerts"])
    with Store.open(paths.store):
        assert installer() in CliRunner().invoke(hippo, ["status"]).output
    (checkout / "install.py").unlink()
    assert installer() == f"{python_by_hand()} install.py (in a clone of Hippocampus)"
    paths.install_record.write_text("{", encoding="utf-8")
    assert installer() == f"{python_by_hand()} install.py (in a clone of Hippocampus)"


def test_nothing_that_tells_to_install_names_a_script_that_is_not_there():
    """Each goes through `installer`; the installer itself is run in its folder."""
    named = [file.relative_to(SOURCE).as_posix() for file in (SOURCE / "hippo_core").rglob("*.py")
             if re.search(r"(python3|_by_hand\(\)\}) install\.py", file.read_text(encoding="utf-8"))]  # fmt: skip
    assert sorted(named) == ["hippo_core/ops/bootstrap.py", "hippo_core/record.py"]
