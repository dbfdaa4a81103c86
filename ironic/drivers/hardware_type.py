"""Base class of hardware types: the interfaces that a family of machines supports.

A hardware type is a class published under the entry point group ``ironic.hardware.types``. For each kind of interface
it has an ordered list; the first entry that is also enabled is the default (S4, S7). An entry is the class of an
implementation or the name of its entry point. The in-tree types use names: the module of a name is imported only if it
is enabled.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

from ironic.core.hardware_interfaces import interface_field
from ironic.drivers.contract.interfaces import BaseInterface

Supported = list[str | type[BaseInterface]]

# The implementation of each optional kind for machines that lack the feature (S5).
DUMMIES: Final[Mapping[str, str]] = {
    "bios": "no-bios",
    "console": "no-console",
    "firmware": "no-firmware",
    "inspect": "no-inspect",
    "network": "noop",
    "raid": "no-raid",
    "rescue": "no-rescue",
    "storage": "noop",
    "vendor": "no-vendor",
}


class AbstractHardwareType(ABC):
    """A family of machines. Power and deploy are abstract; other kinds default to what does nothing."""

    # False makes the conductor warn at start that this hardware type is deprecated and unsupported.
    supported: ClassVar[bool] = True

    # True also accepts any enabled interface that is not listed, after those that are; for testing only.
    accepts_any_enabled: ClassVar[bool] = False

    # Keys of driver_info that hold a URL, name or IP address of the node's own BMC; an inspection ramdisk is recognised
    # by them (S78). None: all keys that end in _address.
    bmc_address_keys: ClassVar[tuple[str, ...] | None] = None

    @classmethod
    def lacks(cls, kind: str) -> bool:
        """Return whether the type lists nothing of a kind, and so has the list here."""
        name = f"supported_{interface_field(kind)}s"
        return getattr(cls, name) is getattr(AbstractHardwareType, name)

    @property
    def supported_boot_interfaces(self) -> Supported:
        """Implementations of the boot interface, in order of preference."""
        return ["fake"]

    @property
    @abstractmethod
    def supported_deploy_interfaces(self) -> Supported:
        """Implementations of the deploy interface, in order of preference."""

    @property
    def supported_management_interfaces(self) -> Supported:
        """Implementations of the management interface, in order of preference."""
        return ["noop", "fake"]

    @property
    @abstractmethod
    def supported_power_interfaces(self) -> Supported:
        """Implementations of the power interface, in order of preference."""

    @property
    def supported_bios_interfaces(self) -> Supported:
        """Implementations of the BIOS interface, in order of preference."""
        return [DUMMIES["bios"]]

    @property
    def supported_console_interfaces(self) -> Supported:
        """Implementations of the console interface, in order of preference."""
        return [DUMMIES["console"]]

    @property
    def supported_firmware_interfaces(self) -> Supported:
        """Implementations of the firmware interface, in order of preference."""
        return [DUMMIES["firmware"]]

    @property
    def supported_inspect_interfaces(self) -> Supported:
        """Implementations of the inspect interface, in order of preference."""
        return [DUMMIES["inspect"]]

    @property
    def supported_network_interfaces(self) -> Supported:
        """Implementations of the network interface, in order of preference."""
        return [DUMMIES["network"]]

    @property
    def supported_raid_interfaces(self) -> Supported:
        """Implementations of the RAID interface, in order of preference."""
        return [DUMMIES["raid"]]

    @property
    def supported_rescue_interfaces(self) -> Supported:
        """Implementations of the rescue interface, in order of preference."""
        return [DUMMIES["rescue"]]

    @property
    def supported_storage_interfaces(self) -> Supported:
        """Implementations of the storage interface, in order of preference."""
        return [DUMMIES["storage"]]

    @property
    def supported_vendor_interfaces(self) -> Supported:
        """Implementations of the vendor interface, in order of preference."""
        return [DUMMIES["vendor"]]
