"""The steps of a take-over, each of which leaves a note of how far it is.

    moving      the reference's tables are moved aside
    creating    the tables of this release are made by its migrations
    copying     the rows are read in batches, and what was stored is compared with them; the position is stored too
    checking    the rows are counted; then the version is recorded
    done        services may start; the moved tables are kept

The way back:

    dropping    the tables of this release are deleted
    restoring   the reference's tables are moved to their place

Until the version is recorded, services refuse to start, as they do on a database without tables.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ironic.core.errors import IronicError
from ironic.core.values import utc_now
from ironic.db import schema
from ironic.db.schema_version import VERSION_TABLE
from ironic.db.tables import metadata
from ironic.db.takeover import aside, state
from ironic.db.takeover.findings import SAYS, Findings, Loss
from ironic.db.takeover.revisions import Recognised
from ironic.db.takeover.rows import OWNERS, READINGS, Conversion, Known, Reading, Row
from ironic.db.takeover.source import TheirTables, batches, position

Say = Callable[[str], None]
# Alembic's marker until all rows are there: no service looks at it.
_WORKING_VERSION: Final = "ironic_takeover_version"
_COUNTS: Final = "rows"
# The position of a table that is read to its end.
_END: Final = "end"
# Seconds between two lines of progress.
_PROGRESS: Final = 2.0
# Seconds after which a conductor counts as stopped, by the reference's default.
_ALIVE: Final = 60
DONE: Final = "done"
WAY_BACK: Final = ("dropping", "restoring")


class LossNotAccepted(IronicError):
    """Something can't be kept, and it was not said that it may be lost."""

    text = "Nothing was changed, as this can't be kept: {losses}. If that is right, add {options}."


class NeedsRepair(IronicError):
    """Rows can't be read."""

    text = "Nothing was changed. Correct these with the reference's service, or in the database: {faults}."


class InTheWay(IronicError):
    """A table stands where one of ours has to be."""

    text = "Nothing was changed, as tables of these names are no part of the reference: {names}. Rename or drop them."


class Differs(IronicError):
    """What was stored is not what was read."""

    text = (
        "Table {table} is not as it was read: {what}. Stop whatever writes to the database, then run `ironic-dbsync "
        "return_to_reference`, and begin again."
    )


class NothingAside(IronicError):
    """There are no tables of the reference to go back to."""

    text = "This database has no tables of the reference that were moved aside, so there is nothing to {do}."


class NotDone(IronicError):
    """The take-over has not ended."""

    text = "The take-over of this database is in step '{phase}'. Run `ironic-dbsync {command}`, which goes on with it."


class WrittenSince(IronicError):
    """Going back would lose what this service has written."""

    text = (
        "Nothing was changed: since the take-over this service has written to {tables}, which the way back loses. If "
        "that is right, add --accept written."
    )


@dataclass(frozen=True)
class Settings:
    """What a take-over was begun with; it goes on with the same."""

    accepted: tuple[str, ...] = ()
    inspector_to_agent: bool = False


def plan(connection: Connection, settings: Settings) -> Findings:
    """Read all rows of a database of the reference without writing, and return what was found."""
    source = TheirTables(connection, is_aside=False)
    findings = Findings()
    known = source.known(connection, inspector_to_agent=settings.inspector_to_agent)
    for reading in READINGS:
        if source.has(reading.source):
            conversion = Conversion(reading, known, findings)
            for rows in batches(source, connection, reading):
                for row in rows:
                    conversion.of(row)
    if source.has("node_tags") and (tags := source.count(connection, "node_tags")):
        for number in range(tags):
            findings.lose(Loss.TAGS, f"row {number + 1} of node_tags")
    for hostname in source.alive(connection, utc_now() - timedelta(seconds=_ALIVE)):
        findings.lose(Loss.RUNNING, hostname)
    return findings


def require_accepted(findings: Findings, settings: Settings) -> None:
    """Raise NeedsRepair or LossNotAccepted unless the take-over may begin."""
    if findings.refused:
        raise NeedsRepair(faults="; ".join(findings.refused[:10]))
    missing = [kind for kind in findings.lost if kind.value not in settings.accepted]
    if missing:
        losses = "; ".join(f"{SAYS[kind]} ({findings.lost[kind].total()} times)" for kind in missing)
        raise LossNotAccepted(losses=losses, options=" ".join(f"--accept {kind}" for kind in missing))


