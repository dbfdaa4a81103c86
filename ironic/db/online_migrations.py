"""Moving data to a later form while services run, in batches.

A schema migration only adds; what it adds is filled here, after every service was upgraded, so that a large table keeps
nobody waiting. Each migration is a row of ``MIGRATIONS`` and stays there for a release; the next one may rely on it. A
migration that fails keeps none of the others from their work.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ironic.db.store import Store

LOG = logging.getLogger(__name__)

# Rows of one transaction: few enough to hold nobody up.
BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class OnlineMigration:
    """One move; safe to be begun again at any time, also beside another one of its kind."""

    name: str
    left: Callable[[Store], int]
    """Return how many rows are still in the older form."""
    move: Callable[[Store, int], int]
    """Move up to so many rows and return how many were."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one migration has come; ``fault`` says why it goes no further."""

    name: str
    moved: int
    left: int
    fault: str | None = None


# None is needed yet: the first schema holds what the first release writes.
MIGRATIONS: Final[Sequence[OnlineMigration]] = ()


def run(store: Store, migrations: Sequence[OnlineMigration], *, most: int | None = None) -> Iterator[Progress]:
    """Do what is left, at most so many rows in all, and tell the progress after every batch and at every end."""
    allowed = most
    for migration in migrations:
        for progress in _steps(store, migration, allowed):
            yield progress
        if allowed is not None:
            allowed -= progress.moved


def _steps(store: Store, migration: OnlineMigration, allowed: int | None) -> Iterator[Progress]:
    moved, left = 0, 0
    try:
        left = migration.left(store)
        yield Progress(migration.name, moved, left)
        while left and (size := _size(allowed, moved)):
            batch = migration.move(store, size)
            moved, left = moved + batch, migration.left(store)
            yield Progress(migration.name, moved, left, None if batch or not left else "it moves no row any more")
            if not batch:
                return
    except Exception as error:
        LOG.exception("Online migration '%s' failed after %d rows", migration.name, moved)
        yield Progress(migration.name, moved, left, f"{type(error).__name__}: {error}")


def _size(allowed: int | None, moved: int) -> int:
    return BATCH if allowed is None else min(BATCH, max(0, allowed - moved))
