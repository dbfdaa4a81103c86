"""Hook ports: usable interfaces become ports, ports that are not wanted go (S87, S101, S102).

What is to be done is decided by `plan`, from data alone. A port that exists keeps everything but `pxe_enabled` (if
[inspector]update_pxe_enabled says so) and the client id. Source: doc/contract/inspection.md#hooks.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure
from ironic.db import PortRecord
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.reading import text_at
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

Interfaces = Mapping[str, dict[str, Any]]

_CLIENT_ID = "client-id"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the operator wants done with ports."""

    add: str
    keep: str
    update_pxe_enabled: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do; existing ports are named by their addresses."""

    create: list[dict[str, Any]]
    remove: list[str]
    pxe_enabled: dict[str, bool]
    client_ids: dict[str, str]


class Ports(InspectionHook):
    """Bring the node's ports in line with its interfaces."""

    dependencies = ("validate-interfaces",)

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Create, change and delete ports, and mark the interfaces that have become one."""
        everything, valid = _sorted_interfaces(plugin_data)
        existing = {port.address: port for port in task.ports}
        wishes = Wishes(CONF.inspector.add_ports, CONF.inspector.keep_ports, CONF.inspector.update_pxe_enabled)
        if not (task.is_proven or is_recognised(existing, everything)):
            LOG.warning(
                "Node %s: its ports stay as they are, for none of them has a MAC address that was reported. Correct "
                "them, or delete them to have all made anew",
                task.node.uuid,
            )
            wishes = Wishes("disabled", "all", False)
        mark_added(valid, wishes)
        carry_out(plan(existing, everything, valid, wishes), task, existing)


def is_recognised(existing: Iterable[str], everything: Interfaces) -> bool:
    """Tell whether one of the interfaces belongs to the node already, or nothing is known of its interfaces."""
    known = set(existing)
    return not known or any(one["mac_address"] in known for one in everything.values())


def plan(existing: Iterable[str], everything: Interfaces, valid: Interfaces, wishes: Wishes) -> Plan:
    """Decide what to do about the ports with these addresses."""
    present = list(existing)
    wanted = {} if wishes.add == "disabled" else _by_mac(valid)
    kept = expected(everything, valid, wishes.keep)
    remove = [mac for mac in present if kept and mac not in kept]
    booted = {one["mac_address"] for one in everything.values() if one["pxe_enabled"]}
    staying = [mac for mac in present if mac not in remove]
    return Plan(
        create=[_new_port(mac, one) for mac, one in wanted.items() if mac not in present],
        remove=remove,
        pxe_enabled={mac: mac in booted for mac in staying} if wishes.update_pxe_enabled else {},
        client_ids={mac: id_ for mac, id_ in _client_ids(everything).items() if mac in staying},
    )


def expected(everything: Interfaces, valid: Interfaces, keep: str) -> frozenset[str]:
    """Return the addresses whose ports may stay; empty means that all may."""
    chosen: Interfaces = {"present": everything, "added": valid}.get(keep, {})
    return frozenset(one["mac_address"] for one in chosen.values())


def mark_added(valid: Interfaces, wishes: Wishes) -> None:
    """Note on each valid interface whether it has a port because of this inspection."""
    for interface in valid.values():
        interface["is_added"] = wishes.add != "disabled"


def carry_out(plan: Plan, task: StagedTask, existing: Mapping[str, PortRecord]) -> None:
    """Do what was decided."""
    for mac in plan.remove:
        LOG.info("Node %s: port %s (%s) goes, [inspector]keep_ports wants it", task.node.uuid, existing[mac].uuid, mac)
        task.remove_port(existing[mac])
    for mac, enabled in plan.pxe_enabled.items():
        existing[mac].pxe_enabled = enabled
    for mac, client_id in plan.client_ids.items():
        existing[mac].extra[_CLIENT_ID] = client_id
    for mac in plan.pxe_enabled.keys() | plan.client_ids.keys():
        existing[mac].save()
    for values in plan.create:
        task.add_port(**values)
        LOG.info("Node %s: interface with MAC address %s becomes a port", task.node.uuid, values["address"])


def _by_mac(valid: Interfaces) -> dict[str, dict[str, object]]:
    """Return one interface per MAC address, the first: bonds and VLANs share that of a card."""
    found: dict[str, dict[str, Any]] = {}
    for interface in valid.values():
        found.setdefault(interface["mac_address"], interface)
    return found


def _new_port(mac: str, interface: Mapping[str, object]) -> dict[str, object]:
    client_id = text_at(interface, "client_id")
    return {
        "address": mac,
        "pxe_enabled": bool(interface["pxe_enabled"]),
        "extra": {_CLIENT_ID: client_id} if client_id else {},
    }


def _client_ids(interfaces: Interfaces) -> dict[str, str]:
    found = {one["mac_address"]: text_at(one, "client_id") for one in interfaces.values()}
    return {mac: client_id for mac, client_id in found.items() if client_id}


def _sorted_interfaces(plugin_data: PluginData) -> tuple[Interfaces, Interfaces]:
    """Return what validate-interfaces left; a rule may have spoilt it since."""
    everything, valid = plugin_data.get("all_interfaces"), plugin_data.get("valid_interfaces")
    if _is_sorted(everything) and _is_sorted(valid):
        return everything, valid  # type: ignore[return-value]  # just checked
    raise HardwareInspectionFailure(
        error="all_interfaces and valid_interfaces of the plug-in data are not what validate-interfaces leaves there"
    )


def _is_sorted(interfaces: object) -> bool:
    return isinstance(interfaces, dict) and all(
        isinstance(one, dict) and isinstance(one.get("mac_address"), str) and "pxe_enabled" in one
        for one in interfaces.values()
    )
