"""The plug-in contract: one base class per kind of interface, each in a file of its own.

A vendor subclasses one of them, publishes the class under the entry point group ``ironic.hardware.interfaces.<kind>``
and names it in a hardware type. Plug-ins import all of this from `ironic.drivers.base`.
"""

from typing import Final

from ironic.drivers.interfaces.base import BaseInterface
from ironic.drivers.interfaces.bios import BIOSInterface
from ironic.drivers.interfaces.boot import BootInterface
from ironic.drivers.interfaces.console import ConsoleInterface
from ironic.drivers.interfaces.deploy import DeployInterface
from ironic.drivers.interfaces.firmware import FirmwareInterface
from ironic.drivers.interfaces.inspect import InspectInterface
from ironic.drivers.interfaces.management import ManagementInterface
from ironic.drivers.interfaces.network import NetworkInterface
from ironic.drivers.interfaces.power import PowerInterface
from ironic.drivers.interfaces.raid import RAIDInterface
from ironic.drivers.interfaces.rescue import RescueInterface
from ironic.drivers.interfaces.storage import StorageInterface
from ironic.drivers.interfaces.vendor import VendorInterface

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

__all__ = [
    "BASES",
    "BIOSInterface",
    "BaseInterface",
    "BootInterface",
    "ConsoleInterface",
    "DeployInterface",
    "FirmwareInterface",
    "InspectInterface",
    "ManagementInterface",
    "NetworkInterface",
    "PowerInterface",
    "RAIDInterface",
    "RescueInterface",
    "StorageInterface",
    "VendorInterface",
]
