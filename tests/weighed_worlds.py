"""Small made-up stores, the same for the same seed, in which what answers comes first only while the weights are right.

Every thing has two made-up names. The embedder knows that both mean it, keywords do not; so it can be chosen for each
question whether words or meaning tell the answer, and what misleads.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

from hippo_core.clock import DAY
from hippo_core.ingest.embed import embed_pending
from hippo_core.ingest.embed_archive import embed_archive
from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store

SEED, TIMES = 11, 3  # TIMES: questions of each kind
NOW = 1_783_000_000.0
DIMENSION = 96
_SYLLABLES = "ba do fi gu ka le mo nu pe ri so tu va we zo".split()

Thing = tuple[str, str]


class Question(NamedTuple):
    kind: str
    text: str
    answer: int | str  # number of the memory, or the session
    by_meaning: bool = True


class Names:
    """Things that were not named before, and the embedder's knowledge of them all."""

    fingerprint, dimension = "two names", DIMENSION

    def __init__(self, chance: random.Random):
        self._chance, self._of, self._count = chance, {}, 0

    def things(self, count: int) -> list[Thing]:
        made = []
        while len(made) < count:
            pair = tuple("".join(self._chance.choices(_SYLLABLES, k=4)) for _ in range(2))
            if len({*pair, *self._of}) == len(self._of) + 2:
                self._of |= dict.fromkeys(pair, self._count)
                self._count += 1
                made.append(pair)
        return made

    def others(self, count: int) -> str:
        """Words about something else."""
        return " ".join(name for name, _ in self.things(count))

    def pieces(self, text: str) -> list[str]:
        return [text]

    def embed(self, texts: Sequence[str]):
        import numpy

        rows = numpy.zeros((len(texts), DIMENSION), "float32")
        for row, text in zip(rows, texts, strict=True):
            for thing in {self._of[word] for word in text.lower().replace(".", " ").split() if word in self._of}:
                row += numpy.random.default_rng(thing).normal(size=DIMENSION)
            if not row.any():
                row[0] = 1
        return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


class Memories:
    """Memories, and questions each of a kind that another channel decides."""

    def __init__(self, store: Store):
        self.store, self.questions = store, []
        self.names = Names(random.Random(SEED))
        with store.transaction():
            store.memories.ensure_scope(GLOBAL_SCOPE)
            for number in range(TIMES):
                self._told_by_words()
                self._told_by_meaning()
                self._named_in_passing(f"core_{number}_app.py")
                self._spelled(number)
                self._of_last_week()
                self._in_a_quiet_week()
        embed_pending(store, self.names)

    def _remember(self, text: str, days_ago: float = 100.0) -> int:
        draft = Draft(text, MemoryType.FACT, GLOBAL, Author.MACHINE, observed_at=NOW - days_ago * DAY)
        return self.store.memories.add(draft, "test").id

    def _ask(self, kind: str, text: str, answer: int) -> None:
        self.questions.append(Question(kind, text, answer))

    def _told_by_words(self) -> None:
        """The answer has the question's words among much else; others mean the same and have none."""
        (a, x), (b, y), (c, z) = self.names.things(3)
        answer = self._remember(f"{a} {b} {c} {self.names.others(5)}")
        for pair in (f"{x} {y}", f"{y} {z}", f"{x} {z}"):
            self._remember(f"{pair} {self.names.others(1)}")
        self._ask("words", f"{a} {b} {c}", answer)

    def _told_by_meaning(self) -> None:
        """The answer means all of it and has one of the words; others have two words among much else."""
        (a, _), (b, y), (c, z) = self.names.things(3)
        answer = self._remember(f"{a} {y} {z}")
        for _ in range(5):
            self._remember(f"{y} {z} {self.names.others(1)}")
        for pair in (f"{a} {b}", f"{b} {c}"):
            self._remember(f"{pair} {self.names.others(7)}")
        self._ask("meaning", f"{a} {b} {c}", answer)

    def _named_in_passing(self, file: str) -> None:
        """The question names a file that many memories name; the answer is not one of them."""
        (a, _), (b, _) = self.names.things(2)
        for _ in range(8):
            self._remember(f"{file} {self.names.others(4)}")
        self._ask("named in passing", f"{a} {b} {file}", self._remember(f"{a} {b}"))

    def _spelled(self, number: int) -> None:
        """The answer spells the name as the question does; another has its parts, in fewer words."""
        ((a, _),) = self.names.things(1)
        self._remember(f"{a} retry limit{number}")
        self._ask("spelled", f"{a} retry_limit{number}", self._remember(f"{a} is retry_limit{number} {a}"))

    def _of_last_week(self) -> None:
        """Of two that fit the same one is of last week, as is something newer that fits less."""
        (a, _), (b, _), (c, _) = self.names.things(3)
        self._remember(f"{c} {b} {a}", 60)
        answer = self._remember(f"{a} {b} {c}", 7)
        self._remember(f"{a} {self.names.others(3)}", 5.5)
        self._ask("of last week", f"{a} {b} {c} last week", answer)

    def _in_a_quiet_week(self) -> None:
        """All that fits better, and there is very much of it, is of another time."""
        (a, _), (b, _), (c, _) = self.names.things(3)
        for _ in range(60):
            self._remember(f"{a} {b} {c} {a} {b} {c}", 200)
        answer = self._remember(f"{a} {b} {c} {self.names.others(2)}", 37)
        self._ask("in a quiet week", f"{a} {b} {c} five weeks ago", answer)


