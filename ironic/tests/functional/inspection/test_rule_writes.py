"""Rules write what an administrator's PATCH may write: whatever PATCH refuses, a rule is refused as well."""

from collections.abc import Iterator
from typing import Any

import pytest

from ironic.core.flows import states
from ironic.core.rules import documents
from ironic.core.rules.paths import parsed
from ironic.db import NodeRecord
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.unit.inspection.lab import inventory

VALUES: list[Any] = [
    None, "", "x", "a b!", "y" * 300, 5, -1, True, [], ["a"], {}, {"a": 1},
    {"links": [], "networks": [], "services": []}, {"links": [{}], "networks": [], "services": []}, "noop",
    "nonexistent", "11111111-1111-4111-8111-111111111111", 1.5, "yes", {"a": {"b": [1]}}, "\0",
]  # fmt: skip
# Fields for which one value of the list is valid. Not here: driver, and protected, which needs an active node.
WRITABLE = {
    "automated_clean", "bios_interface", "boot_interface", "chassis_uuid", "conductor_group", "console_interface",
    "deploy_interface", "description", "disable_power_off", "driver_info", "extra", "firmware_interface",
    "inspect_interface", "instance_info", "instance_name", "instance_uuid", "lessee", "maintenance",
    "management_interface", "name", "network_data", "network_interface", "owner", "parent_node", "power_interface",
    "properties", "protected_reason", "raid_interface", "rescue_interface", "resource_class", "retired",
    "retired_reason", "shard", "storage_interface", "vendor_interface",
}  # fmt: skip
FIELDS = sorted({*documents.NODE, *NodeRecord.form.names} - {"id"})


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    with whole(tmp_path_factory.mktemp("writes"), conductor__heartbeat_timeout=3600) as made:
        yield made


def patched(running: Whole, field: str, value: Any) -> tuple[bool, Any]:
    """Have an administrator set a field; return whether that was taken, and what is stored."""
    uuid = running.node(state=states.MANAGEABLE)
    answer = running.api.call("PATCH", f"/v1/nodes/{uuid}", body=[{"op": "add", "path": f"/{field}", "value": value}])
    assert answer.status in (200, 400, 403, 404, 409), answer.body
    return ended(running, uuid, field, taken=answer.status == 200)


def ruled(running: Whole, field: str, value: Any, number: int) -> tuple[bool, Any]:
    """Have a rule set a field; return the same."""
    mac = f"52:54:00:00:{number >> 8:02x}:{number & 255:02x}"
    uuid = running.node(mac)
    rule = {"actions": [{"op": "set-attribute", "args": [f"/{field}", value]}]}
    if running.api.call("POST", "/v1/inspection_rules", body=rule).status != 201:
        return ended(running, uuid, field, taken=False)
    running.post({"inventory": inventory(mac)})
    running.api.call("DELETE", "/v1/inspection_rules")
    error = running.error(uuid)
    assert error is None or "unexpected" not in error
    return ended(running, uuid, field, taken=running.state(uuid) == states.MANAGEABLE)


def ended(running: Whole, uuid: str, field: str, *, taken: bool) -> tuple[bool, Any]:
    stored = getattr(running.bench.row(uuid), field, None)
    running.store.nodes.delete(uuid)
    return taken, stored if taken else None


@pytest.mark.demand("S149")
@pytest.mark.parametrize("field", FIELDS)
def test_a_rule_can_write_nothing_that_patch_refuses(running: Whole, field: str) -> None:
    taken = False
    for number, value in enumerate(VALUES):
        by_rule = ruled(running, field, value, number)
        if by_rule[0]:
            taken = True
            assert field in documents.NODE
            assert by_rule == patched(running, field, value), value
    # A service that refuses every rule would pass otherwise.
    assert taken == (field in WRITABLE), field


def test_a_rule_leaves_a_whole_node(running: Whole) -> None:
    def after(*pairs: tuple[str, Any]) -> tuple[str, str | None]:
        uuid = running.node("52:54:00:00:ff:01")
        actions = [{"op": "set-attribute", "args": [path, value]} for path, value in pairs]
        assert running.api.call("POST", "/v1/inspection_rules", body={"actions": actions}).status == 201
        running.post({"inventory": inventory("52:54:00:00:ff:01")})
        running.api.call("DELETE", "/v1/inspection_rules")
        state, error = running.state(uuid), running.error(uuid)
        running.store.nodes.delete(uuid)
        return state, error

    # In the end it is well, whatever it was in between.
    assert after(("/retired_reason", "old"), ("/retired", True)) == (states.MANAGEABLE, None)
    parts: list[tuple[str, Any]] = [
        ("/network_data/links", []),
        ("/network_data/networks", []),
        ("/network_data/services", []),
    ]
    assert after(*parts) == (states.MANAGEABLE, None)
    state, error = after(*parts[:2])
    assert state == states.INSPECTFAIL
    assert "actions[1]" in str(error)
    assert "network_data must be" in str(error)
    assert "retired_reason needs retired" in str(after(("/retired_reason", "old"))[1])
    assert "No live conductor serves driver fake-hardware in conductor group 'x'" in str(
        after(("/conductor_group", "X"))[1]
    )


def test_no_field_is_reached_that_is_the_service_s_own() -> None:
    for field in ("provision_state", "uuid", "reservation", "power_state", "driver_internal_info"):
        with pytest.raises(Exception, match="can't write"):
            documents.check_node_path(parsed(f"/{field}"))
