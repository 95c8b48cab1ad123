"""What the doctor says of what surrounds the store: plugin, scheduler and jobs, the model, the disk."""

import json
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from hippo_core import __version__, heartbeat
from hippo_core.config import save
from hippo_core.curate.remember import remember
from hippo_core.doctor import house
from hippo_core.doctor.base import Patient
from hippo_core.doctor.run import examine, mend
from hippo_core.errors import ScheduleError, VectorsUnavailableError
from hippo_core.model.scope import GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.monitor.run import Schedule, look_only
from hippo_core.ops.stage import stage_plugin
from hippo_core.schedule import choose
from hippo_core.schedule.jobs import JOBS, NAMES, job_named
from hippo_core.store import Store, room, vectors

SOURCE = Path(__file__).resolve().parent.parent
NOW = 1_790_020_800.0  # 2026-09-21T20:00:00Z


@pytest.fixture
def finding(paths, tmp_path):
    """What one check says, in a house where there is a store."""
    Store.open(paths.store).close()
    save(paths, embedder="off")

    def of(check):
        (found,) = [found for found in examine(paths, str(tmp_path)) if found.check == check]
        return found

    return of


# -- the plugin --------------------------------------------------------------------------------------------------------


@pytest.fixture
def client(paths, isolated):
    """A client that has the plugin as install.py stages it. Returns its settings file."""
    stage_plugin(SOURCE, paths, sys.executable)
    (isolated / ".claude").mkdir()
    file = isolated / ".claude" / "settings.json"
    file.write_text('{"enabledPlugins": {"hippo@hippocampus": true}}', encoding="utf-8")
    return file


def test_a_plugin_that_is_registered_staged_whole_and_of_this_version_is_well(finding, client):
    plugin = finding("plugin")
    assert plugin.ok and __version__ in plugin.line


@pytest.mark.parametrize("settings, line, do", [
    ("{}", "not registered", ", then claude plugin install hippo@hippocampus"),
    ('{"enabledPlugins": {"other@place": true}}', "not registered", ", then claude plugin install hippo@hippocampus"),
    ('{"enabledPlugins": {"hippo@hippocampus": false}}', "switched off", "claude plugin enable"),
])  # fmt: skip
def test_what_the_client_says_of_it(finding, client, settings, line, do):
    client.write_text(settings, encoding="utf-8")
    plugin = finding("plugin")
    assert not plugin.ok and line in plugin.line and do in plugin.do


def test_client_settings_that_cannot_be_read_are_named_and_cost_no_other_check(finding, client):
    client.unlink(), client.mkdir()
    assert not finding("plugin").ok and str(client) in finding("plugin").line and finding("store").ok


def _edit(file, change):
    value = json.loads(file.read_bytes())
    change(value)
    file.write_text(json.dumps(value), encoding="utf-8")


def _other_program(manifest):
    for groups in manifest["hooks"].values():
        for hook in (hook for group in groups for hook in group["hooks"] if hook["type"] == "command"):
            hook["command"] = "/nowhere/python"


@pytest.mark.parametrize("break_it, line", [
    (lambda plugin: shutil.rmtree(plugin), "not installed"),
    (lambda plugin: _edit(plugin / ".claude-plugin" / "plugin.json", lambda value: value.update(version="0.0.9")),
     f"version 0.0.9, the programs are {__version__}"),
    (lambda plugin: (plugin / ".claude-plugin" / "plugin.json").unlink(), "cannot be read"),
    (lambda plugin: (plugin / "hooks" / "hooks.json").write_text("[]", encoding="utf-8"), "cannot be read"),
    (lambda plugin: _edit(plugin / "hooks" / "hooks.json", _other_program), "/nowhere/python, which cannot be run"),
    (lambda plugin: (plugin / "hooks" / "stop.py").unlink(), "plugin/hooks/stop.py, which cannot be run"),
])  # fmt: skip
def test_a_staged_plugin_whose_hooks_would_not_start_as_they_should_is_found(finding, client, paths, break_it, line):
    break_it(paths.plugin)
    plugin = finding("plugin")
    assert not plugin.ok and line in plugin.line and "install.py" in plugin.do


