"""What a conductor answers about a machine's management: each call a lock and one function."""

from typing import Any

from ironic.conductor import (
    boot_devices,
    boot_modes,
    consoles,
    indicators,
    interrupts,
    raid_targets,
    vifs,
    virtual_media,
)
from ironic.conductor.holding import HoldsNodes
from ironic.core.context import RequestContext
from ironic.rpc.management_calls import ManagementCalls


class ManagementEndpoint(HoldsNodes, ManagementCalls):
    """The management part of a conductor's side of the conversation."""

    def set_boot_device(self, context: RequestContext, node_id: str, device: str, persistent: bool) -> None:
        with self._exclusive(context, node_id, f"choosing boot device {device}") as task:
            boot_devices.choose(task, device, persistent)

    def get_boot_device(self, context: RequestContext, node_id: str) -> dict[str, Any]:
        with self._shared(context, node_id, "reading the boot device") as task:
            return boot_devices.current(task)

    def supported_boot_devices(self, context: RequestContext, node_id: str) -> list[str]:
        with self._shared(context, node_id, "reading the supported boot devices") as task:
            return boot_devices.supported(task)

    def change_boot_mode(self, context: RequestContext, node_id: str, mode: str) -> None:
        with self._exclusive(context, node_id, f"setting boot mode {mode}") as task:
            boot_modes.start_mode(task, mode)

    def change_secure_boot(self, context: RequestContext, node_id: str, on: bool) -> None:
        with self._exclusive(context, node_id, "changing secure boot") as task:
            boot_modes.start_secure_boot(task, on)

    def change_console(self, context: RequestContext, node_id: str, enabled: bool) -> None:
        with self._exclusive(context, node_id, "switching the console") as task:
            consoles.start(task, enabled)

    def get_console(self, context: RequestContext, node_id: str) -> dict[str, Any]:
        with self._shared(context, node_id, "reading the console") as task:
            return consoles.address(task)

    def set_target_raid_config(self, context: RequestContext, node_id: str, config: dict[str, Any]) -> None:
        with self._exclusive(context, node_id, "setting the target RAID configuration") as task:
            raid_targets.choose(task, config)

    def inject_nmi(self, context: RequestContext, node_id: str) -> None:
        with self._exclusive(context, node_id, "injecting an NMI") as task:
            interrupts.inject(task)

    def supported_indicators(self, context: RequestContext, node_id: str) -> dict[str, dict[str, Any]]:
        with self._shared(context, node_id, "listing indicators") as task:
            return indicators.supported(task)

    def get_indicator(self, context: RequestContext, node_id: str, component: str, indicator: str) -> str:
        with self._shared(context, node_id, "reading an indicator") as task:
            return indicators.state(task, component, indicator)

    def set_indicator(self, context: RequestContext, node_id: str, component: str, indicator: str, state: str) -> None:
        with self._exclusive(context, node_id, f"switching indicator {indicator} of {component}") as task:
            indicators.switch(task, component, indicator, state)

    def get_virtual_media(self, context: RequestContext, node_id: str) -> list[dict[str, Any]]:
        with self._shared(context, node_id, "reading the virtual media") as task:
            return virtual_media.attached(task)

    def attach_virtual_media(
        self, context: RequestContext, node_id: str, device_type: str, image_url: str, source: str
    ) -> None:
        with self._exclusive(context, node_id, f"attaching a virtual {device_type}") as task:
            virtual_media.start_attaching(task, device_type, image_url, source)

    def detach_virtual_media(
        self, context: RequestContext, node_id: str, device_types: list[str] | None = None
    ) -> None:
        with self._exclusive(context, node_id, "detaching virtual media") as task:
            virtual_media.start_detaching(task, device_types)

    def list_vifs(self, context: RequestContext, node_id: str) -> list[dict[str, Any]]:
        with self._shared(context, node_id, "listing virtual interfaces") as task:
            return vifs.attached(task)

    def attach_vif(self, context: RequestContext, node_id: str, vif: dict[str, Any]) -> None:
        with self._exclusive(context, node_id, f"attaching virtual interface {vif.get('id')}") as task:
            vifs.attach(task, vif)

    def detach_vif(self, context: RequestContext, node_id: str, vif_id: str) -> None:
        with self._exclusive(context, node_id, f"detaching virtual interface {vif_id}") as task:
            vifs.detach(task, vif_id)
