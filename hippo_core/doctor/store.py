"""Checks of the store: the file, its indexes, what belongs to nothing, what is unfinished. Each check opens it.

A check takes the write lock where SQLite's own checks need it, and changes nothing unless it is asked to mend.
"""

from collections.abc import Iterator

from hippo_core.counting import counted
from hippo_core.doctor.base import Finding, Patient, ill, well
from hippo_core.errors import HippoError, StoreError
from hippo_core.record import installer
from hippo_core.store import Store
from hippo_core.store.upkeep import KEYWORD_INDEXES, Gap

INTEGRITY = "integrity"
_FIX = "hippo doctor --fix"


def opens(patient: Patient) -> Iterator[Finding]:
    try:
        yield well("store", f"opens: {_held(_open(patient))}")
    except StoreError as error:
        yield _unusable(patient, error)


def _held(store: Store) -> str:
    with store, store.reading():
        messages, sessions, _ = store.archive.counts()
        memories = store.memories.count_active()
    return f"{counted(memories, 'memory')}, {counted(messages, 'message')} of {counted(sessions, 'session')}"


def _unusable(patient: Patient, error: StoreError) -> Finding:
    """What cannot be opened for writing may still answer: on a read-only disk, or a full one."""
    try:
        held = _held(Store.open(patient.paths.store, readonly=True))
    except StoreError as unreadable:
        return ill("store", str(unreadable),
                   "Nothing can be searched or stored; the hooks go on with what was rendered.",
                   "see above; to make one anew: hippo ingest; hippo snapshot restore latest")  # fmt: skip
    return ill("store", f"{error} It can be read: {held}", "Searches work, nothing new is stored.", "see above")


def sound(patient: Patient) -> Iterator[Finding]:
    with _open(patient) as store, store.reading():
        said = [line for line in store.upkeep.damage() if not any(index in line for index in KEYWORD_INDEXES)]
    if not said:
        yield well(INTEGRITY, "SQLite finds no damage in the file")
        return
    told = f"SQLite finds damage: {said[0]}" + (f" (and {len(said) - 1} more)" if len(said) > 1 else "")
    if all("index" in line for line in said):
        yield ill(INTEGRITY, told, "Only an index is wrong; no memory is lost.", _FIX, lambda: _reindex(patient))
    else:
        yield damaged(patient, told)


def damaged(patient: Patient, told: str) -> Finding:
    """What no index explains. The transcripts give back what they still hold, a snapshot what the user wrote."""
    do = f"copy {patient.paths.store} away and delete it, then: hippo ingest; hippo snapshot restore latest"
    return ill(INTEGRITY, told, "Some of what was stored may be lost.", do)


def _reindex(patient: Patient) -> str:
    with _open(patient) as store:
        with store.transaction():
            store.upkeep.reindex()
    return "every index of the file was made anew"


def words(patient: Patient) -> Iterator[Finding]:
    """Every keyword index, word for word against the text it was made from."""
    with _open(patient) as store:
        unsound = []
        for index in KEYWORD_INDEXES:
            with store.transaction():
                if not store.upkeep.is_sound(index, against_rows=True):
                    unsound.append(index)
    if not unsound:
        yield well("keywords", f"{len(KEYWORD_INDEXES)} indexes hold every word of their text")
    else:
        yield ill(
            "keywords",
            f"not as the text says: {', '.join(unsound)}",
            "Searches may miss or show what they should not.",
            _FIX,
            lambda: _rebuild(patient, unsound),
        )


def _rebuild(patient: Patient, indexes: list[str]) -> str:
    with _open(patient) as store:
        for index in indexes:
            with store.transaction():
                store.upkeep.rebuild(index)
    return f"{', '.join(indexes)} made anew"


def in_step(patient: Patient) -> Iterator[Finding]:
    with _open(patient) as store, store.reading():
        gaps = store.upkeep.gaps()
    if not gaps:
        yield well("in step", "every index has exactly the rows it should")
        return
    told = "; ".join(f"{gap.index} lacks {counted(gap.missing, 'row')} and has {gap.stray} too many" for gap in gaps)
    yield ill("in step", told, "Searches miss these rows.", _FIX, lambda: _mend(patient, gaps))


