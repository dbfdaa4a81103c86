from typing import Any

import pytest

from ironic.api.json_patch import Change
from ironic.api.resources.nodes import rules as node_rules
from ironic.api.resources.nodes.references import Facts
from ironic.core import states
from ironic.core.errors import (
    IronicError,
    NodeNotEditable,
)


def node(state: str = states.ENROLL, **more: Any) -> Facts:
    values: dict[str, Any] = dict.fromkeys(Facts.__dataclass_fields__)
    values |= {"uuid": "u", "provision_state": state, "driver": "d", "conductor_group": ""}
    values |= dict.fromkeys(("maintenance", "protected", "retired", "console_enabled", "disable_power_off"), False)
    return Facts(**(values | more))


EXTRA = [Change("add", ("extra", "a"), 1)]
DROP_INSTANCE = [Change("remove", ("instance_uuid",))]

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
        node_rules.check_editable(facts, EXTRA, 115)
        return
    with pytest.raises(NodeNotEditable):
        node_rules.check_editable(facts, EXTRA, 115)


def test_before_1_39_inspecting_was_no_reason() -> None:
    facts = node(states.INSPECTING, target_provision_state=states.MANAGEABLE)
    node_rules.check_editable(facts, EXTRA, 38)
    with pytest.raises(NodeNotEditable):
        node_rules.check_editable(facts, EXTRA, 39)


@pytest.mark.parametrize(
    ("changes", "maintenance", "fine"),
    [
        (DROP_INSTANCE, True, True),
        (DROP_INSTANCE, False, False),
        (DROP_INSTANCE + EXTRA, True, False),
        ([Change("replace", ("instance_uuid",), None)], True, False),
    ],
)
def test_the_instance_alone_can_be_dropped_in_maintenance(changes: list[Change], maintenance: bool, fine: bool) -> None:
    facts = node(states.CLEANING, target_provision_state=states.AVAILABLE, maintenance=maintenance)
    if fine:
        node_rules.check_editable(facts, changes, 115)
        return
    with pytest.raises(NodeNotEditable):
        node_rules.check_editable(facts, changes, 115)


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
def test_values_have_to_fit_the_node(facts: Facts, values: dict[str, Any], status: int | None) -> None:
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
    assert node_rules.consequences(values, name) == also


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
        node_rules.check_network_data(document)
        return
    with pytest.raises(IronicError):
        node_rules.check_network_data(document)
