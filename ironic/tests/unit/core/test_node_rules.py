"""One table per rule: what each state and mark of a node forbids."""

import contextlib
from typing import Any

import pytest

from ironic.core import node_rules
from ironic.core.errors import (
    Conflict,
    InvalidParameterValue,
    InvalidStateRequested,
    IronicError,
    NodeInMaintenance,
    NodeIsRetired,
    NodeLocked,
    NodeNotEditable,
    NodeProtected,
    PowerStateFailure,
)
from ironic.core.errors.resource_errors import NotPoweredOff
from ironic.core.flows import states
from ironic.core.node_rules import NodeValues


def node(state: str = states.ENROLL, **more: Any) -> NodeValues:
    values: dict[str, Any] = dict.fromkeys(node_rules.COLUMNS)
    values |= {"uuid": "u", "provision_state": state, "driver": "d", "conductor_group": ""}
    values |= dict.fromkeys(("maintenance", "protected", "retired", "console_enabled", "disable_power_off"), False)
    return node_rules.of_row(tuple((values | more).values()))


# Verbs


@pytest.mark.parametrize("state", sorted(states.ALL))
@pytest.mark.parametrize("verb", sorted(states.VERBS))
def test_a_verb_fits_a_state_by_the_table_of_moves_and_never_one_that_somebody_works_in(state: str, verb: str) -> None:
    if states.allows(state, states.VERBS[verb]) and state not in states.WORKING:
        node_rules.check_verb(node(state), verb, by_holder=False)
        node_rules.check_verb(node(state, reservation="here"), verb, by_holder=True)
        return
    with pytest.raises(InvalidStateRequested):
        node_rules.check_verb(node(state), verb, by_holder=False)
    with pytest.raises(InvalidStateRequested):
        node_rules.check_verb(node(state, reservation="here"), verb, by_holder=True)
    with pytest.raises(NodeLocked, match="elsewhere"):
        node_rules.check_verb(node(state, reservation="elsewhere"), verb, by_holder=False)


# Verb: refused in maintenance, on a protected node, on a retired node.
MARKS = {
    "abort": (False, False, False),
    "active": (True, False, False),
    "adopt": (False, False, False),
    "available": (False, False, True),
    "clean": (True, False, False),
    "deleted": (False, True, False),
    "deploy": (True, False, False),
    "inspect": (False, False, False),
    "manage": (False, False, False),
    "provide": (False, False, True),
    "rebuild": (True, True, False),
    "rescue": (True, False, False),
    "service": (True, False, False),
    "undeploy": (False, True, False),
    "unhold": (False, False, False),
    "unrescue": (True, False, False),
}


def test_the_table_has_every_verb() -> None:
    assert MARKS.keys() == states.VERBS.keys()


@pytest.mark.parametrize("verb", sorted(MARKS))
@pytest.mark.parametrize(
    ("place", "mark", "error"),
    [(0, "maintenance", NodeInMaintenance), (1, "protected", NodeProtected), (2, "retired", NodeIsRetired)],
)
def test_marks_forbid_some_verbs(verb: str, place: int, mark: str, error: type[IronicError]) -> None:
    state = next(state for state in sorted(states.ALL) if node_rules.accepts_verb(state, verb))
    marked = node(state, **{mark: True})
    if MARKS[verb][place]:
        with pytest.raises(error):
            node_rules.check_marks(marked, verb)
    else:
        node_rules.check_marks(marked, verb)
    node_rules.check_marks(node(state), verb, offered_in_maintenance=False)


@pytest.mark.parametrize("verb", ["available", "provide"])
def test_offering_a_node_in_maintenance_is_the_operators_choice(verb: str) -> None:
    with pytest.raises(NodeInMaintenance):
        node_rules.check_marks(node(states.CLEANFAIL, maintenance=True), verb, offered_in_maintenance=False)


def test_a_failed_service_is_not_left_in_maintenance() -> None:
    with pytest.raises(NodeInMaintenance):
        node_rules.check_marks(node(states.SERVICEFAIL, maintenance=True), "abort")


