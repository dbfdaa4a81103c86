"""The rights that fields name: rules that the policy knows, and no less than those of routes that set the same."""

from typing import NamedTuple

import pytest

from ironic.api import policies
from ironic.api.openapi import operations
from ironic.api.resources import ROUTES
from ironic.api.resources.nodes import authors
from ironic.core.hardware_interfaces import KINDS
from ironic.core.model.allocation import Allocation
from ironic.core.model.fields import Field
from ironic.core.model.node import INTERFACES, Chassis, Node
from ironic.core.model.port import Port, Portgroup
from ironic.core.model.step_lists import DeployTemplate, Runbook
from ironic.core.model.volumes import VolumeTarget

KNOWN = {name for name, *_ in policies.RULES}


def test_a_field_names_rules_that_exist() -> None:
    fields = [one for resource in operations.resources().values() for one in resource.table.fields.values()]
    named = {rule for one in fields for rule in (one.right, *one.rules) if rule is not None}
    assert len(named) > 20
    assert named <= KNOWN
    assert {one.unmasked_by for one in fields} - {None} <= KNOWN


class Twin(NamedTuple):
    """A field that callers may write, and a route that changes something with its name."""

    field: str
    method: str
    part: str
    rule: str

    def __str__(self) -> str:
        return f"{self.field} and {self.method} .../{self.part}"


def twins() -> list[Twin]:
    """Return the fields of a node that a request writes and the routes below a node with a word of their names."""
    written = Node.writable("patch") | Node.writable("create")
    found = set()
    for route in ROUTES:
        parts = [part for part in route.path.removeprefix("/v1/nodes/{node}").split("/") if part and part[0] != "{"]
        if not route.path.startswith("/v1/nodes/{node}/") or route.method == "GET" or route.rule is None:
            continue
        for name in written:
            if any(f"_{part.removesuffix('s')}_" in f"_{name}_" for part in parts):
                found.add(Twin(name, route.method, parts[-1], route.rule))
    return sorted(found)


# Fields that have a word of a route in their names and are something else than what the route changes.
OTHER_THINGS = {
    # Which driver does the work, and not the work.
    **dict.fromkeys(INTERFACES, "baremetal:node:update:driver_interfaces"),
    # What the service must not do, for operators of the site alone.
    "disable_power_off": "baremetal:node:update:disable_power_off",
}


def rules_of(name: str) -> set[str]:
    """Return the rules of all values that a request may give a field."""
    one: Field = Node.table.fields[name]
    values = [True, False, "true", "no", None, "bios", 1] if name not in INTERFACES else ["fake", None]
    assert one.right is not None or name not in OTHER_THINGS
    return {authors.rule_of(name, value) for value in values}


def test_fields_with_a_route_of_their_own_are_found() -> None:
    assert {"maintenance", "boot_mode", "secure_boot", "console_enabled"} <= {twin.field for twin in twins()}
    assert len(KINDS) == len(INTERFACES)


def test_no_other_resource_has_a_field_with_a_route_that_asks_for_more() -> None:
    others = {
        "ports": Port, "portgroups": Portgroup, "runbooks": Runbook, "allocations": Allocation, "chassis": Chassis,
        "deploy_templates": DeployTemplate, "volume": VolumeTarget,
    }  # fmt: skip
    found = set()
    for route in ROUTES:
        kind, *parts = (*route.path.removeprefix("/v1/").split("/"), "")
        if kind in others and route.method != "GET" and route.rule is not None:
            found |= {(kind, part, route.rule) for part in parts[1:] if part in others[kind].table.fields}
    # Traits of a runbook ask for the right of its PATCH.
    assert found <= {("runbooks", "traits", "baremetal:runbook:update")}


@pytest.mark.parametrize("twin", twins(), ids=str)
def test_a_field_asks_for_no_less_than_the_route_that_sets_the_same(twin: Twin) -> None:
    if twin.field in OTHER_THINGS:
        assert rules_of(twin.field) == {OTHER_THINGS[twin.field]}
    else:
        assert twin.rule in rules_of(twin.field)
        # Nothing that may be written passes by what is for other changes of a node.
        assert "baremetal:node:update" not in rules_of(twin.field)


@pytest.mark.parametrize("value", [True, "true", "Yes", "on", "1"])
def test_setting_maintenance_asks_for_the_right_to_set_it(value: object) -> None:
    assert authors.rule_of("maintenance", value) == "baremetal:node:set_maintenance"


@pytest.mark.parametrize("value", [False, "false", "No", " off ", "0", None])
def test_ending_maintenance_asks_for_the_right_to_clear_it(value: object) -> None:
    assert authors.rule_of("maintenance", value) == "baremetal:node:clear_maintenance"
