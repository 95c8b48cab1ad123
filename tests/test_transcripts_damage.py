"""Files that are cut off, padded, mis-encoded or simply wrong: nothing raises, and the rest of the file is read."""

import importlib.util
import json
import re
import string
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcript_files import assistant, line, user

from hippo_core.errors import TranscriptError
from hippo_core.transcripts import claude_code, lines, record, speech
from hippo_core.transcripts.claude_code import Transcript
from hippo_core.transcripts.injected import is_machine_prompt
from hippo_core.transcripts.record import heard
from hippo_core.transcripts.speech import first_words, queued_of, seconds, speech_of

ASKED, ANSWERED = user("Why does café fail?", 1), assistant("Because.", 2)
WHOLE = line(ASKED) + line(ANSWERED)


@pytest.fixture(params=["msgspec", "json"])
def read(tmp_path, request, monkeypatch):
    """(texts, transcript) of a file with these bytes; also as it is read where msgspec has no wheel."""
    if request.param == "json":
        monkeypatch.setattr(record, "_decode", None)

    def read(data, start=0):
        path = tmp_path / "s.jsonl"
        path.write_bytes(data)
        transcript = Transcript(path, start)
        return [m.text for m in transcript], transcript

    return read


BOTH = ["Why does café fail?", "Because."]


@pytest.mark.parametrize(
    "data, bad",
    [
        (WHOLE, 0),
        (b"\xef\xbb\xbf" + WHOLE, 0),
        (WHOLE.replace(b"\n", b"\r\n"), 0),
        (WHOLE + b"\0" * 4096, 0),
        (b"\0" * 512 + WHOLE, 0),
        (line(ASKED) + b"\0" * 99 + line(ANSWERED), 0),
        (b"\n\n" + line(ASKED) + b"\n \n" + line(ANSWERED) + b"\n", 0),
        (b'[1,2]\nnull\n"user"\n42\n' + WHOLE, 0),
        (line(ASKED).rstrip() + line(ANSWERED), 0),
        (line(ASKED).rstrip() + b" " + line(ANSWERED).rstrip() + b'{"type": "us\n', 1),
        (b'{"type": "user", broken}\n' + WHOLE, 1),
        (b"\x80\x81 no text at all\n" + WHOLE, 1),
        (b'{"type":"user","message":{"content":' + b"[" * 200_000 + b"\n" + WHOLE, 1),
        (b'{"type":"user","message":{"content":' + b"[" * 900 + b"]" * 900 + b"}}\n" + WHOLE, 0),
        (json.dumps(ASKED, ensure_ascii=False).encode("latin-1") + b"\n" + line(ANSWERED), 0),
        (WHOLE.decode().encode("utf-16"), 0),
        (WHOLE.decode().encode("utf-16-be").join([b"\xfe\xff", b""]), 0),
        (
            b"".join(
                line({"type": "user", "message": odd}) for odd in ([], 5, None, {"content": {}}, {"content": [[]]})
            )
            + WHOLE,
            0,
        ),
        (line({**ASKED, "uuid": 7, "sessionId": [], "cwd": {}, "timestamp": {}, "gitBranch": 0}) + line(ANSWERED), 0),
    ],
    ids=range(19),
)
def test_one_bad_line_loses_the_file_each_costs_only_itself(read, data, bad):
    texts, transcript = read(data)
    assert texts == BOTH and transcript.bad_lines == bad


@pytest.mark.parametrize(
    "data", [b"", b"\n\n\n", b"\0\0\0", b"{", b"no json", b"\xff\xfe", b"\xff\xfea", b"\xef\xbb\xbf"]
)
def test_a_file_that_says_nothing(read, data):
    texts, transcript = read(data)
    assert texts == [] and transcript.offset <= len(data)


def test_only_a_line_feed_ends_a_line(read):
    text = "one\u2028two\u0085three\x0bfour"
    assert read(json.dumps(user(text), ensure_ascii=False).encode() + b"\n")[0] == [text]


def test_a_lone_surrogate_becomes_something_that_can_be_stored(read):
    texts, _ = read(
        rb'{"type":"user","uuid":"\ud83d","cwd":"\udc00","message":{"content":"bad \ud83d half \ud83e\udd16"}}'
    )
    assert texts == ["bad \ufffd half \U0001f916"]


def test_nul_in_a_text_is_dropped(read):
    assert read(line(user("a\0b")))[0] == ["ab"]


def test_a_line_too_long_for_speech_is_passed_over_without_being_held(read, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 1000)
    texts, transcript = read(line(user("x" * 5000)) + WHOLE)
    assert texts == BOTH and transcript.bad_lines == 1 and transcript.offset == len(line(user("x" * 5000)) + WHOLE)


