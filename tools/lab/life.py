"""The life of a machine that really boots, under the service: `make lab`.

    unshare --net .venv/bin/python tools/lab/life.py --images .run/lab-images --boot ipxe --mode bios

Starts a BMC with a QEMU machine, a network with DHCP, and the all-in-one service, and lets the SDK lead the machine
through its life. The ramdisk has the released agent. The image that it writes says on the serial console that it runs,
and what its config drive holds. Prints a table with seconds; the status is 1 when a step failed.
"""

import argparse
import functools
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import ipmi_bmc
import openstack
import redfish_bmc
import requests
from machine import BIOS, UEFI, Machine, describe
from network import HOST, TAP, network, require_own_namespace
from service import API, Service, start

ROOT: Final = Path(__file__).resolve().parents[2]
# Emulation without KVM on a busy machine is slow.
STEP_SECONDS: Final = 1800
BOOT_SECONDS: Final = 600
MAC: Final = "52:54:66:bb:00:01"
NETWORK_DATA: Final = {
    "links": [{"id": "net0", "type": "phy", "ethernet_mac_address": MAC}],
    "networks": [{"id": "lan", "type": "ipv4_dhcp", "link": "net0", "network_id": "lan"}],
    "services": [],
}
VERSION: Final = "1.95"
REACHED: Final = {
    "manage": "manageable", "inspect": "manageable", "provide": "available", "active": "active", "rescue": "rescue",
    "unrescue": "active", "deleted": "available",
}  # fmt: skip
# By hardware type: its BMC, and its interfaces for power and management.
BMCS: Final = {"redfish": (redfish_bmc, "redfish"), "ipmi": (ipmi_bmc, "ipmitool")}
# What the service copies for the firmware and the first boot programs, for each boot interface that needs some.
LOADERS: Final = {
    "ipxe": {"snponly.efi": Path("/usr/lib/ipxe/snponly.efi")},
    "pxe": {
        "pxelinux.0": Path("/usr/lib/PXELINUX/pxelinux.0"),
        "ldlinux.c32": Path("/usr/lib/syslinux/modules/bios/ldlinux.c32"),
        "bootx64.efi": Path("/usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed"),
    },
    "http-ipxe": {"snponly.efi": Path("/usr/lib/ipxe/snponly.efi")},
}


class Lab:
    """One machine, its BMC, its network, the service, and what was measured."""

    def __init__(self, directory: Path, images: Path, *, hardware: str, boot: str, mode: str) -> None:
        self._directory, self._hardware, self._boot, self._mode = directory, hardware, boot, mode
        directory.mkdir(parents=True)
        self._describe_machine()
        loaders = LOADERS.get(boot, {})
        self._bmc, control = BMCS[hardware]
        self.service = Service(directory, images, hardware=hardware, control=control, boot=boot, loaders=loaders)
        self._driver_info: dict[str, object] = {}
        self.rows: list[tuple[str, float, str]] = []

    def _describe_machine(self) -> None:
        describe(self._directory, mode=self._mode, mac=MAC, tap=TAP)

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Run everything until the block ends; yield the SDK's client."""
        command, is_up, self._driver_info = self._bmc.prepare(self._directory, HOST)
        with network(self._directory, boots_machines=self._boot in LOADERS):
            bmc = start(command, self._directory / "bmc.log", is_up)
            try:
                self.service.start()
                yield openstack.connect(auth_type="none", endpoint=API, baremetal_api_version=VERSION).baremetal
            finally:
                self.service.stop()
                bmc.terminate()
                bmc.wait()
                Machine(self._directory).switch_off()

    def enrol(self, sdk: Any, *, cleaned: bool) -> Any:
        """Create the node and its port; ``cleaned`` says whether it is cleaned before it is available."""
        node = sdk.create_node(
            name="lab", automated_clean=cleaned, driver=self._hardware, boot_interface=self._boot,
            inspect_interface="agent", deploy_interface="direct", rescue_interface="agent",
            driver_info=self._driver_info, properties={"capabilities": f"boot_mode:{self._mode}", "cpu_arch": "x86_64"},
        )  # fmt: skip
        # The SDK does not know this field.
        change = [{"op": "add", "path": "/network_data", "value": NETWORK_DATA}]
        headers = {"X-OpenStack-Ironic-API-Version": VERSION}
        url = f"{API}/v1/nodes/{node.id}"
        requests.patch(url, json=change, headers=headers, timeout=60).raise_for_status()
        sdk.create_port(node_uuid=node.id, address=MAC)
        return node

    def step(self, sdk: Any, node: Any, verb: str, meanwhile: Callable[[], str] | None = None, **more: Any) -> None:
        """Send a verb, wait for its end, and note the time; ``meanwhile`` is called once it has begun."""
        began, name = time.monotonic(), verb
        print(f"{verb} ...", flush=True)
        try:
            sdk.set_node_provision_state(node, verb, **more)
            if meanwhile is not None:
                name = f"{verb}, {meanwhile()}"
            (found,) = sdk.wait_for_nodes_provision_state([node], REACHED[verb], timeout=STEP_SECONDS)
        except Exception as error:
            self.rows.append((name, time.monotonic() - began, f"FAILED: {error}"))
            raise
        self.rows.append((name, time.monotonic() - began, found.provision_state))
        print(f"  {self.rows[-1][1]:.0f} s, {found.provision_state}", flush=True)

    def kill_service(self, sdk: Any, node: Any, name: str) -> str:
        """Kill the service while the agent writes the image, and start it under a name; return what was done."""
        until = time.monotonic() + STEP_SECONDS
        while True:
            found = sdk.get_node(node)
            if found.provision_state == "wait call-back" and found.deploy_step.get("step") == "write_image":
                break
            if time.monotonic() > until or found.provision_state not in ("deploying", "wait call-back"):
                raise SystemExit(f"The image is never written; the node is in state {found.provision_state}.")
            time.sleep(0.3)
        self.service.kill()
        self.service.start(name)
        return f"with the service killed and started as {name}"

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
        node = lab.enrol(sdk, cleaned="clean" in steps)
        lab.step(sdk, node, "manage")
        if "inspect" in steps:
            lab.step(sdk, node, "inspect")
            inventory = sdk.get_node_inventory(node)["inventory"]
            print(f"  disks: {[(disk['name'], disk['size']) for disk in inventory['disks']]}", flush=True)
        if "clean" in steps or "deploy" in steps:
            lab.step(sdk, node, "provide")
        if "deploy" in steps:
            deploy(lab, sdk, node, image, steps)
            if "rescue" in steps:
                lab.step(sdk, node, "rescue", rescue_password="Lab-Rescue-1")
                mark = len(lab.serial())
                lab.step(sdk, node, "unrescue")
                lab.await_console("the disk boots again", mark, "TINY-IMAGE up .*", "TINY-IMAGE ready")
            lab.step(sdk, node, "deleted")


