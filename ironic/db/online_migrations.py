"""Online data migrations: convert rows to a later form in batches, while services run.

A schema migration only adds columns and tables; they are filled here, after every service was upgraded, so that a large
table does not delay the upgrade. Each migration stays in ``MIGRATIONS`` for one release; the release after that relies
on it.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ironic.conf import CONF
from ironic.core.addresses import bmc_hosts
from ironic.db.column_types import decode_json
from ironic.db.store import Store

LOG = logging.getLogger(__name__)

# Rows of one transaction: so few that other writers do not wait for long.
BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class OnlineMigration:
    """One migration; it can be repeated at any time, also while another process runs it."""

    name: str
    left: Callable[[Store], int]
    """Return how many rows are still in the older form."""
    move: Callable[[Store, int], int]
    """Convert at most so many rows and return how many were converted."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of one migration; ``fault`` is why it has ended before all rows were converted."""

    name: str
    moved: int
    left: int
    fault: str | None = None


def unknown_choosers(store: Store, **filters: object) -> list[tuple[int, str]]:
    """Return ID and UUID of the nodes with keys that lead to a BMC and may be a project's choice, which is not noted.

    Only with Keystone there are projects.
    """
    if CONF.auth_strategy != "keystone":
        return []
    columns = ("id", "uuid", "owner", "driver_info", "driver_internal_info")
    return [
        (row_id, uuid)
        for row_id, uuid, owner, info, internal in store.nodes.rows(columns, filters=filters)
        if owner is not None and bmc_hosts.unknown_keys(decode_json(info or "{}"), decode_json(internal or "{}"))
    ]


def _note_projects(store: Store, most: int) -> int:
    noted = 0
    for row_id, _ in unknown_choosers(store, reserved=False)[:most]:
        noted += store.run(lambda _connection, row_id=row_id: _note_project(store, row_id), repeatable=True)  # type: ignore[misc]
    return noted


def _note_project(store: Store, row_id: int) -> bool:
    node = store.nodes.lock_row(row_id)
    info, internal = node.driver_info or {}, node.driver_internal_info or {}
    if node.owner is None or not bmc_hosts.unknown_keys(info, internal):
        return False
    noted = bmc_hosts.as_by_project(info, internal)
    return store.nodes.update(row_id, {"driver_internal_info": noted}, where={"reservation": None})


MIGRATIONS: Final[Sequence[OnlineMigration]] = (
    OnlineMigration(
        "BMC addresses that count as chosen by projects", lambda store: len(unknown_choosers(store)), _note_projects
    ),
)


def run(store: Store, migrations: Sequence[OnlineMigration], *, most: int | None = None) -> Iterator[Progress]:
    """Migrate what is left, at most ``most`` rows in all; yield the progress at each start and after each batch.

    A migration that fails, or that moves nothing although rows are left, ends with a ``fault``; the others go on.
    """
    allowed = most
    for migration in migrations:
        moved, left = 0, 0
        try:
            left = migration.left(store)
            yield Progress(migration.name, moved, left)
            while left and (size := BATCH if allowed is None else min(BATCH, max(0, allowed - moved))):
                batch = migration.move(store, size)
                moved, left = moved + batch, migration.left(store)
                yield Progress(migration.name, moved, left, None if batch or not left else "it moves no row any more")
                if not batch:
                    break
        except Exception as error:
            LOG.exception("Online migration '%s' failed after %d rows", migration.name, moved)
            yield Progress(migration.name, moved, left, f"{type(error).__name__}: {error}")
        if allowed is not None:
            allowed -= moved
