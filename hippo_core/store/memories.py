"""The curated store: memories as rows, found by id, list, keyword. Every change raises the version and is journalled.

Knows nothing of ranking, decay or who may ask; it only refuses what must never happen.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from hippo_core import clock
from hippo_core.errors import FrozenMemoryError, NotFoundError, VersionConflictError
from hippo_core.model.memory import ACTIVE, RETIRED, SUPERSEDED, Draft, Memory, memory_id
from hippo_core.model.scope import Scope
from hippo_core.model.types import LADDER, Author, MemoryType, Tier
from hippo_core.project import blake2b
from hippo_core.store.vectors import Vectors
from hippo_core.store.words import Stems, known_words, match_expression, pairs, totals, word_matches

if TYPE_CHECKING:
    from hippo_core.store.frequencies import Plan

_COLUMNS = (
    "id, text, type, tier, author, scope, importance, confidence, pinned, always, domain, created_at, confirmed_at, "
    "valid_from, valid_until, seen, version, status, superseded_by"
)
_RESTORED = tuple(name for name in _COLUMNS.split(", ") if name not in ("id", "created_at", "version"))
_CHANGEABLE = {"text", "type", "tier", "scope", "importance", "confidence", "pinned", "always", "domain", "author"}
EXACT, PLAIN = "memory_exact", "memory_plain"
# From how many memories on a search by words is planned, and how many FTS5 may rank then, at some 1.3 µs each.
_PLANNED_FROM, _BUDGET = 20_000, 8_000


class Memories:
    def __init__(self, db: apsw.Connection, vectors: Vectors):
        self._db, self._vectors = db, vectors

    # -- writing: call inside Store.transaction() ------------------------------------------------------------------

    def ensure_scope(self, scope: Scope) -> None:
        self._db.execute(
            "INSERT INTO memory_scope VALUES (?, ?, ?, ?) ON CONFLICT(key) DO UPDATE SET label = excluded.label",
            (scope.key, scope.kind, scope.label, scope.identity),
        )

    def add(self, draft: Draft, actor: str) -> Memory:
        """Store a draft as a new memory. actor: who is journalled ("user", "distil", ..)."""
        now = clock.now()
        observed = now if draft.observed_at is None else draft.observed_at
        policy = LADDER[draft.type]
        row = (
            draft.text,
            pairs(draft.text),
            draft.scope,
            draft.type.value,
            (draft.tier or policy.tier).value,
            draft.author.value,
            policy.importance if draft.importance is None else draft.importance,
            draft.confidence,
            draft.pinned,
            draft.always,
            draft.domain,
            now,
            observed,
            observed,
            _digest(draft.text),
        )
        self._db.execute(
            "INSERT INTO memory(text, cjk, scope, type, tier, author, importance, confidence, pinned, always, domain, "
            "created_at, confirmed_at, valid_from, digest) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            row,
        )
        number = self._db.last_insert_rowid()
        self._add_sources(number, draft.sources)
        self._journal(actor, "add", number, None)
        return self.get(number)

    def update(self, number: int, version: int, actor: str, by: Author, **changes: object) -> Memory:
        """Change columns of a memory that still has `version`; else VersionConflictError.

        by: a machine may not touch a human's memory (FrozenMemoryError).
        """
        unknown = changes.keys() - _CHANGEABLE
        if unknown:
            raise TypeError(f"not a changeable column: {sorted(unknown)}")
        before = self._guarded(number, by)
        if "text" in changes:
            changes = {**changes, "cjk": pairs(str(changes["text"])), "digest": _digest(str(changes["text"]))}
        self._write(before, version, changes)
        if changes.keys() & {"text", "scope"}:
            self._vectors.drop(number)
        self._journal(actor, "update", number, before)
        return self.get(number)

    def reinforce(
        self, number: int, actor: str, sources: Sequence[str], observed_at: float, confidence: float
    ) -> Memory:
        """The same thing was said again: confirm it at `observed_at`, count it, keep its new sources."""
        before = self.get(number)
        changes = {
            "confirmed_at": max(before.confirmed_at, observed_at),
            "seen": before.seen + 1,
            "confidence": max(before.confidence, confidence),
        }
        self._write(before, before.version, changes)
        self._add_sources(number, sources)
        self._journal(actor, "reinforce", number, before)
        return self.get(number)

    def supersede(self, number: int, by_number: int, actor: str, by: Author, at: float) -> None:
        """`by_number` replaces `number`, which stays readable but is no longer found."""
        before = self._guarded(number, by)
        self._write(before, before.version, {"status": SUPERSEDED, "superseded_by": by_number, "valid_until": at})
        self._vectors.drop(number)
        self._journal(actor, "supersede", number, before)

    def retire(self, number: int, actor: str, by: Author, night: int | None = None) -> None:
        """Take a memory out of every search; it stays readable by its id. night: the one whose job does it."""
        before = self._guarded(number, by)
        self._write(before, before.version, {"status": RETIRED, "valid_until": clock.now()})
        self._vectors.drop(number)
        self._journal(actor, "retire", number, before, night)

    def restore(self, now: Memory, earlier: Mapping[str, Any], actor: str, action: str) -> None:
        """Give a memory the fields it had `earlier`, as its journal has them. Its version goes on."""
        text = earlier["text"]
        fields = {name: earlier[name] for name in _RESTORED}
        self._write(now, now.version, {**fields, "cjk": pairs(text), "digest": _digest(text)})
        self._vectors.drop(now.id)
        self._journal(actor, action, now.id, now)

    def note(self, number: int, actor: str, action: str) -> None:
        """Journal what happened to a memory without changing it."""
        self._journal(actor, action, number, None)

    def erase(self, numbers: Iterable[int]) -> int:
        """Delete memories, their vectors, sources and journal entries for good. Returns how many there were."""
        erased = 0
        for number in numbers:
            self._vectors.drop(number)
            self._db.execute("DELETE FROM journal WHERE memory_id = ?", (number,))
            self._db.execute("DELETE FROM memory WHERE id = ?", (number,))
            erased += self._db.changes()
        return erased

    # -- reading -----------------------------------------------------------------------------------------------------

    def get(self, number: int) -> Memory:
        found = self.fetch([number])
        if not found:
            raise NotFoundError(f"There is no memory {memory_id(number)}. See: hippo list")
        return found[number]

    def fetch(self, numbers: Sequence[int]) -> dict[int, Memory]:
        """The memories with these row numbers, by number; missing ones are left out."""
        marks = _marks(numbers)
        sources: dict[int, list[str]] = {}
        for number, uid in self._db.execute(
            f"SELECT memory_id, message_uid FROM memory_source WHERE memory_id IN ({marks})", tuple(numbers)
        ):
            sources.setdefault(number, []).append(uid)
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM memory WHERE id IN ({marks})", tuple(numbers))
        return {row[0]: _memory(row, tuple(sources.get(row[0], ()))) for row in rows}

    def texts(self, numbers: Sequence[int]) -> dict[int, str]:
        """The texts of these memories, by number."""
        return dict(self._db.execute(f"SELECT id, text FROM memory WHERE id IN ({_marks(numbers)})", tuple(numbers)))

    def select(
        self,
        *,
        scopes: Sequence[str] | None = None,
        types: Sequence[MemoryType] | None = None,
        author: Author | None = None,
        status: str | None = ACTIVE,
        witnessed: bool = False,
        limit: int | None = None,
    ) -> list[Memory]:
        """Memories that meet every condition given, newest confirmation first. Sources are left empty.

        witnessed: only a human's own, and those with messages behind them; not what an agent noted by itself.
        """
        where, values = ["1"], []
        if witnessed:
            where.append("(author = 'human' OR id IN (SELECT memory_id FROM memory_source))")
        for column, wanted in (("scope", scopes), ("type", types)):
            if wanted is not None:
                where.append(f"{column} IN ({_marks(wanted)})")
                values += [getattr(item, "value", item) for item in wanted]
        for column, value in (("author", author.value if author else None), ("status", status)):
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM memory WHERE {' AND '.join(where)} ORDER BY confirmed_at DESC, id DESC LIMIT ?",
            (*values, -1 if limit is None else limit),
        )
        return [_memory(row) for row in rows]

    def of_time(
        self,
        start: float | None,
        end: float | None,
        *,
        scopes: Sequence[str] | None,
        types: Sequence[MemoryType] | None = None,
        limit: int,
    ) -> list[int]:
        """Numbers of the active memories first said or last confirmed in [start, end), None for open; newest first."""
        span, where = (start or 0.0, end if end is not None else 1e12), "status = 'active'"
        values: list[object] = []
        for column, wanted in (("scope", scopes), ("type", types)):
            if wanted is not None:
                where += f" AND {column} IN ({_marks(wanted)})"
                values += [getattr(item, "value", item) for item in wanted]
        rows = self._db.execute(
            f"SELECT id FROM memory WHERE {where} AND (confirmed_at >= ? AND confirmed_at < ? OR valid_from >= ? AND "
            "valid_from < ?) ORDER BY confirmed_at DESC, id DESC LIMIT ?",
            (*values, *span, *span, limit),
        )
        return [number for (number,) in rows]

    def same_text(self, text: str, scope: str) -> Memory | None:
        """The active memory in `scope` that says `text` but for case and white space."""
        row = self._db.execute(
            f"SELECT {_COLUMNS} FROM memory WHERE digest = ? AND scope = ? AND status = 'active' ORDER BY id LIMIT 1",
            (_digest(text), scope),
        ).fetchone()
        return _memory(row) if row else None

    def replaced_by(self, number: int) -> list[Memory]:
        """The memories whose place `number` took, without their sources."""
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM memory WHERE superseded_by = ? ORDER BY id", (number,))
        return [_memory(row) for row in rows]

    def from_messages(self, uids: Iterable[str]) -> list[int]:
        """Numbers of the machine-written memories derived from any of these messages."""
        found: set[int] = set()
        for uid in uids:
            found.update(
                number
                for (number,) in self._db.execute(
                    "SELECT memory_id FROM memory_source JOIN memory ON id = memory_id "
                    "WHERE message_uid = ? AND author = 'machine'",
                    (uid,),
                )
            )
        return sorted(found)

    def keyword_hits(
        self,
        words: Iterable[str],
        *,
        index: str,
        scopes: Sequence[str] | None,
        types: Sequence[MemoryType] | None = None,
        limit: int,
    ) -> list[tuple[int, float]]:
        """(number, BM25) of the memories that hold any of `words`, best first. index: EXACT or PLAIN."""
        words = tuple(words)
        plan = self._plan(words, index, scopes) if types is None else None
        if plan is not None and plan.share is not None:
            from hippo_core.store.postings import ranked

            return ranked(
                self._db, index, plan.words, {"text cjk": 1.0}, scopes=scopes, share=plan.share, limit=limit,
                since=plan.since, texts=self.texts,
            )  # fmt: skip
        query = match_expression(words, scopes)
        if query is None:
            return []
        restriction, values = "", ()
        if types is not None:
            restriction = f"AND rowid IN (SELECT id FROM memory WHERE type IN ({_marks(types)}))"
            values = tuple(kind.value for kind in types)
        return self._db.execute(
            f"SELECT rowid, -rank FROM {index} WHERE {index} MATCH ? {restriction} ORDER BY rank LIMIT ?",
            (query, *values, limit),
        ).fetchall()

    def word_matches(
        self, words: Iterable[str], *, index: str, among: Sequence[int]
    ) -> list[tuple[int, frozenset[int]]]:
        """For each word: how many active memories hold it, and which of `among` do."""
        return word_matches(self._db, index, words, among)

    def knows(self, word: str) -> bool:
        """Whether any active memory holds a form of `word`."""
        query = match_expression([word], None)
        return self._db.execute(f"SELECT 1 FROM {PLAIN} WHERE {PLAIN} MATCH ? LIMIT 1", (query,)).fetchone() is not None

    def known_words(self, first_letter: str, lengths: range) -> list[tuple[str, int]]:
        """(word, how many active memories hold it) of the words that begin so and have one of these lengths."""
        return known_words(self._db, EXACT, first_letter, lengths)

    def count_active(self) -> int:
        """How many memories are active, as of the last commit."""
        return totals(self._db, PLAIN)[0]

    def scopes(self) -> dict[str, Scope]:
        """Every scope that was ever used, by key."""
        return {row[0]: Scope(*row) for row in self._db.execute("SELECT key, kind, label, identity FROM memory_scope")}

    def counts(self) -> list[tuple[str, str, str, int]]:
        """(scope, type, author, number) of the active memories."""
        return self._db.execute(
            "SELECT scope, type, author, count(*) FROM memory WHERE status = 'active' GROUP BY 1, 2, 3"
        ).fetchall()

    def fingerprints(self) -> dict[str, list[int]]:
        """For each scope, numbers that change whenever an active memory of it is added, changed or taken away."""
        rows = self._db.execute(
            "SELECT scope, count(*), max(id), sum(id), sum(version) FROM memory WHERE status = 'active' GROUP BY scope"
        )
        return {scope: numbers for scope, *numbers in rows}

    # -- inside ------------------------------------------------------------------------------------------------------

    def _plan(self, words: Sequence[str], index: str, scopes: Sequence[str] | None) -> "Plan | None":
        """How to look for `words` where very many memories are; None where FTS5 may rank whatever they match."""
        newest = self._db.execute("SELECT coalesce(max(id), 0) FROM memory").get
        if newest < _PLANNED_FROM:
            return None
        if scopes is None:
            inside = self.count_active()
        else:
            sql = f"SELECT count(*) FROM memory WHERE status = 'active' AND scope IN ({_marks(scopes)})"
            inside = self._db.execute(sql, tuple(scopes)).get
        if inside < _PLANNED_FROM:
            return None
        from hippo_core.store.frequencies import Extent, planned

        matches = word_matches(self._db, index, words, ())
        expected = {word: count for word, (count, _) in zip(words, matches, strict=True)}
        extent = Extent(inside, self.count_active(), newest, scopes is not None)
        return planned(expected, extent, _BUDGET, Stems(self._db))

    def _guarded(self, number: int, by: Author) -> Memory:
        memory = self.get(number)
        if memory.frozen and by is Author.MACHINE:
            raise FrozenMemoryError(f"{memory.public_id} was written by a human; no job may change it.")
        return memory

    def _write(self, before: Memory, version: int, changes: dict[str, object]) -> None:
        columns = ", ".join(f"{name} = ?" for name in changes)
        values = [getattr(value, "value", value) for value in changes.values()]
        self._db.execute(
            f"UPDATE memory SET {columns}, version = version + 1 WHERE id = ? AND version = ?",
            (*values, before.id, version),
        )
        if not self._db.changes():
            raise VersionConflictError(
                f"{before.public_id} was changed by somebody else (version {before.version}, not {version}). "
                "Nothing was written; read it again and repeat the change."
            )

    def _add_sources(self, number: int, uids: Iterable[str]) -> None:
        self._db.executemany("INSERT OR IGNORE INTO memory_source VALUES (?, ?)", [(number, uid) for uid in uids])

    def _journal(self, actor: str, action: str, number: int, before: Memory | None, night: int | None = None) -> None:
        state = None if before is None else json.dumps(before._asdict())
        self._db.execute(
            "INSERT INTO journal(at, actor, action, memory_id, before, night) VALUES (?, ?, ?, ?, ?, ?)",
            (clock.now(), actor, action, number, state, night),
        )


def _memory(row: Sequence, sources: tuple[str, ...] = ()) -> Memory:
    number, text, kind, tier, author, scope, importance, confidence, pinned, always, *rest = row
    return Memory(
        number, text, MemoryType(kind), Tier(tier), Author(author), scope, importance, confidence,
        bool(pinned), bool(always), *rest, sources,
    )  # fmt: skip


def _marks(values: Sequence) -> str:
    return ",".join("?" * len(values))


def _digest(text: str) -> bytes:
    folded = " ".join(text.casefold().split())
    return blake2b(folded.encode("utf-8", "surrogatepass"), digest_size=16).digest()
