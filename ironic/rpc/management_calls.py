"""The part of the conversation about a machine's management: consoles, firmware settings, lights, media, networks.

What is said to begin answers once it is accepted; how it ended shows on the node, a failure in its ``last_error``.
"""

from abc import ABC, abstractmethod
from typing import Any

from ironic.core.context import RequestContext
from ironic.rpc.call import call


class ManagementCalls(ABC):
    """What a conductor can be asked to do with a machine besides power and provisioning."""

    # Boot

    @call()
    @abstractmethod
    def set_boot_device(self, context: RequestContext, node_id: str, device: str, persistent: bool) -> None:
        """Choose what the machine boots from, once or from now on."""

    @call()
    @abstractmethod
    def get_boot_device(self, context: RequestContext, node_id: str) -> dict[str, Any]:
        """Return ``{"boot_device": ..., "persistent": ...}`` as the machine reports it."""

    @call()
    @abstractmethod
    def supported_boot_devices(self, context: RequestContext, node_id: str) -> list[str]:
        """Return the boot devices that the machine can be set to."""

    @call()
    @abstractmethod
    def change_boot_mode(self, context: RequestContext, node_id: str, mode: str) -> None:
        """Begin to set the boot mode, "bios" or "uefi"."""

    @call()
    @abstractmethod
    def change_secure_boot(self, context: RequestContext, node_id: str, on: bool) -> None:
        """Begin to turn secure boot on or off."""

    # Console

    @call()
    @abstractmethod
    def change_console(self, context: RequestContext, node_id: str, enabled: bool) -> None:
        """Begin to open or to close the console."""

    @call()
    @abstractmethod
    def get_console(self, context: RequestContext, node_id: str) -> dict[str, Any]:
        """Return how to reach the open console."""

    # RAID

    @call()
    @abstractmethod
    def set_target_raid_config(self, context: RequestContext, node_id: str, config: dict[str, Any]) -> None:
        """Note which logical disks the machine is to have; a step creates them."""

    # Signals and lights

    @call()
    @abstractmethod
    def inject_nmi(self, context: RequestContext, node_id: str) -> None:
        """Send the machine a non-maskable interrupt."""

    @call()
    @abstractmethod
    def supported_indicators(self, context: RequestContext, node_id: str) -> dict[str, dict[str, Any]]:
        """Return the lights by component and name, each with ``readonly`` and ``states``."""

    @call()
    @abstractmethod
    def get_indicator(self, context: RequestContext, node_id: str, component: str, indicator: str) -> str:
        """Return what a light shows."""

    @call()
    @abstractmethod
    def set_indicator(self, context: RequestContext, node_id: str, component: str, indicator: str, state: str) -> None:
        """Switch a light."""

    # Virtual media

    @call()
    @abstractmethod
    def get_virtual_media(self, context: RequestContext, node_id: str) -> list[dict[str, Any]]:
        """Return what is in the machine's virtual drives."""

    @call()
    @abstractmethod
    def attach_virtual_media(
        self, context: RequestContext, node_id: str, device_type: str, image_url: str, source: str
    ) -> None:
        """Begin to put an image into a virtual drive; ``source`` says who hands it to the BMC."""

    @call()
    @abstractmethod
    def detach_virtual_media(
        self, context: RequestContext, node_id: str, device_types: list[str] | None = None
    ) -> None:
        """Begin to empty these virtual drives, or all."""

    # Virtual network interfaces

    @call()
    @abstractmethod
    def list_vifs(self, context: RequestContext, node_id: str) -> list[dict[str, Any]]:
        """Return the virtual interfaces that are bound to the node's ports."""

    @call()
    @abstractmethod
    def attach_vif(self, context: RequestContext, node_id: str, vif: dict[str, Any]) -> None:
        """Bind a virtual interface, named by ``vif["id"]``, to a port of the node."""

    @call()
    @abstractmethod
    def detach_vif(self, context: RequestContext, node_id: str, vif_id: str) -> None:
        """Take a virtual interface off its port."""
