"""A machine that boots the real agent: its BMC speaks Redfish, its insides are a sandbox.

Commands of the BMC have effect: power on boots the agent, power off cuts it off. An agent that switches the machine off
or restarts it does so too, and the BMC reports it.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ironic.tests.functional.drivers.scripted_bmc import SYSTEM, ScriptedBmc, scripted_bmc
from ironic.tests.live_service import free_port
from ironic.tests.scenario.agent.handed_boot import KEY
from ironic.tests.scenario.agent.sandbox import POWERED_OFF, RESTARTED, Confined, Sandbox, sandbox

INVENTORY = Path(__file__).parents[2] / "data" / "inventories" / "dell-like.json"
HOST = "127.0.0.1"

_BOOT = {
    "BootSourceOverrideEnabled": "Disabled",
    "BootSourceOverrideTarget": "None",
    "BootSourceOverrideTarget@Redfish.AllowableValues": ["Pxe", "Hdd"],
}


class Machine:
    """Power, disk and memory of the machine."""

    def __init__(self, bmc: ScriptedBmc, insides: Sandbox, certificate: Path) -> None:
        self._bmc, self._insides = bmc, insides
        self._options = _options(certificate)
        self._running: Confined | None = None
        self._changing = threading.Lock()
        # The version of the hardware manager that the next agent has.
        self.version = "1.0"
        self.boots = 0

    # What the BMC does

    @property
    def is_on(self) -> bool:
        """Return what the BMC reports."""
        return bool(self._bmc.documents[SYSTEM]["PowerState"] == "On")

    def reset(self, kind: str) -> None:
        """Follow an order of the BMC."""
        with self._changing:
            self._cut()
            if self.is_on:
                self._boot()

    def crash(self) -> None:
        """Restart the machine without a command."""
        self.reset("ForceRestart")

    def stop(self) -> None:
        """Cut the power for good."""
        with self._changing:
            self._cut()

    def _boot(self) -> None:
        """Boot the ramdisk, if there is one, or else what is on the disk, which does nothing here."""
        if not self._insides.path("cmdline").exists():
            return
        self.boots += 1
        self._running = running = self._insides.start(self._options, version=self.version)
        threading.Thread(target=self._watch, args=(running,), daemon=True).start()

    def _watch(self, running: Confined) -> None:
        """See what an agent that ends by itself does to the machine."""
        status = running.wait()
        with self._changing:
            if running is not self._running:
                return
            self._running = None
            if status == RESTARTED:
                self._boot()
            elif status == POWERED_OFF:
                self._bmc.documents[SYSTEM]["PowerState"] = "Off"

    def _cut(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.kill()

    # What can be seen from outside

    @property
    def driver_info(self) -> dict[str, str]:
        """What a node needs to reach the BMC, and to hand a ramdisk over."""
        cmdline = str(self._insides.path("cmdline"))
        return {"redfish_address": self._bmc.address, "redfish_system_id": SYSTEM, KEY: cmdline}

    @property
    def macs(self) -> list[str]:
        """The addresses of its network cards."""
        return [each["mac_address"] for each in json.loads(INVENTORY.read_text())["inventory"]["interfaces"]]

    @property
    def boot_orders(self) -> list[str]:
        """The boot devices that were set, in order."""
        boots = [body["Boot"] for path, body in self._bmc.orders if "Boot" in body]
        return [boot["BootSourceOverrideTarget"] for boot in boots if "BootSourceOverrideTarget" in boot]

    @property
    def resets(self) -> list[str]:
        """The power orders it got, in order."""
        return [body["ResetType"] for _path, body in self._bmc.orders if "ResetType" in body]

    @property
    def disk(self) -> bytes:
        """What is on its disk."""
        return self._insides.path("disk.img").read_bytes()

    @property
    def steps(self) -> list[str]:
        """The steps its agents have begun, in order."""
        lines = self._insides.text("hardware.log").splitlines()
        return [line.split()[1] for line in lines if line.startswith("step ")]

    @property
    def actions(self) -> list[str]:
        """The commands its agents would have run."""
        return self._insides.text("actions.log").splitlines()

    @property
    def log(self) -> str:
        """What its agents have logged."""
        return self._insides.text("agent.log") + self._insides.text("output.log")

    @property
    def wire(self) -> list[dict[str, Any]]:
        """What its agents have said and heard, in the order in which it began."""
        said = [json.loads(line) for line in self._insides.text("wire.jsonl").splitlines()]
        return sorted(said, key=lambda exchange: exchange["at"])


def _options(certificate: Path) -> Mapping[str, object]:
    """Return what is built into the ramdisk; the rest stands on its kernel command line."""
    port = free_port()
    return {
        "cafile": certificate,
        "listen_host": HOST,
        "listen_port": port,
        "advertise_host": HOST,
        "advertise_port": port,
        "enable_auto_tls": True,
        "inspection_dhcp_wait_timeout": 0,
        "lookup_timeout": 120,
        "lookup_interval": 1,
        "disk_wait_attempts": 0,
        "debug": True,
    }


def _cards(path: str, macs: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return what the BMC says about network cards."""
    members = {f"{path}/{number}": mac for number, mac in enumerate(macs)}
    collection = {"Name": "Network cards", "Members": [{"@odata.id": member} for member in members]}
    up = {"Health": "OK", "State": "Enabled"}
    return {path: collection} | {
        member: {"Id": member[-1], "Name": "Card", "MACAddress": mac, "Status": up} for member, mac in members.items()
    }


@contextmanager
def machine(certificate: str) -> Iterator[Machine]:
    """Run a machine that is off until the block ends; its ramdisk believes this certificate of the service."""
    with ExitStack() as stack:
        insides = stack.enter_context(sandbox(INVENTORY))
        path = insides.path("service.pem")
        path.write_text(certificate)
        cards = f"{SYSTEM}/EthernetInterfaces"
        bmc = stack.enter_context(scripted_bmc("Off", Boot=_BOOT, EthernetInterfaces={"@odata.id": cards}))
        found = Machine(bmc, insides, path)
        bmc.documents |= _cards(cards, found.macs[:1])
        stack.callback(found.stop)
        bmc.on_reset = found.reset
        yield found
