"""Eight processes on one store at once: what each does, and what must hold when they are done.

Run as a program it is one of them: `crowd.py ROLE NUMBER HOME TRANSCRIPTS SECONDS`; it prints what it did as JSON.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from hardship import session_lines  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.curate.remember import remember  # noqa: E402
from hippo_core.dream.run import dream  # noqa: E402
from hippo_core.errors import BusyError  # noqa: E402
from hippo_core.ingest.run import run_pass  # noqa: E402
from hippo_core.model.scope import GLOBAL_SCOPE  # noqa: E402
from hippo_core.model.types import Author, MemoryType  # noqa: E402
from hippo_core.paths import Paths  # noqa: E402
from hippo_core.recall.archive import search_archive  # noqa: E402
from hippo_core.recall.pipeline import recall  # noqa: E402
from hippo_core.spool import note_shown  # noqa: E402
from hippo_core.store import Store  # noqa: E402

ROLES = ("ingest", "ingest", "recall", "recall", "recall", "add", "add", "dream")


def run_crowd(home: Path, transcripts: Path, seconds: float) -> list[dict]:
    """Let all eight work for so long; what each did. A pass over what they wrote comes last."""
    Store.open(Paths(home).store).close()
    crowd = [
        subprocess.Popen(
            [sys.executable, __file__, role, str(number), str(home), str(transcripts), str(seconds)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number, role in enumerate(ROLES)
    ]
    done = []
    for process in crowd:
        output, complaint = process.communicate()
        done.append(json.loads(output) if process.returncode == 0 else {"errors": [complaint.decode()[-2_000:]]})
    run_pass(Paths(home), roots=[transcripts], embed=False, unfinished=True)
    return done


def what_is_wrong(home: Path, done: list[dict]) -> list[str]:
    """What was lost, doubled, damaged or complained about; empty when all is well."""
    wrong = [error for one in done for error in one["errors"]]
    with Store.open(Paths(home).store) as store:
        wrong += store.upkeep.damage() + [str(gap) for gap in store.upkeep.gaps()]
        written = {text for one in done for text in one.get("said", ())}
        archived = [text for (text,) in store._db.execute("SELECT text FROM message WHERE role = 'user'")]
        wrong += [f"{len(written - set(archived))} messages lost"] * bool(written - set(archived))
        wrong += [f"{len(archived) - len(set(archived))} messages doubled"] * (len(archived) != len(set(archived)))
        added = {text for one in done for text in one.get("added", ())}
        kept = [memory.text for memory in store.memories.select(author=Author.HUMAN)]
        wrong += [f"{len(added - set(kept))} memories lost"] * bool(added - set(kept))
        wrong += [f"{len(kept) - len(set(kept))} memories doubled"] * (len(kept) != len(set(kept)))
    return wrong


class _Worker:
    def __init__(self, number: int, home: Path, transcripts: Path):
        self.number, self.paths, self.transcripts = number, Paths(home), transcripts
        self.turn = 0
        self.said: list[str] = []
        self.added: list[str] = []
        self.errors: list[str] = []

    def ingest(self) -> None:
        session = f"{self.number:08d}-0000-4000-8000-{self.turn // 20:012d}"
        file = self.transcripts / f"project{self.number}" / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        data = session_lines(
            session,
            1,
            about=f"part {self.number} of {self.turn}",
            place=f"project{self.turn % 9}",
            begin=self.turn % 20 * 3,
        )
        with file.open("ab") as stream:
            stream.write(data)
        self.said.append(json.loads(data.splitlines()[0])["message"]["content"])
        try:
            run_pass(self.paths, roots=[self.transcripts], embed=False, unfinished=True)
        except BusyError:
            time.sleep(0.01)  # whoever is at work, or the next pass, takes it in

    def recall(self) -> None:
        with Store.open(self.paths.store, readonly=True) as store:
            found = recall(store, f"which library was decided on for part {self.turn % 50}", embedder=None, scopes=None,
                           config=Config())  # fmt: skip
            search_archive(store, f"worker listens {self.turn % 50}", scopes=None)
        note_shown(self.paths, [result.memory.id for result in found.results])

    def add(self) -> None:
        text = f"Gate {self.number} of deploy {self.turn} is opened by hand."
        with Store.open(self.paths.store) as store:
            remember(
                store, self.paths, text, type=MemoryType.FACT, scope=GLOBAL_SCOPE, author=Author.HUMAN, actor="user"
            )
        self.added.append(text)

    def dream(self) -> None:
        dream(self.paths)
        time.sleep(0.2)

    def work(self, task: Callable[[], None], seconds: float) -> dict:
        end = time.monotonic() + seconds
        while time.monotonic() < end and len(self.errors) < 5:
            try:
                task()
            except Exception as error:
                self.errors.append(f"{task.__name__}: {type(error).__name__}: {error}")
            self.turn += 1
        return {
            "role": task.__name__,
            "turns": self.turn,
            "said": self.said,
            "added": self.added,
            "errors": self.errors,
        }


if __name__ == "__main__":
    role, number, home, transcripts, seconds = sys.argv[1:]
    worker = _Worker(int(number), Path(home), Path(transcripts))
    print(json.dumps(worker.work(getattr(worker, role), float(seconds))))
