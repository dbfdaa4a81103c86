"""A store and a task on a node in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.db import Store
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.inspection.lab import Work, new_node, work_on


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def task(store: Store) -> Work:
    return work_on(store, new_node(store))
