"""What a conductor does when it is asked to change or delete a port group or a node."""
# ruff: noqa: F811 - fixtures that are imported are named again by those who use them

import itertools
from typing import Any

import pytest
import sqlalchemy as sa

from ironic.core.errors import ChangedMeanwhile, Conflict, DuplicateName, NodeLocked, NodeNotEditable, RowLimit
from ironic.core.errors.resource_errors import PortgroupNotEmpty, PortgroupNotFound
from ironic.core.flows import states
from ironic.drivers.modules.network.noop import NoopNetwork
from ironic.tests.unit.conductor.flows.conftest import bench, composed, store  # noqa: F401 - fixtures

MACS = ("52:54:00:00:00:01", "52:54:00:00:00:02")


def group(bench, uuid: str, **values: Any) -> str:
    return bench.store.portgroups.create({"node_id": bench.row(uuid).id, **values}).uuid


def member(bench, group_uuid: str, address: str = MACS[0], **values: Any) -> str:
    its = bench.store.portgroups.get(group_uuid)
    return bench.store.ports.create({"node_id": its.node_id, "portgroup_id": its.id, "address": address, **values}).uuid


def change(bench, group_uuid: str, **changes: Any) -> Any:
    bench.endpoint.update_portgroup(bench.context, group_uuid, changes)
    return bench.store.portgroups.get(group_uuid)


def test_it_changes_and_deletes_a_group(bench):
    uuid = bench.node()
    mine = group(bench, uuid)
    changed = change(bench, mine, properties={"miimon": 100}, name="bond0", address=None)
    assert (changed.properties, changed.name) == ({"miimon": 100}, "bond0")
    assert bench.row(uuid).reservation is None
    bench.endpoint.destroy_portgroup(bench.context, mine)
    for call in (bench.endpoint.destroy_portgroup, lambda *asked: bench.endpoint.update_portgroup(*asked, {})):
        with pytest.raises(PortgroupNotFound):
            call(bench.context, mine)


def test_it_refuses_a_name_that_is_taken(bench):
    uuid = bench.node()
    group(bench, uuid, name="bond0")
    with pytest.raises(DuplicateName):
        change(bench, group(bench, uuid), name="bond0")


def test_it_waits_for_nobody_who_holds_the_node(bench):
    uuid = bench.node()
    mine = group(bench, uuid)
    bench.store.nodes.reserve(uuid, "other")
    with pytest.raises(NodeLocked):
        change(bench, mine, name="bond0")
    with pytest.raises(NodeLocked):
        bench.endpoint.destroy_portgroup(bench.context, mine)


def test_the_ports_of_a_group_share_its_physical_network(bench):
    uuid = bench.node()
    mine, other = group(bench, uuid), group(bench, uuid)
    members = [member(bench, mine, address) for address in MACS]
    outside = member(bench, other, "52:54:00:00:00:03", physical_network="own")
    change(bench, mine, physical_network="net-1")
    assert [bench.store.ports.get(port).physical_network for port in (*members, outside)] == ["net-1", "net-1", "own"]
    change(bench, mine, physical_network=None)
    assert [bench.store.ports.get(port).physical_network for port in members] == [None, None]


@pytest.mark.parametrize(
    ("pxe_enabled", "standalone", "possible"),
    [(True, False, False), (False, False, True), (True, True, True)],
)
def test_ports_that_boot_need_a_group_with_standalone_ports(bench, pxe_enabled, standalone, possible):
    mine = group(bench, bench.node())
    member(bench, mine, pxe_enabled=pxe_enabled)
    if possible:
        assert change(bench, mine, standalone_ports_supported=standalone).standalone_ports_supported is standalone
        return
    with pytest.raises(Conflict):
        change(bench, mine, standalone_ports_supported=standalone)


