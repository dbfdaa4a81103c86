"""A store, a task on a node in it, and an object store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.db import Store
from ironic.integrations import object_store
from ironic.tests.conftest import Setter
from ironic.tests.databases import sqlite_store
from ironic.tests.swift_store import SwiftStore, swift_store
from ironic.tests.unit.inspection.lab import Work, new_node, work_on


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def task(store: Store) -> Work:
    return work_on(store, new_node(store))


@pytest.fixture
def swift(conf: Setter) -> Iterator[SwiftStore]:
    """Return an object store that inventories go to."""
    with swift_store() as running:
        conf(
            inventory__data_backend="swift",
            inventory__swift_data_container="found things",
            swift__auth_type="none",
            swift__endpoint_override=running.url,
        )
        yield running
    object_store.swift_container.cache_clear()
