"""What a conductor answers to each call."""
# ruff: noqa: F811 - fixtures that are imported are named again by those who use them

from contextlib import nullcontext
from typing import Any

import pytest

from ironic.core.errors import (
    Conflict,
    DriverNotFound,
    InterfaceNotFoundInEntrypoint,
    InvalidParameterValue,
    InvalidState,
    IronicError,
    MissingParameterValue,
    NodeAssociated,
    NodeLocked,
    NodeNotEditable,
    NodeNotFound,
    NodeProtected,
    NoFreeConductorWorker,
)
from ironic.core.errors.resource_errors import MACAlreadyExists, PortNotFound
from ironic.core.flows import states
from ironic.core.hardware_interfaces import KINDS
from ironic.integrations.metrics import METRICS
from ironic.rpc.rpc_api import CALLS
from ironic.tests.unit.conductor.flows.conftest import bench, composed, store  # noqa: F401 - fixtures

MAC = "52:54:00:00:00:01"


def test_it_answers_every_call_of_the_conversation(bench):
    own = vars(type(bench.endpoint))
    assert all(callable(own[name]) for name in CALLS)


@pytest.mark.parametrize(
    "call, arguments",
    [
        ("change_node_power_state", ("power on",)),
        ("change_provision_state", ("manage", {})),
        ("destroy_node", ()),
        ("validate_interfaces", ()),
        ("set_boot_device", ("pxe", False)),
        ("get_boot_device", ()),
        ("supported_boot_devices", ()),
        ("heartbeat", ({},)),
        ("continue_inspection", ({}, {})),
    ],
)
def test_it_says_that_there_is_no_such_node(bench, call, arguments):
    with pytest.raises(NodeNotFound):
        getattr(bench.endpoint, call)(bench.context, "00000000-0000-4000-8000-000000000000", *arguments)


@pytest.mark.parametrize(
    "call, arguments, waits_for_lock",
    [
        ("change_node_power_state", ("power on",), True),
        ("change_provision_state", ("manage", {}), True),
        ("destroy_node", (), True),
        ("set_boot_device", ("pxe", False), True),
        ("heartbeat", ({},), True),
        ("continue_inspection", ({}, {}), True),
        ("validate_interfaces", (), False),
        ("get_boot_device", (), False),
        ("supported_boot_devices", (), False),
    ],
)
def test_it_changes_no_node_that_is_locked(bench, call, arguments, waits_for_lock):
    uuid = bench.node(reservation="elsewhere")
    act = getattr(bench.endpoint, call)
    if not waits_for_lock:
        act(bench.context, uuid, *arguments)
        return
    with pytest.raises(NodeLocked):
        act(bench.context, uuid, *arguments)
    assert bench.row(uuid).reservation == "elsewhere"


VERBS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("manage", states.ENROLL, {}),
    ("provide", states.MANAGEABLE, {}),
    ("inspect", states.MANAGEABLE, {}),
    ("adopt", states.MANAGEABLE, {}),
    ("clean", states.MANAGEABLE, {"clean_steps": [{"interface": "vendor", "step": "log_passthrough"}]}),
    ("active", states.AVAILABLE, {}),
    ("rebuild", states.ACTIVE, {}),
    ("deleted", states.ACTIVE, {}),
    ("rescue", states.ACTIVE, {"rescue_password": "x"}),
    ("unrescue", states.RESCUE, {}),
    ("service", states.ACTIVE, {"service_steps": [{"interface": "vendor", "step": "log_passthrough"}]}),
)


@pytest.mark.parametrize("verb, state, arguments", VERBS, ids=[verb for verb, _state, _arguments in VERBS])
def test_it_changes_nothing_when_no_worker_is_free(bench, verb, state, arguments):
    uuid = bench.node(provision_state=state)
    before = bench.row(uuid).as_dict()
    bench.pool.full = True
    with pytest.raises(NoFreeConductorWorker):
        bench.verb(uuid, verb, **arguments)
    after = bench.row(uuid).as_dict()
    assert {name: value for name, value in after.items() if value != before[name]} == {}


# Validation


def test_it_validates_every_interface(bench):
    answer = bench.endpoint.validate_interfaces(bench.context, bench.node())
    assert answer == {kind: {"result": True} for kind in KINDS if kind != "vendor"}


@pytest.mark.parametrize("kind", ["bios", "console", "firmware", "inspect", "raid", "rescue"])
def test_it_says_that_a_dummy_can_do_nothing(bench, kind):
    uuid = bench.node(**{f"{kind}_interface": f"no-{kind}"})
    answer = bench.endpoint.validate_interfaces(bench.context, uuid)
    assert answer[kind]["result"] is False
    assert answer[kind]["reason"]
    assert answer["deploy"] == {"result": True}


@pytest.mark.demand("S26")
def test_it_reports_an_interface_that_was_disabled_later(bench):
    uuid = bench.node(provision_state=states.MANAGEABLE, inspect_interface="gone")
    answer = bench.endpoint.validate_interfaces(bench.context, uuid)
    assert answer["inspect"]["result"] is False
    assert "gone" in answer["inspect"]["reason"]
    assert bench.composition.driver_for(bench.row(uuid)).inspect is None
    with pytest.raises(InterfaceNotFoundInEntrypoint):
        bench.verb(uuid, "inspect")
    assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)


