"""The all-in-one service of the lab: its configuration, its start, and its violent end."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import requests
from network import HOST

API: Final = f"http://{HOST}:6385"
# Some boot programs know only this port.
_FILES_PORT: Final = 80
_PROGRAMS: Final = Path(sys.executable).parent
_SECONDS_TO_START: Final = 180

_CONFIGURATION: Final = """\
[DEFAULT]
auth_strategy = noauth
rpc_transport = none
my_ip = {host}
state_path = {directory}
log_file = {directory}/ironic.log
enabled_hardware_types = {hardware}
enabled_bios_interfaces = no-bios
enabled_boot_interfaces = {boot}
enabled_deploy_interfaces = direct
enabled_inspect_interfaces = agent
enabled_management_interfaces = {control}
enabled_network_interfaces = noop
enabled_power_interfaces = {control}
enabled_raid_interfaces = no-raid
enabled_rescue_interfaces = agent, no-rescue
enabled_storage_interfaces = noop
enabled_vendor_interfaces = no-vendor

[api]
host_ip = {host}

[service_catalog]
endpoint_override = {api}

[conductor]
deploy_kernel = file://{images}/agent.kernel
deploy_ramdisk = file://{images}/agent.initramfs
rescue_kernel = file://{images}/agent.kernel
rescue_ramdisk = file://{images}/agent.initramfs
file_url_allowed_paths = {images}

[deploy]
http_root = {directory}/httpboot
http_server_ip = {host}
http_server_port = {files_port}
iso_master_path = {directory}/cache/iso
# The disk is a file that is thrown away; its metadata are erased, as for any machine.
erase_devices_priority = 0

[redfish]
kernel_append_params = {parameters}

[pxe]
tftp_root = {directory}/tftp
tftp_server = {host}
tftp_master_path = {directory}/cache/ramdisks
instance_master_path = {directory}/cache/instances
kernel_append_params = {parameters}
ipxe_timeout = 60
loader_file_paths = {loaders}

[dhcp]
dhcp_provider = {dhcp}

[dnsmasq]
dhcp_hostsdir = {directory}/hosts.d
dhcp_optsdir = {directory}/options.d
"""
# On a busy host the emulated timer is late, which Linux checks; its guards against other machines cost much emulated.
_PARAMETERS: Final = "console=ttyS0,115200 no_timer_check mitigations=off"


def answers(url: str) -> bool:
    """Return whether a server answers."""
    try:
        return requests.get(url, timeout=5).status_code < 500
    except requests.RequestException:
        return False


def start(command: list[Any], log: Path, is_up: Callable[[], bool]) -> "subprocess.Popen[bytes]":
    """Start a program and wait until it is up; end the lab with its log when it does not come up."""
    with log.open("ab") as output:
        started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    until = time.monotonic() + _SECONDS_TO_START
    while not is_up():
        if started.poll() is not None or time.monotonic() > until:
            started.kill()
            raise SystemExit(f"{command[0]} does not run:\n{log.read_text()[-2000:]}")
        time.sleep(0.2)
    return started


class Service:
    """The service on this host; it may be killed and started again, under another name."""

    def __init__(
        self, directory: Path, images: Path, *, hardware: str, control: str, boot: str, loaders: dict[str, Path]
    ) -> None:
        self._directory = directory
        (directory / "httpboot").mkdir()
        self._configuration = directory / "ironic.conf"
        self._configuration.write_text(
            _CONFIGURATION.format(
                directory=directory, images=images, host=HOST, api=API, files_port=_FILES_PORT, hardware=hardware,
                control=control, boot=boot, parameters=_PARAMETERS, dhcp="dnsmasq" if loaders else "none",
                loaders=",".join(f"{name}:{path}" for name, path in loaders.items()),
            )
        )  # fmt: skip
        option: list[Any] = ["--config-file", self._configuration]
        subprocess.run([_PROGRAMS / "ironic-dbsync", *option, "upgrade"], check=True, stdout=subprocess.DEVNULL)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, name: str = "lab") -> None:
        """Start the service; conductors know each other by name."""
        own = self._directory / "name.conf"
        own.write_text(f"[DEFAULT]\nhost = {name}\n")
        command = [_PROGRAMS / "ironic", "--config-file", self._configuration, "--config-file", own]
        self._process = start(command, self._directory / "ironic.out", lambda: answers(f"{API}/v1"))

    def kill(self) -> None:
        """End the service without a warning, as a host that fails does."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End the service, if it runs."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