# -- scheduler and jobs ------------------------------------------------------------------------------------------------


def test_without_a_scheduler_one_is_installed(finding, paths, tmp_path):
    assert not finding("scheduler").ok
    mend(paths, str(tmp_path))
    assert finding("scheduler").ok and choose.chosen(paths) == "hooks"


def test_a_user_who_took_the_jobs_out_is_not_given_them_back(finding, paths, tmp_path):
    choose.install(paths, Path(sys.executable), "hooks")
    choose.remove(paths, stay_off=True)
    assert finding("scheduler").ok and "switched off" in finding("scheduler").line
    mend(paths, str(tmp_path))
    assert choose.switched_off(paths)


def test_a_job_that_the_scheduler_lost_is_named_and_registered_again(finding, paths, tmp_path, monkeypatch):
    class Forgetful(choose.HookTicks):
        there = ("watch", "monitor")

        def install(self, target, jobs):
            self.there = NAMES

        def registered(self, prefix, jobs):
            return list(self.there)

    scheduler = Forgetful()
    monkeypatch.setattr(choose, "SCHEDULERS", (scheduler,))
    choose.install(paths, Path(sys.executable), "hooks")
    assert finding("scheduler").ok
    scheduler.there = ("watch", "monitor", "backstop")
    assert not finding("scheduler").ok and finding("scheduler").line.endswith("does not have: dream, snapshot")
    mend(paths, str(tmp_path))
    assert finding("scheduler").ok and scheduler.there == NAMES


@pytest.mark.parametrize("error", [ScheduleError("launchctl refused"), PermissionError(13, "no")])
def test_a_scheduler_that_cannot_be_asked_is_said(finding, paths, monkeypatch, error):
    choose.install(paths, Path(sys.executable), "hooks")
    monkeypatch.setattr(choose, "registered", lambda paths: (_ for _ in ()).throw(error))
    assert not finding("scheduler").ok and "hooks cannot be asked" in finding("scheduler").line


def _ran(paths, monkeypatch, job, ago, **beat):
    monkeypatch.setenv("HIPPO_NOW", str(NOW - ago))
    heartbeat.beat(paths, job, **{"worked": False, "counts": {}, "error": None, "result": "ok", **beat})
    monkeypatch.setenv("HIPPO_NOW", str(NOW))


@pytest.mark.parametrize("job", NAMES)
def test_a_job_is_late_after_twice_its_interval_where_somebody_should_start_it(finding, paths, monkeypatch, job):
    every = job_named(job).every
    _ran(paths, monkeypatch, job, 2 * every + 60)
    assert finding("jobs").ok, "nobody is to start it"
    choose.install(paths, Path(sys.executable), "hooks")
    assert not finding("jobs").ok
    assert job in finding("jobs").line and finding("jobs").do == f"hippo schedule run {job}"
    _ran(paths, monkeypatch, job, 2 * every - 60)
    assert finding("jobs").ok


def test_every_job_that_failed_or_is_late_has_a_line_by_the_users_clock(paths, in_tokyo, monkeypatch):
    choose.install(paths, Path(sys.executable), "hooks")
    _ran(paths, monkeypatch, "watch", 0, error="The disk is full.", result="failed")
    _ran(paths, monkeypatch, "dream", 3 * 86_400)
    lines = [found.line for found in house.jobs(Patient(paths, "/", None))]
    assert lines == [
        "watch failed, last run 2026-09-22 05:00: The disk is full.", "dream last ran 2026-09-19 05:00",
    ]  # fmt: skip
    assert len(JOBS) == 5


# -- the model ---------------------------------------------------------------------------------------------------------


class Model:
    fingerprint, dimension = "test/1", 4

    def __init__(self, *problems):
        self.asked, self.problems = 0, problems

    def embed(self, texts):
        self.asked += 1
        for problem in self.problems:
            raise problem


