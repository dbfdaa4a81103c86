"""The task of hooks: changes wait, then all are stored or none."""

from collections.abc import Callable
from typing import Any

import pytest

from ironic.core.errors import HardwareInspectionFailure, TakenOver
from ironic.db import Store
from ironic.db.column_types import encode_json
from ironic.inspection.staged_task import StagedTask
from ironic.tests.databases import counting_statements
from ironic.tests.unit.inspection.lab import HOST, MAC, OTHER_MAC, Work, new_node, new_port, stored_found, work_on


@pytest.fixture
def staged(task: Work) -> StagedTask:
    return StagedTask(task)


@pytest.mark.demand("S82")
def test_it_keeps_changes_back_until_they_are_committed(store: Store, task: Work, staged: StagedTask) -> None:
    with counting_statements(store) as seen:
        staged.node.set_property("cpu_arch", "x86_64")
        staged.node.description = "new"
        staged.node.save()
        staged.add_port(address=MAC).save()
        staged.store_found((encode_json({"a": 1}), encode_json({"b": 2})))
        assert (seen.writes, seen.commits) == (0, 0)
        staged.commit()
        assert seen.commits == 1
    again = store.nodes.get(task.node.uuid)
    assert (again.properties, again.description) == ({"cpu_arch": "x86_64"}, "new")
    assert [port.address for port in task.ports] == [MAC]
    assert stored_found(store, again) == ({"a": 1}, {"b": 2})


def test_it_writes_nothing_when_nothing_changed(store: Store, staged: StagedTask) -> None:
    assert list(staged.ports) == []
    with counting_statements(store) as seen:
        staged.commit()
    assert (seen.writes, seen.commits) == (0, 0)


def test_it_shows_ports_as_they_will_be(store: Store) -> None:
    node = new_node(store)
    old = new_port(store, node, MAC)
    staged = StagedTask(work_on(store, node))
    added = staged.add_port(address=OTHER_MAC, pxe_enabled=False)
    assert [port.address for port in staged.ports] == [MAC, OTHER_MAC]
    staged.remove_port(staged.ports[0])
    assert list(staged.ports) == [added]
    assert store.ports.get(old.uuid).address == MAC
    staged.commit()
    (port,) = staged.ports
    assert (port.uuid, port.address, port.pxe_enabled, port.node_id) == (added.uuid, OTHER_MAC, False, node.id)


def test_it_forgets_a_new_port_that_is_removed_again(store: Store, staged: StagedTask) -> None:
    staged.remove_port(staged.add_port(address=MAC))
    staged.commit()
    assert list(staged.ports) == []


def test_it_gives_a_new_port_what_stored_ones_have(store: Store, task: Work, staged: StagedTask) -> None:
    port: Any = staged.add_port(address=MAC)
    assert (port.extra, port.internal_info, port.pxe_enabled, port.is_smartnic, port.name) == (
        {},
        {},
        True,
        False,
        None,
    )
    port.extra["a"] = 1
    port.physical_network = "net"
    staged.commit()
    (stored,) = task.ports
    assert (stored.extra, stored.physical_network) == ({"a": 1}, "net")
    plain = {name: value for name, value in stored.as_dict().items() if name not in ("id", "created_at", "updated_at")}
    assert plain == port.as_dict()


def test_it_stores_changes_of_ports(store: Store) -> None:
    node = new_node(store)
    new_port(store, node, MAC)
    task = work_on(store, node)
    staged = StagedTask(task)
    staged.ports[0].pxe_enabled = False
    staged.ports[0].extra["x"] = 1
    staged.ports[0].save()
    assert store.ports.find(node_id=node.id)[0].pxe_enabled
    staged.commit()
    (port,) = task.ports
    assert (port.pxe_enabled, port.extra) == (False, {"x": 1})


def test_it_stores_traits(store: Store, task: Work, staged: StagedTask) -> None:
    store.traits.replace(task.node.id, ["CUSTOM_A"])
    assert list(staged.traits) == ["CUSTOM_A"]
    staged.traits = [*staged.traits, "CUSTOM_B"]
    assert list(staged.traits) == ["CUSTOM_A", "CUSTOM_B"]
    staged.commit()
    assert store.traits.of([task.node.id])[task.node.id] == ["CUSTOM_A", "CUSTOM_B"]


