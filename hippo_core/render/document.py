"""The bytes a hook prints. Its shape is fixed, so that a hook can check it without parsing: see hooks/hippo_hook.py."""

_ESCAPES = {**dict.fromkeys(range(32), " "), ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n"}


def context_document(event: str, text: str) -> bytes:
    """Complete hook output that puts `text` before the model; b"" for no text.

    Only a backslash, a quote and a line break are escaped; any other control character becomes a space.
    """
    if not text:
        return b""
    plain = text.translate(_ESCAPES)
    document = f'{{"hookSpecificOutput":{{"hookEventName":"{event}","additionalContext":"{plain}"}}}}\n'
    return document.encode("utf-8", "replace")
