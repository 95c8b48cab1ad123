"""The monitor from facts on disk to what a person gets: real files, a real store, a real endpoint."""

import json
import os
import platform
import time

import pytest
import transcript_files as records
from click.testing import CliRunner
from monitored_machine import DAY, HOUR, NOON, SCHEDULE, keys

from hippo_core import config as settings
from hippo_core import heartbeat
from hippo_core.cli.main import hippo
from hippo_core.errors import BusyError, UsageError
from hippo_core.ingest.run import run_pass
from hippo_core.lock import one_at_a_time
from hippo_core.monitor import hours
from hippo_core.monitor.run import Schedule, look_only, schedule_of
from hippo_core.schedule import choose
from hippo_core.schedule.jobs import JOBS
from hippo_core.store import Store


def contents(paths):
    """Every file but those that SQLite keeps beside the store while it is open."""
    return {
        file: file.read_bytes() for file in paths.home.rglob("*") if file.is_file() and "memory.db-" not in file.name
    }


def test_all_well_leaves_a_heartbeat_and_says_nothing(machine):
    look = machine.look()
    assert (look.found, look.told, look.sent) == ([], [], 0)
    beat = heartbeat.read(machine.paths, "monitor")
    assert beat.last_ran == NOON and beat.error is None and beat.last_worked is None
    assert (machine.paths.render / "health.json").read_bytes() == b""


def test_transcripts_that_grow_while_nothing_arrives_raise_one_alert_though_every_run_succeeds(machine, ntfy):
    """As "Not logged in" did for five weeks, while health said ok."""
    machine.transcript("s1", NOON - 5 * HOUR, "My dog is called Rex and the vault code is 4711.")
    for _ in range(10):
        machine.look(after=HOUR / 2)
    (body,) = ntfy.bodies
    assert body.startswith("1 transcript not stored") and "hippo doctor" in body
    assert ntfy.received[0]["title"] == f"Hippocampus on {platform.node()}: memory needs you"
    assert b"Memory health: 1 transcript not stored" in (machine.paths.render / "health.json").read_bytes()
    beat = heartbeat.read(machine.paths, "monitor")
    assert (beat.last_worked, beat.last_ran) == (NOON + 1.5 * HOUR, NOON + 5 * HOUR), "an alert is its work"
    assert beat.counts == {"standing": 1, "told": 0, "sent": 0}
    run_pass(machine.paths, roots=[machine.projects], embed=False)
    for _ in range(4):
        machine.look(after=HOUR / 2)
    assert [body.partition(":")[0] for body in ntfy.bodies[1:]] == ["It is over"]
    assert (machine.paths.render / "health.json").read_bytes() == b""


def test_no_word_of_a_memory_or_a_transcript_is_in_what_is_sent_or_logged(machine, ntfy):
    machine.transcript("s1", NOON - 5 * HOUR, "My dog is called Rex.")
    machine.watch_runs(error="could not read: My dog is called Rex", result="failed")
    for _ in range(6):
        machine.look(after=HOUR / 2)
    files = [file for folder in (machine.paths.alerts, machine.paths.log) for file in folder.iterdir()]
    assert ntfy.received and not any("Rex" in json.dumps(message) for message in ntfy.received)
    assert not any(b"Rex" in file.read_bytes() for file in files if file.name != "alerts.log")
    assert b"Rex" not in b"".join(file.read_bytes() for file in machine.paths.render.rglob("*") if file.is_file())


def test_a_file_that_was_appended_to_after_it_was_read_is_noticed(machine):
    path = machine.transcript("s1", NOON - 5 * HOUR, "First words of this session.")
    run_pass(machine.paths, roots=[machine.projects], embed=False)
    assert keys(machine.look()) == []
    with path.open("ab") as file:
        file.write(records.line(records.user("More words of this session.", 7, sessionId="s1")))
    os.utime(path, (NOON - 4 * HOUR,) * 2)
    assert keys(machine.look(after=60)) == ["unread"]


def test_what_passes_before_anybody_is_told_is_in_the_log(machine):
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    machine.look()
    run_pass(machine.paths, roots=[machine.projects], embed=False)
    assert machine.look(after=HOUR / 2).told == []
    assert " passed: unread: 1 transcript not stored" in machine.logged()


def test_a_session_under_way_is_not_missing(machine):
    machine.transcript("s1", NOON - HOUR, "Said just now.")
    assert keys(machine.look()) == []