class Sessions:
    """What was said, and questions each of a kind that another list decides."""

    def __init__(self, store: Store):
        self.store, self.questions, self._said = store, [], 0
        self.names = Names(random.Random(SEED))
        with store.transaction():
            for number in range(TIMES):
                self._said_by_the_user(number)
                self._in_one_turn(number)
                self._over_many_turns(number)
                self._meant_by_the_user(number)
                self._meant_in_a_reply(number)
        embed_archive(store, self.names, None, share=1.0)

    def _say(self, session: str, *texts: str, role: Role = Role.USER) -> None:
        source = self.store.progress.begin_source(f"/{session}.jsonl")
        for text in texts:
            self._said += 1
            message = Message(f"u{self._said}", session, role, text, NOW - 9e6 + self._said, "/srv", self._said)
            self.store.archive.append(message, scope=GLOBAL_SCOPE, source_id=source.id)

    def _ask(self, kind: str, text: str, answer: str, by_meaning: bool) -> None:
        self.questions.append(Question(kind, text, answer, by_meaning))

    def _said_by_the_user(self, number: int) -> None:
        """The user said some of it in a long session; the agent all of it."""
        (a, _), (b, _), (c, _) = self.names.things(3)
        self._say(f"agent {number}", f"{a} {b} {c}", role=Role.ASSISTANT)
        self._say(f"user {number}", f"{a} {b} {self.names.others(1)}")
        self._say(f"user {number}", *(self.names.others(12) for _ in range(6)), role=Role.ASSISTANT)
        self._ask("by the user", f"{a} {b} {c}", f"user {number}", by_meaning=True)

    def _in_one_turn(self, number: int) -> None:
        """Both sessions hold all of it, one in one turn, the other more often."""
        (a, _), (b, _), (c, _) = self.names.things(3)
        for word in (a, b, c) * 3:
            self._say(f"scattered {number}", f"{word} {self.names.others(1)}")
        self._say(
            f"together {number}", f"{a} {b} {c} {self.names.others(3)}", *(self.names.others(9) for _ in range(3))
        )
        self._ask("in one turn", f"{a} {b} {c}", f"together {number}", by_meaning=False)

    def _over_many_turns(self, number: int) -> None:
        """The user said all of it, turn by turn; the agent more of it in one."""
        (a, _), (b, _), (c, _) = self.names.things(3)
        for word in (a, b, c):
            self._say(f"whole {number}", f"{word} {self.names.others(2)}")
        self._say(
            f"half {number}", f"{a} {b} {self.names.others(1)}", f"{c} {self.names.others(2)}", role=Role.ASSISTANT
        )
        self._ask("over many turns", f"{a} {b} {c}", f"whole {number}", by_meaning=False)

    def _meant_by_the_user(self, number: int) -> None:
        """The user said it in other words; in another session some of its words stand amid much else."""
        (a, _), (b, y), (c, z) = self.names.things(3)
        self._say(f"named {number}", f"{a} {b} {self.names.others(12)}")
        self._say(f"meant {number}", f"{a} {y} {z}")
        self._ask("meant by the user", f"{a} {b} {c}", f"meant {number}", by_meaning=True)

    def _meant_in_a_reply(self, number: int) -> None:
        """Two replies hold the same words of it; one also means the rest."""
        (a, _), (b, _), (c, z) = self.names.things(3)
        self._say(f"other {number}", f"{a} {b} {self.names.others(2)}", role=Role.ASSISTANT)
        self._say(f"reply {number}", f"{a} {b} {z} {self.names.others(1)}", role=Role.ASSISTANT)
        self._ask("meant in a reply", f"{a} {b} {c}", f"reply {number}", by_meaning=True)
