"""Two requests at once leave no circle of parents, no child of a missing node, and no port in a group of another node.

The second request begins when the first one has checked and written, but not yet committed.
"""

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest
import sqlalchemy as sa

from ironic.core.errors import Conflict, HardwareInspectionFailure, InvalidParameterValue, IronicError
from ironic.core.errors.resource_errors import ChassisNotEmpty, PortgroupNotEmpty
from ironic.core.rules import Changes
from ironic.db import NodeRecord, Store
from ironic.inspection.rules.rule_effects import apply_changes
from ironic.inspection.staged_task import StagedTask
from ironic.rpc.hash_ring import HashRingManager
from ironic.services import node_changes, node_parents, nodes, row_changes
from ironic.services.node_authors import Author
from ironic.services.node_changes import LockRetries
from ironic.tests.suites.db.samples import node

# The number of statements that wait for a lock; MariaDB does not list the wait of the first one of a transaction.
WAITING: Final = {
    "mysql": "SELECT count(*) FROM information_schema.processlist"
    " WHERE db = database() AND id <> connection_id() AND command = 'Query' AND time_ms > 300",
    "postgresql": "SELECT count(*) FROM pg_stat_activity"
    " WHERE wait_event_type = 'Lock' AND datname = current_database()",
}
NOTHING: Final = LockRetries(1, 0)

Act = Callable[[Callable[[], None]], object]


def overlap(server: Store, first: Act, second: Act) -> list[str]:
    """Begin the second act where the first one calls its argument; return how each ended."""
    ends = ["", ""]

    def attempt(number: int, act: Act, between: Callable[[], None]) -> None:
        try:
            act(between)
            ends[number] = "done"
        except IronicError as error:
            ends[number] = type(error).__name__

    later = threading.Thread(target=attempt, args=(1, second, lambda: None))
    asking = server.engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def between() -> None:
        if later.ident is not None:
            return  # the first act is repeated after a deadlock
        later.start()
        until = time.monotonic() + 10
        while later.is_alive() and not asking.execute(sa.text(WAITING[server.engine.dialect.name])).scalar_one():
            assert time.monotonic() < until, "The second act neither ends nor waits for a lock."
            later.join(0.02)

    with asking:
        attempt(0, first, between)
        later.join(60)
    return ends


def adopt(server: Store, child: NodeRecord, parent: NodeRecord) -> Act:
    """Return what a PATCH of parent_node does."""

    def act(between: Callable[[], None]) -> None:
        def change(record: NodeRecord) -> None:
            node_parents.check_parent(server, record.uuid, parent.uuid)
            record.parent_node = parent.uuid
            record.save()
            between()

        node_changes.change_free(server, child.uuid, change, NOTHING)

    return act


def enroll(server: Store, parent: NodeRecord) -> Act:
    """Return what the creation of a child does."""

    def act(between: Callable[[], None]) -> None:
        author = Author(server, HashRingManager(server, heartbeat_timeout=60))

        def create(_connection: object) -> None:
            values = {"uuid": "7d1c7d8c-0d5e-4d86-9a2c-5ac1f4f6e001", "driver": "fake-hardware"}
            nodes.enroll({**values, "provision_state": "active", "parent_node": parent.uuid}, author)
            between()

        server.run(create)

    return act


def destroy(server: Store, held: NodeRecord) -> Act:
    """Return what the deletion of a node does."""

    def act(between: Callable[[], None]) -> None:
        def delete() -> None:
            node_parents.check_children(server, held, available_too=True)
            server.nodes.delete_held(held)
            between()

        server.nodes.run_held(held, delete)

    return act


def test_two_nodes_become_parents_of_each_other_once(server: Store) -> None:
    one, two = node(server), node(server)
    assert overlap(server, adopt(server, one, two), adopt(server, two, one)) == ["done", "InvalidParameterValue"]
    assert (server.nodes.get(one.id).parent_node, server.nodes.get(two.id).parent_node) == (two.uuid, None)


def test_the_last_link_of_a_long_circle_is_refused(server: Store) -> None:
    top = node(server)
    middle = node(server, parent_node=top.uuid)
    low = node(server)
    assert overlap(server, adopt(server, low, middle), adopt(server, top, low)) == ["done", "InvalidParameterValue"]
    assert server.nodes.get(top.id).parent_node is None


