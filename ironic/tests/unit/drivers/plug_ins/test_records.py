"""Records as plug-ins make and find them: without a task, under the rules that the API's writes obey."""

from typing import Any

import pytest

from ironic.common.exception import IronicException
from ironic.context import get_admin_context
from ironic.core.errors import (
    Conflict,
    DuplicateName,
    InvalidParameterValue,
    MissingParameterValue,
    NodeLocked,
    NodeNotFound,
)
from ironic.core.errors.resource_errors import MACAlreadyExists, PortgroupNotEmpty, PortNotFound
from ironic.core.flows import states
from ironic.db import NodeRecord, Store
from ironic.db.tables import metadata
from ironic.drivers.plug_ins import records
from ironic.inspection.hooks.base import NamedHook
from ironic.inspection.pipeline import Pipeline
from ironic.objects import Chassis, Conductor, Node, Port, Portgroup, TraitList, VolumeConnector, VolumeTarget
from ironic.tests.unit.inspection import lab
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC

CONTEXT = get_admin_context()


@pytest.fixture
def node(store: Store) -> NodeRecord:
    return lab.new_node(store, name="n1", owner="a-project", shard="s1")


KINDS = (Chassis, Conductor, Node, records.NodeHistory, Port, Portgroup, VolumeConnector, VolumeTarget)


@pytest.mark.parametrize("kind", KINDS)
def test_the_fields_are_those_of_the_table(store: Store, kind: type[records.PlugInRecord]) -> None:
    assert kind.form.names == tuple(column.name for column in metadata.tables[kind.form.table.name].c)
    with pytest.raises(AttributeError, match="no attribute colour"):
        kind(CONTEXT, colour="red")


def test_a_port_is_made_found_changed_and_removed(store: Store, node: NodeRecord) -> None:
    port = Port(CONTEXT, node_id=node.id, address=MAC.upper(), extra={"a": 1})
    port.create()
    assert (port.address, port.pxe_enabled, port.extra) == (MAC, True, {"a": 1})
    for found in (
        Port.get(CONTEXT, port.id),
        Port.get(CONTEXT, port.uuid),
        Port.get_by_id(CONTEXT, port.id),
        Port.get_by_uuid(CONTEXT, port.uuid),
        Port.get_by_address(CONTEXT, MAC.upper()),
        *Port.list(CONTEXT),
        *Port.list_by_node_id(CONTEXT, node.id),
        *Port.list_by_node_shards(CONTEXT, ["s1"]),
        *Port.list(CONTEXT, filters={"pxe_enabled": True}, project="a-project"),
    ):
        assert isinstance(found, Port) and found.as_dict() == port.as_dict()
    found.name, found.category = "first", "storage"
    found.local_link_connection = {"switch_id": "aa:bb:cc:00:00:01", "port_id": "1"}
    found.save()
    port.refresh()
    assert (port.name, port.category) == ("first", "storage")
    assert port.local_link_connection["port_id"] == "1"
    assert Port.get_by_name(CONTEXT, "first").id == port.id
    port.destroy()
    assert store.ports.find() == []
    with pytest.raises(PortNotFound, match=port.uuid):
        Port.get_by_uuid(CONTEXT, port.uuid)
    port.name = "late"
    with pytest.raises(PortNotFound):
        port.save()


def test_lists_have_pages_and_orders(node: NodeRecord) -> None:
    for number in range(4):
        Port(CONTEXT, node_id=node.id, address=f"52:54:00:00:00:0{number}").create()
    first = Port.list_by_node_id(CONTEXT, node.id, 2, sort_key="address", sort_dir="desc")
    assert [port.address[-1] for port in first] == ["3", "2"]
    rest = Port.list_by_node_id(CONTEXT, node.id, marker=first[-1].uuid, sort_key="address", sort_dir="desc")
    assert [port.address[-1] for port in rest] == ["1", "0"]
    assert Port.list(CONTEXT, project="another") == []
    with pytest.raises(InvalidParameterValue, match="no filter colour"):
        Port.list(CONTEXT, filters={"colour": "red"})


