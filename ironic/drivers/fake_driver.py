"""Classic driver `fake`: simulated machines whose interfaces are the fake ones and can't be chosen.

It is to classic drivers what hardware type `fake-hardware` is to hardware types: for tests, first experiments, and as
an example for authors. Its module is apart from the hardware type's, which must not import the interfaces (S17).
"""

from ironic.drivers.contract.classic_driver import BaseDriver
from ironic.drivers.modules import fake


class FakeDriver(BaseDriver):
    """The fake interface of every kind but network, for which the service's dummy is used."""

    def __init__(self) -> None:
        self.bios = fake.FakeBIOS()
        self.boot = fake.FakeBoot()
        self.console = fake.FakeConsole()
        self.deploy = fake.FakeDeploy()
        self.firmware = fake.FakeFirmware()
        self.inspect = fake.FakeInspect()
        self.management = fake.FakeManagement()
        self.power = fake.FakePower()
        self.raid = fake.FakeRAID()
        self.rescue = fake.FakeRescue()
        self.storage = fake.FakeStorage()
        self.vendor = fake.FakeVendorB()
