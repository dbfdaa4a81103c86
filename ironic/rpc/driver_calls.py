"""The part of the conversation about drivers themselves: what they know, what they offer beyond the API."""

from abc import ABC, abstractmethod
from typing import Any

from ironic.core.context import RequestContext
from ironic.rpc.call import call


class DriverCalls(ABC):
    """What a conductor can be asked about a hardware type and a node's vendor methods.

    A vendor method answers ``{"async": bool, "result": ...}`` or, when the result is a file, ``{"async": False,
    "file": its bytes in base64}``; an asynchronous one was only begun.
    """

    @call()
    @abstractmethod
    def driver_properties(self, context: RequestContext, hardware_type: str) -> dict[str, str]:
        """Return the driver_info properties that a hardware type knows, with a description of each."""

    @call()
    @abstractmethod
    def driver_logical_disk_properties(self, context: RequestContext, hardware_type: str) -> dict[str, str]:
        """Return what can be said about a logical disk, with a description of each."""

    @call()
    @abstractmethod
    def driver_vendor_methods(self, context: RequestContext, hardware_type: str) -> dict[str, dict[str, Any]]:
        """Return the vendor methods that need no node, each with its terms."""

    @call()
    @abstractmethod
    def call_driver_vendor_method(
        self, context: RequestContext, hardware_type: str, method: str, http_method: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """Call one of them."""

    @call()
    @abstractmethod
    def vendor_methods(self, context: RequestContext, node_id: str) -> dict[str, dict[str, Any]]:
        """Return the vendor methods of a node, each with its terms."""

    @call()
    @abstractmethod
    def call_vendor_method(
        self, context: RequestContext, node_id: str, method: str, http_method: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """Call one of them."""
