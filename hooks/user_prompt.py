"""UserPromptSubmit: the nudge, and the reflexes: literal words in the prompt that tell which rules apply.

A reflex speaks once a session and compaction; what it said is kept in run/reflexes/<session id>.
"""

import os
import sys

_EVENT = b"UserPromptSubmit"
_LONGEST = 100_000  # bytes of a prompt that are searched; more than that is pasted material
_MOST = 3  # reflexes in one turn


def main(data):
    event = hippo_hook.read_event()
    prompt = hippo_hook.field(event, b"prompt")
    if data is None or prompt.startswith(b"<task-notification>") or not hippo_hook.has_store(data):
        return b""
    nudge = hippo_hook.context_text(_EVENT, hippo_hook.read(data, "render", "nudge.json"))
    lines = [nudge] if nudge else []
    reflexes = hippo_hook.read(data, "render", "reflexes.tsv")
    if reflexes:
        lines += _reflexes(reflexes, prompt[:_LONGEST], data, hippo_hook.session_of(event))
    text = b"\\n".join(lines)
    return hippo_hook.context(_EVENT, text) if text else b""


def _reflexes(reflexes, prompt, data, session):
    """The lines of whose words one stands in the prompt and that this session has not seen yet."""
    text = prompt.replace(b"\\\\", b"  ").replace(b"\\n", b"  ").replace(b"\\t", b"  ").replace(b"\\r", b"  ").lower()
    hits = []
    for row in reflexes.split(b"\n"):
        *words, document = row.split(b"\t")
        if any(word and _mentions(text, word) for word in words):
            hits.append((words[0], hippo_hook.context_text(_EVENT, document + b"\n")))
    if not hits or not session:
        return []
    folder = os.path.join(data, "run", "reflexes")
    seen = hippo_hook.read(folder, session).split(b"\n")
    new = [(domain, line) for domain, line in hits if line and domain not in seen][:_MOST]
    return [line for _, line in new] if new and _note(folder, session, new) else []


def _note(folder, session, new):
    """Write down what the session is told now. False when that fails: then it would be told at every turn."""
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, session), "ab") as file:
            file.write(b"".join(domain + b"\n" for domain, _ in new))
    except OSError:
        return False
    return True


def _mentions(text, word):
    """Whether `word` stands in `text` as a word; scripts without spaces end a word as a space does."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_joined(text[at - 1 : at], word[:1]) or _joined(word[-1:], text[end : end + 1])):
            return True
        at = text.find(word, at + 1)
    return False


def _joined(left, right):
    return (left.isalnum() or left == b"_") and (right.isalnum() or right == b"_")


if not os.environ.get("HIPPO_CHILD"):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import hippo_hook

    hippo_hook.run(main)