@pytest.mark.parametrize(
    ("state", "maintenance", "told"),
    [
        (
            states.CLEANFAIL,
            True,
            r"clean failed\. It is .*\. Possible now: .*manage.*\. The node is also in maintenance\.$",
        ),
        (states.ENROLL, False, r"enroll\. It is possible in inspect failed, manageable\. Possible now: manage\.$"),
        (states.CLEANING, False, r"cleaning\. It is .*\. Possible now: nothing, until it has ended\.$"),
    ],
)
def test_a_refusal_names_all_obstacles_and_what_is_possible(state: str, maintenance: bool, told: str) -> None:
    with pytest.raises(InvalidStateRequested, match=told):
        node_rules.check_verb(node(state, maintenance=maintenance), "inspect", by_holder=True)


@pytest.mark.parametrize("verb", ["active", "deploy", "rebuild"])
def test_of_deployments_maintenance_is_told_before_the_state(verb: str) -> None:
    said = {"active": r"active \(deploy\)"}.get(verb, verb)
    told = rf"in maintenance.*\. The action {said} is not possible .* in state enroll\..* Possible now: manage\.$"
    with pytest.raises(NodeInMaintenance, match=told):
        node_rules.check_verb(node(states.ENROLL, maintenance=True), verb, by_holder=False)
    with pytest.raises(NodeInMaintenance, match=r"Take it out of maintenance first\.$"):
        node_rules.check_verb(node(states.ENROLL, maintenance=True, reservation="h"), verb, by_holder=False)


def test_a_refusal_names_all_marks() -> None:
    marked = node(states.ACTIVE, maintenance=True, protected=True)
    with pytest.raises(NodeInMaintenance, match=r"in maintenance.* is protected"):
        node_rules.check_verb(marked, "rebuild", by_holder=True)
    retired = node(states.MANAGEABLE, maintenance=True, retired=True)
    with pytest.raises(NodeInMaintenance, match=r"in maintenance.* is retired"):
        node_rules.check_marks(retired, "provide", offered_in_maintenance=False)


@pytest.mark.parametrize(
    ("asked", "present", "complaint"),
    [
        ([], [], None),
        (["CUSTOM_A"], ["CUSTOM_A", "CUSTOM_B"], None),
        (["CUSTOM_A", "CUSTOM_C", "CUSTOM_D"], ["CUSTOM_A"], "does not have: CUSTOM_C, CUSTOM_D"),
        (["CUSTOM_A"], [], "does not have: CUSTOM_A"),
        ("CUSTOM_A", ["CUSTOM_A"], "must be a list"),
        ([1], [], "must be a list"),
        ({"CUSTOM_A": 1}, ["CUSTOM_A"], "must be a list"),
        (["CUSTOM_A"] * 51, ["CUSTOM_A"], "at most 50"),
    ],
)
def test_an_instance_gets_no_node_without_its_traits(asked: object, present: list[str], complaint: str | None) -> None:
    if complaint is None:
        node_rules.check_instance_traits("u", {"traits": asked}, present)
        return
    with pytest.raises(InvalidParameterValue, match=complaint):
        node_rules.check_instance_traits("u", {"traits": asked}, present)


# Power


@pytest.mark.parametrize("state", sorted(states.ALL))
@pytest.mark.parametrize("target", sorted(states.POWER_TARGET))
def test_power_is_not_changed_by_users_while_a_node_is_cleaned(state: str, target: str) -> None:
    if state in ("cleaning", "clean wait"):
        with pytest.raises(InvalidStateRequested):
            node_rules.check_power(node(state), target)
    else:
        node_rules.check_power(node(state), target)


@pytest.mark.parametrize("target", sorted(states.POWER_TARGET))
def test_a_node_may_have_to_stay_on(target: str) -> None:
    kept = node(states.ACTIVE, disable_power_off=True)
    if target in ("power off", "soft power off"):
        for rule in (node_rules.check_power, node_rules.check_power_off):
            with pytest.raises(PowerStateFailure, match="disable_power_off of node u is set"):
                rule(kept, target)
    else:
        node_rules.check_power(kept, target)


# The machine, its ports and volumes


