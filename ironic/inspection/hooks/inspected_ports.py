"""Hook ports: create ports for usable interfaces and delete ports that are not expected.

`plan` decides from data alone, `carry_out` changes the ports of the staged task. An existing port keeps everything but
`pxe_enabled` (when [inspector]update_pxe_enabled is set and the report names the booted interface) and the client id.
Source: doc/contract/inspection.md#hooks.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure
from ironic.core.readings import Whole
from ironic.core.texts import syntax
from ironic.db import PortRecord
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.hooks.report_validation import NEEDS_CARDS, boot_mac
from ironic.inspection.incomplete_lists import INTERFACES, missing_in
from ironic.inspection.reported_data import text_at
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

Interfaces = Mapping[str, dict[str, Any]]

_CLIENT_ID = "client-id"


@dataclass(frozen=True, slots=True)
class PortOptions:
    """What the hook may do; ``add`` is the value of [inspector]add_ports.

    ``kept`` has the MAC addresses whose ports stay, None for those of all ports.
    """

    add: str
    kept: Whole[str] | None
    update_pxe_enabled: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes: values of new ports, and MAC addresses of existing ports to remove or update."""

    create: list[dict[str, Any]]
    remove: list[str]
    pxe_enabled: dict[str, bool]
    client_ids: dict[str, str]


class Ports(InspectionHook):
    """Create ports for usable interfaces, update existing ports, and delete ports that are not expected."""

    runs_dry = True

    dependencies = ("validate-interfaces",)
    needs = NEEDS_CARDS

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Create, update and delete ports, and mark the interfaces that have become ports."""
        everything, valid = plugin_data.get("all_interfaces"), plugin_data.get("valid_interfaces")
        if not (_is_validated(everything) and _is_validated(valid)):
            # A rule may have changed them.
            raise HardwareInspectionFailure(
                error="all_interfaces and valid_interfaces of the plug-in data are not those of validate-interfaces"
            )
        existing = {port.address: port for port in task.ports}
        # A machine that was booted otherwise, from virtual media for example, says nothing about PXE.
        is_said = syntax.machine_mac_of(boot_mac(inventory)) or any(one["pxe_enabled"] for one in everything.values())
        updates = CONF.inspector.update_pxe_enabled and bool(is_said)
        kept = expected(everything, valid, CONF.inspector.keep_ports)
        options = PortOptions(CONF.inspector.add_ports, kept, updates)
        if not (task.is_proven or is_recognised(existing, everything)):
            LOG.warning(
                "Node %s: its ports are not changed, because none of them has a MAC address that was reported. Correct "
                "them, or delete them to have all created again",
                task.node.uuid,
            )
            options = PortOptions("disabled", None, False)
        if missing := missing_in(plugin_data, INTERFACES):
            LOG.warning(
                "Node %s: its present ports are neither deleted nor changed, because not all network cards could be "
                "read: %s",
                task.node.uuid,
                "; ".join(missing),
            )
            options = PortOptions(options.add, None, False)
        mark_added(valid, options)
        carry_out(plan(existing, everything, valid, options), task, existing)


def is_recognised(existing: Iterable[str], everything: Interfaces) -> bool:
    """Return whether one of the interfaces has a port of the node, or the node has no ports."""
    known = set(existing)
    return not known or any(one["mac_address"] in known for one in everything.values())


def plan(existing: Iterable[str], everything: Interfaces, valid: Interfaces, options: PortOptions) -> Plan:
    """Return the changes for a node whose ports have these MAC addresses; interfaces are by name."""
    present = list(existing)
    wanted: dict[str, dict[str, Any]] = {}
    if options.add != "disabled":
        for interface in valid.values():
            # Bonds and VLANs share the MAC address of a card; the first one counts.
            wanted.setdefault(interface["mac_address"], interface)
    remove = [mac for mac in present if options.kept is not None and mac not in options.kept]
    booted = {one["mac_address"] for one in everything.values() if one["pxe_enabled"]}
    staying = [mac for mac in present if mac not in remove]
    client_ids = {one["mac_address"]: text_at(one, "client_id") for one in everything.values()}
    return Plan(
        create=[
            {
                "address": mac,
                "pxe_enabled": bool(one["pxe_enabled"]),
                "extra": {_CLIENT_ID: client} if (client := text_at(one, "client_id")) else {},
            }
            for mac, one in wanted.items()
            if mac not in present
        ],
        remove=remove,
        pxe_enabled={mac: mac in booted for mac in staying} if options.update_pxe_enabled else {},
        client_ids={mac: id_ for mac, id_ in client_ids.items() if id_ and mac in staying},
    )


def expected(everything: Interfaces, valid: Interfaces, keep: str) -> Whole[str] | None:
    """Return the MAC addresses whose ports stay by [inspector]keep_ports, None when all do; the lists are whole."""
    chosen: Interfaces = {"present": everything, "added": valid}.get(keep, {})
    return Whole(one["mac_address"] for one in chosen.values()) if chosen else None


def mark_added(valid: Interfaces, options: PortOptions) -> None:
    """Set `is_added` of each valid interface: whether this inspection gives it a port."""
    for interface in valid.values():
        interface["is_added"] = options.add != "disabled"


def carry_out(plan: Plan, task: StagedTask, existing: Mapping[str, PortRecord]) -> None:
    """Apply the changes to the staged task; ``existing`` has its ports by MAC address."""
    for mac in plan.remove:
        LOG.info(
            "Node %s: port %s (%s) is deleted because of [inspector]keep_ports", task.node.uuid, existing[mac].uuid, mac
        )
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


def _is_validated(interfaces: object) -> TypeGuard[Interfaces]:
    """Return whether this is an object as validate-interfaces makes it."""
    return isinstance(interfaces, dict) and all(
        isinstance(one, dict) and isinstance(one.get("mac_address"), str) and "pxe_enabled" in one
        for one in interfaces.values()
    )
