"""Whether the indexes hold what the rows say; what differs is reported and made again from the rows."""

from hippo_core.store import Store


def check_indexes(store: Store) -> list[str]:
    """Mend every index that differs from its rows; a line for each."""
    with store.reading():
        gaps = store.upkeep.gaps()
    lines = []
    for gap in gaps:
        what = f"{gap.index}: {gap.missing} rows missing, {gap.stray} entries without a row"
        if gap.is_of_vectors and not store.vectors.available:
            lines.append(f"{what}; left, because sqlite-vec is missing here")
            continue
        with store.transaction():
            store.upkeep.mend(gap)
        lines.append(f"{what}; made again")
    return lines