@pytest.mark.parametrize(
    ("values", "possible"),
    [
        ({"provision_state": states.ENROLL}, True),
        ({"provision_state": states.MANAGEABLE}, True),
        ({"provision_state": states.INSPECTWAIT}, True),
        ({"provision_state": states.AVAILABLE}, False),
        ({"provision_state": states.ACTIVE}, False),
        ({"provision_state": states.ACTIVE, "maintenance": True}, True),
    ],
)
def test_an_empty_group_moves_while_nobody_is_cut_off(bench, values, possible):
    mine, target = group(bench, bench.node(**values)), bench.row(bench.node()).id
    if possible:
        assert change(bench, mine, node_id=target).node_id == target
        return
    with pytest.raises(NodeNotEditable):
        change(bench, mine, node_id=target)


def test_a_group_with_ports_stays_where_it_is(bench):
    mine, target = group(bench, bench.node()), bench.row(bench.node()).id
    member(bench, mine)
    with pytest.raises(PortgroupNotEmpty):
        change(bench, mine, node_id=target)
    with pytest.raises(PortgroupNotEmpty):
        bench.endpoint.destroy_portgroup(bench.context, mine)


@pytest.mark.parametrize(("name", "reason"), [("node_id", PortgroupNotEmpty), ("standalone_ports_supported", Conflict)])
def test_a_port_that_joins_meanwhile_keeps_its_group_as_it_is(bench, monkeypatch, name, reason):
    mine, target = group(bench, bench.node()), bench.row(bench.node()).id
    before = getattr(bench.store.portgroups.get(mine), name)
    monkeypatch.setattr(NoopNetwork, "portgroup_changed", lambda *_: member(bench, mine))
    with pytest.raises(reason):
        change(bench, mine, **{name: target if name == "node_id" else False})
    assert getattr(bench.store.portgroups.get(mine), name) == before


def test_a_port_that_joins_meanwhile_gets_the_new_network_of_its_group(bench, monkeypatch):
    mine = group(bench, bench.node())
    monkeypatch.setattr(NoopNetwork, "portgroup_changed", lambda *_: member(bench, mine))
    change(bench, mine, physical_network="net-1")
    assert [port.physical_network for port in bench.store.ports.find()] == ["net-1"]


@pytest.mark.parametrize("maintenance", [True, False])
def test_a_group_in_use_is_not_deleted(bench, maintenance):
    mine = group(bench, bench.node(maintenance=maintenance), internal_info={"tenant_vif_port_id": "vif"})
    if maintenance:
        bench.endpoint.destroy_portgroup(bench.context, mine)
        return
    with pytest.raises(Conflict):
        bench.endpoint.destroy_portgroup(bench.context, mine)


@pytest.mark.parametrize("changes", [{"physical_network": "b"}, {"physical_network": None}])
def test_a_member_keeps_the_network_of_its_port_group(bench, changes):
    mine = group(bench, bench.node())
    port = member(bench, mine, physical_network="a")
    member(bench, mine, MACS[1], physical_network="a")
    with pytest.raises(Conflict, match="share one physical network \\(a\\)"):
        bench.endpoint.update_port(bench.context, port, changes)
    assert bench.store.ports.get(port).physical_network == "a"


@pytest.mark.parametrize(("network", "fits"), [("a", True), ("b", False), (None, False)])
def test_a_port_that_joins_a_group_has_its_network(bench, network, fits):
    uuid = bench.node()
    mine = group(bench, uuid, physical_network="a")
    values = {"node_id": bench.row(uuid).id, "address": MACS[0], "physical_network": network}
    port = bench.store.ports.create(values).uuid
    joins = {"portgroup_id": bench.store.portgroups.get(mine).id}
    if fits:
        bench.endpoint.update_port(bench.context, port, joins)
    else:
        with pytest.raises(Conflict):
            bench.endpoint.update_port(bench.context, port, joins)
    assert (bench.store.ports.get(port).portgroup_id is not None) is fits


def test_the_first_member_gives_its_network_to_the_group(bench):
    uuid = bench.node()
    mine = group(bench, uuid)
    port = bench.store.ports.create({"node_id": bench.row(uuid).id, "address": MACS[0], "physical_network": "a"}).uuid
    bench.endpoint.update_port(bench.context, port, {"portgroup_id": bench.store.portgroups.get(mine).id})
    assert bench.store.portgroups.get(mine).physical_network == "a"


