"""Whether the indexes hold what the rows say; what differs is reported and made again from the rows."""

from hippo_core.store import Store


def check_indexes(store: Store) -> list[str]:
    """Mend every index that differs from its rows; a line for each."""
    with store.reading():
        gaps = store.upkeep.gaps()
    lines = []
    for gap in gaps:
        with store.transaction():
            store.upkeep.mend(gap)
        lines.append(f"{gap.index}: {gap.missing} rows missing, {gap.stray} entries without a row; made again")
    return lines