def _mend(patient: Patient, gaps: list[Gap]) -> str:
    with _open(patient) as store:
        if any(gap.is_of_vectors for gap in gaps) and not store.vectors.available:
            gaps = [gap for gap in gaps if not gap.is_of_vectors]
        for gap in gaps:
            with store.transaction():
                store.upkeep.mend(gap)
    return f"{', '.join(gap.index for gap in gaps) or 'nothing'} mended"


def orphans(patient: Patient) -> Iterator[Finding]:
    with _open(patient) as store, store.reading():
        found, broken, door = store.upkeep.orphans(), store.upkeep.broken_references(), store.upkeep.open_door()
    if found or door:
        told = [f"{number:,} {name}" for name, number in found.items()] + ["an open door of the archive"] * door
        yield ill("orphans", f"{', '.join(told)} that belong to nothing", "They take room, and may hold old words.",
                  _FIX, lambda: _drop(patient))  # fmt: skip
    elif broken:
        yield ill("orphans", f"{counted(broken, 'reference')} to rows that are not there",
                  "Another program wrote into the file.", f"keep a copy of {patient.paths.store}")  # fmt: skip
    else:
        yield well("orphans", "no row without an owner")


def _drop(patient: Patient) -> str:
    with _open(patient) as store:
        with store.transaction():
            store.upkeep.shut_door()
            dropped = store.upkeep.drop_orphans()
        if store.vectors.available:
            for gap in store.upkeep.gaps():
                with store.transaction():
                    store.upkeep.mend(gap)
    return "dropped " + (", ".join(f"{number:,} {name}" for name, number in dropped.items()) or "nothing but the door")


def forgotten(patient: Patient) -> Iterator[Finding]:
    with _open(patient) as store, store.reading():
        unfinished = store.forgetting.unfinished
    if unfinished:
        yield ill("forgetting", "a forget is not finished", "Bytes of it may still be in the file.", _FIX,
                  lambda: _finish(patient))  # fmt: skip
    else:
        yield well("forgetting", "nothing forgotten is left in the file")


def _finish(patient: Patient) -> str:
    from hippo_core.curate.forget import finish

    with _open(patient) as store:
        return finish(store, patient.paths) or "the file was written anew without it"


def transcripts(patient: Patient) -> Iterator[Finding]:
    with _open(patient) as store, store.reading():
        sources = store.progress.sources().values()
    failed = [source for source in sources if source.error]
    if failed:
        aside = sum(source.set_aside for source in failed)
        yield ill(
            "transcripts",
            f"{counted(len(failed), 'file')} could not be read ({aside} set aside): {failed[0].error}",
            "What was said there is not in the archive.",
            "when the cause is gone: hippo ingest --retry",
        )
    else:
        yield well("transcripts", f"{counted(len(sources), 'file')} read, none failed")


def embedder(patient: Patient) -> Iterator[Finding]:
    """Whether the model loads and embeds, and whether every memory has its vectors."""
    from hippo_core.embed.choose import open_embedder

    if patient.config.embedder == "off":
        yield well("meaning", "search by meaning is switched off")
        return
    try:
        model = open_embedder(patient.config)
        if patient.config.embedder == "local":  # another one is paid for each question, so it is not asked
            model.embed(["a question"])
    except HippoError as error:
        do = f"mend it, or choose another embedder in {patient.paths.config}: local, openai or off"
        of_ours = patient.config.embedder == "local"
        yield ill("meaning", str(error), "Searches go by keywords alone.", installer() if of_ours else do)
        return
    with _open(patient) as store, store.reading():
        if not store.vectors.available:
            yield ill("meaning", "the vector extension (sqlite-vec) cannot be loaded", "Searches go by keywords alone.",
                      installer())  # fmt: skip
            return
        waiting = len(store.vectors.pending(model.fingerprint, -1))
    if waiting:
        local = patient.config.embedder == "local"
        yield ill("meaning", f"{counted(waiting, 'memory')} without vectors", "Only keywords find them.",
                  _FIX if local else "hippo ingest", (lambda: _embed(patient)) if local else None)  # fmt: skip
    else:
        yield well("meaning", f"{patient.config.embedder} model loads, every memory has its vectors")


def _embed(patient: Patient) -> str:
    from hippo_core.embed.choose import open_embedder
    from hippo_core.ingest.embed import embed_pending

    with _open(patient) as store:
        return f"{counted(embed_pending(store, open_embedder(patient.config)), 'memory')} embedded"


def _open(patient: Patient) -> Store:
    return Store.open(patient.paths.store, create=False)