@pytest.fixture
def embedder(paths, monkeypatch):
    def use(name, model):
        save(paths, embedder=name)
        monkeypatch.setattr("hippo_core.embed.choose.open_embedder", lambda config: model)
        return model

    return use


def test_a_model_is_loaded_and_asked(finding, embedder):
    pytest.importorskip("sqlite_vec")
    model = embedder("local", Model())
    assert finding("meaning").ok and "every memory has its vectors" in finding("meaning").line and model.asked


def test_a_model_that_opens_and_does_not_load_is_found(finding, embedder):
    embedder("local", Model(VectorsUnavailableError("The model's file is damaged.")))
    assert not finding("meaning").ok and "file is damaged" in finding("meaning").line


def test_a_name_that_no_setting_has_is_named(finding, paths):
    paths.config.write_text('{"embeder": "off", "idle_minutes": 5}', encoding="utf-8")
    assert finding("settings").ok and finding("settings").line.endswith("so of no effect: 'embeder'")
    paths.config.write_text('{"idle_minutes": 5}', encoding="utf-8")
    assert finding("settings").line == "readable, as written"


@pytest.mark.parametrize("name", ["openai", "lokal"])
def test_an_embedder_that_was_chosen_and_cannot_be_had_is_a_matter_of_the_settings(finding, paths, monkeypatch, name):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    save(paths, embedder=name)
    assert not finding("meaning").ok and finding("meaning").do.endswith(f"{paths.config}: local, openai or off")


def test_a_service_that_somebody_pays_for_is_not_asked(finding, embedder):
    pytest.importorskip("sqlite_vec")
    model = embedder("openai", Model())
    assert finding("meaning").ok and not model.asked


def test_texts_that_somebody_pays_for_are_not_sent_to_mend_something(finding, embedder, paths, store):
    pytest.importorskip("sqlite_vec")
    remember(store, paths, "The kettle is warm.", type=MemoryType.FACT, scope=GLOBAL_SCOPE, author=Author.HUMAN,
             actor="user")  # fmt: skip
    embedder("openai", Model())
    assert "1 memory without vectors" in finding("meaning").line
    assert finding("meaning").fix is None and finding("meaning").do == "hippo ingest"
    embedder("local", Model())
    assert finding("meaning").fix and "--fix" in finding("meaning").do


def test_without_the_vector_extension_it_says_what_is_missing(finding, embedder, monkeypatch):
    embedder("local", Model())
    monkeypatch.setattr(vectors, "load_vectors", lambda db: False)
    meaning = finding("meaning")
    assert not meaning.ok and "sqlite-vec" in meaning.line and "install.py" in meaning.do


# -- the disk ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("free, taken, enough", [
    (499e6, 0, False), (501e6, 0, True), (2.19e9, 1e9, False), (2.21e9, 1e9, True),
])  # fmt: skip
def test_doctor_and_monitor_have_one_rule_of_when_the_disk_is_full(finding, paths, monkeypatch, free, taken, enough):
    monkeypatch.setattr(room.shutil, "disk_usage", lambda path: SimpleNamespace(free=int(free)))
    monkeypatch.setattr(room, "taken", lambda store: int(taken))
    found = look_only(paths, Schedule(), [])
    assert finding("disk").ok == enough == (not any(one.key == "disk" for one in found.found))


def test_the_disk_line_says_how_much_to_free(finding, paths, monkeypatch):
    monkeypatch.setattr(room.shutil, "disk_usage", lambda path: SimpleNamespace(free=int(123e6)))
    disk = finding("disk")
    assert "0.1 GB free" in disk.line and disk.do == "free 377 MB"


def test_what_the_store_takes_includes_its_log(paths):
    assert room.taken(paths.store) == 0
    with Store.open(paths.store) as store:
        store.forgetting.truncate_log()
        file = os.path.getsize(paths.store)
        with store.transaction():
            store.progress.begin_source("/t.jsonl")
        assert room.taken(paths.store) == file + os.path.getsize(f"{paths.store}-wal") > file
