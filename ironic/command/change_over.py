"""The commands by which a database of the reference is taken over: plan, take over, rehearse, go back, drop.

`ironic-dbsync upgrade` comes here first. A database that is none of the reference's is left to `ironic.db.schema`.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import Final

from sqlalchemy.engine import Connection, Engine

from ironic.conf import CONF
from ironic.core.errors import IronicError
from ironic.core.flows import states
from ironic.db import engines, takeover
from ironic.db.exclusive_use import UPGRADE_PATIENCE, locked
from ironic.db.store import pool_options_from_conf
from ironic.drivers.composition import absent_names

# Words of --accept: what may be lost on the way, and on the way back.
ACCEPTED: Final = tuple(kind.value for kind in takeover.Loss)
WRITTEN: Final = "written"


class WrongWay(IronicError):
    """The way back has begun."""

    text = "This database is on its way back to the reference: run `ironic-dbsync return_to_reference`, which ends it."


class Prevented(IronicError):
    """Something of the database, or a right that its user lacks, prevents the take-over."""

    text = "Nothing was changed: {faults}."


@contextmanager
def engine(url: str) -> Iterator[Engine]:
    """Give an engine for a database, and close it."""
    made = engines.create(url, pool_options_from_conf())
    try:
        yield made
    finally:
        made.dispose()


def settings(accepted: list[str] | None = None) -> takeover.Settings:
    """Return what a take-over begins with by options and configuration."""
    served = CONF.enabled_inspect_interfaces or []
    return takeover.Settings(tuple(accepted or ()), "agent" in served and "inspector" not in served)


def take_over(url: str, accepted: list[str]) -> bool:
    """Take over a database of the reference, or go on with it; False if it is none. The caller holds the lock."""
    with engine(url) as used:
        begun = takeover.TakeOver(used, say)
        phase = begun.phase
        if phase in takeover.WAY_BACK:
            raise WrongWay()
        if phase in (None, takeover.DONE):
            with used.connect() as connection:
                found, faults = takeover.recognise(connection), _obstacles(connection)
            if found is None:
                return False
            if faults:
                raise Prevented(faults="; ".join(faults))
            say(f"This is a database of the reference, of release {found.releases}: it is taken over.")
            begun.begin(found, settings(accepted))
        else:
            say(f"A take-over of this database has begun: it goes on with step '{phase}'.")
        began = time.monotonic()
        begun.run()
        say(f"The database is taken over, in {time.monotonic() - began:.1f} seconds. {KEPT}")
    return True


KEPT: Final = (
    "The reference's tables are kept beside it until `ironic-dbsync drop_reference_tables`; "
    "`ironic-dbsync return_to_reference` goes back to them."
)


def plan(url: str) -> bool:
    """Print what a take-over would do, without writing; False if it is no database of the reference."""
    with engine(url) as used:
        if (phase := takeover.TakeOver(used, say).phase) not in (None, takeover.DONE):
            say(f"A take-over of this database is in step '{phase}'; an upgrade goes on with it.")
            return True
        with used.connect() as connection:
            found = takeover.recognise(connection)
            if found is None:
                return False
            say(f"This is a database of the reference, of release {found.releases}. An upgrade takes it over:")
            for line in [*report(takeover.plan(connection, settings())), *_followers(connection)]:
                say(line)
    return True


def report(findings: takeover.Findings) -> list[str]:
    """Return what was found, a line each, with what an operator has to know of nodes."""
    return findings.report() + fates(findings) + unknown_names(findings)


def fates(findings: takeover.Findings) -> list[str]:
    """Return what becomes of nodes that wait, a line each."""
    waiting = {state: count for state, count in findings.states.items() if state in states.WAITING}
    return [
        f"{count} nodes in state '{state}' go on when their ramdisk calls, or fail after the time-out"
        for state, count in sorted(waiting.items())
    ]


def check(used: Engine) -> tuple[list[str], list[str]]:
    """Return why a take-over is refused, with its remedy, and what else is to be known of it; only reads."""
    with used.connect() as connection:
        findings = takeover.plan(connection, settings())
        faults = [
            *(line for line in findings.report() if line.startswith(("must be", "not kept"))),
            *_obstacles(connection),
        ]
        return faults, [*fates(findings), *_followers(connection)]


def _obstacles(connection: Connection) -> list[str]:
    """Return what of the database itself prevents a take-over, with the remedy."""
    occupied = takeover.occupied(connection, takeover.THEIRS)
    return _rights(connection) + ([occupied] if occupied else [])


def _followers(connection: Connection) -> list[str]:
    """Return a line for what of the site goes with the tables when they are moved aside, if there is any."""
    found = takeover.bound(connection, takeover.THEIRS, is_aside=False)
    text = "refer to tables of the reference, and go on to do so when these are aside, where no row changes any more"
    return [f"{', '.join(found)}: {text}. Have them refer to the new tables after the upgrade"] if found else []


def _rights(connection: Connection) -> list[str]:
    """Return whether the user of the database lacks a right that a take-over needs."""
    if connection.dialect.name != "postgresql":
        return []
    allowed = connection.exec_driver_sql("SELECT has_database_privilege(current_database(), 'CREATE')").scalar()
    text = (
        "the user of the database may not create a schema: GRANT CREATE ON DATABASE ... TO ..., or have the owner do it"
    )
    return [] if allowed else [text]


def revision(used: Engine) -> str | None:
    """Return the revision of a database of the reference, None for any other; only reads."""
    with used.connect() as connection:
        found = takeover.recognise(connection)
    return None if found is None else found.revision


def unknown_names(findings: takeover.Findings) -> list[str]:
    """Return a line for each hardware type and interface of nodes that is not installed, with what to use instead."""
    lines = []
    for (kind, name), count in sorted(findings.used.items()):
        group = "ironic.hardware.types" if kind == "driver" else f"ironic.hardware.interfaces.{kind}"
        if name not in entry_points(group=group).names:
            what = "hardware type" if kind == "driver" else f"{kind} interface"
            lines.append(missing(what, name, count))
    return lines


def missing(what: str, name: str, count: int) -> str:
    """Say what becomes of nodes whose hardware type or interface is not installed, and what to do."""
    found = absent_names.instead_of(name)
    instead = "choose one that is here" if found == "remove it" else found
    return (
        f"{count} nodes have {what} '{name}', which is not here: they are kept and can be read, all else needs another "
        f"one first (baremetal node set NODE --driver NAME --reset-interfaces): {instead}"
    )


def rehearse(url: str, to: str, accepted: list[str]) -> bool:
    """Copy the reference's tables to an empty database and take that over; False if it is no database of its."""
    with engine(url) as used, engine(to) as scratch:
        # Of a copy it is of no matter whether conductors are alive.
        accepted = [*accepted, takeover.Loss.RUNNING.value]
        with used.connect() as connection:
            if takeover.recognise(connection) is None:
                return False
            takeover.require_accepted(takeover.plan(connection, settings()), settings(accepted))
            began = time.monotonic()
            takeover.copy_tables(connection, scratch)
            say(f"The tables are copied, in {time.monotonic() - began:.1f} seconds.")
        with locked(scratch, UPGRADE_PATIENCE, say):
            return take_over(to, accepted)


def go_back(url: str, accepted: list[str]) -> None:
    """Put the reference's tables in their place again."""
    with engine(url) as used, locked(used, UPGRADE_PATIENCE, say):
        takeover.TakeOver(used, say).go_back(accepted)


def drop(url: str) -> None:
    """Delete the reference's tables that are kept."""
    with engine(url) as used, locked(used, UPGRADE_PATIENCE, say):
        takeover.TakeOver(used, say).drop()


def revision_under_way(url: str) -> str | None:
    """Return the revision of the reference whose database is half taken over, None for any other database."""
    with engine(url) as used:
        return takeover.TakeOver(used, say).source_revision


def say(text: str) -> None:
    """Print a line at once: a program that waits for it reads it through a pipe."""
    print(text, flush=True)
