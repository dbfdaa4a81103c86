"""The life of a machine that really boots, under the service: `make lab`.

Starts a Redfish BMC with a QEMU machine (`qemu_bmc`) and the all-in-one service, and lets the SDK enrol, inspect,
clean, deploy, rescue and undeploy the machine. The ramdisk has the released agent. The image that it writes says on the
serial console that it runs, and what its config drive holds. Prints a table with seconds; the status is 1 when a step
failed.
"""

import argparse
import json
import os
import pprint
import re
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import openstack
import requests

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
# Emulation without KVM on a busy machine is slow.
STEP_SECONDS = 1800
BOOT_SECONDS = 600
AGENT_PORT = 9999  # on the machine
HOST_FOR_MACHINE = "10.0.2.2"
MAC = "52:54:66:bb:00:01"
NETWORK_DATA = {
    "links": [{"id": "net0", "type": "phy", "ethernet_mac_address": MAC}],
    "networks": [{"id": "lan", "type": "ipv4_dhcp", "link": "net0", "network_id": "lan"}],
    "services": [],
}
VERSION = "1.95"
REACHED = {
    "manage": "manageable", "inspect": "manageable", "provide": "available", "active": "active", "rescue": "rescue",
    "unrescue": "active", "deleted": "available",
}  # fmt: skip
MODES = {"uefi": "UEFI", "bios": "Legacy"}

CONFIGURATION = """\
[DEFAULT]
auth_strategy = noauth
rpc_transport = none
host = lab
state_path = {directory}
log_file = {directory}/ironic.log
enabled_hardware_types = redfish
enabled_bios_interfaces = no-bios
enabled_boot_interfaces = redfish-virtual-media, redfish-https, ipxe
enabled_deploy_interfaces = direct
enabled_inspect_interfaces = agent
enabled_network_interfaces = noop
enabled_raid_interfaces = no-raid
enabled_rescue_interfaces = agent, no-rescue
enabled_storage_interfaces = noop
enabled_vendor_interfaces = no-vendor

[api]
host_ip = 127.0.0.1
port = {api_port}

[service_catalog]
endpoint_override = http://{host}:{api_port}

[conductor]
deploy_kernel = file://{images}/agent.kernel
deploy_ramdisk = file://{images}/agent.initramfs
rescue_kernel = file://{images}/agent.kernel
rescue_ramdisk = file://{images}/agent.initramfs
file_url_allowed_paths = {images}

[deploy]
http_root = {directory}/httpboot
http_server_ip = 127.0.0.1
http_server_port = {file_port}
http_server_url = http://{host}:{file_port}
external_http_url = http://127.0.0.1:{file_port}
iso_master_path = {directory}/cache/iso
# The disk is a file that is thrown away; its metadata are erased, as for any machine.
erase_devices_priority = 0

[redfish]
kernel_append_params = {parameters}

[pxe]
tftp_root = {directory}/tftp
tftp_master_path = {directory}/cache/ramdisks
instance_master_path = {directory}/cache/instances
kernel_append_params = {parameters}
ipxe_timeout = 60

[dhcp]
dhcp_provider = none

[outgoing]
allow_loopback = true
"""
# The agent is reached through a port of the loopback. On a busy host the emulated timer is late, which Linux checks.
PARAMETERS = "console=tty0 console=ttyS0,115200 no_timer_check ipa-advertise-host=127.0.0.1 ipa-advertise-port={port}"


def free_port() -> int:
    """Return a free port of the loopback."""
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def running(command: list[Any], log: Path, is_up: Callable[[], bool]) -> Iterator[None]:
    """Run a program until the block ends; fail with its log when it does not come up."""
    with (
        log.open("ab") as output,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output) as one,
    ):
        try:
            until = time.monotonic() + 120
            while not is_up():
                if one.poll() is not None or time.monotonic() > until:
                    raise SystemExit(f"{command[0]} does not run:\n{log.read_text()[-2000:]}")
                time.sleep(0.2)
            yield
        finally:
            one.terminate()


def answers(url: str) -> bool:
    """Return whether a server answers."""
    try:
        return requests.get(url, timeout=5).status_code < 500
    except requests.RequestException:
        return False


