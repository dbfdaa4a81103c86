"""A node in a real store, and a task on it as an inspection sees one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from ironic import db
from ironic.conductor import power
from ironic.core.context import RequestContext
from ironic.core.flows import states
from ironic.core.hardware_interfaces import KINDS, InterfaceRow
from ironic.db import NodeRecord, PortgroupRecord, PortRecord, Store
from ironic.drivers.contract.task import BareDriver, HasInterfaces, Notes
from ironic.inspection.posted_data import processed_part
from ironic.inspection.staged_task import StagedTask
from ironic.inspection.task import Task

DATA = Path(__file__).parents[2] / "data"
HOST = "conductor-1"

MAC = "52:54:00:00:00:01"
OTHER_MAC = "52:54:00:00:00:02"


class Work(HasInterfaces):
    """A task with the lock held."""

    def __init__(self, store: Store, node: NodeRecord, driver: BareDriver | None = None) -> None:
        self.store = store
        self.host = HOST
        self.context = RequestContext()
        self.clock = store.clock
        self.notes = Notes()
        self.node = node
        self.driver = driver or BareDriver()
        self._ports: list[PortRecord] | None = None

    def change_power(self, target: str, timeout: int | None = None) -> None:
        power.change(cast(Any, self), target, timeout)

    @property
    def ports(self) -> list[PortRecord]:
        if self._ports is None:
            self._ports = self.store.ports.find(node_id=self.node.id)
        return self._ports

    @ports.setter
    def ports(self, ports: Any) -> None:
        self._ports = ports

    @property
    def portgroups(self) -> list[PortgroupRecord]:
        return self.store.portgroups.find(node_id=self.node.id)


def new_node(store: Store, **values: Any) -> NodeRecord:
    """Store a node that is being inspected through the agent."""
    interfaces = {f"{kind}_interface": "fake" for kind in KINDS}
    defaults = {"driver": "fake-hardware", "provision_state": states.INSPECTING, "inspect_interface": "agent"}
    return store.nodes.create(interfaces | defaults | values)


def new_port(store: Store, node: NodeRecord, mac: str = MAC, **values: Any) -> PortRecord:
    """Store a port of a node."""
    return store.ports.create({"node_id": node.id, "address": mac, **values})


def work_on(store: Store, node: NodeRecord, driver: BareDriver | None = None) -> Work:
    """Take the lock on a node."""
    return Work(store, store.nodes.reserve(node.uuid, HOST), driver)


def hooked(
    work: Work,
    hook: Callable[[StagedTask, dict[str, Any], dict[str, Any]], None],
    found: dict[str, Any],
    data: dict[str, Any],
) -> None:
    """Call a hook as an inspection does, and store what it has changed."""
    staged = StagedTask(work)
    hook(staged, found, data)
    staged.commit()


def post(store: Store, message: str = "x", **values: Any) -> str:
    """Store a rule, one that logs something unless other actions are given."""
    stored = {"actions": [{"op": "log", "args": [message]}], "conditions": [], "phase": None, "sensitive": False}
    return store.rules.create(stored | {"priority": 0} | values).uuid


def serve(store: Store, hardware_type: str, interface: str = "fake") -> None:
    """Have a conductor serve a hardware type with one implementation of every kind, and agent inspection."""
    rows = [InterfaceRow(hardware_type, kind, interface, True) for kind in KINDS]
    rows.append(InterfaceRow(hardware_type, "inspect", "agent", False))
    store.conductors.register(f"{hardware_type}-host", "", [hardware_type], [db.InterfaceRow(*row) for row in rows])


def stored_found(store: Store, node: NodeRecord) -> tuple[Any, Any] | None:
    """Return the stored inventory and plug-in data."""
    texts = store.inventories.texts(node.id)
    return None if texts is None else (json.loads(texts[0]), processed_part(json.loads(texts[1])))


def inventory(*macs: str, booted: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a small inventory with these interfaces, the first of which has an IP address."""
    interfaces = [
        {
            "name": f"eth{number}",
            "mac_address": mac,
            "ipv4_address": None if number else "192.0.2.10",
            "client_id": None,
        }
        for number, mac in enumerate(macs)
    ]
    boot = {"boot": {"pxe_interface": booted, "current_boot_mode": "uefi"}}
    return {"interfaces": interfaces, "cpu": {"architecture": "x86_64", "count": 8}, **boot, **more}


def recorded(name: str) -> dict[str, Any]:
    """Return a payload of the test data."""
    payload: dict[str, Any] = json.loads((DATA / "inventories" / f"{name}.json").read_bytes())
    return payload


def as_task(work: Work) -> Task:
    """Return the work as the task that it stands for."""
    return work


def huge() -> dict[str, Any]:
    """Return the payload of a very large machine: 64 network cards with LLDP, 48 disks, logs."""
    frame = [[1, "04001c73000001"], [2, "0545746865726e6574"], [5, "746f72"], [6, "78" * 200], [8, "0501c00002fa"]]
    interfaces = [
        {
            "name": f"eth{number}",
            "mac_address": f"02:00:5e:60:00:{number:02x}",
            "ipv4_address": f"192.0.2.{number + 1}",
            "lldp": frame,
        }
        for number in range(64)
    ]
    disks = [{"name": f"/dev/nvme{n}n1", "size": 15362991415296, "serial": f"S{n}"} for n in range(48)]
    found = {
        "interfaces": interfaces,
        "cpu": {"architecture": "x86_64", "count": 480, "flags": ["aes", "vmx"] * 100},
        "memory": {"physical_mb": 6144 * 1024},
        "disks": disks,
        "boot": {"current_boot_mode": "uefi", "pxe_interface": "02:00:5e:60:00:00"},
        "bmc_address": "192.0.2.190",
    }
    devices = [{"vendor_id": "15b3", "product_id": "1017", "bus": f"0000:{n:02x}:00.0"} for n in range(64)]
    return {
        "inventory": found,
        "root_disk": disks[3],
        "lldp_raw": {one["name"]: one["lldp"] for one in interfaces},
        "pci_devices": devices,
        "logs": "H4sIAAAAAAAA" * 2000,
        "error": None,
    }
