"""A database of the process with one conductor, as plug-ins find it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.db import Store
from ironic.rpc.hash_ring import HashRingManager
from ironic.services import process_store
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.inspection import lab


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    made = sqlite_store(tmp_path)
    lab.serve(made, "fake-hardware")
    ring = HashRingManager(made, heartbeat_timeout=60, reset_interval=15, partition_exponent=5, algorithm="md5")
    monkeypatch.setattr(process_store, "_OF_PROCESS", [process_store.Database(made, ring)])
    yield made
    made.close()