class TakeOver:
    """The take-over of one database, begun or about to begin. The caller holds the lock of the upgrade."""

    def __init__(self, engine: Engine, say: Say) -> None:
        self._engine, self._say = engine, say

    @property
    def phase(self) -> str | None:
        """The step that it is in; None if none has begun."""
        with self._engine.connect() as connection:
            found = state.get(connection, state.PHASE) if state.exists(connection) else None
        return None if found is None else str(found)

    @property
    def source_revision(self) -> str | None:
        """The revision of the reference while the take-over is under way."""
        if self.phase in (None, DONE):
            return None
        with self._engine.connect() as connection:
            found: Any = state.get(connection, "found")
        return str(found["revision"])

    def begin(self, found: Recognised, settings: Settings) -> None:
        """Plan and note what is to be done; raises InTheWay, NeedsRepair or LossNotAccepted."""
        with self._engine.connect() as connection:
            present = set(sa.inspect(connection).get_table_names())
            source = TheirTables(connection, is_aside=False)
            if strangers := sorted(present & set(metadata.tables) - set(source.names)):
                raise InTheWay(names=", ".join(strangers))
            findings = plan(connection, settings)
            names, indexes = source.names, aside.indexes(connection, source.names)
        for line in findings.report():
            self._say(line)
        require_accepted(findings, settings)
        with self._writing() as connection:
            state.make(connection)
            state.put(connection, "found", asdict(found))
            state.put(connection, "settings", asdict(settings))
            state.put(connection, "tables", names)
            state.put(connection, "indexes", indexes)
            state.put(connection, state.PHASE, "moving")

    def run(self) -> None:
        """Go on from the step that it is in until it is done, in the direction that it has."""
        steps = {"moving": self._move, "creating": self._create, "copying": self._copy, "checking": self._check}
        steps |= {"dropping": self._drop_ours, "restoring": self._restore}
        while (phase := self.phase) in steps:
            self._say(f"Step '{phase}' ...")
            steps[str(phase)]()

    def _move(self) -> None:
        with self._writing() as connection:
            aside.move(connection, self._tables(connection))
            state.put(connection, state.PHASE, "creating")
        # New connections turn the log of SQLite on, as the file is not the reference's any more: commits get cheaper.
        self._engine.dispose()

    def _create(self) -> None:
        with self._writing() as connection:
            # What an attempt that was ended has left; there are no rows yet.
            _drop_ours(connection)
            schema.migrate(connection, _WORKING_VERSION)
            state.put(connection, state.PHASE, "copying")

    def _copy(self) -> None:
        with self._engine.connect() as connection:
            settings = self._settings(connection)
            source = TheirTables(connection, is_aside=True)
            known = source.known(connection, inspector_to_agent=settings.inspector_to_agent)
            known.kept = {name: _keys(connection, name) for name in OWNERS}
        for reading in READINGS:
            if source.has(reading.source):
                self._copy_table(source, reading, known)
        with self._writing() as connection:
            state.put(connection, state.PHASE, "checking")

    def _copy_table(self, source: TheirTables, reading: Reading, known: Known) -> None:
        conversion, progress = Conversion(reading, known, Findings()), _Progress(self._say, reading.name)
        mark = f"at {reading.name}"
        with self._engine.connect() as connection:
            after: Any = state.get(connection, mark)
        while after != _END:
            with self._writing() as connection:
                rows = source.batch(connection, reading, after)
                made = [one for row in rows for one in conversion.of(row)]
                if made:
                    connection.execute(reading.into.insert(), made)
                    _require_stored(connection, reading.into, made)
                after = position(reading, rows) if len(rows) == reading.batch else _END
                state.put(connection, mark, after)
                counted: Any = state.get(connection, _COUNTS) or {}
                into = str(reading.into.name)
                counted[into] = counted.get(into, 0) + len(made)
                state.put(connection, _COUNTS, counted)
            progress.add(len(made))
        progress.end()

    def _check(self) -> None:
        with self._engine.connect() as connection:
            counted: Any = state.get(connection, _COUNTS)
            for table, count in counted.items():
                if (stored := _count(connection, metadata.tables[table])) != count:
                    raise Differs(table=table, what=f"{stored} rows are there, {count} were stored")
        with self._writing() as connection:
            if connection.dialect.name == "postgresql":
                _count_on(connection)
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {_WORKING_VERSION}")
            # The last act, from which on services start. No change of tables follows, which MariaDB would commit apart.
            schema.record(connection)
            state.put(connection, state.PHASE, DONE)
        self._say("All rows are there, as they were read.")

    def _written(self, connection: Connection) -> list[str]:
        """Return the tables whose rows are not those that were read, but for those of processes."""
        settings = self._settings(connection)
        source = TheirTables(connection, is_aside=True)
        known = source.known(connection, inspector_to_agent=settings.inspector_to_agent)
        expected = dict.fromkeys(metadata.tables, 0)
        written = set()
        for reading in (one for one in READINGS if source.has(one.source)):
            conversion = Conversion(reading, known, Findings())
            for rows in batches(source, connection, reading):
                made = [one for row in rows for one in conversion.of(row)]
                if _missing(connection, reading.into, made):
                    written.add(reading.into.name)
                expected[reading.into.name] += len(made)
        for name, count in expected.items():
            if name not in _PROCESSES and _count(connection, metadata.tables[name]) != count:
                written.add(name)
        return sorted(written)

    def go_back(self, accepted: Sequence[str]) -> None:
        """Put the reference's tables in their place; raises WrittenSince if what was written would be lost."""
        phase = self.phase
        if phase is None:
            raise NothingAside(do="go back to")
        if phase == DONE and "written" not in accepted:
            with self._engine.connect() as connection:
                written = self._written(connection)
            if written:
                raise WrittenSince(tables=", ".join(written))
        if phase not in WAY_BACK:
            with self._writing() as connection:
                state.put(connection, state.PHASE, "restoring" if phase == "moving" else "dropping")
        self.run()

    def _drop_ours(self) -> None:
        with self._writing() as connection:
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {VERSION_TABLE}")
            _drop_ours(connection)
            state.put(connection, state.PHASE, "restoring")

    def _restore(self) -> None:
        with self._writing() as connection:
            indexes: Any = state.get(connection, "indexes")
            present = aside.indexes(connection, self._tables(connection))
            made = [text for name, text in indexes.items() if name not in present]
            aside.move_back(connection, self._tables(connection), made)
            state.drop(connection)
        self._say("The reference's tables are in their place. Its service may start.")

    def drop(self) -> None:
        """Delete the reference's tables that are aside; raises NothingAside or NotDone."""
        phase = self.phase
        if phase is None:
            raise NothingAside(do="drop")
        if phase != DONE:
            raise NotDone(phase=phase, command="upgrade")
        with self._writing() as connection:
            aside.drop(connection, self._tables(connection))
            state.drop(connection)

    def _settings(self, connection: Connection) -> Settings:
        stored: Any = state.get(connection, "settings")
        return Settings(**{**stored, "accepted": tuple(stored["accepted"])})

    def _tables(self, connection: Connection) -> list[str]:
        stored: Any = state.get(connection, "tables")
        return [str(name) for name in stored]

    def _writing(self) -> Any:
        return self._engine.execution_options(begin="IMMEDIATE").begin()