def deploy(lab: Lab, sdk: Any, node: Any, image: Path, steps: list[str]) -> None:
    """Deploy the image with a config drive, and see the machine boot its disk."""
    info = {"image_source": image.as_uri(), "image_disk_format": "qcow2"}
    sdk.update_node(node, instance_info=info)
    mark = len(lab.serial())
    drive = {"meta_data": {"hostname": "lab-host"}, "user_data": "hello from the lab\n"}
    meanwhile = None
    if "restart" in steps:
        meanwhile = functools.partial(lab.kill_service, sdk, node, "lab")
    elif "take-over" in steps:
        meanwhile = functools.partial(lab.kill_service, sdk, node, "lab-2")
    lab.step(sdk, node, "active", meanwhile, config_drive=drive)
    seen = ("TINY-IMAGE up .*", "TINY-IMAGE config-drive=/dev/.* hostname=lab-host", "TINY-IMAGE ready")
    lab.await_console("the disk boots", mark, *seen)


def main() -> int:
    """Run the lab and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--images", type=Path, required=True, help="folder with the kernel, the ramdisk and the image")
    parser.add_argument("--directory", type=Path, default=ROOT / ".run" / f"lab-{os.getpid()}")
    parser.add_argument("--hardware", choices=sorted(BMCS), default="redfish")
    parser.add_argument("--mode", choices=(UEFI, BIOS), default=UEFI)
    parser.add_argument("--boot", default="redfish-virtual-media")
    parser.add_argument("--steps", default="inspect,clean,deploy,rescue", help="also: restart, take-over")
    arguments = parser.parse_args()
    require_own_namespace()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    images = arguments.images.resolve()
    lab = Lab(
        arguments.directory.resolve(), images, hardware=arguments.hardware, boot=arguments.boot, mode=arguments.mode
    )
    failure = 0
    try:
        live(lab, images / "disk.qcow2", arguments.steps.split(","))
    except (Exception, SystemExit) as error:
        print(f"failed: {error}", flush=True)
        failure = 1
    print(f"\n| {arguments.hardware}, {arguments.boot}, {arguments.mode} | seconds | result |\n| --- | --- | --- |")
    for name, seconds, result in lab.rows:
        print(f"| {name} | {seconds:.0f} | {result} |")
    return failure


if __name__ == "__main__":
    sys.exit(main())
