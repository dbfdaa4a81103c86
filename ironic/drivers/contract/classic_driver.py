"""Base class of classic drivers: one class with a fixed interface of each kind that it supports (S19).

A classic driver is published under the entry point group ``ironic.drivers`` and enabled by ``enabled_drivers``. Its
constructor sets the interfaces as attributes, such as ``self.power``; all nodes with the driver share them. The
conductor treats it as a driver whose only choice of each kind has no name (`ironic.core.hardware_interfaces`).
"""

from typing import ClassVar, Final

from ironic.drivers.contract.interfaces import (
    BIOSInterface,
    BootInterface,
    ConsoleInterface,
    DeployInterface,
    FirmwareInterface,
    InspectInterface,
    ManagementInterface,
    NetworkInterface,
    PowerInterface,
    RAIDInterface,
    RescueInterface,
    StorageInterface,
    VendorInterface,
)
from ironic.drivers.contract.whole_driver import WholeDriver

# The interfaces that every classic driver has to set. Without boot or management what needs them is refused; for any
# other kind the service uses its own dummy.
MANDATORY: Final = frozenset({"deploy", "power"})


class BaseDriver(WholeDriver):
    """A family of machines with fixed interfaces; None stands for a kind that it does not support."""

    # False makes the conductor warn at start that this driver is deprecated and unsupported.
    supported: ClassVar[bool] = True

    # As for hardware types: the keys of driver_info with addresses of the BMC (S78).
    bmc_address_keys: ClassVar[tuple[str, ...] | None] = None

    bios: BIOSInterface | None = None
    boot: BootInterface | None = None
    console: ConsoleInterface | None = None
    deploy: DeployInterface | None = None
    firmware: FirmwareInterface | None = None
    inspect: InspectInterface | None = None
    management: ManagementInterface | None = None
    network: NetworkInterface | None = None
    power: PowerInterface | None = None
    raid: RAIDInterface | None = None
    rescue: RescueInterface | None = None
    storage: StorageInterface | None = None
    vendor: VendorInterface | None = None
