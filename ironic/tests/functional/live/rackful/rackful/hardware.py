"""A switch as a node: nothing of it is switched, booted or cleaned by the service."""

from typing import Any

from ironic.drivers.generic import ManualManagementHardware
from ironic.drivers.modules import noop, noop_mgmt
from ironic.drivers.modules.fake import FakePower
from ironic.drivers.modules.network.noop import NoopNetwork
from ironic.drivers.modules.storage.noop import NoopStorage


class Switch(ManualManagementHardware):
    """Lists classes only, one of each kind."""

    supported_bios_interfaces: Any = property(lambda self: [noop.NoBIOS])
    supported_console_interfaces: Any = property(lambda self: [noop.NoConsole])
    supported_deploy_interfaces: Any = property(lambda self: [noop.NoDeploy])
    supported_firmware_interfaces: Any = property(lambda self: [noop.NoFirmware])
    supported_inspect_interfaces: Any = property(lambda self: [noop.NoInspect])
    supported_management_interfaces: Any = property(lambda self: [noop_mgmt.NoopManagement])
    supported_network_interfaces: Any = property(lambda self: [NoopNetwork])
    supported_power_interfaces: Any = property(lambda self: [FakePower])
    supported_raid_interfaces: Any = property(lambda self: [noop.NoRAID])
    supported_rescue_interfaces: Any = property(lambda self: [noop.NoRescue])
    supported_storage_interfaces: Any = property(lambda self: [NoopStorage])
    supported_vendor_interfaces: Any = property(lambda self: [noop.NoVendor])
