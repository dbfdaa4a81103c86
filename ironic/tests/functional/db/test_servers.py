"""What only servers do: deadlocks, and connections that die."""

import os
import socket
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.clock import CLOCK
from ironic.core.errors import DuplicateName
from ironic.core.hardware_interfaces import InterfaceRow
from ironic.db import Store, connect, engines, schema
from ironic.db.transactions import ConnectionLost
from ironic.services import row_changes
from ironic.tests.clocks import as_clock
from ironic.tests.databases import empty_database
from ironic.tests.relay import relay
from ironic.tests.suites.db.samples import node

KILL_OTHERS = {
    "mysql": "SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND db = database()",
    "postgresql": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND datname = current_database()",
}


def test_who_loses_a_deadlock_does_its_work_again(server: Store) -> None:
    one, two = node(server, extra={"n": 0}), node(server, extra={"n": 0})
    both_inside = threading.Barrier(2)
    attempts: list[int] = []
    failures: list[BaseException] = []

    def add_to(first: int, second: int) -> None:
        def work(_connection: Connection) -> None:
            attempts.append(first)
            for ident in (first, second):
                record = server.nodes.lock_row(ident)
                record.extra["n"] += 1
                record.save()
                if ident == first and len(attempts) <= 2:
                    both_inside.wait(10)

        try:
            server.run(work)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=add_to, args=order) for order in ((one.id, two.id), (two.id, one.id))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(attempts) == 3
    assert [server.nodes.get(record.id).extra["n"] for record in (one, two)] == [2, 2]


def test_a_port_is_added_while_another_one_changes_the_network_of_their_group(server: Store) -> None:
    locked = server.nodes.reserve(node(server).id, "h1")
    group = server.portgroups.create({"node_id": locked.id})
    old = server.ports.create({"node_id": locked.id, "address": "52:54:00:00:00:01", "portgroup_id": group.id})
    both_inside = threading.Barrier(2)
    attempts: list[str] = []
    failures: list[BaseException] = []

    def meet(who: str) -> None:
        attempts.append(who)
        if len(attempts) <= 2:
            both_inside.wait(10)

    def add(values: dict[str, Any]) -> dict[str, Any]:
        row_changes.join_group(server, group.id, values.pop("physical_network"), node_id=locked.id, pxe_enabled=True)
        meet("new")
        return {**values, "node_id": locked.id, "portgroup_id": group.id}

    def change() -> None:
        meet("old")
        row_changes.join_group(server, group.id, None, node_id=locked.id, pxe_enabled=True, port_id=old.id)
        old.save()

    def attempt(act: Callable[[], object]) -> None:
        try:
            act()
        except BaseException as failure:
            failures.append(failure)

    new = {"address": "52:54:00:00:00:02", "physical_network": None}
    acts = (lambda: row_changes.add(server, server.ports, new, add), lambda: server.nodes.run_held(locked, change))
    threads = [threading.Thread(target=attempt, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(attempts) in (["new", "new", "old"], ["new", "old", "old"])
    assert server.ports.count(portgroup_id=group.id) == 2


def test_mariadb_may_be_named_in_the_url(tmp_path: Path) -> None:
    with empty_database("mariadb", tmp_path) as url:
        named = url.replace("mysql+", "mariadb+")
        schema.upgrade(named)
        store = connect(named)
        made = node(store, name="n1")
        for number in (1, 2):
            store.inventories.put(made.id, {"n": number}, {})
        assert store.inventories.texts(made.id) == ('{"n":2}', "{}")
        with pytest.raises(DuplicateName):
            node(store, name="n1")
        store.close()


@pytest.mark.parametrize("minutes", [-10, 10])
def test_a_conductor_whose_own_clock_is_wrong_is_alive_all_the_same(server: Store, minutes: int) -> None:
    elsewhere = Store(server.engine, clock=as_clock(lambda: CLOCK.now() + timedelta(minutes=minutes)))
    elsewhere.conductors.register("h1", "", ["redfish"], [InterfaceRow("redfish", "power", "redfish", True)])
    assert [one.hostname for one in server.conductors.alive(60)] == ["h1"]
    assert [one.hostname for one in server.conductors.served_interfaces(60)] == ["h1"]
    server.conductors.touch("h1")
    assert [one.hostname for one in elsewhere.conductors.alive(60)] == ["h1"]
    assert elsewhere.conductors.remove_stale(60, 1) == []


def test_a_process_that_freezes_within_a_transaction_keeps_no_row_locked_for_ever(
    server: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "_LONGEST_IDLE", 1)
    frozen = connect(server.engine.url.render_as_string(hide_password=False))
    made = node(server)
    locked, thaw = threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def work(_connection: Connection) -> None:
        record = frozen.nodes.lock_row(made.id)
        locked.set()
        thaw.wait(60)
        record.extra["late"] = True
        record.save()

    def freeze() -> None:
        try:
            frozen.run(work)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=freeze), threading.Thread(target=lambda: server.nodes.reserve(made.id, "h1"))]
    threads[0].start()
    assert locked.wait(30)
    threads[1].start()
    threads[1].join(20)
    is_reserved = not threads[1].is_alive()
    thaw.set()
    for thread in threads:
        thread.join()
    assert is_reserved
    assert [type(failure) for failure in failures] == [ConnectionLost]
    assert server.nodes.get(made.id).extra == {}
    frozen.close()


def test_a_host_that_dies_without_a_word_is_noticed_in_seconds(server: Store) -> None:
    with server.engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        number = os.dup(driver.fileno() if hasattr(driver, "fileno") else driver._sock.fileno())
    with socket.socket(fileno=number) as link:
        assert link.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert link.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 30
        assert 0 < link.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 60_000


def test_no_conductor_is_dead_because_the_server_did_not_answer_for_a_while(server: Store) -> None:
    url, found = server.engine.url, list[str]()
    with relay("127.0.0.1", url.port or 0) as way:
        through = connect(url.set(port=way.port).render_as_string(hide_password=False))
        through.conductors.register("h1", "", ["redfish"], [])
        way.freeze()
        look = threading.Thread(target=lambda: found.extend(one.hostname for one in through.conductors.alive(2)))
        look.start()
        time.sleep(4)
        way.thaw()
        look.join()
        through.close()
    assert found == ["h1"]
    assert server.conductors.alive(2) == []


def kill_others(server: Store) -> None:
    engine = sa.create_engine(server.engine.url)
    with engine.connect() as connection:
        for (found,) in connection.exec_driver_sql(KILL_OTHERS[engine.dialect.name]).all():
            if engine.dialect.name == "mysql":
                connection.exec_driver_sql(f"KILL {found}")
    engine.dispose()


def test_connections_that_died_while_idle_are_replaced(server: Store) -> None:
    made = node(server)
    kill_others(server)
    assert server.nodes.get(made.id).uuid == made.uuid
    kill_others(server)
    assert server.nodes.reserve(made.id, "h1").held_by == "h1"