@pytest.mark.parametrize(
    "change, error, text",
    [
        ({"name": "taken"}, DuplicateName, "taken"),
        ({"address": OTHER_MAC}, MACAlreadyExists, OTHER_MAC),
        ({"address": "no address"}, InvalidParameterValue, "address must be a MAC address"),
        ({"category": "x" * 81}, InvalidParameterValue, "category"),
        ({"physical_network": "other"}, Conflict, "share one physical network"),
        ({"pxe_enabled": True}, Conflict, "no standalone ports"),
    ],
)
def test_a_save_obeys_what_writes_of_the_api_obey(
    store: Store, node: NodeRecord, change: dict[str, Any], error: type[IronicException], text: str
) -> None:
    group = Portgroup(CONTEXT, node_id=node.id, standalone_ports_supported=False)
    group.create()
    lab.new_port(store, node, OTHER_MAC, name="taken", portgroup_id=group.id, physical_network="net", pxe_enabled=False)
    port = Port(CONTEXT, node_id=node.id, address=MAC, portgroup_id=group.id, physical_network="net", pxe_enabled=False)
    port.create()
    for name, value in change.items():
        setattr(port, name, value)
    with pytest.raises(error, match=text) as refused:
        port.save()
    assert isinstance(refused.value, IronicException)
    stored = store.ports.get(port.id)
    assert (stored.name, stored.address, stored.physical_network, stored.pxe_enabled) == (None, MAC, "net", False)


@pytest.mark.parametrize(
    "columns, error", [({"address": MAC}, MissingParameterValue), ({"node_id": 77, "address": MAC}, NodeNotFound)]
)
def test_a_port_needs_a_node(store: Store, columns: dict[str, Any], error: type[IronicException]) -> None:
    with pytest.raises(error):
        Port(CONTEXT, **columns).create()
    assert store.ports.find() == []


def test_a_port_group_and_what_its_ports_share(store: Store, node: NodeRecord) -> None:
    group = Portgroup(CONTEXT, node_id=node.id, name="bond0", address=MAC)
    group.create()
    assert (group.mode, group.standalone_ports_supported) == ("active-backup", True)
    port = lab.new_port(store, node, portgroup_id=group.id)
    assert [one.name for one in Portgroup.list_by_node_id(CONTEXT, node.id)] == ["bond0"]
    assert [one.uuid for one in Port.list_by_portgroup_id(CONTEXT, group.id)] == [port.uuid]
    group.update_physical_network("net")
    assert store.ports.get(port.id).physical_network == store.portgroups.get(group.id).physical_network == "net"
    group.standalone_ports_supported = False
    with pytest.raises(Conflict, match="boot by themselves"):
        group.save()
    with pytest.raises(PortgroupNotEmpty):
        group.destroy()
    store.ports.delete(port.id)
    group.destroy()
    assert store.portgroups.find() == []


def test_a_node_is_enrolled_with_its_interfaces_and_removed(store: Store) -> None:
    node = Node(CONTEXT, driver="fake-hardware", name="new", driver_info={"a": "b"})
    node.create()
    assert (node.provision_state, node.power_interface, node.driver_info) == (states.ENROLL, "fake", {"a": "b"})
    for found in (
        Node.get(CONTEXT, "new"),
        Node.get_by_name(CONTEXT, "new"),
        *Node.list(CONTEXT, filters={"provision_state": "enroll"}),
    ):
        assert found.uuid == node.uuid
    with pytest.raises(DuplicateName):
        Node(CONTEXT, driver="fake-hardware", name="new").create()
    with pytest.raises(InvalidParameterValue, match="no-such"):
        Node(CONTEXT, driver="no-such").create()
    held = store.nodes.reserve(node.uuid, "c1", purpose="something")
    with pytest.raises(NodeLocked, match="something"):
        node.destroy()
    store.nodes.release(held, "c1")
    node.destroy()
    assert store.nodes.find() == []


def test_a_node_is_found_by_what_belongs_to_it(store: Store, node: NodeRecord) -> None:
    lab.new_port(store, node)
    child = lab.new_node(store, parent_node=node.uuid)
    assert Node.get_by_port_addresses(CONTEXT, [MAC]).id == node.id
    assert Node.get(CONTEXT, node.id).list_child_node_ids() == [child.id]
    with pytest.raises(NodeNotFound):
        Node.get_by_port_addresses(CONTEXT, [OTHER_MAC])
    with pytest.raises(NodeNotFound):
        Node.get_by_instance_uuid(CONTEXT, "none")