@pytest.mark.parametrize("state", sorted(states.ALL))
def test_boot_settings_are_left_alone_while_something_is_under_way(state: str) -> None:
    if state in states.WORKING | states.WAITING:
        with pytest.raises(Conflict, match="change secure boot"):
            node_rules.check_idle(node(state), "change secure boot")
    else:
        node_rules.check_idle(node(state), "change secure boot")


def test_ports_are_not_changed_during_an_inspection() -> None:
    with pytest.raises(NodeNotEditable):
        node_rules.check_parts_editable(node(states.INSPECTING), while_inspecting=False)
    node_rules.check_parts_editable(node(states.INSPECTING), while_inspecting=True)
    node_rules.check_parts_editable(node(states.INSPECTWAIT), while_inspecting=False)


@pytest.mark.parametrize(
    ("one", "fine"),
    [
        (node(states.MANAGEABLE), True),
        (node(states.MANAGEABLE, instance_uuid="i"), False),
        (node(states.MANAGEABLE, instance_uuid="i", maintenance=True), True),
        (node(states.ACTIVE), False),
        (node(states.ACTIVE, maintenance=True), True),
        (node(states.RESCUE), True),
    ],
)
def test_an_instance_keeps_its_addresses(one: NodeValues, fine: bool) -> None:
    if fine:
        node_rules.check_port_address(one)
        return
    with pytest.raises(NodeNotEditable):
        node_rules.check_port_address(one)


@pytest.mark.parametrize("state", sorted(states.ALL))
def test_how_ports_are_connected_changes_before_a_node_is_in_use(state: str) -> None:
    node_rules.check_connectivity(node(state), [])
    node_rules.check_connectivity(node(state, maintenance=True), ["pxe_enabled"])
    node_rules.check_portgroup_leaves(node(state, maintenance=True))
    if state in ("enroll", "inspecting", "inspect wait", "manageable"):
        node_rules.check_connectivity(node(state), ["pxe_enabled"])
        node_rules.check_portgroup_leaves(node(state))
        return
    with pytest.raises(NodeNotEditable, match="pxe_enabled"):
        node_rules.check_connectivity(node(state), ["pxe_enabled"])
    with pytest.raises(NodeNotEditable):
        node_rules.check_portgroup_leaves(node(state))


def test_what_a_virtual_interface_uses_stays() -> None:
    with pytest.raises(Conflict, match="Port p of node u"):
        node_rules.check_unbound(node(), "Port p", attached=True)
    node_rules.check_unbound(node(maintenance=True), "Port p", attached=True)
    node_rules.check_unbound(node(), "Port p", attached=False)


@pytest.mark.parametrize(
    ("state", "power", "deleting", "fine"),
    [
        (states.ACTIVE, "power off", False, True),
        (states.ACTIVE, "power on", False, False),
        (states.ACTIVE, None, True, False),
        (states.ENROLL, None, True, True),
        (states.ENROLL, None, False, False),
        (states.AVAILABLE, "power on", True, False),
    ],
)
def test_volumes_of_running_machines_stay(state: str, power: str | None, deleting: bool, fine: bool) -> None:
    if fine:
        node_rules.check_volume_unused(node(state, power_state=power), "x", deleting=deleting)
        return
    with pytest.raises(NotPoweredOff):
        node_rules.check_volume_unused(node(state, power_state=power), "x", deleting=deleting)


# Changing values


# The states that stand still, and the ones an edit is let into although a conductor is or was at work.
EDITABLE = states.STABLE | {
    "deploy failed",
    "inspect failed",
    "inspect wait",
    "clean failed",
    "verifying",
    "adopt failed",
    "rescue failed",
    "unrescue failed",
    "service hold",
    "service failed",
}


@pytest.mark.parametrize("state", sorted(states.ALL))
def test_a_node_at_work_is_not_edited(state: str) -> None:
    facts = node(state, target_provision_state=states.DEFAULT_TARGET.get(state))
    if state in EDITABLE:
        node_rules.check_editable(facts, while_inspecting=False, drops_instance=False)
        return
    with pytest.raises(NodeNotEditable):
        node_rules.check_editable(facts, while_inspecting=False, drops_instance=False)


