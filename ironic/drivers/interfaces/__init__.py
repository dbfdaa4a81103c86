"""The plug-in contract: one base class per kind of interface.

A vendor subclasses one of them, publishes the class under the entry point group ``ironic.hardware.interfaces.<kind>``
and names it in a hardware type. Plug-ins import the classes from `ironic.drivers.base`.
"""

from typing import Final

from ironic.drivers.interfaces.attachments import NetworkInterface as NetworkInterface
from ironic.drivers.interfaces.attachments import StorageInterface as StorageInterface
from ironic.drivers.interfaces.base_interface import BaseInterface as BaseInterface
from ironic.drivers.interfaces.bios_and_firmware import BIOSInterface as BIOSInterface
from ironic.drivers.interfaces.bios_and_firmware import FirmwareInterface as FirmwareInterface
from ironic.drivers.interfaces.boot_and_deploy import BootInterface as BootInterface
from ironic.drivers.interfaces.boot_and_deploy import DeployInterface as DeployInterface
from ironic.drivers.interfaces.boot_and_deploy import InspectInterface as InspectInterface
from ironic.drivers.interfaces.boot_and_deploy import RescueInterface as RescueInterface
from ironic.drivers.interfaces.passthru import VendorInterface as VendorInterface
from ironic.drivers.interfaces.power_management import ConsoleInterface as ConsoleInterface
from ironic.drivers.interfaces.power_management import ManagementInterface as ManagementInterface
from ironic.drivers.interfaces.power_management import PowerInterface as PowerInterface
from ironic.drivers.interfaces.raid import RAIDInterface as RAIDInterface

BASES: Final[dict[str, type[BaseInterface]]] = {
    base.interface_type: base
    for base in (
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
}