def test_of_two_that_have_locked_themselves_one_is_refused(server: Store) -> None:
    one, two = node(server), node(server)
    both_inside = threading.Barrier(2)
    ends: list[str] = []

    def change(child: NodeRecord, parent: NodeRecord) -> None:
        met: list[bool] = []

        def within(record: NodeRecord) -> None:
            if not met:
                met.append(True)
                both_inside.wait(10)
            node_parents.check_parent(server, record.uuid, parent.uuid)
            record.parent_node = parent.uuid

        try:
            node_changes.change_free(server, child.uuid, within, NOTHING)
            ends.append("done")
        except InvalidParameterValue:
            ends.append("refused")

    threads = [threading.Thread(target=change, args=pair) for pair in ((one, two), (two, one))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(ends) == ["done", "refused"]


def test_a_child_in_use_that_came_first_keeps_its_parent(server: Store) -> None:
    held = server.nodes.reserve(node(server).id, "h1")
    assert overlap(server, enroll(server, held), destroy(server, held)) == ["done", "Conflict"]
    (child,) = server.nodes.find(parent_node=held.uuid)
    assert server.nodes.get(child.parent_node or "").id == held.id


def test_a_node_that_is_being_deleted_gets_no_child(server: Store) -> None:
    held = server.nodes.reserve(node(server).id, "h1")
    assert overlap(server, destroy(server, held), enroll(server, held)) == ["done", "InvalidParameterValue"]
    assert server.nodes.count() == 0


def test_a_child_that_is_taken_into_use_first_keeps_its_parent(server: Store) -> None:
    held = server.nodes.reserve(node(server).id, "h1")
    child = node(server, parent_node=held.uuid, provision_state="available")

    def use(between: Callable[[], None]) -> None:
        def change(record: NodeRecord) -> None:
            record.provision_state = "active"
            record.save()
            between()

        node_changes.change_free(server, child.uuid, change, NOTHING)

    assert overlap(server, use, destroy(server, held)) == ["done", "Conflict"]
    assert server.nodes.get(child.id).parent_node == held.uuid


def test_a_rule_makes_no_circle_with_a_change_that_came_before_it_is_stored(store: Store) -> None:
    held, above = store.nodes.reserve(node(store, provision_state="inspecting").id, "h1"), node(store)
    staged: Any = StagedTask(cast(Any, SimpleNamespace(store=store, node=held, ports=(), portgroups=())))
    changes = Changes([{"op": "add", "path": "/parent_node", "value": above.uuid}])
    apply_changes(changes, staged, {})
    adopt(store, above, held)(lambda: None)
    with pytest.raises(HardwareInspectionFailure, match="stands below it"):
        staged.commit()
    assert (store.nodes.get(held.id).parent_node, store.nodes.get(above.id).parent_node) == (None, held.uuid)


# Other relations that are checked before they are written


def new_port(server: Store, group: Any) -> Act:
    """Return what the creation of a port in a group does."""

    def act(between: Callable[[], None]) -> None:
        def create(_connection: object) -> None:
            row_changes.join_group(server, group.id, None, node_id=group.node_id, pxe_enabled=True)
            values = {"node_id": group.node_id, "portgroup_id": group.id, "address": "52:54:00:00:00:01"}
            server.ports.create(values)
            between()

        server.run(create)

    return act


@pytest.mark.parametrize("port_first", [True, False])
def test_a_port_is_not_created_in_a_group_that_is_being_deleted(server: Store, port_first: bool) -> None:
    group = server.portgroups.create({"node_id": node(server).id})

    def delete(between: Callable[[], None]) -> None:
        def work(_connection: object) -> None:
            server.portgroups.delete(group.id)
            between()

        server.run(work)

    port = new_port(server, group)
    if port_first:
        assert overlap(server, port, delete) == ["done", PortgroupNotEmpty.__name__]
        assert server.ports.count(portgroup_id=group.id) == 1
    else:
        assert overlap(server, delete, port) == ["done", "PortgroupNotFound"]
        assert server.ports.count() == 0


@pytest.mark.parametrize("changes", [{"node_id": None}, {"standalone_ports_supported": False}])
def test_a_port_does_not_join_a_group_that_is_changed_meanwhile(server: Store, changes: dict[str, Any]) -> None:
    group, elsewhere = server.portgroups.create({"node_id": node(server).id}), node(server)

    def change(between: Callable[[], None]) -> None:
        def work(_connection: object) -> None:
            record = server.portgroups.lock_row(group.id)
            for name, value in changes.items():
                setattr(record, name, elsewhere.id if name == "node_id" else value)
            record.save()
            between()

        server.run(work)

    assert overlap(server, change, new_port(server, group)) == ["done", Conflict.__name__]
    assert server.ports.count() == 0


@pytest.mark.parametrize("node_first", [True, False])
def test_a_chassis_that_is_being_deleted_gets_no_node(server: Store, node_first: bool) -> None:
    chassis = server.chassis.create({})

    def create(between: Callable[[], None]) -> None:
        def work(_connection: object) -> None:
            node(server, chassis_id=chassis.id)
            between()

        server.run(work)

    def delete(between: Callable[[], None]) -> None:
        def work(_connection: object) -> None:
            server.chassis.delete(chassis.id)
            between()

        server.run(work)

    if node_first:
        assert overlap(server, create, delete) == ["done", ChassisNotEmpty.__name__]
    else:
        assert overlap(server, delete, create) == ["done", "InvalidParameterValue"]
        assert server.nodes.count() == 0