def test_inspecting_is_no_reason_for_those_who_do_not_know_it_as_one() -> None:
    facts = node(states.INSPECTING, target_provision_state=states.MANAGEABLE)
    node_rules.check_editable(facts, while_inspecting=True, drops_instance=False)
    with pytest.raises(NodeNotEditable):
        node_rules.check_editable(facts, while_inspecting=False, drops_instance=False)


def test_the_instance_alone_can_be_dropped_in_maintenance() -> None:
    facts = node(states.CLEANING, target_provision_state=states.AVAILABLE, maintenance=True)
    node_rules.check_editable(facts, while_inspecting=False, drops_instance=True)
    with pytest.raises(NodeNotEditable):
        node_rules.check_editable(facts, while_inspecting=False, drops_instance=False)
    facts.maintenance = False
    with pytest.raises(NodeNotEditable):
        node_rules.check_editable(facts, while_inspecting=False, drops_instance=True)


@pytest.mark.parametrize(
    ("facts", "values", "status"),
    [
        (node(), {"boot_interface": "x"}, None),
        (node(states.ACTIVE), {"boot_interface": "x"}, 409),
        (node(states.CLEANFAIL), {"boot_interface": "x"}, 409),
        (node(states.ACTIVE, maintenance=True), {"boot_interface": "x"}, None),
        (node(states.ACTIVE), {"resource_class": "x"}, None),
        (node(states.ACTIVE, resource_class="y"), {"resource_class": "x"}, 409),
        (node(states.ACTIVE, resource_class="y"), {"resource_class": None}, 409),
        (node(states.ACTIVE, resource_class="y", maintenance=True), {"resource_class": "x"}, 409),
        (node(states.INSPECTWAIT, resource_class="y"), {"resource_class": "x"}, None),
        (node(), {"instance_uuid": "i"}, None),
        (node(instance_uuid="i"), {"instance_uuid": "j"}, 409),
        (node(instance_uuid="i"), {"instance_uuid": None}, None),
        (node(states.ACTIVE, instance_uuid="i", allocation_id=1), {"instance_uuid": None}, 409),
        (node(states.ACTIVE, instance_uuid="i", allocation_id=1, maintenance=True), {"instance_uuid": None}, None),
        (node(states.AVAILABLE, instance_uuid="i", allocation_id=1), {"instance_uuid": None}, None),
        (node(console_enabled=True), {"driver": "x"}, 409),
        (node(console_enabled=True), {"console_interface": "x"}, 409),
        (node(), {"protected": True}, 409),
        (node(states.ACTIVE), {"protected": True}, None),
        (node(states.RESCUE), {"protected": True, "protected_reason": "r"}, None),
        (node(states.ACTIVE), {"protected_reason": "r"}, 400),
        (node(states.ACTIVE, protected=True), {"protected_reason": "r"}, None),
        (node(states.ACTIVE, protected=True), {"protected": False, "protected_reason": "r"}, 400),
        (node(), {"retired": True, "retired_reason": "r"}, None),
        (node(states.AVAILABLE), {"retired": True}, 409),
        (node(), {"retired_reason": "r"}, 400),
        (node(retired=True), {"retired_reason": None}, None),
    ],
)
def test_values_have_to_fit_the_node(facts: NodeValues, values: dict[str, Any], status: int | None) -> None:
    if status is None:
        node_rules.check_changes(facts, values)
        return
    with pytest.raises(IronicError) as refusal:
        node_rules.check_changes(facts, values)
    assert refusal.value.status == status


@pytest.mark.parametrize(
    ("values", "name", "also"),
    [
        ({"maintenance": False}, None, {"maintenance_reason": None, "fault": None}),
        ({"maintenance": True}, None, {}),
        ({"protected": False}, None, {"protected_reason": None}),
        ({"retired": False}, None, {"retired_reason": None}),
        ({"instance_info": {"display_name": "web"}}, None, {"instance_name": "web"}),
        ({"instance_info": {"display_name": "web"}}, "mine", {}),
        ({"instance_info": {"display_name": ["web"]}}, None, {}),
        ({"instance_info": {"display_name": "x" * 256}}, None, {}),
        ({"instance_info": None}, None, {}),
    ],
)
def test_some_values_change_others(values: dict[str, Any], name: str | None, also: dict[str, Any]) -> None:
    assert node_rules.implied_values(values, name) == also