def test_it_survives_an_interface_that_breaks(bench):
    bench.script.answers["power.validate"] = ZeroDivisionError("oops")
    answer = bench.endpoint.validate_interfaces(bench.context, bench.node("power"))
    assert answer["power"]["result"] is False
    assert "ZeroDivisionError" in answer["power"]["reason"]


# Deleting


@pytest.mark.parametrize("state", sorted(states.ALL))
@pytest.mark.parametrize("available_too", [True, False])
def test_it_deletes_nodes_that_nothing_depends_on(bench, conf, state, available_too):
    conf(conductor__allow_deleting_available_nodes=available_too)
    allowed = {states.ENROLL, states.MANAGEABLE, states.ADOPTFAIL} | ({states.AVAILABLE} if available_too else set())
    uuid = bench.node(provision_state=state)
    if state not in allowed:
        with pytest.raises(InvalidState):
            bench.endpoint.destroy_node(bench.context, uuid)
        assert bench.row(uuid).reservation is None
        return
    bench.endpoint.destroy_node(bench.context, uuid)
    with pytest.raises(NodeNotFound):
        bench.row(uuid)


@pytest.mark.parametrize(
    "values, error",
    [
        ({"instance_uuid": "6f1b3e6a-0a44-4b41-8d1c-6b9a3f0e7f11"}, NodeAssociated),
        ({"instance_uuid": "6f1b3e6a-0a44-4b41-8d1c-6b9a3f0e7f11", "maintenance": True}, None),
        ({"provision_state": states.ACTIVE, "maintenance": True}, None),
        ({"protected": True}, NodeProtected),
        ({"protected": True, "maintenance": True}, NodeProtected),
    ],
)
def test_it_knows_what_keeps_a_node(bench, values, error):
    uuid = bench.node(**values)
    with pytest.raises(error) if error else nullcontext():
        bench.endpoint.destroy_node(bench.context, uuid)
    assert bench.store.nodes.rows(("uuid",)) == ([(uuid,)] if error else [])


# Boot devices


def test_it_chooses_and_reads_the_boot_device(bench):
    uuid = bench.node()
    assert bench.endpoint.supported_boot_devices(bench.context, uuid) == ["pxe"]
    assert bench.endpoint.get_boot_device(bench.context, uuid) == {"boot_device": "pxe", "persistent": False}
    bench.endpoint.set_boot_device(bench.context, uuid, "pxe", True)
    assert bench.endpoint.get_boot_device(bench.context, uuid) == {"boot_device": "pxe", "persistent": True}
    with pytest.raises(InvalidParameterValue):
        bench.endpoint.set_boot_device(bench.context, uuid, "disk", False)


# Ports


@pytest.mark.parametrize("vif", [{}, {"port_uuid": "x"}, [], None])
def test_a_virtual_interface_without_an_id_is_refused_in_words(bench, vif):
    uuid = bench.node()
    with pytest.raises(MissingParameterValue, match="attach_vif can't be done"):
        bench.endpoint.attach_vif(bench.context, uuid, vif)
    assert bench.row(uuid).reservation is None


def port(bench, uuid: str, **values: Any) -> str:
    node_id = bench.row(uuid).id
    return bench.store.ports.create({"node_id": node_id, "address": MAC, **values}).uuid


def change(bench, port_uuid: str, **changes: Any) -> Any:
    bench.endpoint.update_port(bench.context, port_uuid, changes)
    return bench.store.ports.get(port_uuid)


def test_it_changes_and_deletes_a_port(bench):
    uuid = bench.node()
    mine = port(bench, uuid)
    assert change(bench, mine, extra={"rack": 7}, pxe_enabled=False).extra == {"rack": 7}
    assert bench.row(uuid).reservation is None
    bench.endpoint.destroy_port(bench.context, mine)
    with pytest.raises(PortNotFound):
        bench.store.ports.get(mine)
    with pytest.raises(PortNotFound):
        bench.endpoint.destroy_port(bench.context, mine)


def test_it_refuses_an_address_that_is_taken(bench):
    uuid = bench.node()
    port(bench, uuid)
    other = port(bench, uuid, address="52:54:00:00:00:02")
    with pytest.raises(MACAlreadyExists):
        change(bench, other, address=MAC)


