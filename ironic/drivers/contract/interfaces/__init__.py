"""The plug-in contract: one base class per kind of interface.

A vendor subclasses one of them, publishes the class under the entry point group ``ironic.hardware.interfaces.<kind>``
and names it in a hardware type. Plug-ins import the classes from `ironic.drivers.base`.
"""

from ironic.drivers.contract.interfaces.kinds import BASES as BASES
from ironic.drivers.contract.interfaces.kinds import BaseInterface as BaseInterface
from ironic.drivers.contract.interfaces.kinds import BIOSInterface as BIOSInterface
from ironic.drivers.contract.interfaces.kinds import BootInterface as BootInterface
from ironic.drivers.contract.interfaces.kinds import ConsoleInterface as ConsoleInterface
from ironic.drivers.contract.interfaces.kinds import DeployInterface as DeployInterface
from ironic.drivers.contract.interfaces.kinds import FirmwareInterface as FirmwareInterface
from ironic.drivers.contract.interfaces.kinds import InspectInterface as InspectInterface
from ironic.drivers.contract.interfaces.kinds import ManagementInterface as ManagementInterface
from ironic.drivers.contract.interfaces.kinds import NetworkInterface as NetworkInterface
from ironic.drivers.contract.interfaces.kinds import PowerInterface as PowerInterface
from ironic.drivers.contract.interfaces.kinds import RAIDInterface as RAIDInterface
from ironic.drivers.contract.interfaces.kinds import RescueInterface as RescueInterface
from ironic.drivers.contract.interfaces.kinds import StorageInterface as StorageInterface
from ironic.drivers.contract.interfaces.kinds import VendorInterface as VendorInterface