def test_values_of_the_driver_are_set_stamped_and_removed(node: NodeRecord) -> None:
    found = Node.get(CONTEXT, node.uuid)
    found.set_driver_internal_info("a", 1)
    found.timestamp_driver_internal_info("at")
    found.save()
    again = Node.get(CONTEXT, node.uuid)
    assert again.driver_internal_info["a"] == 1 and "T" in again.driver_internal_info["at"]
    assert again.del_driver_internal_info("a") == 1
    info = dict(again.driver_internal_info, b=2)
    again.driver_internal_info = info
    again.save()
    found.refresh()
    assert (found.driver_internal_info["b"], "a" in found.driver_internal_info) == (2, False)


def test_what_a_task_has_counts_as_what_a_plug_in_knows(store: Store, node: NodeRecord) -> None:
    lab.new_port(store, node)
    with_task = lab.work_on(store, node)
    assert isinstance(with_task.node, Node) and isinstance(with_task.ports[0], Port)
    assert not isinstance(with_task.node, Port)


def test_other_records(store: Store, node: NodeRecord) -> None:
    chassis = Chassis(CONTEXT, description="a rack")
    chassis.create()
    assert Chassis.get_by_uuid(CONTEXT, chassis.uuid).description == "a rack"
    connector = VolumeConnector(CONTEXT, node_id=node.id, type="iqn", connector_id="iqn.2026-01.org.example:1")
    connector.create()
    assert [one.type for one in VolumeConnector.list_by_node_id(CONTEXT, node.id)] == ["iqn"]
    target = VolumeTarget(CONTEXT, node_id=node.id, volume_type="iscsi", boot_index=0, volume_id="v1")
    target.create()
    assert [one.uuid for one in VolumeTarget.list_by_volume_id(CONTEXT, "v1")] == [target.uuid]
    assert Conductor.get_by_hostname(CONTEXT, "fake-hardware-host").online
    records.NodeHistory(CONTEXT, node_id=node.id, event="it happened", conductor="c1").create()
    assert [one.event for one in records.NodeHistory.list_by_node_id(CONTEXT, node.id)] == ["it happened"]


class Naming:
    """A hook as those of plug-ins: it lists ports itself, changes and saves them, and sets traits."""

    dependencies = ("ports",)

    def __init__(self, name: str = "{}") -> None:
        self.name, self.refused, self.seen = name, list[str](), list[str]()

    def preprocess(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        pass

    def __call__(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        kept = task.ports
        for number, port in enumerate(Port.list_by_node_id(task.context, task.node.id)):
            port.name = self.name.format(number)
            try:
                port.save()
            except IronicException as error:
                self.refused.append(str(error))
        names = set(task.node.traits.get_trait_names())
        self.seen = sorted(names)
        TraitList.create(task.context, task.node.id, names | {"CUSTOM_FOUND"})
        task.node.resource_class = "large"
        for port in kept:
            port.description = "seen before"
            port.save()
        task.node.save()


class AddingTrait(Naming):
    """A hook of the service that runs before."""

    def __call__(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        task.traits = [*task.traits, "CUSTOM_FIRST"]
        task.node.extra = {"first": True}


def inspect(store: Store, node: NodeRecord, *hooks: Naming) -> None:
    loaded = [*Pipeline.load(["validate-interfaces", "ports"]).hooks]
    loaded += [NamedHook(f"hook {number}", hook) for number, hook in enumerate(hooks)]  # type: ignore[arg-type]
    Pipeline(loaded).run(lab.work_on(store, node), lab.inventory(MAC, OTHER_MAC, booted=MAC))


def test_a_hook_finds_and_changes_the_ports_of_the_same_inspection(store: Store, node: NodeRecord) -> None:
    store.traits.replace(node.id, ["CUSTOM_OLD"])
    hook = Naming("port-{}")
    inspect(store, node, AddingTrait(), hook)
    assert hook.seen == ["CUSTOM_FIRST", "CUSTOM_OLD"]
    assert [(port.name, port.description) for port in store.ports.find(node_id=node.id)] == [
        ("port-0", "seen before"),
        ("port-1", "seen before"),
    ]
    stored = store.nodes.get(node.id)
    assert (stored.resource_class, stored.extra) == ("large", {"first": True})
    assert stored.traits.get_trait_names() == ["CUSTOM_FIRST", "CUSTOM_FOUND", "CUSTOM_OLD"]


def test_a_hook_may_go_on_after_a_refused_name(store: Store, node: NodeRecord) -> None:
    lab.new_port(store, lab.new_node(store), "52:54:00:00:00:09", name="port-0")
    hook = Naming("port-{}")
    inspect(store, node, hook)
    assert hook.refused and "port-0" in hook.refused[0]
    assert store.nodes.get(node.id).resource_class == "large"