@pytest.mark.parametrize("kind", ["port", "portgroup"])
def test_what_has_changed_since_it_was_seen_is_not_overwritten(bench, kind):
    mine = group(bench, bench.node(), extra={"a": 1})
    rows, changed = bench.store.portgroups, mine
    if kind == "port":
        rows, changed = bench.store.ports, member(bench, mine, extra={"a": 1})
    update = getattr(bench.endpoint, f"update_{kind}")
    with pytest.raises(ChangedMeanwhile, match=changed):
        update(bench.context, changed, {"extra": {"b": 2}}, {"extra": {}})
    assert rows.get(changed).extra == {"a": 1}
    update(bench.context, changed, {"extra": {"a": 1, "b": 2}}, {"extra": {"a": 1}})
    assert rows.get(changed).extra == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("kind", "column"), [("port", "extra"), ("port", "local_link_connection"), ("portgroup", "properties")]
)
def test_nothing_stored_is_an_empty_object_for_who_has_seen_it(bench, kind, column):
    mine = group(bench, bench.node())
    rows, changed = (bench.store.portgroups, mine) if kind == "portgroup" else (bench.store.ports, member(bench, mine))
    table = rows.table
    bench.store.run(lambda connection: connection.execute(sa.update(table).values({column: sa.null()})))
    getattr(bench.endpoint, f"update_{kind}")(bench.context, changed, {column: {"a": 1}}, {column: {}})
    assert getattr(rows.get(changed), column) == {"a": 1}


@pytest.mark.parametrize("kind", ["port", "portgroup"])
def test_a_part_moves_to_a_node_that_has_room(bench, kind):
    nodes = [bench.row(bench.node()).id for _ in range(2)]
    rows: Any = getattr(bench.store, f"{kind}s")
    values = itertools.count()

    def part(node_id: int) -> str:
        address = {"address": f"52:54:00:00:09:{next(values):02x}"} if kind == "port" else {}
        return str(rows.create({"node_id": node_id, **address}).uuid)

    update = getattr(bench.endpoint, f"update_{kind}")
    mine = part(nodes[0])
    there = [part(nodes[1]) for _ in range(2)]
    with pytest.raises(RowLimit, match=r"The node has 2 .*\[api\]parts_per_node"):
        update(bench.context, mine, {"node_id": nodes[1]}, None, 2)
    assert rows.get(mine).node_id == nodes[0]
    # What is there already may change all the same.
    update(bench.context, there[0], {"extra": {"a": 1}, "node_id": nodes[1]}, None, 2)
    update(bench.context, mine, {"node_id": nodes[1]}, None, 3)
    update(bench.context, mine, {"node_id": nodes[0]})
    assert rows.get(mine).node_id == nodes[0]


def test_a_node_whose_children_are_in_use_is_not_deleted(bench):
    parent = bench.node()
    used = {"provision_state": "active", "parent_node": parent}
    child, other, idle = bench.node(**used), bench.node(**used, owner="other"), bench.node(parent_node=parent)
    with pytest.raises(Conflict, match=f"2 nodes in use, such as {child}\\.") as refused:
        bench.endpoint.destroy_node(bench.context, parent)
    assert other not in str(refused.value)
    assert bench.row(parent).reservation is None
    assert [bench.row(uuid).parent_node for uuid in (child, other, idle)] == [parent] * 3


@pytest.mark.parametrize(("maintenance", "state"), [(False, "enroll"), (True, "active")])
def test_children_of_a_deleted_node_have_no_parent_and_are_named(bench, caplog, maintenance, state):
    parent = bench.node(maintenance=maintenance)
    child, stranger = bench.node(parent_node=parent, provision_state=state), bench.node(parent_node=bench.node())
    bench.endpoint.destroy_node(bench.context, parent)
    assert bench.row(child).parent_node is None
    assert bench.row(stranger).parent_node is not None
    assert f"Node {parent} was parent_node of nodes that have none now: {child}" in caplog.text
