"""A small conductor for tests: a real store over SQLite, a real pool, drivers that are plain objects."""

import time
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from ironic.conductor.tasks import TaskFactory
from ironic.conductor.workers import Workers
from ironic.core.context import RequestContext
from ironic.core.hardware_interfaces import InterfaceRow
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.databases import sqlite_store


def wait_until(true, seconds=60):
    """Wait until something that other threads bring about is true."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "that did not happen in time"
        time.sleep(0.005)


class FakeComposition:
    """Knows one hardware type; the driver of a node says which node it was made for."""

    drivers = {"fake-hardware": object()}

    def driver_for(self, node):
        if node.driver == "broken":
            raise LookupError("no such driver")
        return SimpleNamespace(node_uuid=node.uuid, power=node.power_interface)

    def interface_rows(self):
        return [InterfaceRow("fake-hardware", "power", "fake", True)]

    def reload(self):
        """Take no options, which could change."""


def fake_composition() -> Any:
    """Return a composition that replaces the real one."""
    return FakeComposition()


class Time:
    """A clock that starts now and moves only by ``pass_by``."""

    def __init__(self):
        self.now = datetime(2025, 1, 1, 12)

    def __call__(self):
        return self.now

    def pass_by(self, seconds):
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock():
    return Time()


@pytest.fixture
def store(tmp_path, clock):
    store = sqlite_store(tmp_path, clock=clock)
    yield store
    store.close()


@pytest.fixture(scope="session")
def _pool():
    # All tests share one; each leaves it empty.
    pool = Workers("c1", 4)
    yield pool
    pool.close()


@pytest.fixture
def pool(_pool):
    yield _pool
    wait_until(lambda: not _pool.taken)


@pytest.fixture
def tasks(store, pool):
    return TaskFactory(store, fake_composition(), pool, "c1")


@pytest.fixture
def hash_ring(store):
    return HashRingManager(store, heartbeat_timeout=60)


@pytest.fixture
def context():
    return RequestContext(request_id="req-1", user_id="u1", project_id="p1")


@pytest.fixture
def make_node(store):
    """Return a function that creates a node with some columns set and returns its UUID."""

    def make(**columns):
        return store.nodes.create({"driver": "fake-hardware", "provision_state": "manageable"} | columns).uuid

    return make
