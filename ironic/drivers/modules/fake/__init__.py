"""The fake family: every kind of interface for a machine that does not exist.

It does what is asked at once, or after the delays of [fake], and shows it: power and RAID on the node, the rest under
its own keys of ``driver_internal_info``. It is the first customer of the plug-in contract and needs no machine, no
network and no other service.
"""

from ironic.drivers.modules.fake.bios import FakeBIOS
from ironic.drivers.modules.fake.boot import FakeBoot
from ironic.drivers.modules.fake.console import FakeConsole
from ironic.drivers.modules.fake.deploy import FakeDeploy
from ironic.drivers.modules.fake.firmware import FakeFirmware
from ironic.drivers.modules.fake.inspect import FakeInspect
from ironic.drivers.modules.fake.management import FakeManagement
from ironic.drivers.modules.fake.power import FakePower
from ironic.drivers.modules.fake.raid import FakeRAID
from ironic.drivers.modules.fake.rescue import FakeRescue
from ironic.drivers.modules.fake.storage import FakeStorage
from ironic.drivers.modules.fake.vendor import FakeVendorA, FakeVendorB

__all__ = [
    "FakeBIOS",
    "FakeBoot",
    "FakeConsole",
    "FakeDeploy",
    "FakeFirmware",
    "FakeInspect",
    "FakeManagement",
    "FakePower",
    "FakeRAID",
    "FakeRescue",
    "FakeStorage",
    "FakeVendorA",
    "FakeVendorB",
]
