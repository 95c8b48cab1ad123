"""The settings file as people leave it: what is no setting's kind of value is told in a line, never a traceback."""

import json

import pytest

from hippo_core import config as settings
from hippo_core.config import Config
from hippo_core.errors import UsageError

WRONG = {
    "embedder": [7, None, ["local"]],
    "openai_base_url": [5, [], "http://[::1", "http://\0"],
    "voyage_base_url": ["https://[::1"],
    "decay_rate": ["2", [], None, True, -1, 10**400],
    "half_lives": ["x", [1], {"rule": "x"}, {"rule": 0}, {"rule": None}],
    "idle_minutes": ["a", {}, -5],
    "nudge": [5, None, ["Be brief."]],
    "nudge_kept": [5, None],
    "proactive": ["yes", 1],
    "archive_meaning": [0],
    "alerts": [5, {"to": "x"}],
    "quiet_hours": [22],
}
RIGHT = {"half_lives": {"rule": 10, "task": 0.5}, "decay_rate": 2, "idle_minutes": 0, "nudge": "", "alerts": "ntfy://x"}


def write(paths, text):
    paths.home.mkdir(exist_ok=True)
    paths.config.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG.items() for value in values],
    ids=lambda value: repr(value)[:20],
)
def test_a_value_of_the_wrong_kind_is_named_in_a_line(paths, name, value):
    write(paths, json.dumps({name: value}))
    with pytest.raises(UsageError) as told:
        settings.load(paths)
    assert name in str(told.value) and str(paths.config) in str(told.value) and "\n" not in str(told.value)


def test_a_file_that_nests_without_end_is_named_in_a_line(paths):
    write(paths, "[" * 200_000)
    with pytest.raises(UsageError, match="cannot be read"):
        settings.load(paths)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_file_as_windows_editors_save_it_is_read(paths, encoding):
    paths.home.mkdir()
    paths.config.write_text('{"nudge": "Für dich: knapp."}', encoding=encoding)
    assert settings.load(paths).nudge == "Für dich: knapp."
    settings.save(paths, idle_minutes=5)
    assert settings.load(paths).nudge == "Für dich: knapp." and paths.config.read_bytes().startswith(b"{")


def test_values_of_the_right_kind_and_unknown_keys_are_taken(paths):
    write(paths, json.dumps({**RIGHT, "of a later version": [1]}))
    config = settings.load(paths)
    assert config.half_lives == (("rule", 10), ("task", 0.5)) and config.alerts == ("ntfy://x",)
    assert (config.decay_rate, config.idle_minutes, config.nudge) == (2, 0, "")
    write(paths, "{}")
    assert settings.load(paths) == Config()
