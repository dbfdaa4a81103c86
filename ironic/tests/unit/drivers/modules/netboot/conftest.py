"""A machine that boots from the network, with roots and images in a directory of the test's own."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import UnsupportedDriverExtension
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import BareDriver
from ironic.tests.conftest import Setter
from ironic.tests.unit.drivers.machine import Machine, Work

MAC, OTHER_MAC, PORT, OTHER_PORT = "52:54:00:AA:00:01", "52:54:00:aa:00:02", "port-1", "port-2"


@dataclass
class Port:
    """A port."""

    uuid: str = PORT
    address: str = MAC
    pxe_enabled: bool = True
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Firmware:
    """A management interface that records its calls."""

    devices: list[str] = field(default_factory=lambda: [boot_devices.PXE, boot_devices.DISK])
    mode: str | None = None
    recorded: list[Any] = field(default_factory=list)

    def get_supported_boot_devices(self, task: Any) -> list[str]:
        return self.devices

    def set_boot_device(self, task: Any, device: str, persistent: bool = False) -> None:
        self.recorded.append((device, persistent))

    def get_boot_mode(self, task: Any) -> str | None:
        if self.mode is None:
            raise UnsupportedDriverExtension(driver="a driver", extension="get_boot_mode")
        return self.mode

    def set_boot_mode(self, task: Any, mode: str) -> None:
        self.recorded.append(mode)


def machine(*ports: Port, firmware: Firmware | None = None, **columns: Any) -> Work:
    """Return a task on a machine with these ports."""
    work = Work(Machine(**columns), driver=BareDriver({"management": firmware or Firmware()}))
    work.ports = list(ports or [Port()])
    return work


@pytest.fixture
def place(conf: Setter, tmp_path: Path) -> Path:
    """Return a directory with `tftp`, `http`, `master`, and images that nodes boot unless they name their own."""
    for name in ("images", "hosts", "options"):
        (tmp_path / name).mkdir()
    for name in ("kernel", "ramdisk", "own-kernel", "own-ramdisk"):
        (tmp_path / "images" / name).write_bytes(f"the {name}".encode())
    conf(
        pxe__tftp_root=str(tmp_path / "tftp"),
        pxe__tftp_master_path=str(tmp_path / "master"),
        pxe__tftp_server="192.0.2.1",
        deploy__http_root=str(tmp_path / "http"),
        deploy__http_url="http://192.0.2.1:8080/boot/",
        conductor__file_url_allowed_paths=[str(tmp_path / "images")],
        conductor__deploy_kernel=f"file://{tmp_path}/images/kernel",
        conductor__deploy_ramdisk=f"file://{tmp_path}/images/ramdisk",
        dhcp__dhcp_provider="none",
        dnsmasq__dhcp_hostsdir=str(tmp_path / "hosts"),
        dnsmasq__dhcp_optsdir=str(tmp_path / "options"),
    )
    return tmp_path
