"""Many rows in one statement. Knows nothing of tables."""

from collections.abc import Iterable
from itertools import chain

import apsw


def insert_rows(db: apsw.Connection, insert: str, rows: Iterable[tuple]) -> None:
    """Run `insert` (up to its VALUES) with all `rows` at once, each of the same length; nothing where there are none.

    SQLite's executemany is a statement for each row, and a statement is what triggers and indexes pay for.
    """
    rows = list(rows)
    if rows:
        row = f"({','.join('?' * len(rows[0]))})"
        db.execute(f"{insert} VALUES {','.join([row] * len(rows))}", tuple(chain.from_iterable(rows)))