def test_it_stores_everything_or_nothing(store: Store, task: Work, staged: StagedTask) -> None:
    new_node(store, name="taken")
    staged.node.name = "taken"
    staged.node.set_property("cpu_arch", "x86_64")
    staged.traits = ["CUSTOM_A"]
    staged.add_port(address=MAC)
    staged.store_found((encode_json({}), encode_json({})))
    with pytest.raises(HardwareInspectionFailure, match="taken"):
        staged.commit()
    staged.discard()
    assert not task.node.changes()
    assert task.node.properties == {}
    assert list(staged.ports) == list(task.ports) == []
    assert list(staged.traits) == []
    assert stored_found(store, task.node) is None


def test_new_ports_that_other_nodes_have_are_left_out(
    store: Store, task: Work, staged: StagedTask, caplog: pytest.LogCaptureFixture
) -> None:
    others = [f"52:54:00:00:09:{number:02x}" for number in range(3)]
    for address in others:
        new_port(store, new_node(store), address)
    staged.node.set_property("cpu_arch", "x86_64")
    for address in (others[0], MAC, *others[1:]):
        staged.add_port(address=address)
    staged.commit()
    assert store.nodes.get(task.node.uuid).properties == {"cpu_arch": "x86_64"}
    assert [port.address for port in store.ports.find(node_id=task.node.id)] == [MAC]
    assert all(f"MAC address {address} can't become a port" in caplog.text for address in others)


def test_a_port_can_not_take_the_address_of_another_nodes_port(store: Store, task: Work, staged: StagedTask) -> None:
    new_port(store, new_node(store), OTHER_MAC)
    new_port(store, task.node, MAC)
    staged.ports[0].address = OTHER_MAC
    with pytest.raises(HardwareInspectionFailure, match=f"MAC address {OTHER_MAC} can't become a port"):
        staged.commit()


@pytest.mark.parametrize(
    ("spoil", "part"),
    [
        (lambda staged: setattr(staged.node, "name", "taken"), "taken"),
        (lambda staged: setattr(staged.node, "description", "a\0b"), "NUL"),
        (lambda staged: staged.node.properties.update(x={1, 2}), "can't be stored as JSON"),
    ],
)
def test_it_says_what_can_not_be_stored(store: Store, staged: StagedTask, spoil: Any, part: str) -> None:
    new_node(store, name="taken")
    spoil(staged)
    with pytest.raises(HardwareInspectionFailure, match=f"what was found can't be stored: .*{part}"):
        staged.commit()


def test_it_writes_nothing_once_another_conductor_has_the_node(store: Store, task: Work, staged: StagedTask) -> None:
    staged.node.set_property("cpu_arch", "x86_64")
    staged.add_port(address=MAC)
    store.nodes.release(task.node.id, HOST)
    store.nodes.reserve(task.node.uuid, "conductor-2")
    with pytest.raises(TakenOver):
        staged.commit()
    assert store.ports.find(node_id=task.node.id) == []


def test_it_is_the_task_in_everything_else(task: Work, staged: StagedTask) -> None:
    assert staged.context is task.context
    assert staged.store is task.store
    assert staged.portgroups == []
    assert staged.node.uuid == task.node.uuid
    staged.add_port(address=MAC)
    assert [port.address for port in staged.ports] == [MAC]
    with pytest.raises(AttributeError):
        staged.nothing_of_the_kind  # noqa: B018


@pytest.mark.parametrize(("owner", "is_limited"), [("a", True), (None, False)])
def test_a_report_gives_a_projects_node_no_more_ports_than_it_may_have(
    store: Store, conf: Callable[..., None], owner: str | None, is_limited: bool
) -> None:
    conf(api__parts_per_node=2)
    node = new_node(store)
    store.nodes.update(node.id, {"owner": owner})
    old = new_port(store, node, MAC)
    staged = StagedTask(work_on(store, store.nodes.get(node.id)))
    for number in range(2):
        staged.add_port(address=f"52:54:00:00:09:{number:02x}")
    if is_limited:
        with pytest.raises(HardwareInspectionFailure, match=r"The node has 2 ports.*\[api\]parts_per_node"):
            staged.commit()
        assert [one.uuid for one in store.ports.find(node_id=node.id)] == [old.uuid]
        # Those that go leave room.
        staged.remove_port(next(port for port in staged.ports if port.address == MAC))
    staged.commit()
    assert store.ports.count(node_id=node.id) == (2 if is_limited else 3)
