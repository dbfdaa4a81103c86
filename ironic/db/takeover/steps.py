"""The steps of a take-over, each of which leaves a note of how far it is (`ironic.db.database_work`).

    moving      the reference's tables are moved aside
    creating    the tables of this release are made by its migrations
    copying     the rows are copied in batches (`ironic.db.row_copy`)
    checking    all rows of both sides are compared
    done        services may start; the moved tables are kept

The way back:

    dropping    the tables of this release are deleted
    restoring   the reference's tables are moved to their place

Until it is done, services refuse to start.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ironic.core.clock import CLOCK
from ironic.core.errors import IronicError
from ironic.db import database_work, row_copy, schema
from ironic.db.copy_progress import Say, said
from ironic.db.database_work import DONE, Work
from ironic.db.row_comparison import compare
from ironic.db.row_copy import PROGRESS, TableCopy
from ironic.db.tables import metadata
from ironic.db.takeover import aside
from ironic.db.takeover.findings import SAYS, Findings, Loss
from ironic.db.takeover.revisions import Recognised
from ironic.db.takeover.rows import OWNERS
from ironic.db.takeover.source import TheirTables, read_all

# Seconds after which a conductor counts as stopped, by the reference's default.
_ALIVE: Final = 60
_KIND: Final = "take-over"
# Stands in its details once tables of the reference may be gone.
_BEING_DROPPED: Final = "is_being_dropped"
WAY_BACK: Final = ("dropping", "restoring")
_FORTH: Final = "run `ironic-dbsync upgrade`, which goes on with its take-over."
_BACK: Final = "run `ironic-dbsync return_to_reference`, which ends the way back."


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
        "What is stored is not what was read: {differences}. Stop whatever writes to the database, then run "
        "`ironic-dbsync return_to_reference`, and begin again."
    )


class LostMeanwhile(IronicError):
    """What its service wrote behind the look at all rows can't be kept."""

    text = (
        "Rows that the other service has written since this began can't be kept: {what}. Stop it, then run "
        "`ironic-dbsync return_to_reference`, and begin again."
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
    read_all(connection, source.copies(known, findings))
    if source.has("node_tags") and (tags := source.count(connection, "node_tags")):
        for number in range(tags):
            findings.lose(Loss.TAGS, f"row {number + 1} of node_tags")
    for hostname in source.alive(connection, CLOCK.now() - timedelta(seconds=_ALIVE)):
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
    def _work(self) -> Work | None:
        with self._engine.connect() as connection:
            found = database_work.begun(connection)
        return found if found is not None and found.kind == _KIND else None

    @property
    def phase(self) -> str | None:
        """The step that it is in; None if none has begun."""
        found = self._work
        return None if found is None else found.phase

    @property
    def _is_being_dropped(self) -> bool:
        found = self._work
        return found is not None and _BEING_DROPPED in found.details

    @property
    def source_revision(self) -> str | None:
        """The revision of the reference while the take-over is under way."""
        found = self._work
        return None if found is None or found.phase == DONE else found.origin

    def begin(self, found: Recognised, settings: Settings) -> None:
        """Plan and note what is to be done; raises InTheWay, Occupied, NeedsRepair or LossNotAccepted."""
        with self._engine.connect() as connection:
            present = set(sa.inspect(connection).get_table_names())
            source = TheirTables(connection, is_aside=False)
            if strangers := sorted(present & set(metadata.tables) - set(source.names)):
                raise InTheWay(names=", ".join(strangers))
            if why := aside.occupied(connection, source.names):
                raise aside.Occupied(why=why)
            findings = plan(connection, settings)
            indexes = aside.indexes(connection, source.names)
        for line in findings.report():
            self._say(line)
        require_accepted(findings, settings)
        details = {"settings": asdict(settings), "tables": source.names, "indexes": indexes}
        with self._writing() as connection:
            database_work.begin(connection, Work(_KIND, found.revision, "moving", _FORTH, details))

    def run(self) -> None:
        """Go on from the step that it is in until it is done, in the direction that it has."""
        steps = {"moving": self._move, "creating": self._create, "copying": self._copy, "checking": self._check}
        steps |= {"dropping": self._drop_ours, "restoring": self._restore}
        while (phase := self.phase) in steps:
            self._say(f"Step '{phase}' ...")
            steps[str(phase)]()

    def _move(self) -> None:
        with self._writing() as connection:
            aside.move(connection, self._details(connection)["tables"])
            database_work.set_phase(connection, "creating")
        # New connections turn the log of SQLite on, as the file is not the reference's any more: commits get cheaper.
        self._engine.dispose()

    def _create(self) -> None:
        with self._writing() as connection:
            schema.create_to_fill(connection)
            database_work.set_phase(connection, "copying")

    @contextmanager
    def _rows(
        self, *, is_begun: bool, findings: Findings | None = None
    ) -> Iterator[tuple[Connection, list[TableCopy]]]:
        """Give a connection to read by, and what becomes of the rows; owners whose rows are there may be known."""
        with row_copy.latest(self._engine) as connection:
            source = TheirTables(connection, is_aside=True)
            settings = self._details(connection)["settings"]
            known = source.known(connection, inspector_to_agent=settings["inspector_to_agent"])
            if is_begun:
                known.kept = {name: _keys(connection, name) for name in OWNERS}
            yield connection, source.copies(known, findings or Findings())

    def _copy(self) -> None:
        with self._rows(is_begun=True) as (source, copies):
            for _ in said(row_copy.copy_rows(source, self._engine, copies), self._say):
                pass
        with self._writing() as connection:
            database_work.set_phase(connection, "checking")

    def _check(self) -> None:
        findings = Findings()
        with (
            self._rows(is_begun=False, findings=findings) as (source, copies),
            row_copy.latest(self._engine) as target,
        ):
            different = [each for each in said(compare(source, target, copies), self._say) if each.differences]
        if different:
            raise Differs(differences="; ".join(each.in_words() for each in different))
        with self._engine.connect() as connection:
            accepted = self._details(connection)["settings"]["accepted"]
        if late := [kind for kind in findings.lost if kind.value not in accepted] or findings.refused:
            # Its service still wrote when this one had looked at all rows.
            raise LostMeanwhile(what=", ".join(map(str, late[:10])))
        with self._writing() as connection:
            row_copy.set_sequences(connection, metadata.sorted_tables)
            PROGRESS.drop(connection, checkfirst=True)
            # The last act, from which on services start. No change of tables follows, which MariaDB would commit apart.
            database_work.set_phase(connection, DONE)
        self._say("All rows are there, as they were read.")

    def _written(self) -> list[str]:
        """Return the tables whose rows are not those that were read, but for those of processes."""
        with self._rows(is_begun=False) as (source, copies), row_copy.latest(self._engine) as target:
            written = {each.table for each in compare(source, target, copies) if each.differences}
            for name in metadata.tables.keys() - {each.target.name for each in copies} - _PROCESSES:
                if target.execute(sa.select(metadata.tables[name]).limit(1)).first():
                    written.add(name)
        return sorted(written)

    def go_back(self, accepted: Sequence[str]) -> None:
        """Put the reference's tables in their place; raises WrittenSince if what was written would be lost."""
        phase = self.phase
        if phase is None or self._is_being_dropped:
            raise NothingAside(do="go back to")
        if phase == DONE and "written" not in accepted and (written := self._written()):
            raise WrittenSince(tables=", ".join(written))
        if phase not in WAY_BACK:
            with self._writing() as connection:
                database_work.set_phase(connection, "restoring" if phase == "moving" else "dropping", _BACK)
        self.run()

    def _drop_ours(self) -> None:
        with self._writing() as connection:
            schema.drop_in(connection)
            database_work.set_phase(connection, "restoring")

    def _restore(self) -> None:
        with self._writing() as connection:
            details = self._details(connection)
            present = aside.indexes(connection, details["tables"])
            made = [text for name, text in details["indexes"].items() if name not in present]
            aside.move_back(connection, details["tables"], made)
            database_work.forget(connection)
        self._say("The reference's tables are in their place. Its service may start.")

    def drop(self) -> None:
        """Delete the reference's tables that are aside; raises NothingAside, NotDone or Bound."""
        work = self._work
        if work is None:
            raise NothingAside(do="drop")
        if work.phase != DONE:
            raise NotDone(phase=work.phase, command="upgrade")
        tables = work.details["tables"]
        with self._writing() as connection:
            aside.require_unbound(connection, tables)
            # On MariaDB each deletion is a commit of its own; there is no way back to the rest of them.
            database_work.begin(connection, replace(work, details={**work.details, _BEING_DROPPED: True}))
        with self._writing() as connection:
            aside.drop(connection, tables)
            database_work.forget(connection)

    def _details(self, connection: Connection) -> Any:
        """Return what was noted at the beginning."""
        found = database_work.begun(connection)
        return found and found.details

    def _writing(self) -> AbstractContextManager[Connection]:
        return self._engine.execution_options(begin="IMMEDIATE").begin()


# What running processes write about themselves.
_PROCESSES: Final = frozenset({"conductors", "conductor_hardware_interfaces", "bmc_logins", "rejected_callbacks"})


def _keys(connection: Connection, name: str) -> set[int]:
    return {row_id for (row_id,) in connection.execute(sa.select(metadata.tables[name].c.id))}
