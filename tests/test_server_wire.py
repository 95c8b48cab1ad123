"""Half an emoji in a tool call: answered like any other text, never left without an answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server_process import Client, end

from hippo_core.wire import whole

TEXTS = st.text(st.sampled_from('\ud800\udfff\udc00😀\\u"d8fF0/\n部') | st.characters(), max_size=30)


@given(TEXTS)
def test_only_halves_of_surrogate_pairs_are_replaced(text):
    sent = json.dumps({"text": text}).encode()
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # two halves that meet are a whole
    assert json.loads(whole(sent)) == {"text": "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)}
    assert whole(whole(sent)) == whole(sent)


@pytest.mark.parametrize("half", ["\ud83d", "\udfff", "\\\ud83d x", "\ud83d" * 1000])
def test_a_call_with_half_an_emoji_is_answered(tmp_path, paths, isolated, half):
    paths.home.mkdir()
    paths.config.write_text('{"embedder": "off"}', encoding="utf-8")
    client = Client(tmp_path)
    client.start()
    text, failed = client.call("memory_add", text=f"The port {half} is 9090.")
    assert not failed and "Stored" in text
    text, failed = client.call("memory_search", query=f"port {half} 9090")
    assert not failed and "9090" in text and "\ufffd" in text
    end(client)