class TestCutOffRecord:
    """A client that is killed may leave half a record; the next time it goes on behind that, on the same line."""

    @pytest.mark.parametrize("ascii_only", [True, False])
    def test_it_costs_nothing_of_what_was_said_next(self, read, ascii_only):
        def written(record):
            return json.dumps({"parentUuid": None, **record}, ensure_ascii=ascii_only).encode()

        cut, asked, answered = written(user("Pourquoi, café?", 7)), written(ASKED), written(ANSWERED)
        for length in range(1, len(cut), 5):
            texts, transcript = read(cut[:length] + asked + b"\n" + answered + b"\n")
            assert texts == BOTH and transcript.bad_lines == 1
        assert read(cut[:60] + cut[:150] + asked + answered + b"\n")[0] == BOTH

    def test_what_it_holds_does_not_speak(self, read):
        held = json.dumps({"parentUuid": None, **user("Always push to main.", 8)})
        cut = ('{"parentUuid":null,"type":"user","toolUseResult":{"page":' + held + ',"more":"and mo').encode()
        assert read(cut + b"\n" + WHOLE)[0] == BOTH
        assert read(cut + b'{"parentUuid":null,' + WHOLE[1:])[0] == BOTH

    def test_a_line_of_nothing_else_takes_no_time(self, read):
        began = time.process_time()
        assert read(b'{"parentUuid":' * 200_000 + b"\n" + WHOLE)[0] == BOTH
        assert time.process_time() - began < 2


def test_a_missing_file_is_an_error_of_ours(tmp_path):
    with pytest.raises(TranscriptError, match="cannot be read"):
        list(Transcript(tmp_path / "gone.jsonl"))
    with pytest.raises(TranscriptError):
        list(Transcript(tmp_path))


class TestBrokenLastLine:
    """The client may be writing while we read: an unfinished line is left for the next time."""

    def test_stop_before_it_and_try_again(self, read):
        cut = WHOLE + line(user("And now?", 3))[:-30]
        texts, transcript = read(cut)
        assert texts == BOTH and transcript.offset == len(WHOLE) and transcript.bad_lines == 0
        grown = WHOLE + line(user("And now?", 3)) + line(assistant("Now.", 4))
        texts, again = read(grown, transcript.offset)
        assert texts == ["And now?", "Now."] and again.offset == len(grown)

    def test_one_that_ends_like_an_object_is_still_unfinished(self, read):
        record = {"type": "progress", "data": {"a": 1}, "more": True}
        cut = line(record)[: line(record).index(b"}") + 1]
        assert read(WHOLE + cut)[1].offset == len(WHOLE)

    def test_cut_inside_a_character(self, read):
        data = json.dumps(user("naïve"), ensure_ascii=False).encode()
        cut = data[: data.index(b"\xc3") + 1]
        texts, transcript = read(WHOLE + cut)
        assert texts == BOTH and transcript.offset == len(WHOLE)

    def test_a_whole_object_without_a_line_feed_is_taken(self, read):
        texts, transcript = read(WHOLE.rstrip())
        assert texts == BOTH
        texts, again = read(WHOLE + line(user("And now?", 3)), transcript.offset)
        assert texts == ["And now?"] and again.bad_lines == 0

    def test_it_is_counted_once_it_is_finished_and_bad(self, read):
        offset = read(WHOLE + b'{"type": "user", "mess')[1].offset
        texts, again = read(WHOLE + b'{"type": "user", "mess\n' + line(user("Go.", 3)), offset)
        assert texts == ["Go."] and again.bad_lines == 1

    def test_utf_16_too(self, read):
        data = WHOLE.decode().encode("utf-16")
        texts, transcript = read(data + '{"ty'.encode("utf-16-le"))
        assert texts == BOTH and transcript.offset == len(data)
        assert read(data + line(user("Go.")).decode().encode("utf-16-le"), transcript.offset)[0] == ["Go."]


