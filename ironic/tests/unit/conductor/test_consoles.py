"""Consoles that should be open are opened again where their nodes are now, and go with instances and nodes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.conductor.consoles import ConsoleRestorer
from ironic.core.errors import IronicError, TakenOver
from ironic.core.errors.hardware_errors import ConsoleContainerError
from ironic.db import Store
from ironic.drivers.modules.console.console_servers import ConsoleEnd
from ironic.drivers.modules.graphical import containers
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
    assert str(found.last_error).startswith("the port is taken. Opening the console again failed")
    ((event, kind),) = bench.store.history.rows(("event", "event_type"), filters={"node_id": found.id})
    assert (event, kind) == (found.last_error, "console")
    reopen()
    assert notes.calls == [("start_console",)]


def test_one_that_ends_is_opened_again_at_once(bench: Bench, notes: Notes, reopen: ConsoleRestorer) -> None:
    uuid = node(bench)
    reopen()
    reopen.ended(ConsoleEnd(uuid, "killed"))
    assert notes.calls == [("start_console",)] * 2
    assert bench.row(uuid).console_enabled is True
    reopen()
    assert notes.calls == [("start_console",)] * 2


def test_one_that_ends_again_soon_is_closed(bench: Bench, notes: Notes, reopen: ConsoleRestorer) -> None:
    uuid = node(bench)
    with listening() as listener:
        reopen.ended(ConsoleEnd(uuid, "killed"))
        reopen.ended(ConsoleEnd(uuid, "killed again"))
    assert notes.calls == [("start_console",), ("stop_console",)]
    assert listener.events[-2:] == ["node.console_restore.start", "node.console_restore.error"]
    found = bench.row(uuid)
    assert (found.console_enabled, found.reservation) == (False, None)
    assert "ended twice within 60 seconds: killed again" in str(found.last_error)


def test_one_that_ends_while_nobody_can_open_it_waits_for_the_next_run(
    bench: Bench, notes: Notes, reopen: ConsoleRestorer
) -> None:
    uuid = node(bench)
    reopen()
    pool: Any = bench.tasks.pool
    pool.full = True
    reopen.ended(ConsoleEnd(uuid, "killed"))
    pool.full = False
    bench.store.nodes.update(uuid, {"reservation": "another"})
    reopen()
    assert notes.calls == [("start_console",)]
    bench.store.nodes.update(uuid, {"reservation": None})
    reopen()
    assert notes.calls == [("start_console",)] * 2


def test_one_that_ends_is_opened_in_the_next_run_if_the_lock_was_lost_meanwhile(
    bench: Bench, notes: Notes, reopen: ConsoleRestorer
) -> None:
    uuid = node(bench)
    reopen()
    notes.errors["start_console"] = TakenOver(node=uuid, host=HOST)
    reopen.ended(ConsoleEnd(uuid, "killed"))
    bench.store.nodes.update(bench.row(uuid).id, {"reservation": None})
    del notes.errors["start_console"]
    notes.calls.clear()
    reopen()
    reopen()
    assert notes.calls == [("start_console",)]
    assert bench.row(uuid).console_enabled is True


def test_one_that_ends_where_its_node_is_no_more_is_left(bench: Bench, notes: Notes, reopen: ConsoleRestorer) -> None:
    reopen.ended(ConsoleEnd(node(bench, conductor_group="rack-9"), "killed"))
    reopen.ended(ConsoleEnd(node(bench, console_enabled=False), "killed"))
    reopen.ended(ConsoleEnd("0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b11", "killed"))
    assert notes.calls == []


def test_a_provider_of_containers_that_fails_keeps_no_console_closed(
    bench: Bench, notes: Notes, reopen: ConsoleRestorer, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    class Broken(containers.FakeConsoleContainer):
        def started(self) -> dict[str, Callable[[], None]]:
            raise ConsoleContainerError(provider="container", reason="docker did not end")

    monkeypatch.setattr(containers, "in_use", Broken)
    node(bench)
    reopen()
    assert notes.calls == [("start_console",)]
    assert "docker did not end" in caplog.text


def test_a_console_goes_with_the_instance_and_comes_with_the_next(bench: Bench, notes: Notes, conf: Any) -> None:
    conf(conductor__automated_clean=False)
    uuid = node(bench)
    with listening() as listener:
        bench.verb(uuid, "deleted")
    assert [event for event in listener.events if "console" in event] == [
        "node.console_stop.start",
        "node.console_stop.end",
    ]
    assert (bench.row(uuid).provision_state, bench.row(uuid).console_enabled) == ("available", True)
    bench.verb(uuid, "active")
    assert (bench.row(uuid).provision_state, bench.row(uuid).last_error) == ("active", None)
    assert notes.calls == [("stop_console",), ("start_console",)]


def test_a_console_that_can_not_be_opened_fails_no_deployment(bench: Bench, notes: Notes) -> None:
    uuid = node(bench, provision_state="available")
    notes.errors["start_console"] = IronicError("the port is taken")
    bench.verb(uuid, "active")
    found = bench.row(uuid)
    assert (found.provision_state, found.console_enabled) == ("active", False)
    assert "the port is taken" in str(found.last_error)


def test_a_console_that_can_not_be_closed_keeps_the_instance(bench: Bench, notes: Notes) -> None:
    uuid = node(bench)
    notes.errors["stop_console"] = IronicError("it does not end")
    bench.verb(uuid, "deleted")
    assert bench.row(uuid).provision_state == "error"
    assert "it does not end" in str(bench.row(uuid).last_error)


def test_a_deleted_node_has_no_console_even_if_closing_fails(bench: Bench, notes: Notes) -> None:
    uuid = node(bench, provision_state="manageable")
    notes.errors["stop_console"] = IronicError("it does not end")
    with listening() as listener:
        bench.endpoint.destroy_node(bench.context, uuid)
    assert [event for event in listener.events if "console" in event] == [
        "node.console_set.start",
        "node.console_set.error",
    ]
    assert notes.calls == [("stop_console",)]
    assert list(bench.store.nodes.rows(("id",), filters={})) == []
