"""What a conductor answers about drivers: properties, logical disks, vendor methods.

What is asked of a hardware type is asked of the interfaces that a node without choices of its own would get (S31).
"""

from typing import Any

from ironic.conductor import vendor_methods
from ironic.conductor.holding import HoldsNodes
from ironic.core.context import RequestContext
from ironic.rpc.driver_calls import DriverCalls


class DriverEndpoint(HoldsNodes, DriverCalls):
    """The drivers' part of a conductor's side of the conversation."""

    def driver_properties(self, context: RequestContext, hardware_type: str) -> dict[str, str]:
        return self._tasks.composition.default_driver(hardware_type).get_properties()

    def driver_logical_disk_properties(self, context: RequestContext, hardware_type: str) -> dict[str, str]:
        raid = self._tasks.composition.default_driver(hardware_type).require("raid")
        properties: dict[str, str] = raid.get_logical_disk_properties()
        return properties

    def driver_vendor_methods(self, context: RequestContext, hardware_type: str) -> dict[str, dict[str, Any]]:
        return vendor_methods.of_driver(self._tasks.composition.default_driver(hardware_type))

    def call_driver_vendor_method(
        self, context: RequestContext, hardware_type: str, method: str, http_method: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        driver = self._tasks.composition.default_driver(hardware_type)
        asked = vendor_methods.Asked(method, http_method, arguments)
        return vendor_methods.call_of_driver(self._tasks.pool, context, driver, asked)

    def vendor_methods(self, context: RequestContext, node_id: str) -> dict[str, dict[str, Any]]:
        with self._shared(context, node_id, "listing vendor methods") as task:
            return vendor_methods.of_node(task)

    def call_vendor_method(
        self, context: RequestContext, node_id: str, method: str, http_method: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        # Whether the method needs the node for itself is known only once the node's driver is.
        with self._shared(context, node_id, f"vendor method {method}") as task:
            return vendor_methods.call_of_node(task, vendor_methods.Asked(method, http_method, arguments))
