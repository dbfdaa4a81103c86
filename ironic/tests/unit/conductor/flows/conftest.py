"""Fixtures of the conductor's tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.conf import CONF
from ironic.db import Store
from ironic.drivers.composition import Composition
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.conductor.flows import bench as benches

Composed = tuple[Composition, benches.Script]


@pytest.fixture(scope="session")
def composed() -> Composed:
    """Return the drivers and the script of their scripted interfaces; made once, for it takes its time."""
    changed: list[str] = []

    def set_options(**values: Any) -> None:
        for name, value in values.items():
            CONF.set_override(name, value)
            changed.append(name)

    benches.enable_fakes(set_options)
    script = benches.Script()
    composition = benches.compose(CONF, script)
    for name in changed:
        CONF.clear_override(name)
    return composition, script


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def bench(conf: Any, store: Store, composed: Composed) -> benches.Bench:
    conf(conductor__node_locked_retry_attempts=1)
    composition, script = composed
    script.reset()
    return benches.Bench(store, composition, script)
