"""Hardware manager of a machine that is described in a JSON file, so that the real agent touches no real one.

The environment configures it:

- ``LOOPBACK_INVENTORY``: JSON file with the inventory, bare or under the key "inventory";
- ``LOOPBACK_DISK``: the regular file that plays the disk;
- ``LOOPBACK_LOG``: where every call is noted that would have touched hardware;
- ``LOOPBACK_STEP_TIME``: seconds that a harmless step takes;
- ``LOOPBACK_VERSION``: the version that this manager says it has.

Every entry point of the agent's hardware interface is defined here, so no call falls through to a manager that looks at
real hardware. Whatever would erase, write, burn in or set up is only noted.
"""

import inspect
import json
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ironic_python_agent import errors, hardware, tls_utils
from ironic_python_agent.extensions import base

_LONGEST_SLEEP = 120.0


class _Offer(NamedTuple):
    """A step, and with which priority each flow offers it; None where it does not."""

    step: str
    interface: str
    clean: int | None
    deploy: int | None
    service: int | None
    reboots: bool = False
    abortable: bool = True


OFFERS = (
    _Offer("erase_devices", "deploy", 10, None, None),
    _Offer("erase_devices_metadata", "deploy", 99, 0, None),
    _Offer("erase_devices_express", "deploy", 0, None, None),
    _Offer("erase_pstore", "deploy", 0, None, None),
    _Offer("clean_uefi_nvram", "deploy", 0, 0, None),
    _Offer("delete_configuration", "raid", 0, None, 0),
    _Offer("create_configuration", "raid", 0, None, 0),
    _Offer("apply_configuration", "raid", None, 0, 0),
    _Offer("burnin_cpu", "deploy", 0, None, 0),
    _Offer("burnin_disk", "deploy", 0, None, None),
    _Offer("burnin_memory", "deploy", 0, None, 0),
    _Offer("burnin_network", "deploy", 0, None, 0),
    _Offer("write_image", "deploy", None, 0, 0, abortable=False),
    _Offer("inject_files", "deploy", None, 0, 0, abortable=False),
    # Steps of this manager's own.
    _Offer("loopback_noop", "deploy", 5, 0, 0),
    _Offer("loopback_sleep", "deploy", 0, 0, 0),
    _Offer("loopback_fail", "deploy", 0, 0, 0),
    _Offer("loopback_reboot", "deploy", 0, 0, 0, reboots=True),
)


def _made(kind: type, document: dict[str, Any], **renamed: str) -> Any:
    """Make one of the agent's value objects of what it knows in a JSON object."""
    known = set(inspect.signature(kind).parameters)
    values = {renamed.get(key, key): value for key, value in document.items()}
    return kind(**{key: value for key, value in values.items() if key in known})