@pytest.mark.parametrize(
    "values, changes, possible",
    [
        ({"provision_state": states.ACTIVE}, {"address": "52:54:00:00:00:09"}, False),
        ({"provision_state": states.ACTIVE, "maintenance": True}, {"address": "52:54:00:00:00:09"}, True),
        ({"provision_state": states.ACTIVE}, {"address": MAC}, True),
        ({"instance_uuid": "6f1b3e6a-0a44-4b41-8d1c-6b9a3f0e7f11"}, {"address": "52:54:00:00:00:09"}, False),
        ({"provision_state": states.AVAILABLE}, {"address": "52:54:00:00:00:09"}, True),
        ({"provision_state": states.AVAILABLE}, {"pxe_enabled": False}, False),
        ({"provision_state": states.AVAILABLE}, {"pxe_enabled": True}, True),
        ({"provision_state": states.AVAILABLE, "maintenance": True}, {"pxe_enabled": False}, True),
        ({"provision_state": states.MANAGEABLE}, {"physical_network": "net-1"}, True),
        ({"provision_state": states.ACTIVE}, {"local_link_connection": {"port_id": "1"}}, False),
        ({"provision_state": states.ACTIVE}, {"extra": {"rack": 7}}, True),
    ],
)
def test_it_changes_a_port_only_where_nobody_is_cut_off(bench, values, changes, possible):
    mine = port(bench, bench.node(**values))
    if possible:
        changed = change(bench, mine, **changes)
        assert {name: getattr(changed, name) for name in changes} == changes
        return
    with pytest.raises(NodeNotEditable) as refusal:
        change(bench, mine, **changes)
    assert refusal.value.status == 409


@pytest.mark.parametrize("maintenance", [True, False])
def test_it_deletes_no_port_in_use(bench, maintenance):
    uuid = bench.node(maintenance=maintenance)
    mine = port(bench, uuid, internal_info={"tenant_vif_port_id": "vif"})
    with nullcontext() if maintenance else pytest.raises(Conflict):
        bench.endpoint.destroy_port(bench.context, mine)
    assert bench.store.ports.rows(("uuid",)) == ([] if maintenance else [(mine,)])


# Heartbeats

RECORDED = {
    states.CLEANING, states.CLEANWAIT, states.CLEANHOLD, states.DEPLOYING, states.DEPLOYWAIT, states.DEPLOYHOLD,
    states.RESCUING, states.RESCUEWAIT, states.SERVICING, states.SERVICEWAIT, states.SERVICEHOLD,
}  # fmt: skip


@pytest.mark.parametrize("state", sorted(states.ALL))
def test_it_remembers_an_agent_where_one_may_run(bench, state):
    uuid = bench.node("vendor", "deploy", provision_state=state, maintenance=True)
    bench.beat(uuid, agent_status="start", agent_verify_ca=None)
    info = bench.row(uuid).driver_internal_info
    assert bench.state(uuid)[0] == state
    if state not in RECORDED:
        assert info == {}
        return
    assert info.pop("agent_last_heartbeat")
    assert ("waiting_for" in info) == (state in states.WAITING)
    info.pop("waiting_for", None)
    assert info == {"agent_url": "http://192.0.2.7:9999", "agent_version": "11.0", "agent_status": "start"}


def test_it_keeps_a_wait_alive_while_the_agent_lives(bench):
    uuid = bench.node(provision_state=states.CLEANWAIT, maintenance=True)
    assert bench.row(uuid).provision_updated_at is None
    bench.beat(uuid)
    assert bench.row(uuid).provision_updated_at is not None


def test_it_fails_what_waits_in_maintenance_if_configured(bench, conf):
    conf(conductor__allow_provisioning_in_maintenance=False)
    uuid = bench.node("deploy", provision_state=states.DEPLOYWAIT, maintenance=True)
    bench.beat(uuid)
    assert bench.state(uuid)[0] == states.DEPLOYFAIL
    assert "maintenance" in bench.row(uuid).last_error


def test_it_leaves_a_step_alone_that_is_polled(bench):
    info = {"cleaning_polling": True}
    uuid = bench.node("deploy", provision_state=states.CLEANWAIT, driver_internal_info=info)
    bench.beat(uuid)
    assert bench.state(uuid)[0] == states.CLEANWAIT


# Drivers


def test_it_describes_what_a_hardware_type_wants_to_know(bench):
    properties = bench.endpoint.driver_properties(bench.context, "fake-hardware")
    assert {"B1", "B2"} <= properties.keys()
    assert all(isinstance(text, str) for text in properties.values())
    with pytest.raises(DriverNotFound):
        bench.endpoint.driver_properties(bench.context, "nope")


def test_errors_of_a_driver_travel_as_they_are(bench):
    bench.script.answers["power.validate"] = IronicError("the BMC speaks in tongues")
    with pytest.raises(IronicError, match="the BMC speaks in tongues"):
        bench.verb(bench.node("power", provision_state=states.MANAGEABLE), "provide")


def test_every_call_that_is_answered_is_measured(bench, conf, measure):
    conf(metrics__backend="collector")
    measure()
    uuid = bench.node("power", provision_state=states.ENROLL)
    bench.endpoint.validate_interfaces(bench.context, uuid)
    with pytest.raises(NodeNotFound):
        bench.endpoint.validate_interfaces(bench.context, "00000000-0000-4000-8000-000000000000")
    bench.endpoint.change_provision_state(bench.context, uuid, "manage", {})
    counts = {name: entry["count"] for name, entry in METRICS.collected().items()}
    front = "ironic.conductor.manager.ConductorManager"
    assert counts[f"{front}.validate_interfaces"] == 1
    assert counts[f"{front}.change_provision_state"] == counts[f"{front}.do_node_manage"] == 1
