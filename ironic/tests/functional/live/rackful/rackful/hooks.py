"""Hooks that ask the database for the ports of a machine, and name them by what its cards see."""

import logging
from typing import Any

from ironic import objects
from ironic.common import exception
from ironic.inspection.hooks.base import InspectionHook

LOG = logging.getLogger(__name__)


class PortsOfRacks(InspectionHook):
    """Names each port by its card, and takes switch and category from what the card sees by LLDP."""

    dependencies = ("validate-interfaces", "ports")

    def __call__(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        by_mac = {one["mac_address"]: one for one in plugin_data["all_interfaces"].values()}
        lldp = plugin_data.get("parsed_lldp", {})
        for port in objects.Port.list_by_node_id(task.context, task.node.id):
            card = by_mac.get(port.address)
            if card is None:
                continue
            port.name = f"{task.node.name}-{card['name']}"
            port.extra = dict(port.extra, card=card["name"])
            if seen := lldp.get(card["name"]):
                port.category = seen.get("switch_system_name")
            try:
                port.save()
            except exception.IronicException as error:
                LOG.error("Port %s stays as it is: %s", port.uuid, error)


class ClassOfMachine(InspectionHook):
    """Sets the resource class and a trait by the number of cards, and refuses machines without any."""

    dependencies = ("rackful-ports",)

    def __call__(self, task: Any, inventory: Any, plugin_data: Any) -> None:
        if not plugin_data["all_interfaces"]:
            raise exception.HardwareInspectionFailure(error="the machine has no cards")
        task.node.resource_class = f"cards-{len(plugin_data['all_interfaces'])}"
        task.node.save()
        objects.TraitList.create(task.context, task.node.id, {"CUSTOM_SEEN"})
