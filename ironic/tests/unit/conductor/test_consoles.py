"""Consoles that should be open are opened again where their nodes are now."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.conductor.consoles import ConsoleRestorer
from ironic.core.errors import IronicError
from ironic.db import Store
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.databases import sqlite_store
from ironic.tests.listening import listening
from ironic.tests.unit.conductor.flows.bench import HOST, Bench, Script
from ironic.tests.unit.conductor.managed import Managed, Notes


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def bench(store: Store, notes: Notes) -> Bench:
    store.conductors.register(HOST, "", ["managed"], [])
    composition: Any = Managed(notes)
    return Bench(store, composition, Script())


@pytest.fixture
def reopen(bench: Bench) -> ConsoleRestorer:
    return ConsoleRestorer(bench.tasks, HashRingManager(bench.store, heartbeat_timeout=60))


def node(bench: Bench, **values: Any) -> str:
    common = {"driver": "managed", "provision_state": "active", "console_enabled": True}
    return bench.store.nodes.create(common | values).uuid


def test_a_console_is_opened_once_by_a_conductor_that_starts(
    bench: Bench, notes: Notes, reopen: ConsoleRestorer
) -> None:
    uuid = node(bench)
    node(bench, console_enabled=False)
    with listening() as listener:
        reopen()
        reopen()
    assert notes.calls == [("start_console",)]
    assert listener.events == ["node.console_restore.start", "node.console_restore.end"]
    found = bench.row(uuid)
    assert (found.console_enabled, found.reservation, found.last_error) == (True, None, None)


def test_what_a_user_has_opened_here_is_left_alone(bench: Bench, notes: Notes, reopen: ConsoleRestorer) -> None:
    uuid = node(bench, console_enabled=False)
    bench.endpoint.change_console(bench.context, uuid, True)
    reopen()
    bench.endpoint.change_console(bench.context, uuid, False)
    reopen()
    assert notes.calls == [("start_console",), ("stop_console",)]


def test_nodes_of_others_and_busy_ones_are_left_for_later(bench: Bench, notes: Notes, reopen: ConsoleRestorer) -> None:
    elsewhere, busy = node(bench, conductor_group="rack-9"), node(bench, reservation="another")
    reopen()
    assert notes.calls == []
    bench.store.nodes.update(busy, {"reservation": None})
    reopen()
    bench.store.nodes.update(elsewhere, {"conductor_group": ""})
    reopen()
    assert notes.calls == [("start_console",)] * 2


def test_a_node_that_went_and_came_back_is_opened_again(bench: Bench, notes: Notes, reopen: ConsoleRestorer) -> None:
    uuid = node(bench)
    for group in ("", "rack-9", ""):
        bench.store.nodes.update(uuid, {"conductor_group": group})
        reopen()
    assert notes.calls == [("start_console",)] * 2


def test_one_that_can_not_be_opened_counts_as_closed_and_says_why(
    bench: Bench, notes: Notes, reopen: ConsoleRestorer
) -> None:
    uuid = node(bench)
    notes.errors["start_console"] = IronicError("the port is taken")
    reopen()
    found = bench.row(uuid)
    assert (found.console_enabled, found.reservation) == (False, None)
    assert "Opening the console again failed: the port is taken" in str(found.last_error)
    ((event, kind),) = bench.store.history.rows(("event", "event_type"), filters={"node_id": found.id})
    assert (event, kind) == (found.last_error, "console")
    reopen()
    assert notes.calls == [("start_console",)]