# What running processes write about themselves.
_PROCESSES: Final = ("conductors", "conductor_hardware_interfaces", "bmc_logins", "rejected_callbacks")


class _Progress:
    """Says now and then how many rows of a table are done."""

    def __init__(self, say: Say, name: str) -> None:
        self._say, self._name, self._count, self._said = say, name, 0, time.monotonic()

    def add(self, count: int) -> None:
        self._count += count
        if time.monotonic() - self._said > _PROGRESS:
            self.end()

    def end(self) -> None:
        self._said = time.monotonic()
        if self._count:
            self._say(f"{self._name}: {self._count} rows")


def _drop_ours(connection: Connection) -> None:
    """Delete all tables of this service."""
    present = set(sa.inspect(connection).get_table_names())
    metadata.drop_all(connection, tables=[table for table in metadata.sorted_tables if table.name in present])
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {_WORKING_VERSION}")


def _keys(connection: Connection, name: str) -> set[int]:
    return {row_id for (row_id,) in connection.execute(sa.select(metadata.tables[name].c.id))}


def _count(connection: Connection, table: sa.Table) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def _require_stored(connection: Connection, table: sa.Table, made: list[Row]) -> None:
    """Raise Differs unless the database gives back what it was given."""
    for row in _missing(connection, table, made):
        what = ", ".join(f"{column.name} {row[column.name]}" for column in table.primary_key)
        raise Differs(table=table.name, what=f"the row with {what} has other values")


def _missing(connection: Connection, table: sa.Table, made: Iterable[Row]) -> list[Row]:
    """Return the rows that are not stored exactly so."""
    wanted = list(made)
    if not wanted:
        return []
    keys = [str(column.name) for column in table.primary_key]
    first = table.c[keys[0]]
    among = first.between(min(row[keys[0]] for row in wanted), max(row[keys[0]] for row in wanted))
    names = [str(column.name) for column in table.c]
    found = [dict(zip(names, row, strict=True)) for row in connection.execute(sa.select(table).where(among))]
    stored = {_key(row, keys): row for row in found}
    return [row for row in wanted if not _is_same(row, stored.get(_key(row, keys)))]


def _key(row: Mapping[str, Any], keys: Sequence[str]) -> tuple[object, ...]:
    return tuple(row[name] for name in keys)


def _is_same(row: Row, stored: Mapping[str, Any] | None) -> bool:
    return stored is not None and all(stored[name] == value for name, value in row.items())


def _count_on(connection: Connection) -> None:
    """Have PostgreSQL give new rows keys behind those that were read."""
    for table in metadata.sorted_tables:
        if "id" in table.c:
            connection.exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), coalesce(max(id), 0) + 1, false) "
                f"FROM {table.name}"
            )