def test_a_new_transcript_format_that_gives_no_message_is_noticed(machine):
    for number in range(5):
        path = machine.projects / "-shop" / f"s{number}.jsonl"
        records.write(path, *[{"kind": "turn", "words": "x" * 100}] * 100)
        os.utime(path, (NOON - (5 + number) * HOUR,) * 2)
    run_pass(machine.paths, roots=[machine.projects], embed=False)
    assert keys(machine.look()) == ["barren"]
    machine.transcript("s9", NOON - HOUR, *["Something that can be read again. " * 10] * 40)
    run_pass(machine.paths, roots=[machine.projects], embed=False)
    assert keys(machine.look(after=60)) == []


def test_sessions_that_nobody_learns_from_are_noticed(machine):
    machine.transcript("s1", NOON - 3 * DAY, "We decided to use PostgreSQL.")
    run_pass(machine.paths, roots=[machine.projects], archive_only=True)
    assert keys(machine.look()) == ["unlearned"]


def test_a_silent_job_is_told_once_and_its_end_once(machine, ntfy):
    machine.look()
    beats = []
    for _ in range(8):
        machine.look(after=HOUR / 2, watch=False)
        beats.append(heartbeat.read(machine.paths, "monitor"))
    assert len(ntfy.bodies) == 1 and ntfy.bodies[0].startswith("The watch job last ran 2 hours ago, due every hour")
    (told,) = (beat for beat in beats if beat.counts == {"standing": 1, "told": 1, "sent": 1})
    assert told.last_worked == told.last_ran == beats[-1].last_worked
    assert beats[-1].counts == {"standing": 1, "told": 0, "sent": 0}
    for _ in range(3):
        machine.look(after=HOUR / 2)
    assert len(ntfy.bodies) == 2 and ntfy.bodies[1].startswith("It is over")


def test_where_no_heartbeat_can_be_kept_the_monitor_does_not_take_itself_for_silent(machine):
    machine.paths.run.mkdir(exist_ok=True)
    (machine.paths.run / "heartbeat").write_bytes(b"a file in the folder's place")
    for _ in range(6):
        look = machine.look(after=HOUR / 2, watch=False)
    assert keys(look) == ["silent:watch"]


def test_a_machine_that_wakes_up_after_a_weekend_is_given_time(machine):
    """However long it was awake before the job's last run."""
    for _ in range(6):
        machine.look(after=HOUR / 2)
    assert machine.look(after=60 * HOUR, watch=False).found == []
    assert machine.look(after=HOUR / 2, watch=False).found == []
    for _ in range(4):
        last = machine.look(after=HOUR / 2, watch=False)
    assert keys(last) == ["silent:watch"]


def test_looks_that_come_45_minutes_apart_have_seen_the_machine_awake(machine):
    machine.look()
    found = [keys(machine.look(after=pause, watch=False)) for pause in (2_700, 2_700, 1_801)]
    assert found == [[], [], ["silent:watch"]]


def test_a_clock_that_was_a_year_ahead_for_a_while_hides_no_silence(machine):
    machine.look()
    machine.look(after=365 * DAY, watch=False)
    machine.look(after=-365 * DAY, watch=False)
    for _ in range(5):
        look = machine.look(after=HOUR / 2, watch=False)
    assert keys(look) == ["silent:watch"]


def test_a_job_that_is_silent_through_many_short_days_is_found_in_the_end(machine):
    machine.look()
    found = []
    for _ in range(4):
        found += keys(machine.look(after=DAY - HOUR / 2, watch=False))
        found += keys(machine.look(after=HOUR / 2, watch=False))
    assert "silent:watch" in found