_pieces = st.sampled_from(
    [line(user(f"said {n}", n)) for n in range(4)]
    + [
        line(assistant("answer", 9)),
        b"\n",
        b"{broken\n",
        b"\r\n",
        b'{"type":"mode"}\n',
        line(user([{"type": "tool_result"}])),
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_pieces, max_size=12), st.lists(st.integers(0, 2000), max_size=4))
def test_reading_in_parts_cut_anywhere_gives_what_reading_at_once_gives(read, pieces, cuts):
    data = b"".join(pieces)
    at_once, whole = read(data)
    texts, offset, bad = [], 0, 0
    for cut in [*sorted(cuts), len(data)]:
        part, transcript = read(data[:cut], offset)
        texts, offset, bad = texts + part, transcript.offset, bad + transcript.bad_lines
    assert (texts, offset, bad) == (at_once, whole.offset, whole.bad_lines)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(["user", "assistant", "text", "tool_result"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "message", "content", "origin", "kind", "prompt"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)
_fields = (
    "type message uuid sessionId timestamp cwd agentId isMeta origin attachment operation content summary toolUseResult"
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(_fields.split()), _json, max_size=8),
    st.sampled_from(["user", "assistant", "summary", "queue-operation", "attachment", "other"]),
    st.binary(max_size=40),
)
def test_no_record_raises_whatever_its_fields_hold(read, record, kind, rubbish):
    texts, _ = read(line({**record, "type": kind}) + rubbish + b"\n" + line({"type": kind, **record}))
    for text in texts:
        text.encode()


@pytest.mark.parametrize(
    "timestamp, expected",
    [
        ("1970-01-01T00:01:00.500Z", 60.5),
        ("1970-01-01T00:01:00Z", 60.0),
        ("1970-01-01T01:01:00+01:00", 60.0),
        ("1970-01-01T00:01:00.123456Z", 60.123456),
        ("1970-01-01T00:01:00", 60.0),
        ("2026-13-99T99:99:99Z", None),
        ("yesterday", None),
        ("", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("1969-12-31T23:59:59Z", None),
        ("2999-12-31T23:59:59Z", datetime(2999, 12, 31, 23, 59, 59, tzinfo=timezone.utc).timestamp()),
        ("3000-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-14:00", None),
        (1_777_888_807, None),
        (None, None),
        ([], None),
        ("\ud800", None),
    ],
)
def test_times(timestamp, expected, in_tokyo):
    """None for what Windows' calendar does not have: the commands that print it would fail there."""
    assert seconds(timestamp) == (pytest.approx(expected) if expected is not None else None)


@given(st.text(alphabet=string.printable + "é\u2028\ud800😀", max_size=30))
def test_no_time_raises(text):
    seconds(text), seconds(text + "Z"), seconds("2026-01-01T" + text)


_WORDS = ["user", "assistant", "summary", "text", "tool_use", "tool_result", "thinking", "queue-operation", "hm", "ü"]
_block = st.fixed_dictionaries(
    {"type": st.sampled_from(_WORDS)},
    optional={name: st.sampled_from(_WORDS) for name in ("text", "thinking", "content", "name", "summary")},
)
_content = st.one_of(st.sampled_from(_WORDS), st.lists(_block, max_size=3))
_message = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": _content})
_marks = {"isMeta": st.booleans(), "gitBranch": st.just("user")}
_record = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("user"), "message": _message},
        optional={"toolUseResult": st.lists(_block, max_size=2), **_marks},
    ),
    st.fixed_dictionaries({"type": st.sampled_from(["assistant", "progress"]), "message": _message}, optional=_marks),
    st.fixed_dictionaries({"type": st.just("summary"), "summary": st.sampled_from(_WORDS)}),
    st.fixed_dictionaries(
        {
            "type": st.just("queue-operation"),
            "operation": st.sampled_from(["enqueue", "remove"]),
            "content": st.sampled_from(_WORDS),
        }
    ),
)


_layout = st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")])


@settings(max_examples=400)
@given(_record, st.dictionaries(st.sampled_from(_fields.split()), _json, max_size=3), _layout, st.randoms())
def test_of_what_is_passed_over_nothing_would_have_been_heard(said, odd, layout, shuffle):
    """Neither a record that is left out nor a field that is says anything: read whole, it says the same."""
    fields = list({**said, **odd}.items())
    shuffle.shuffle(fields)
    body = json.dumps(dict(fields), separators=layout)
    found = heard(body.encode() + b"\n")
    if found is None:  # what is JSON for Python alone: NaN, half a surrogate pair
        assert "NaN" in body or "Infinity" in body or "\\ud" in body
        return
    whole = json.loads(body)
    for one in found or [{}]:
        assert speech_of(one) == speech_of(whole) and queued_of(one) == queued_of(whole)
    for one in found:
        assert first_words(one) == first_words(whole)
        assert all(one.get(name) == whole.get(name) for name in ("uuid", "sessionId", "timestamp", "cwd", "agentId"))


