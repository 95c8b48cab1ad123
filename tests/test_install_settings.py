"""Claude Code's settings after an uninstall: byte-identical, or, if edited meanwhile, as found without our keys."""

import json
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_core.ops import client, settings
from hippo_core.ops.settings import Before
from hippo_core.record import Record
from hippo_core.registration import MARKETPLACE, PLUGIN, plugin_enabled

SHAPES = [
    b"{}",
    b"{}\n",
    b'{"model": "opus"}',
    b'{\r\n\t"model" : "opus",\r\n\t"n": 1.0\r\n}\r\n',
    b'\xef\xbb\xbf{"model": "opus"}\n',
    b'{"9": [1,  2], "b": {"enabledPlugins": 1}, "a": 1e3}',
    b'{\n  "enabledPlugins": {}\n}',
    b'{"enabledPlugins": {"other@market": true}, "extraKnownMarketplaces": {}}',
    '{"note": "grüße 部署 \\ud800", "env": {"PATH": "C:\\\\x"}}'.encode(),
    b'{"a":1,"a":2}',
]


def registered(data: bytes | None) -> bytes:
    """Settings as the client writes them when it registers the plugin: all of it anew, in its own form and order."""
    value = json.loads((data or b"{}").decode("utf-8-sig"), parse_float=_number)
    value.setdefault("extraKnownMarketplaces", {})[MARKETPLACE] = {"source": {"source": "directory", "path": "/x"}}
    value.setdefault("enabledPlugins", {})[PLUGIN] = True
    return json.dumps(dict(sorted(value.items())), indent=2).encode() + b"\n"


def _number(text):
    """As JavaScript writes it: 1.0 becomes 1."""
    number = float(text)
    return int(number) if number.is_integer() else number


@pytest.mark.parametrize("before", [None, *SHAPES])
def test_untouched_settings_come_back_to_the_byte(before):
    left = registered(before)
    assert settings.names_us(left)
    assert settings.restored(left, Before(before, settings.digest(left))) == before


@pytest.mark.parametrize("before", [None, *SHAPES])
def test_settings_registered_by_hand_come_back_to_the_byte(before):
    """Nobody saw what the client wrote, but without our keys it says the same as before."""
    assert settings.restored(registered(before), Before(before, None)) == before


@pytest.mark.parametrize("before", SHAPES)
def test_edit_made_meanwhile_stays_and_only_our_keys_go(before):
    """No setting is changed, and no entry left behind, by an uninstallation."""
    left = registered(before)
    edited = left.replace(b"{", b'{\t"theme":  "dark",', 1)
    after = settings.restored(edited, Before(before, settings.digest(left)))
    assert after.startswith(b'{\t"theme":  "dark"')
    assert not settings.names_us(after)
    known = json.loads(before.decode("utf-8-sig"))
    assert json.loads(after) == {"theme": "dark", **known}


def test_group_that_was_empty_before_stays_and_one_that_only_held_us_goes():
    before = b'{"enabledPlugins": {}}'
    edited = registered(before).replace(b"{", b'{"x": 1,', 1)
    after = json.loads(settings.restored(edited, Before(before)))
    assert after == {"x": 1, "enabledPlugins": {}}


def test_file_that_was_not_there_stays_when_the_user_wrote_into_it():
    edited = registered(None).replace(b"{", b'{"x": 1,', 1)
    assert json.loads(settings.restored(edited, Before(None))) == {"x": 1}


@pytest.mark.parametrize("found", [b"", b"{", b"[1]", b"// no JSON\n{}", b"\xff\xfe", b'{"a": nope}'])
def test_settings_that_are_no_json_object_are_left_as_found(found):
    assert settings.restored(found, Before(b'{"x": 1}')) == found


def test_settings_deleted_meanwhile_stay_deleted():
    assert settings.restored(None, Before(b"{}", "digest")) is None


def test_restoring_keeps_the_link_and_the_mode(tmp_path):
    real, link = tmp_path / "dotfiles.json", tmp_path / "settings.json"
    real.write_bytes(b"{}")
    real.chmod(0o644)
    try:
        link.symlink_to(real)
    except OSError:
        pytest.skip("this system does not let us make links")
    settings.write(link, b'{"a": 1}')
    assert link.is_symlink() and real.read_bytes() == b'{"a": 1}'
    if os.name == "posix":
        assert stat.S_IMODE(real.stat().st_mode) == 0o644


def test_a_link_to_nowhere_is_left_as_it_was(tmp_path):
    real, link = tmp_path / "dotfiles.json", tmp_path / "settings.json"
    try:
        link.symlink_to(real)
    except OSError:
        pytest.skip("this system does not let us make links")
    real.write_bytes(b"{}")  # as the client does when it registers a plugin
    settings.write(link, None)
    assert link.is_symlink() and not real.exists()


def test_settings_that_cannot_be_read_are_told_in_a_line_and_left_alone(paths, isolated):
    unreadable = isolated / ".claude" / "settings.json"
    unreadable.mkdir(parents=True)  # as good as one without the permission, which the superuser would not notice
    registration = client.register(paths, Record(paths))
    assert not registration.done and str(unreadable) in registration.line and "\n" not in registration.line
    assert client.unregister(Record(paths)) == [] and unreadable.is_dir()


NAMES = st.sampled_from(["a", "", 'q"uote', "back\\slash", "部署", "enabledPlugins", "zz"]) | st.text(max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
SPACES = st.sampled_from(["", " ", "\n", "\r\n\t", "   "])


@st.composite
def objects_with_an_intruder(draw):
    """(object's text, the same with one more member in a drawn place, that member's name)."""
    members = list(draw(st.dictionaries(NAMES, VALUES, max_size=4)).items())
    name = draw(NAMES.filter(lambda name: name not in dict(members)))
    space, place = draw(SPACES), draw(st.integers(0, len(members)))
    parts = [f"{json.dumps(key)}{space}:{space}{json.dumps(value)}" for key, value in members]
    crowded = [*parts[:place], f"{json.dumps(name)}:{json.dumps(draw(VALUES))}", *parts[place:]]
    return _object(parts, space), _object(crowded, space), name


def _object(members, space):
    return "{" + space + f",{space}".join(members) + space + "}"


@given(objects_with_an_intruder())
def test_cutting_a_member_leaves_every_other_character(texts):
    plain, crowded, name = texts
    cut = settings.cut(crowded, (name,))
    assert json.loads(cut) == json.loads(plain)
    if json.loads(plain):
        assert cut == plain


@given(objects_with_an_intruder(), SPACES)
def test_cutting_a_member_inside_a_group_leaves_every_other_character(texts, space):
    plain, crowded, name = texts
    wrapped = '{{"before": [1,{0}2],{0}"group":{0}{1},{0}"after": "x"}}'
    cut = settings.cut(wrapped.format(space, crowded), ("group", name))
    assert json.loads(cut) == json.loads(wrapped.format(space, plain))
    if json.loads(plain):
        assert cut == wrapped.format(space, plain)


@given(st.text(max_size=40))
def test_no_text_makes_restoring_fail(text):
    data = text.encode("utf-8", "surrogatepass")
    assert settings.restored(data, None) in (data, None)


@pytest.mark.parametrize("data", [b"[" * 200_000, b'{"enabledPlugins":' * 200_000, b"\xff", b"[1]", b"null", b"{"])
def test_settings_that_are_no_settings_say_nothing_of_the_plugin(data):
    assert plugin_enabled(data) is None
