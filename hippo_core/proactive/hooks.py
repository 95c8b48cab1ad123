"""What the client's hooks get from the running tool server: notes for a prompt, and for a sub-agent's task.

Answers are a hook's output as JSON, or nothing. A turn waits for them, so they come within a bound or not at all, never
load the model themselves, send nothing anywhere, and whatever goes wrong says nothing. Knows no MCP.
"""

import contextlib
import json
import threading
import time
from collections.abc import Callable
from typing import Any

from hippo_core import config as settings
from hippo_core.config import Config
from hippo_core.embed.base import Embedder
from hippo_core.model.scope import GLOBAL, scope_of
from hippo_core.paths import Paths
from hippo_core.proactive import shown
from hippo_core.proactive.notes import MOST_A_TURN, MOST_FOR_AN_AGENT, Notes, for_agent, for_prompt, numbers_in
from hippo_core.proactive.prompt import question_in
from hippo_core.recall.pipeline import Result, recall
from hippo_core.spool import note_shown
from hippo_core.store.reader import Reader

PATIENCE = 0.3  # seconds that a turn may wait
AGENT_PATIENCE = 1.0  # seconds that the start of a sub-agent may wait; it takes longer by itself
AGENT_TOKENS = 128  # of its task, which is longer than what a person types
_SPARE = 4  # results beyond those that may be shown, for what was shown already


class Unasked:
    """Notes for one client. embedder_for: the embedder that the settings name, opened but perhaps not loaded."""

    def __init__(self, paths: Paths, folder: str, embedder_for: Callable[[Config], Embedder | None]):
        self._paths, self._folder, self._embedder_for = paths, folder, embedder_for
        self._reader = Reader(paths.store)  # its own: a long search must not hold up a turn
        self._working = threading.Lock()
        self._loading = threading.Lock()
        self._session = ""

    def hook_prompt(self, prompt: str = "", session_id: str = "") -> str:
        """For the UserPromptSubmit hook."""
        self._session = session_id or self._session
        notes = self._in_time(lambda: self._for_prompt(prompt, session_id), PATIENCE)
        if not notes or not notes.text or not shown.note(self._paths, session_id, notes.numbers, notes.tokens):
            return ""
        note_shown(self._paths, notes.numbers)
        return _output("UserPromptSubmit", additionalContext=notes.text)

    def hook_agent(self, tool_input: str = "", session_id: str = "") -> str:
        """For the PreToolUse hook of the tool that starts a sub-agent: its input, its prompt extended."""
        task = _task(tool_input)
        notes = task and self._in_time(lambda: self._for_agent(task["prompt"]), AGENT_PATIENCE)
        if not task or not notes or not notes.text:
            return ""
        note_shown(self._paths, notes.numbers)
        return _output("PreToolUse", updatedInput={**task, "prompt": f"{task['prompt']}\n\n{notes.text}"})

    def answered(self, numbers: list[int]) -> None:
        """The agent asked and was shown these: they need not be shown to this session again."""
        if self._session and numbers:
            shown.note(self._paths, self._session, numbers, 0)

    def load(self) -> None:
        """Load the local model if it will be needed; whatever goes wrong, words are what there is."""
        with contextlib.suppress(Exception):
            config = settings.load(self._paths)
            embedder = self._embedder_for(config) if config.proactive and config.embedder == "local" else None
            if embedder is None or not self._loading.acquire(blocking=False):
                return
            try:
                with self._reader.store() as store:
                    wanted = store.vectors.available and store.vectors.has(embedder.fingerprint)
                if wanted:
                    embedder.load(unpacked=True)
            finally:
                self._loading.release()

    def _for_prompt(self, prompt: str, session: str) -> Notes | None:
        config, question = settings.load(self._paths), question_in(prompt)
        if not config.proactive or question is None:
            return None
        told = shown.shown_in(self._paths, session)
        if told is None:
            return None
        briefed = self._briefed("project")
        if not told.numbers:
            shown.remove_old(self._paths)
            if briefed:
                shown.note(self._paths, session, briefed, 0)  # that block changes as other sessions end
        results = self._recall(question, MOST_A_TURN + _SPARE + len(told.numbers), config)
        return for_prompt(results, told.numbers | briefed, told.tokens)

    def _for_agent(self, prompt: str) -> Notes | None:
        config, question = settings.load(self._paths), question_in(prompt, AGENT_TOKENS)
        if not config.proactive or question is None:
            return None
        return for_agent(self._recall(question, MOST_FOR_AN_AGENT + _SPARE, config), self._briefed("agent"))

    def _recall(self, question: str, most: int, config: Config) -> list[Result]:
        """Of this project and what is global alone: what nobody asked for must not come from other projects."""
        scopes = [scope_of(self._folder).key, GLOBAL]
        with self._reader.store() as store:
            embedder = self._warm(config)
            return recall(store, question, embedder=embedder, scopes=scopes, k=most, config=config).results

    def _briefed(self, kind: str) -> set[int]:
        """The memories in the block that a session, or a sub-agent, of this project starts with."""
        folder = self._paths.render / kind
        for name in (scope_of(self._folder).key, "default"):
            with contextlib.suppress(OSError):
                return numbers_in((folder / f"{name}.json").read_text(encoding="utf-8"))
        return set()

    def _warm(self, config: Config) -> Embedder | None:
        """The local model if it is loaded; else it is being loaded from now on. A service is not asked unasked."""
        if config.embedder != "local":
            return None
        embedder = self._embedder_for(config)
        if embedder is None or getattr(embedder, "loaded", False):
            return embedder
        threading.Thread(target=self.load, daemon=True).start()
        return None

    def _in_time(self, work: Callable[[], Notes | None], seconds: float) -> Notes | None:
        """What `work` gives, None when it fails or takes longer; then it ends by itself, and nobody waits for it."""
        deadline = time.monotonic() + seconds
        if not self._working.acquire(timeout=seconds):
            return None
        done: list[Notes | None] = []

        def run() -> None:
            try:
                with contextlib.suppress(Exception):
                    done.append(work())
            finally:
                self._working.release()

        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        worker.join(max(0.0, deadline - time.monotonic()))
        return done[0] if done else None


def _task(tool_input: str) -> dict[str, Any] | None:
    """The input of the tool that starts a sub-agent; None for anything else."""
    try:
        task = json.loads(tool_input)
    except (ValueError, RecursionError):
        return None
    return task if isinstance(task, dict) and isinstance(task.get("prompt"), str) else None


def _output(event: str, **fields: Any) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}}, ensure_ascii=False)
