"""What an operator should know before and after an upgrade: one function per question, one row per answer."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ironic.conductor.differences import differences
from ironic.conf import CONF
from ironic.core.errors import IronicError
from ironic.db import Store
from ironic.db.schema_version import SCHEMA_VERSION, SchemaOutdated, require_current, stored_version


class Result(enum.IntEnum):
    """How bad it is; the worst of all is the exit status of the program."""

    SUCCESS = 0
    WARNING = 1
    FAILURE = 2


@dataclass(frozen=True, slots=True)
class Row:
    """One answer."""

    check: str
    result: Result
    details: str = ""


def schema(store: Store) -> tuple[Result, str]:
    """Is the database's schema the one this release needs?"""
    try:
        require_current(store)
    except SchemaOutdated as error:
        return Result.FAILURE, str(error)
    found = stored_version(store)
    if found != SCHEMA_VERSION:
        return Result.WARNING, f"The database is at schema version {found}, this release at {SCHEMA_VERSION}."
    return Result.SUCCESS, f"The database is at schema version {found}."


def interfaces(store: Store) -> tuple[Result, str]:
    """Do all live conductors serve a hardware type with the same interfaces (S34)?"""
    served = store.conductors.served_interfaces(CONF.conductor.heartbeat_timeout)
    if not served:
        return Result.SUCCESS, "No conductor is alive, so there is nothing to compare."
    if found := differences(served):
        return Result.WARNING, "\n".join(map(str, found))
    return Result.SUCCESS, f"{len({row.hostname for row in served})} live conductors agree."


CHECKS: Final[dict[str, Callable[[Store], tuple[Result, str]]]] = {
    "Database schema": schema,
    "Interfaces of conductors": interfaces,
}


def run(store: Store) -> list[Row]:
    """Ask everything; a question that can't be answered is a failure, and the others are asked all the same."""
    return [_row(name, check, store) for name, check in CHECKS.items()]


def _row(name: str, check: Callable[[Store], tuple[Result, str]], store: Store) -> Row:
    try:
        return Row(name, *check(store))
    except Exception as error:
        # Of an error that is none of ours the first line is enough: the rest is SQL.
        text = str(error) if isinstance(error, IronicError) else str(error).partition("\n")[0]
        return Row(name, Result.FAILURE, f"It can't be told: {type(error).__name__}: {text}")