class LoopbackManager(hardware.HardwareManager):
    """The one manager that the agent loads in the tests."""

    HARDWARE_MANAGER_NAME = "loopback"
    HARDWARE_MANAGER_VERSION = os.environ.get("LOOPBACK_VERSION", "1.0")

    def evaluate_hardware_support(self) -> int:
        return hardware.HardwareSupport.SERVICE_PROVIDER

    def initialize(self) -> None:
        with open(os.environ["LOOPBACK_INVENTORY"]) as file:
            document = json.load(file)
        self._inventory: dict[str, Any] = document.get("inventory", document)
        self._note("initialize")

    # What the machine looks like

    def list_network_interfaces(self) -> list[Any]:
        return [_made(hardware.NetworkInterface, each, mac_address="mac_addr") for each in self._listed("interfaces")]

    def get_interface_info(self, interface_name: str) -> Any:
        for interface in self.list_network_interfaces():
            if interface.name == interface_name:
                return interface
        raise errors.IncompatibleHardwareMethodError

    def get_ipv4_addr(self, interface_id: str) -> Any:
        return self.get_interface_info(interface_id).ipv4_address

    def get_ipv6_addr(self, interface_id: str) -> Any:
        return self.get_interface_info(interface_id).ipv6_address

    def collect_lldp_data(self, interface_names: Any = None) -> dict[str, Any]:
        wanted = [each for each in self._listed("interfaces") if not interface_names or each["name"] in interface_names]
        return {each["name"]: each.get("lldp") or [] for each in wanted}

    def get_cpus(self) -> Any:
        nothing = {"model_name": None, "frequency": None, "count": 0, "architecture": None}
        return _made(hardware.CPU, {**nothing, **(self._inventory.get("cpu") or {})})

    def list_block_devices(self, include_partitions: bool = False) -> list[Any]:
        return [_made(hardware.BlockDevice, each) for each in self._listed("disks")]

    def list_block_devices_check_skip_list(self, node: Any, include_partitions: bool = False) -> list[Any]:
        return self.list_block_devices()

    def get_skip_list_from_node_for_disks(self, node: Any, block_devices: Any = None) -> set[str]:
        return set()

    def get_skip_list_from_node_for_raids(self, node: Any) -> set[str]:
        return set()

    def get_memory(self) -> Any:
        memory = self._inventory.get("memory") or {}
        return hardware.Memory(memory.get("total", 0), memory.get("physical_mb"))

    def get_os_install_device(self, permit_refresh: bool = False) -> str:
        return os.environ["LOOPBACK_DISK"]

    def get_bmc_address(self) -> Any:
        return self._inventory.get("bmc_address")

    def get_bmc_v6address(self) -> Any:
        return self._inventory.get("bmc_v6address")

    def get_bmc_mac(self) -> Any:
        if not self._inventory.get("bmc_mac"):
            raise errors.IncompatibleHardwareMethodError
        return self._inventory["bmc_mac"]

    def get_boot_info(self) -> Any:
        return _made(hardware.BootInfo, self._inventory.get("boot") or {"current_boot_mode": "uefi"})

    def get_system_vendor_info(self) -> Any:
        vendor = self._inventory.get("system_vendor") or {}
        firmware = vendor.get("firmware") or {}
        return hardware.SystemVendorInfo(
            vendor.get("product_name"),
            vendor.get("serial_number"),
            vendor.get("manufacturer"),
            hardware.SystemFirmware(firmware.get("vendor"), firmware.get("version"), firmware.get("build_date")),
        )

    def get_usb_devices(self) -> list[Any]:
        return []

    def any_ipmi_device_exists(self) -> bool:
        return False

    def wait_for_disks(self) -> None:
        return None

    def filter_device(self, device: Any) -> Any:
        return device

    def collect_system_logs(self, io_dict: dict[str, Any], file_list: list[str]) -> None:
        return None

    def full_sync(self) -> None:
        self._note("full_sync")

    def generate_tls_certificate(self, ip_address: str) -> Any:
        return tls_utils.generate_tls_certificate(ip_address)

    def validate_configuration(self, raid_config: Any, node: Any) -> list[Any]:
        return []

    # Steps

    def get_clean_steps(self, node: Any, ports: Any) -> list[dict[str, Any]]:
        return [{**step, "abortable": offer.abortable} for offer, step in self._offered("clean")]

    def get_deploy_steps(self, node: Any, ports: Any) -> list[dict[str, Any]]:
        return [step for _offer, step in self._offered("deploy")]

    def get_service_steps(self, node: Any, ports: Any) -> list[dict[str, Any]]:
        return [{**step, "abortable": offer.abortable} for offer, step in self._offered("service")]

    def loopback_sleep(self, node: Any, ports: Any, seconds: float = 5) -> dict[str, Any]:
        """Take so many seconds."""
        self._note(f"step loopback_sleep {seconds}")
        time.sleep(min(float(seconds), _LONGEST_SLEEP))
        return {"slept": seconds}

    def loopback_fail(self, node: Any, ports: Any) -> None:
        """Fail."""
        self._note("step loopback_fail")
        raise RuntimeError("this step always fails")

    def write_image(self, node: Any, ports: Any, image_info: Any, configdrive: Any = None) -> Any:
        """Write the image with the agent's own code, which takes a regular file as the disk."""
        self._note(f"step write_image {image_info.get('id')}")
        return base.get_extension("standby").prepare_image(image_info=image_info, configdrive=configdrive).wait()

    def erase_block_device(self, node: Any, block_device: Any) -> dict[str, Any]:
        return self._pretend("erase_block_device", device=str(block_device))

    def apply_configuration(self, node: Any, ports: Any, raid_config: Any = None, **more: Any) -> dict[str, Any]:
        return self._pretend("apply_configuration", raid_config=raid_config)

    def execute_bootc_install(self, *args: Any, **more: Any) -> None:
        raise errors.CommandExecutionError("not here")

    def _pretend(self, name: str, **details: Any) -> dict[str, Any]:
        self._note(f"step {name} {json.dumps(details, default=str)}")
        time.sleep(float(os.environ.get("LOOPBACK_STEP_TIME", "1")))
        return {"step": name, "done": "nothing was touched"}

    def _offered(self, flow: str) -> list[tuple[_Offer, dict[str, Any]]]:
        return [(offer, _document(offer, flow)) for offer in OFFERS if getattr(offer, flow) is not None]

    def _listed(self, key: str) -> list[dict[str, Any]]:
        return self._inventory.get(key) or []

    def _note(self, text: str) -> None:
        with open(os.environ["LOOPBACK_LOG"], "a") as file:
            file.write(f"{text}\n")


def _document(offer: _Offer, flow: str) -> dict[str, Any]:
    step = {
        "step": offer.step,
        "interface": offer.interface,
        "priority": getattr(offer, flow),
        "reboot_requested": offer.reboots,
    }
    if offer.step == "loopback_sleep":
        step["argsinfo"] = {"seconds": {"description": "how long to sleep", "required": False}}
    return step


def _pretended(name: str) -> Callable[..., dict[str, Any]]:
    def step(self: LoopbackManager, node: Any = None, ports: Any = None, **details: Any) -> dict[str, Any]:
        return self._pretend(name, **details)

    step.__name__ = name
    return step


# What is not written out above is pretended, also where the base class would do it.
for _name in (*(offer.step for offer in OFFERS), "burnin_gpu"):
    if _name not in vars(LoopbackManager):
        setattr(LoopbackManager, _name, _pretended(_name))