def test_a_damaged_store_is_found_and_stays_found(machine):
    data = bytearray(machine.paths.store.read_bytes())
    for page in range(8, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
    machine.paths.store.write_bytes(data)
    for _ in range(3):
        look = machine.look(after=HOUR / 2)
        assert "damage" in keys(look)
    assert "damage" in look.standing


@pytest.mark.parametrize("broken", [b"\xee" * 4096, b"\xee"], ids=["a page", "a byte"])
def test_damage_that_stops_no_search_is_found_by_the_daily_look_at_every_page(machine, broken):
    """Overwritten where nothing reads it in passing: only SQLite's own check of the whole file sees it. A page ends the
    check, a byte is what it reports."""
    machine.transcript("s1", NOON - 5 * HOUR, *["We decided on trains. " * 40] * 60)
    run_pass(machine.paths, roots=[machine.projects], embed=False)
    assert machine.look().found == []
    with Store.open(machine.paths.store) as store:
        store.forgetting.truncate_log()
        (page,) = store._db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'message_by_time'")
        size = store._db.pragma("page_size")
    with machine.paths.store.open("r+b") as file:
        file.seek((page[0] - 1) * size)
        whole = file.read(size)
        file.seek(page[0] * size - len(broken))
        file.write(broken)
    assert keys(machine.look(after=HOUR)) == [], "not twice a day, for it reads all of the file"
    look = machine.look(after=DAY - HOUR)
    assert keys(look) == ["damage"] and look.found[0].detail and "damage" in look.standing
    assert keys(machine.look(after=HOUR)) == ["damage"], "looked at each time until it is over"
    with machine.paths.store.open("r+b") as file:
        file.seek((page[0] - 1) * size)
        file.write(whole)
    assert machine.look(after=HOUR).found == []


def test_a_plugin_that_the_client_lost_is_told_and_its_return_too(machine, isolated):
    """Every job runs, and no session hears of it."""
    settings_file = isolated / ".claude" / "settings.json"
    settings_file.parent.mkdir()
    (machine.paths.plugin / ".claude-plugin").mkdir(parents=True)
    (machine.paths.plugin / ".claude-plugin" / "marketplace.json").write_text("{}", encoding="utf-8")
    assert machine.look().found == [], "never registered by an installer, so nothing was lost"
    machine.paths.install_record.write_text("{}", encoding="utf-8")
    settings_file.write_text('{"enabledPlugins": {"hippo@hippocampus": true}}', encoding="utf-8")
    assert machine.look(after=HOUR).found == []
    settings_file.write_text("{}", encoding="utf-8")
    looks = [machine.look(after=HOUR / 2) for _ in range(4)]
    assert [len(look.told) for look in looks] == [0, 0, 1, 0] and keys(looks[-1]) == ["plugin"]
    assert "does not have the plugin" in machine.logged()
    settings_file.write_text('{"enabledPlugins": {"hippo@hippocampus": false}}', encoding="utf-8")
    looks = [machine.look(after=HOUR / 2) for _ in range(3)]
    assert keys(looks[-1]) == ["plugin-off"] and [notice.kind for look in looks for notice in look.told] == ["over"]
    assert machine.look(after=300 * DAY).told == [], "what the user switched off is shown, and nobody is told"


def test_a_plugin_in_one_of_several_client_folders_is_there(machine, isolated):
    stay, leave = isolated / ".claude", isolated / "other client"
    for folder, enabled in ((stay, "true"), (leave, "false")):
        (folder / "projects").mkdir(parents=True)
        (folder / "settings.json").write_text(
            f'{{"enabledPlugins": {{"hippo@hippocampus": {enabled}}}}}', encoding="utf-8"
        )
    (machine.paths.plugin / ".claude-plugin").mkdir(parents=True)
    (machine.paths.plugin / ".claude-plugin" / "marketplace.json").write_text("{}", encoding="utf-8")
    machine.paths.install_record.write_text("{}", encoding="utf-8")
    for folders in ((leave, stay), (stay, leave)):
        assert look_only(machine.paths, machine.schedule, [folder / "projects" for folder in folders]).found == []
    assert keys(look_only(machine.paths, machine.schedule, [leave / "projects"])) == ["plugin-off"]


def test_a_missing_store_is_told_and_does_not_end_what_only_the_store_can_tell(machine):
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    for _ in range(4):
        machine.look(after=HOUR / 2)
    moved = machine.paths.store.rename(machine.paths.store.with_name("aside"))
    for _ in range(4):
        look = machine.look(after=HOUR / 2)
    assert set(look.standing) == {"store", "unread"}
    moved.rename(machine.paths.store)


_ALERT = {"text": "x", "grave": True, "found": 1.0}
_WRONG = [
    *({"alerts": {}, name: value} for name in ("looked", "awake", "checked") for value in (None, "x", 10**400)),
    *({"alerts": {}, "ran": value} for value in (None, [1], {"watch": 1}, {"watch": [1.0]}, {"watch": ["x", 1.0]})),
    {"alerts": {}, "unsent_since": "x"},
    *({"alerts": {"x": {**_ALERT, name: []}}} for name in ("text", "found", "raised", "told", "gone")),
]


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"[" * 100_000, b'{"alerts": {"x": {}}}', b'{"alerts": 7}', b'{"looked": 1}']
    + [json.dumps(memo).encode() for memo in _WRONG],
    ids=lambda content: repr(content)[:40],
)
def test_a_damaged_memo_is_begun_anew(machine, content):
    machine.look()
    (machine.paths.alerts / "memo.json").write_bytes(content)
    assert machine.look(after=60).found == []


