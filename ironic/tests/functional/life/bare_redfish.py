"""A third party's hardware type: Redfish machines that need no ramdisk for any step."""

from typing import Any

from ironic.drivers.redfish import RedfishHardware


class BareRedfish(RedfishHardware):
    """Redfish machines with the fake deploy interface, which boots nothing."""

    @property
    def supported_deploy_interfaces(self) -> Any:
        """One that boots nothing."""
        return ["fake"]
