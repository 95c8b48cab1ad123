"""Forgetting: what would go with a memory, a message or a text, and taking all of it out of the data folder.

What goes: the thing itself, the messages a memory came from (they hold its words), every other row that holds the same
words, and the machine's memories derived from any message that goes. The client's own transcripts are not ours.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from hippo_core.curate.traces import clean_loose_files, files_holding, holding, logs_holding
from hippo_core.errors import StoreError, StoreLockedError, UsageError
from hippo_core.lock import one_at_a_time
from hippo_core.model.memory import Memory, memory_id, message_id, parse_id
from hippo_core.paths import Paths
from hippo_core.proactive.shown import drop as drop_shown
from hippo_core.snapshot.purge import held, kept_out, purge
from hippo_core.store import Store
from hippo_core.store.archive import Archived

PATIENCE = 10.0  # seconds to wait for a reader that holds back the log, or for a pass that is under way
# Bytes from which on a text is looked for in every other row. Below, it says too little of what is meant: "ok" would
# take "token" along. A message that is merely a memory's source needs more: "go on with the next step" says nothing.
_DISTINCT, _DISTINCT_SOURCE = 16, 40
_SHORTEST_QUERY = 3


class Why(Enum):
    """Why a row goes. A row that goes for several reasons has the first of them."""

    NAMED = "named"
    HOLDS = "holds the text that was asked for"
    REPEATS = "holds the same words as a row that goes"
    SOURCE = "a memory that goes was learned from it"
    LEARNED = "learned from a message that goes"


@dataclass(frozen=True)
class Doomed:
    """What would go, as rows in full, and why, by public id. texts: what must be nowhere afterwards.

    repeats: how many further rows hold a named text that is too short to take them along. thorough: the archive too.
    wordings: memories that stay, without an earlier wording that holds a text of what goes.
    """

    memories: tuple[Memory, ...]
    messages: tuple[Archived, ...]
    texts: tuple[str, ...]
    why: Mapping[str, Why]
    repeats: int = 0
    thorough: bool = True
    wordings: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        return not (self.memories or self.messages or self.wordings)

    @property
    def all_texts(self) -> tuple[str, ...]:
        """`texts`, and those of all rows that go, unless they are too short to mean anything elsewhere."""
        rows = (row.text for row in (*self.memories, *self.messages) if _bytes(row.text) >= _DISTINCT)
        return tuple(dict.fromkeys((*self.texts, *rows)))

    @property
    def because_of(self) -> dict[str, str]:
        """The row without which another one would stay, by the public id of that: its source, or what it is of."""
        messages = {message.uid: message.public_id for message in self.messages}
        found: dict[str, str] = {}
        for memory in self.memories:
            for message in (messages[uid] for uid in memory.sources if uid in messages):
                if self.why[memory.public_id] is Why.LEARNED:
                    found.setdefault(memory.public_id, message)
                elif self.why[message] is Why.SOURCE:
                    found.setdefault(message, memory.public_id)
        return found


@dataclass(frozen=True)
class Forgotten:
    """How much went. unfinished: why bytes of it may still be in the file, else None. wordings: as in `Doomed`.

    still_in: files of ours, and names of folders and projects, that hold the words and stay. transcripts: the client's
    own files that the messages came from.
    """

    memories: int
    messages: int
    unfinished: str | None
    still_in: tuple[str, ...]
    transcripts: tuple[str, ...]
    wordings: tuple[str, ...] = ()


def what_would_go(
    store: Store, ids: Sequence[str] = (), text: str | None = None, *, keep_archive: bool = False
) -> Doomed:
    """Everything that forgetting these ids, or all that holds `text`, takes along. keep_archive: memories alone.

    NotFoundError for an id that names nothing, UsageError for a text too short to mean anything.
    """
    with store.reading():
        memories, messages, texts, short = _named(store, ids, text)
        if keep_archive and messages:
            raise UsageError("An archived message cannot be forgotten and kept: leave out --keep-archive.")
        holding = Why.REPEATS if text is None else Why.HOLDS
        if not keep_archive:
            sources = store.archive.by_uid([uid for number in memories for uid in store.memories.get(number).sources])
            long_sources = [message.text for message in sources if _bytes(message.text) >= _DISTINCT_SOURCE]
            _mark(messages, [message.id for message in sources], Why.SOURCE)
            _mark(messages, store.forgetting.messages_holding((*texts, *long_sources)), holding)
        _mark(memories, store.forgetting.memories_holding(texts), holding)
        uids = [message.uid for message in store.forgetting.messages(sorted(messages))]
        _mark(memories, store.memories.from_messages(uids), Why.LEARNED)
        repeats = len(set(store.forgetting.memories_holding(short)) - memories.keys())
        repeats += len(set(store.forgetting.messages_holding(short)) - messages.keys())
        why = {memory_id(number): reason for number, reason in memories.items()}
        why |= {message_id(number): reason for number, reason in messages.items()}
        doomed = Doomed(
            tuple(store.forgetting.memories(sorted(memories))),
            tuple(store.forgetting.messages(sorted(messages))),
            tuple(texts),
            why,
            repeats,
            thorough=not keep_archive,
        )
        earlier = set(store.forgetting.wordings_holding(doomed.all_texts).values()) - memories.keys()
        return replace(doomed, wordings=tuple(map(memory_id, sorted(earlier))))


def copies(paths: Paths, texts: Sequence[str]) -> list[str]:
    """Where beside the store one of the texts is, that forgetting takes it out of: logs, snapshots."""
    logs = [str(file) for file in logs_holding(paths, texts)]
    with kept_out(paths, wait=PATIENCE):
        return [*logs, "earlier snapshots"] if held(paths, holding(texts)) else logs


def forget(store: Store, paths: Paths, doomed: Doomed) -> Forgotten:
    """Take all of it out of the store and the data folder. What a crash leaves undone, `finish` completes.

    VectorsUnavailableError, before anything is deleted, where vectors of it are out of reach.
    """
    memories, messages = [memory.id for memory in doomed.memories], [message.id for message in doomed.messages]
    # No pass may learn from what is just being forgotten, and no snapshot keep it.
    with one_at_a_time(paths, "ingest", wait=PATIENCE), kept_out(paths, wait=PATIENCE):
        with store.reading():
            store.vectors.require_for(memories)  # else files would be cleaned before the transaction fails
            transcripts = store.forgetting.source_files(messages)
        clean_loose_files(paths, doomed.texts)
        purge(paths, memories, holding(doomed.texts))
        with store.transaction():
            lasting = doomed.texts if doomed.thorough else ()
            store.forgetting.erase(memories, messages, earlier=doomed.all_texts, lasting=lasting)
        drop_shown(paths, memories)
        unfinished = finish(store, paths)
    still_in = tuple(_still_in(store, paths, doomed.texts))
    return Forgotten(len(memories), len(messages), unfinished, still_in, tuple(transcripts), doomed.wordings)


def finish(store: Store, paths: Paths, patience: float | None = None) -> str | None:
    """Complete a forget: what the hooks read, the file's freed space, its log. Does nothing when nothing is waiting.

    None when all is done; else a line that says why not. Any later command may call it again. patience: seconds to
    wait for other processes, PATIENCE when left out.
    """
    from hippo_core.render.refresh import refresh

    with store.reading():
        if not store.forgetting.unfinished:
            return None
    patience = PATIENCE if patience is None else patience
    try:
        with store.reading():
            refresh(store, paths)
        _retrying(store, store.forgetting.rewrite, patience)
        _retrying(store, store.forgetting.truncate_log, patience)
        with store.transaction():
            store.forgetting.finished()
    except StoreError as error:
        return (
            "It is gone from every search, but its bytes may still be in the data folder until the next hippo "
            f"command can rewrite it: {error}"
        )
    return None


def _mark(rows: dict[int, Why], numbers: Iterable[int], why: Why) -> None:
    for number in numbers:
        rows.setdefault(number, why)


def _named(
    store: Store, ids: Sequence[str], text: str | None
) -> tuple[dict[int, Why], dict[int, Why], list[str], list[str]]:
    """(memories, messages, texts to look for, texts too short to look for) that were asked for."""
    memories: dict[int, Why] = {}
    messages: dict[int, Why] = {}
    said: list[str] = []
    for public_id in ids:
        kind, number = parse_id(public_id)
        chosen, row = (
            (memories, store.memories.get(number)) if kind == "memory" else (messages, store.archive.get(number))
        )
        chosen[row.id] = Why.NAMED
        said.append(row.text)
    texts = [words for words in said if _bytes(words) >= _DISTINCT]
    short = [words for words in said if words not in texts]
    if text is not None:
        if _bytes(text.strip()) < _SHORTEST_QUERY:
            raise UsageError("Name at least three letters of what to forget; fewer would take nearly everything along.")
        texts.append(text.strip())
    return memories, messages, texts, short


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _retrying(store: Store, step: Callable[[], None], patience: float) -> None:
    """Do `step`, again and again while another process is in its way."""
    deadline = time.monotonic() + patience
    while True:
        try:
            with store.reading():
                return step()
        except StoreLockedError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(0.05)


def _still_in(store: Store, paths: Paths, texts: Iterable[str]) -> list[str]:
    """What holds one of the texts and stays all the same."""
    with store.reading():
        names = {name for text in texts for name in store.forgetting.names_holding(text)}
    return [*(str(file) for file in files_holding(paths, texts)), *sorted(names)]
