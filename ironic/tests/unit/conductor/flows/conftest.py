"""Fixtures of the conductor's tests."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ironic.conf import CONF
from ironic.db import Store
from ironic.drivers.composition.composed_drivers import Composition
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.conductor.flows import bench as benches
from ironic.tests.unit.conductor.flows import failures

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


@pytest.fixture(scope="module")
def seen() -> Iterator[dict[str, list[str]]]:
    """Collect the texts that the tests of a module produce."""
    found: dict[str, list[str]] = {}
    yield found
    if failures.KEEPS:
        failures.keep(found)


@pytest.fixture
def expect(bench: benches.Bench, seen: dict[str, list[str]], request: pytest.FixtureRequest) -> failures.Expect:
    """Return a function that compares what is read of a node and of others with what is known."""

    known = failures.known()

    def expect(
        *uuids: str, bench: benches.Bench = bench, more: tuple[str, ...] = (), names: Mapping[str, str] = {}
    ) -> None:
        names = {**dict(zip(uuids, ("NODE", "OTHER"), strict=False)), **names}
        found = failures.settled([*more, *failures.read(bench, *uuids)], names)
        seen[request.node.name] = found
        assert found, "nothing can be read of this failure"
        assert failures.KEEPS or found == known[request.node.name]

    return expect
