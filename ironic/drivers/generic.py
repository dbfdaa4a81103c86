"""What most machines have in common: booting over the network and an agent that does the work (S6).

A vendor's hardware type starts from here and lists only what is its own. The lists follow
doc/contract/drivers.md#lists-of-the-generic-hardware-type; implementations that this service does not have yet are left
out until they are built.
"""

from ironic.drivers.hardware_type import AbstractHardwareType, Supported


class GenericHardware(AbstractHardwareType):
    """Inserts the implementations that fit any machine; power and management stay the vendor's."""

    @property
    def supported_boot_interfaces(self) -> Supported:
        """Booting over the network."""
        return ["ipxe", "pxe", "http-ipxe", "http"]

    @property
    def supported_deploy_interfaces(self) -> Supported:
        """Deployment by an agent, or of a ramdisk that stays in memory; found out by itself unless chosen."""
        return ["autodetect", "direct", "ramdisk", "custom-agent"]

    @property
    def supported_inspect_interfaces(self) -> Supported:
        """Inspection by an agent."""
        return ["agent", "no-inspect"]

    @property
    def supported_raid_interfaces(self) -> Supported:
        """None unless wanted, or logical disks made by an agent."""
        return [*super().supported_raid_interfaces, "agent"]

    @property
    def supported_rescue_interfaces(self) -> Supported:
        """None unless wanted, or rescue by an agent."""
        return [*super().supported_rescue_interfaces, "agent"]


class ManualManagementHardware(GenericHardware):
    """Machines that people switch on and off and set up by hand."""

    @property
    def supported_deploy_interfaces(self) -> Supported:
        """What is there already, or nothing at all."""
        return [*super().supported_deploy_interfaces, "noop"]

    @property
    def supported_management_interfaces(self) -> Supported:
        """A person does what the service asks for."""
        return ["noop", "fake"]

    @property
    def supported_power_interfaces(self) -> Supported:
        """The ramdisk's agent restarts the machine, or a person does what the service asks for."""
        return ["agent", "fake"]