def test_a_monitor_that_fails_says_so_at_session_start(machine, monkeypatch):
    monkeypatch.setattr("hippo_core.monitor.run.gather", lambda *args, **options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        machine.look()
    assert b"the monitor itself fails" in (machine.paths.render / "health.json").read_bytes()
    assert heartbeat.read(machine.paths, "monitor").error == "ZeroDivisionError"
    hours.mute(machine.paths, machine.now + HOUR)
    with pytest.raises(ZeroDivisionError):
        machine.look()
    assert (machine.paths.render / "health.json").read_bytes() == b""


def test_one_monitor_looks_at_a_time(machine):
    with one_at_a_time(machine.paths, "monitor"), pytest.raises(BusyError):
        machine.look()


def test_showing_tells_nobody_and_writes_nothing(machine):
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    before = contents(machine.paths)
    assert keys(look_only(machine.paths, machine.schedule, [machine.projects])) == ["unread"]
    assert contents(machine.paths) == before


def test_the_line_about_lateness_comes_and_goes_with_the_schedule(machine, monkeypatch):
    late, clocked = machine.paths.render / "late", choose.HookTicks()
    clocked.name = "clock"
    monkeypatch.setattr(choose, "SCHEDULERS", (clocked, choose.HookTicks()))
    monkeypatch.setattr(choose, "NAMES", ("clock", "hooks"))
    assert schedule_of(machine.paths) == Schedule()
    choose.install(machine.paths, machine.paths.venv / "python", "clock")
    assert late.read_bytes().startswith(b"3600 ")
    assert abs(schedule_of(machine.paths).since - time.time()) < 600, "when it was installed"
    assert (schedule_of(machine.paths).jobs, schedule_of(machine.paths).by_clock) == (JOBS, True)
    choose.install(machine.paths, machine.paths.venv / "python", "hooks")
    assert not late.exists() and not schedule_of(machine.paths).by_clock
    choose.install(machine.paths, machine.paths.venv / "python", "clock")
    choose.remove(machine.paths, stay_off=True)
    assert not late.exists() and schedule_of(machine.paths) == Schedule()


def test_a_look_renews_the_line_about_lateness_and_hooks_alone_are_never_late(machine):
    machine.look()
    assert (machine.paths.render / "late").read_bytes().startswith(b"3600 ")
    machine.schedule = Schedule(SCHEDULE.jobs, SCHEDULE.since, by_clock=False)
    machine.look()
    assert not (machine.paths.render / "late").exists()


def test_trying_the_ways_out_without_any_says_where_alerts_go_and_how_to_be_told_elsewhere(machine):
    done = CliRunner().invoke(hippo, ["monitor", "test"])
    assert isinstance(done.exception, UsageError) and done.exception.exit_code == 2
    said = str(done.exception)
    assert str(machine.paths.log / "alerts.log") in said and str(machine.paths.config) in said
    assert "--with alerts" in said and '"alerts": ["ntfy://' in said


def test_trying_the_ways_out_names_the_one_that_fails_and_tries_the_others(machine, ntfy):
    settings.save(machine.paths, alerts=["nonsense://secret@host", ntfy.address])
    done = CliRunner().invoke(hippo, ["monitor", "test"])
    assert isinstance(done.exception, UsageError) and "1 of 2" in str(done.exception)
    assert done.output.splitlines()[1] == "ntfy: sent" and "secret" not in done.output + machine.logged()
    assert "nonsense: " in machine.logged() and len(ntfy.bodies) == 1


@pytest.mark.parametrize("arguments", [
    [], ["--for", "4h", "--until", "18:30"], ["--for", "91d"], ["--until", "2020-01-01"], ["--for", "soon"],
])  # fmt: skip
def test_how_long_to_mute_is_said_once_and_bounded(machine, arguments):
    done = CliRunner().invoke(hippo, ["monitor", "mute", *arguments])
    assert isinstance(done.exception, UsageError) and hours.muted_until(machine.paths, machine.now) is None


def test_what_a_look_shows_a_person(machine, ntfy):
    def run(*arguments, **environment):
        return CliRunner().invoke(hippo, ["monitor", *arguments], env=environment, catch_exceptions=False).output

    assert run() == "All is well.\n"
    assert run(HIPPO_CHILD="1") == ""
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    ntfy.down()
    for _ in range(3):
        machine.look(after=HOUR / 2)
    assert "not sent by ntfy: A Connection error" in run() and "waiting to be sent: 1" in run("show")
    ntfy.up()
    assert "0 to tell, 1 sent" in run()


def test_the_commands(machine, ntfy):
    def run(*arguments):
        return CliRunner().invoke(hippo, ["monitor", *arguments], catch_exceptions=False, standalone_mode=False).output

    machine.transcript("s1", time.time() - 30 * DAY, "Words.")
    os.environ["HIPPO_NOW"] = str(time.time())
    assert "1 transcript not stored" in run("--once")
    assert json.loads(run("show", "--json"))["found"][0]["key"] == "unread"
    assert run("test") == "ntfy: sent\n" and ntfy.bodies == ["Alerts about your memory will arrive here."]
    assert run("mute", "--for", "4h").startswith("Muted until ")
    assert "muted until" in run("show")
    assert "sent again" in run("unmute") and "were not muted" in run("unmute")
