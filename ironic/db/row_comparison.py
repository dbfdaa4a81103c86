"""The comparison of what `ironic.db.row_copy` has copied: value by value, and by a hash of all rows."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.db.row_copy import Key, Row, TableCopy, fetched, key_getter

# How many keys of rows that differ are kept of each table.
_SHOWN: Final = 5
# How many keys a statement names, where a range of numbers would find too many other rows: this often as many.
_NAMED: Final = 500
_WIDE: Final = 4


@dataclass(slots=True)
class Compared:
    """The comparison of one table: rows that should be in the target, rows that differ, and the first keys of these.

    A row differs that is missing, has another value in one of its columns, or should not be there.
    """

    table: str
    rows: int = 0
    differences: int = 0
    keys: list[Key] = field(default_factory=list)

    def note(self, key: object) -> None:
        """Note a row that is missing or has other values."""
        self.differences += 1
        if len(self.keys) < _SHOWN:
            self.keys.append(key if isinstance(key, tuple) else (key,))

    def in_words(self) -> str:
        """Return how many rows differ, and which."""
        keys = ", ".join(" ".join(map(str, key)) for key in self.keys)
        return f"{self.differences} rows of {self.table}{f' (key {keys})' if keys else ''}"


class Digest:
    """The number of rows and a hash of all their values; their order does not matter, that of the columns does."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum = 0

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows."""
        for row in rows:
            self.rows += 1
            self._sum += int.from_bytes(hashlib.sha256(orjson.dumps(row)).digest())

    @property
    def hexadecimal(self) -> str:
        """The hash."""
        return f"{self._sum % 2**256:064x}"


def compare(source: Connection, target: Connection, tables: Sequence[TableCopy]) -> Iterator[Compared]:
    """Read all rows of both sides, compare value by value, and yield the result of each table.

    Where several go into one table, rows that should not be there are found with the last of them.
    """
    present: Counter[str] = Counter()
    left = Counter(each.target.name for each in tables)
    for each in tables:
        found = Compared(each.target.name)
        for rows in each.read(source):
            names, expected = each.converted(rows)
            found.rows += len(expected)
            if not expected:
                continue
            key = key_getter(each.destination, names)
            stored = {key(row): row for row in _stored(target, each.destination, names, list(map(key, expected)))}
            for row in expected:
                other = stored.get(key(row))
                present[found.table] += other is not None
                if other != row:
                    found.note(key(row))
        left[found.table] -= 1
        if not left[found.table]:
            count = target.execute(sa.select(sa.func.count()).select_from(each.destination)).scalar_one()
            found.differences += max(0, count - present[found.table])
        yield found


def _stored(connection: Connection, table: sa.Table, names: Sequence[str], wanted: Sequence[Any]) -> Iterator[Row]:
    """Yield the rows that have these keys, perhaps with others; the keys are in their order."""
    statement = sa.select(*[table.c[name] for name in names])
    first, *others = table.primary_key.columns
    if isinstance(first.type, sa.Integer):
        numbers = [key[0] for key in wanted] if others else wanted
        least, most = min(numbers), max(numbers)
        if most - least <= _WIDE * len(wanted):
            yield from fetched(connection, statement.where(first.between(least, most)))
            return
    named = sa.tuple_(first, *others) if others else first
    for start in range(0, len(wanted), _NAMED):
        yield from fetched(connection, statement.where(named.in_(wanted[start : start + _NAMED])))
