"""Booting a fake machine: nothing has to be prepared."""

from collections.abc import Mapping
from typing import ClassVar

from ironic.drivers.interfaces import BootInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.task import Task


class FakeBoot(Undemanding, BootInterface):
    """Boots anything. It can't manage the boot of an inspection: somebody else has to start the agent then."""

    capabilities: ClassVar[list[str]] = ["ipxe_boot", "pxe_boot"]

    def prepare_ramdisk(self, task: Task, ramdisk_params: Mapping[str, object]) -> None:
        delay("boot")

    def clean_up_ramdisk(self, task: Task) -> None:
        delay("boot")

    def prepare_instance(self, task: Task) -> None:
        delay("boot")

    def clean_up_instance(self, task: Task) -> None:
        delay("boot")