class Lab:
    """One machine, its BMC, the service, and what was measured."""

    def __init__(self, directory: Path, images: Path, mode: str, boot: str) -> None:
        self._directory, self._images, self._mode, self._boot = directory, images, mode, boot
        self._api, self._files, self._bmc, self._agent = (free_port() for _ in range(4))
        self._system = str(uuid.uuid4())
        self.rows: list[tuple[str, float, str]] = []

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Run everything until the block ends; yield the SDK's client."""
        self._directory.mkdir(parents=True)
        (self._directory / "httpboot").mkdir()
        bmc_url, api_url = f"http://127.0.0.1:{self._bmc}/redfish/v1/", f"http://127.0.0.1:{self._api}"
        option = ["--config-file", self._configure()]
        subprocess.run([PROGRAMS / "ironic-dbsync", *option, "upgrade"], check=True)
        bmc = [sys.executable, Path(__file__).with_name("qemu_bmc.py"), "--config", self._configure_bmc()]
        bmc += ["--machine", self._describe_machine()]
        with (
            running(bmc, self._directory / "bmc.log", lambda: answers(bmc_url)),
            running([PROGRAMS / "ironic", *option], self._directory / "ironic.out", lambda: answers(f"{api_url}/v1")),
        ):
            yield openstack.connect(auth_type="none", endpoint=api_url, baremetal_api_version=VERSION).baremetal

    def _configure(self) -> Path:
        path = self._directory / "ironic.conf"
        path.write_text(
            CONFIGURATION.format(
                directory=self._directory, images=self._images, api_port=self._api, file_port=self._files,
                host=HOST_FOR_MACHINE, parameters=PARAMETERS.format(port=self._agent),
            )
        )  # fmt: skip
        return path

    def _configure_bmc(self) -> Path:
        system = {
            "uuid": self._system, "name": "lab", "power_state": "Off", "external_notifier": False,
            "nics": [{"mac": MAC, "ip": "10.0.2.15"}], "boot_mode": MODES[self._mode],
        }  # fmt: skip
        (self._directory / "bmc").mkdir()
        settings = {
            "SUSHY_EMULATOR_FAKE_SYSTEMS": [system],
            "SUSHY_EMULATOR_STATE_DIR": str(self._directory / "bmc"),
            "SUSHY_EMULATOR_LISTEN_IP": "127.0.0.1",
            "SUSHY_EMULATOR_LISTEN_PORT": self._bmc,
            "SUSHY_EMULATOR_FEATURE_SET": "full",
        }
        path = self._directory / "bmc.conf"
        path.write_text("".join(f"{name} = {pprint.pformat(value)}\n" for name, value in settings.items()))
        return path

    def _describe_machine(self) -> Path:
        disk, path = self._directory / "disk.qcow2", self._directory / "machine.json"
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", disk, "4G"], check=True)
        # In place of a DHCP server that names it: QEMU's own names the first script of iPXE.
        script = f",bootfile=http://{HOST_FOR_MACHINE}:{self._files}/boot.ipxe" if self._boot == "ipxe" else ""
        machine = {
            "directory": str(self._directory), "memory": 2560, "disk": str(disk), "mac": MAC, "network": script,
            "ports": {str(self._agent): AGENT_PORT},
            "uefi_code": "/usr/share/OVMF/OVMF_CODE_4M.fd", "uefi_variables": "/usr/share/OVMF/OVMF_VARS_4M.fd",
        }  # fmt: skip
        path.write_text(json.dumps(machine))
        return path

    def enrol(self, sdk: Any) -> Any:
        """Create the node and its port."""
        node = sdk.create_node(
            name="lab", driver="redfish", boot_interface=self._boot, inspect_interface="agent",
            deploy_interface="direct", rescue_interface="agent",
            driver_info={
                "redfish_address": f"http://127.0.0.1:{self._bmc}",
                "redfish_system_id": f"/redfish/v1/Systems/{self._system}",
            },
            properties={"capabilities": f"boot_mode:{self._mode}", "cpu_arch": "x86_64"},
        )  # fmt: skip
        # The SDK does not know this field.
        change = [{"op": "add", "path": "/network_data", "value": NETWORK_DATA}]
        headers = {"X-OpenStack-Ironic-API-Version": VERSION}
        url = f"http://127.0.0.1:{self._api}/v1/nodes/{node.id}"
        requests.patch(url, json=change, headers=headers, timeout=60).raise_for_status()
        sdk.create_port(node_uuid=node.id, address=MAC)
        return node

    def step(self, sdk: Any, node: Any, verb: str, **more: Any) -> None:
        """Send a verb, wait for its end, and note the time."""
        began = time.monotonic()
        print(f"{verb} ...", flush=True)
        try:
            sdk.set_node_provision_state(node, verb, **more)
            (found,) = sdk.wait_for_nodes_provision_state([node], REACHED[verb], timeout=STEP_SECONDS)
        except Exception as error:
            self.rows.append((verb, time.monotonic() - began, f"FAILED: {error}"))
            raise
        self.rows.append((verb, time.monotonic() - began, found.provision_state))
        print(f"  {self.rows[-1][1]:.0f} s, {found.provision_state}", flush=True)

    def serial(self) -> str:
        """Return what the machine has said on its console."""
        path = self._directory / "serial.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def await_console(self, name: str, after: int, *patterns: str) -> None:
        """Wait until the machine says all of this on its console, after a position in it."""
        began = time.monotonic()
        for pattern in patterns:
            while not (found := re.search(pattern, self.serial()[after:])):
                if time.monotonic() - began > BOOT_SECONDS:
                    self.rows.append((name, time.monotonic() - began, f"FAILED: nothing like {pattern}"))
                    raise SystemExit(f"The console does not show {pattern}")
                time.sleep(1)
            print(f"  console: {found[0].strip()}", flush=True)
        self.rows.append((name, time.monotonic() - began, "seen on the console"))


