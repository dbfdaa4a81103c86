"""Rules tried out on a small made-up machine."""

import copy
from collections.abc import Sequence
from typing import Any

from ironic.core.rules import Facts, Masking, Outcome, check_rule, evaluate

PORT = "1be26c0b-03f2-4d2e-ae87-c02d7f33c781"
OTHER_PORT = "1be26c0b-03f2-4d2e-ae87-c02d7f33c782"
RULE = "9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10"

INVENTORY: dict[str, Any] = {
    "cpu": {"count": 8, "architecture": "x86_64", "frequency": "2400.5"},
    "interfaces": [
        {"name": "eth0", "mac_address": "52:54:00:00:00:01", "has_carrier": True},
        {"name": "eth1", "mac_address": "52:54:00:00:00:02", "has_carrier": False},
    ],
    "bmc_address": "192.0.2.7",
    "system_vendor": {"manufacturer": "Dell Inc.", "product_name": "R750"},
}
NODE: dict[str, Any] = {
    "uuid": "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b11",
    "name": "rack-1",
    "driver": "fake-hardware",
    "driver_info": {"redfish_address": "https://bmc", "redfish_password": "hunter2"},
    "properties": {"capabilities": "boot_mode:uefi,cpu_vt:true"},
    "extra": {"list": ["a"], "deep": {"er": 1}},
    "description": None,
    "traits": ["CUSTOM_OLD"],
    "auto_discovered": True,
}
PORTS: list[dict[str, Any]] = [
    {"uuid": PORT, "address": "52:54:00:00:00:01", "extra": {}, "pxe_enabled": True, "name": None},
    {"uuid": OTHER_PORT, "address": "52:54:00:00:00:02", "extra": {}, "pxe_enabled": False, "name": None},
]
PLUGIN_DATA: dict[str, Any] = {"seen": ["x"], "bmc_address": "192.0.2.7", "nested": {"a": {"b": 1}}}


def facts(**changed: Any) -> Facts:
    """Return the facts of the machine, parts of them replaced."""
    parts = {"inventory": INVENTORY, "plugin_data": PLUGIN_DATA, "node": NODE, "ports": PORTS} | changed
    return Facts(**copy.deepcopy(parts))


def rule(actions: Sequence[Any] = (), conditions: Sequence[Any] = (), **fields: Any) -> dict[str, Any]:
    """Return a rule document; without actions it does something harmless."""
    harmless = [{"op": "set-plugin-data", "args": ["did", True]}]
    return {"uuid": RULE, "actions": list(actions) or harmless, "conditions": list(conditions), **fields}


def run(*documents: dict[str, Any], masking: Masking = "always", known: Facts | None = None) -> Outcome:
    """Return what rules come to on the machine."""
    return evaluate([check_rule(document) for document in documents], known or facts(), masking=masking)


def act(op: str, args: Any, *, known: Facts | None = None, masking: Masking = "always", **rest: Any) -> Outcome:
    """Return what one action comes to."""
    return run(rule([{"op": op, "args": args, **rest}]), masking=masking, known=known)


def holds(op: str, args: Any, **rest: Any) -> bool:
    """Return whether one condition holds on the machine."""
    outcome = run(rule(conditions=[{"op": op, "args": args, **rest}]))
    assert outcome.failure is None, outcome.failure
    return bool(outcome.changes)


def why(outcome: Outcome) -> str:
    """Return the text of a failure that has to be there."""
    assert outcome.failure is not None
    return str(outcome.failure)