@pytest.mark.parametrize("said", [
    {"message": {"role": "user", "content": [{"type": "tool_result"}, {"type": "text", "text": "hm"}]},
     "type": "assistant"},
    {"type": "assistant", "message": {"content": [{"type": "tool_use"}, {"type": "text", "text": "hm"}]}},
    {"type": "user", "message": {"content": [{"type": "text", "text": "tool_result"}]}},
    {"type": "user", "message": {"content": "tool_result"}},
    {"type": "user", "message": {"content": "hm"}, "toolUseResult": None},
    {"type": "user", "message": {"content": "hm"}, "toolUseResult": {"stdout": "x"}, "isCompactSummary": True},
    {"type": "user", "message": [{"type": "text", "text": "hm"}]},
    {"summary": "user", "type": "summary"},
])  # fmt: skip
def test_what_speaks_beside_a_tool_is_not_passed_over(said):
    (found,) = heard(json.dumps(said).encode() + b"\n")
    assert speech_of(found) == speech_of(said) is not None


def test_what_tools_gave_back_is_left_out_before_it_is_looked_at():
    output = {"type": "user", "message": {"content": [{"type": "tool_result"}]}, "toolUseResult": {"stdout": "x" * 99}}
    for silent in (output, {"type": "progress", "data": {"message": "hm"}}, {"leafUuid": "1"}):
        assert heard(line(silent)) == []


@pytest.mark.parametrize("name", ["record", "message", "attachment", "block"])
def test_every_field_that_is_asked_for_is_kept(name):
    """Or a condition on it would never hold, and nothing else would say so."""
    source = "".join(Path(module.__file__).read_text(encoding="utf-8") for module in (speech, claude_code))
    asked = set(re.findall(rf'\b{name}(?:\.get\(|, )"(\w+)"', source))
    assert asked and asked <= getattr(record, f"_{name.title()}").__annotations__.keys()


def test_fields_that_nobody_looks_at_are_not_kept():
    (found,) = heard(line({**ANSWERED, "usage": {"tokens": 5}, "toolUseResult": {"stdout": "x"}}))
    assert "usage" not in found and found["toolUseResult"] == {}


def test_without_msgspec_each_line_is_left_to_json(monkeypatch):
    monkeypatch.setitem(sys.modules, "msgspec", None)
    spec = importlib.util.spec_from_file_location("record_alone", record.__file__)
    spec.loader.exec_module(alone := importlib.util.module_from_spec(spec))
    assert alone.heard(line(ANSWERED)) is None and heard(line(ANSWERED)) is not None


@settings(max_examples=400)
@given(st.lists(st.tuples(_record, _layout), min_size=2, max_size=3), st.sampled_from(["", "\r", "\0" * 9]))
def test_records_that_a_lost_line_feed_put_on_one_line_all_speak(records, joint):
    """A machine that went down may leave a line without its end, and zeros; the next record is then beside it."""
    body = (joint.join(json.dumps(record, separators=how) for record, how in records) + "\n").encode()
    assert heard(body) is None
    assert lines.decode(body) == ([record for record, _ in records], False)


@pytest.mark.parametrize("joint", [b"", b"\r", b"\0" * 512])
@pytest.mark.parametrize("said", [user("Stop!", 2), assistant("Done.", 2), {"type": "summary", "summary": "It ended."}])
def test_what_was_said_beside_what_a_tool_gave_back_is_heard(read, joint, said):
    def compact(record):
        return json.dumps(record, separators=(",", ":")).encode()

    tool = compact({**user("", 1), "message": {"role": "user", "content": [{"type": "tool_result", "content": "ok"}]}})
    for glued in (tool + joint + compact(said), compact(said) + joint + tool):
        texts, transcript = read(line(ASKED) + tool + b"\n" + glued + b"\n" + tool + b"\n" + line(ANSWERED))
        assert len(texts) == 3 and texts[::2] == BOTH and transcript.bad_lines == 0


def test_folder_and_session_are_known_from_what_says_nothing_too(read):
    """Or a message would be of another session, and of no project, wherever the lines are decoded in part."""
    spoken = {name: value for name, value in ASKED.items() if name not in ("sessionId", "cwd")}
    silent = user([{"type": "tool_result", "content": "ok"}], 1, toolUseResult={"stdout": "ok"})
    for start in (0, len(line(silent))):
        _, transcript = read(line(silent) + line(spoken), start)
        (message,) = transcript
        assert (message.session_id, message.cwd) == (ASKED["sessionId"], ASKED["cwd"])


def test_what_a_tool_gave_back_does_not_make_a_session_a_program_s(read):
    prompt = "DO NOT INDEX THIS CHAT <INSTRUCTIONS-TO-EPISODIC-MEMORY>"
    assert is_machine_prompt(prompt)
    assert read(line(user(prompt, 1)) + WHOLE)[0] == []
    assert read(line(user(prompt, 1, toolUseResult="its text")) + WHOLE)[0] == BOTH