def live(lab: Lab, image: Path, steps: list[str]) -> None:
    """Lead the machine through its life."""
    with lab.open() as sdk:
        node = lab.enrol(sdk)
        lab.step(sdk, node, "manage")
        if "inspect" in steps:
            lab.step(sdk, node, "inspect")
            inventory = sdk.get_node_inventory(node)["inventory"]
            print(f"  disks: {[(disk['name'], disk['size']) for disk in inventory['disks']]}", flush=True)
        lab.step(sdk, node, "provide")
        if "deploy" in steps:
            info = {"image_source": image.as_uri(), "image_disk_format": "qcow2"}
            sdk.update_node(node, instance_info=info)
            mark = len(lab.serial())
            drive = {"meta_data": {"hostname": "lab-host"}, "user_data": "hello from the lab\n"}
            lab.step(sdk, node, "active", config_drive=drive)
            disk_system = ("TINY-IMAGE up .*", "TINY-IMAGE config-drive=/dev/.* hostname=lab-host", "TINY-IMAGE ready")
            lab.await_console("the disk boots", mark, *disk_system)
            if "rescue" in steps:
                lab.step(sdk, node, "rescue", rescue_password="Lab-Rescue-1")
                mark = len(lab.serial())
                lab.step(sdk, node, "unrescue")
                lab.await_console("the disk boots again", mark, "TINY-IMAGE up .*", "TINY-IMAGE ready")
            lab.step(sdk, node, "deleted")


def main() -> int:
    """Run the lab and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--images", type=Path, required=True, help="folder with the kernel, the ramdisk and the image")
    parser.add_argument("--directory", type=Path, default=ROOT / ".run" / f"lab-{os.getpid()}")
    parser.add_argument("--mode", choices=sorted(MODES), default="uefi")
    parser.add_argument("--boot", default="redfish-virtual-media")
    parser.add_argument("--steps", default="inspect,deploy,rescue")
    arguments = parser.parse_args()
    images = arguments.images.resolve()
    lab = Lab(arguments.directory.resolve(), images, arguments.mode, arguments.boot)
    failure = 0
    try:
        live(lab, images / "disk.qcow2", arguments.steps.split(","))
    except (Exception, SystemExit) as error:
        print(f"failed: {error}", flush=True)
        failure = 1
    print(f"\n| {arguments.boot}, {arguments.mode} | seconds | result |\n| --- | --- | --- |")
    for name, seconds, result in lab.rows:
        print(f"| {name} | {seconds:.0f} | {result} |")
    return failure


if __name__ == "__main__":
    sys.exit(main())
