"""The generic hardware type: network boot and an agent in a ramdisk (S6); and hardware type `manual-management`.

A vendor's hardware type inherits from `GenericHardware` and lists only its own interfaces. The lists follow
doc/contract/drivers.md#lists-of-the-generic-hardware-type, without the interfaces that are not implemented yet.
"""

from ironic.drivers.hardware_type import AbstractHardwareType, Supported


class GenericHardware(AbstractHardwareType):
    """Lists the interfaces that fit any machine; power and management are the vendor's."""

    @property
    def supported_boot_interfaces(self) -> Supported:
        """Network boot."""
        return ["ipxe", "pxe", "http-ipxe", "http"]

    @property
    def supported_console_interfaces(self) -> Supported:
        """None, or a test picture."""
        return [*super().supported_console_interfaces, "fake-graphical"]

    @property
    def supported_deploy_interfaces(self) -> Supported:
        """Deployment by an agent or of a ramdisk; `autodetect` chooses between them."""
        return ["autodetect", "direct", "ramdisk", "custom-agent"]

    @property
    def supported_inspect_interfaces(self) -> Supported:
        """Inspection by an agent, whose report this service or the standalone inspector processes."""
        return ["agent", "inspector", "no-inspect"]

    @property
    def supported_raid_interfaces(self) -> Supported:
        """None by default, or logical disks created by an agent."""
        return [*super().supported_raid_interfaces, "agent"]

    @property
    def supported_rescue_interfaces(self) -> Supported:
        """None by default, or rescue by an agent."""
        return [*super().supported_rescue_interfaces, "agent"]


class ManualManagementHardware(GenericHardware):
    """Machines without a BMC, whose power and settings are changed by hand."""

    @property
    def supported_deploy_interfaces(self) -> Supported:
        """Those of the generic hardware type, or `noop` for machines that are deployed by other means."""
        return [*super().supported_deploy_interfaces, "noop"]

    @property
    def supported_management_interfaces(self) -> Supported:
        """`noop`: settings are changed by hand."""
        return ["noop", "fake"]

    @property
    def supported_power_interfaces(self) -> Supported:
        """`agent`: the ramdisk's agent restarts the machine; `fake`: power is changed by hand."""
        return ["agent", "fake"]
