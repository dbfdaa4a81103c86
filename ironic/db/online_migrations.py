"""Online data migrations: convert rows to a later form in batches, while services run.

A schema migration only adds columns and tables; they are filled here, after every service was upgraded, so that a large
table does not delay the upgrade. Each migration stays in ``MIGRATIONS`` for one release; the release after that relies
on it.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

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


# None is needed yet: the first schema holds what the first release writes.
MIGRATIONS: Final[Sequence[OnlineMigration]] = ()


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
