#!/usr/bin/env python3
"""What the offline distiller finds, and how long it takes.

    python benchmarks/distill.py
    HIPPO_SAMPLES=DIR python benchmarks/distill.py --show

Printed: precision and recall on the labelled sessions of the tests: those the cues were developed on, those held out,
longer ones, those for the joining steps, messy ones in several languages, and the last; and how many memories the
longer ones yield. With HIPPO_SAMPLES also how many
memories real sessions yield and the processor time of the distiller alone; --show prints each memory. Exits with 1
when a published figure is lost (published.py).
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import published  # noqa: E402
from labelled_sessions import memories_per_session, precision_and_recall  # noqa: E402
from labelled_sessions_developed import DEVELOPED  # noqa: E402
from labelled_sessions_fresh import FRESH  # noqa: E402
from labelled_sessions_held_out import HELD_OUT  # noqa: E402
from labelled_sessions_last import LAST  # noqa: E402
from labelled_sessions_long import LONG  # noqa: E402
from labelled_sessions_messy import MESSY  # noqa: E402
from labelled_sessions_messy_unseen import MESSY_UNSEEN  # noqa: E402
from labelled_sessions_unseen import UNSEEN  # noqa: E402

from hippo_core.distill.base import SessionText  # noqa: E402
from hippo_core.distill.offline import OfflineDistiller  # noqa: E402
from hippo_core.ingest.archive import archive_files  # noqa: E402
from hippo_core.model.message import Role  # noqa: E402
from hippo_core.store import Store  # noqa: E402
from hippo_core.transcripts.discover import transcript_files  # noqa: E402


def real_sessions(samples: Path) -> list[SessionText]:
    """Every session below `samples`, as the distiller gets it."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "memory.db") as store:
        archive_files(store, transcript_files(samples))
        projects = store.archive.projects()
        sessions = []
        for session_id in store.progress.undistilled(None):
            messages = store.archive.session(session_id)
            project = projects.get(messages[0].scope)
            sessions.append(SessionText(session_id, messages[0].scope, project.label if project else "", messages))
    return sessions


def measure(sessions: list[SessionText], show: bool) -> None:
    distiller, counts = OfflineDistiller(), []
    began = time.process_time()
    distilled = [distiller.distill(session) for session in sessions]
    seconds = time.process_time() - began
    for session, drafts in zip(sessions, distilled, strict=True):
        counts.append(len(drafts))
        if show and drafts:
            print(f"\n{session.session_id[:8]}  {session.project}, {len(session.messages)} messages")
            for draft in drafts:
                print(f"  {draft.type.value:<12} {draft.confidence:.2f} {draft.scope[0]}  {draft.text}")
    megabytes = sum(len(message.text) for session in sessions for message in session.messages) / 1e6
    spoken = [count for session, count in zip(sessions, counts, strict=True) if _turns(session) >= 10]
    print(f"\n{len(sessions)} real sessions, {sum(counts)} memories, {counts.count(0)} sessions without any")
    if spoken:
        some = [count for count in spoken if count]
        print(f"  {len(spoken)} with ten messages or more: {statistics.mean(spoken):.1f} memories on average", end="")
        print(f", {statistics.mean(some):.1f} in the {len(some)} with any" if some else "")
    print(f"  {seconds * 1000:.0f} ms of processor time for {megabytes:.2f} MB of talk")


def _turns(session: SessionText) -> int:
    return sum(message.role in (Role.USER, Role.ASSISTANT) for message in session.messages)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--show", action="store_true", help="print every memory taken from real sessions")
    show = options.parse_args().show
    found = {}
    for name, labelled in (
        ("developed on", DEVELOPED),
        ("held out", HELD_OUT),
        ("longer", LONG),
        ("joined", UNSEEN),
        ("messy", MESSY),
        ("messy, unseen", MESSY_UNSEEN),
        ("fresh", FRESH),
        ("last", LAST),
    ):
        precision, recall = precision_and_recall(labelled)
        found |= {(name, "precision"): precision, (name, "recall"): recall}
        print(f"{len(labelled):>3} sessions {name:<13} precision {precision:.2f}  recall {recall:.2f}")
    average = memories_per_session(LONG + UNSEEN + MESSY + MESSY_UNSEEN + FRESH + LAST)
    print(f"    of those with ten messages or more: {average:.1f} memories on average")
    samples = os.environ.get("HIPPO_SAMPLES")
    if samples:
        measure(real_sessions(Path(samples)), show)
    else:
        print("HIPPO_SAMPLES is not set: it names a folder of transcripts to look at as well.")
    return published.held("distill", found)


if __name__ == "__main__":
    sys.exit(main())