@pytest.mark.parametrize("state", sorted(states.ALL))
def test_a_node_is_deleted_only_where_nobody_misses_it(state: str) -> None:
    allowed = {"enroll", "manageable", "adopt failed", "available"}
    if state in allowed:
        node_rules.check_deletable(node(state), available_too=True)
    else:
        with pytest.raises(IronicError) as refusal:
            node_rules.check_deletable(node(state), available_too=True)
        assert refusal.value.status == 409
    node_rules.check_deletable(node(state, maintenance=True, instance_uuid="i"), available_too=False)


def test_available_nodes_may_be_spared() -> None:
    with pytest.raises(IronicError):
        node_rules.check_deletable(node(states.AVAILABLE), available_too=False)


def test_a_protected_node_is_not_deleted_even_in_maintenance() -> None:
    with pytest.raises(NodeProtected):
        node_rules.check_deletable(node(states.ENROLL, protected=True, maintenance=True), available_too=True)


@pytest.mark.parametrize(
    ("state", "to_project", "fine"),
    [(states.ACTIVE, True, False), (states.ACTIVE, False, True), (states.AVAILABLE, True, True)],
)
def test_a_node_in_use_by_a_projects_allocation_keeps_its_owner(state: str, to_project: bool, fine: bool) -> None:
    if fine:
        node_rules.check_new_owner(node(state), allocated_to_project=to_project)
        return
    with pytest.raises(NodeNotEditable):
        node_rules.check_new_owner(node(state), allocated_to_project=to_project)


@pytest.mark.parametrize("name", ["maintenance", "management", "states", "vendor_passthru", "detail", "validate"])
def test_words_of_paths_are_no_names(name: str) -> None:
    with pytest.raises(InvalidParameterValue, match="reserved"):
        node_rules.check_values({"name": name})
    node_rules.check_values({"name": f"{name}-1"})


@pytest.mark.parametrize(
    ("document", "fine"),
    [
        ({}, True),
        (None, True),
        ({"links": [], "networks": [], "services": []}, True),
        ({"links": [{"id": "l"}], "networks": [{"id": "n", "link": "l"}], "services": [{"type": "dns"}]}, True),
        ({"links": []}, False),
        ({"links": {}, "networks": [], "services": []}, False),
        ({"links": [], "networks": [], "services": [], "more": 1}, False),
        ({"links": [{"mac": "m"}], "networks": [], "services": []}, False),
        ({"links": [], "networks": [7], "services": []}, False),
    ],
)
def test_network_data_has_a_form(document: Any, fine: bool) -> None:
    if fine:
        node_rules.check_values({"network_data": document})
        return
    with pytest.raises(IronicError):
        node_rules.check_values({"network_data": document})


@pytest.mark.parametrize("name", ["cpus", "local_gb", "memory_mb"])
@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (0, True), (1024, True), ("1024", True), (" 8 ", True), (4.0, True), (None, True),
        (-5, False), ("-5", False), ("many", False), ("", False), (1.5, False), ([], False), ({}, False),
        ("1" * 21, False), (float("nan"), False), (float("inf"), False), ("٣", False),
    ],
)  # fmt: skip
def test_sizes_of_a_machine_are_whole_numbers(name, value, fits):
    with contextlib.nullcontext() if fits else pytest.raises(InvalidParameterValue, match=name):
        node_rules.check_values({"properties": {name: value, "other": "many"}})


@pytest.mark.parametrize("name", ["cpus", "local_gb", "memory_mb"])
@pytest.mark.parametrize("value", [True, False])
def test_a_truth_value_is_no_size(name: str, value: bool) -> None:
    with pytest.raises(InvalidParameterValue, match=f"{name} in properties must be a whole number"):
        node_rules.check_values({"properties": {name: value}})
