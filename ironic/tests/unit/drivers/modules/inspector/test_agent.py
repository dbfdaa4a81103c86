"""The agent inspect interface, with the fake family and a real store."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import (
    HardwareInspectionFailure,
    HookLoadError,
    InvalidParameterValue,
    RowLimit,
    UnsupportedDriverExtension,
)
from ironic.core.flows import states
from ironic.db import Store
from ironic.drivers.contract.interfaces import InspectInterface
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.fake import FakeBoot, FakeManagement, FakePower
from ironic.drivers.modules.inspector import agent as booting
from ironic.drivers.modules.inspector.agent import AgentInspect, new_macs
from ironic.drivers.modules.network.noop import NoopNetwork
from ironic.tests.conftest import Setter
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, Work, inventory, new_node, new_port, stored_found, work_on

CALLBACK = "http://api.example.org:6385/v1/continue_inspection"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path)
    yield store
    store.close()


class Diary(list[Any]):
    """What was done to a machine, in order."""


class Power(FakePower):
    def __init__(self, diary: Diary) -> None:
        self.diary = diary

    def set_power_state(self, task: Any, power_state: str, timeout: int | None = None) -> None:
        self.diary.append(power_state)
        super().set_power_state(task, power_state, timeout)


class Management(FakeManagement):
    def __init__(self, diary: Diary, macs: list[str] | None = None) -> None:
        self.diary, self.macs = diary, macs

    def set_boot_device(self, task: Any, device: str, persistent: bool = False) -> None:
        self.diary.append((device, persistent))
        super().set_boot_device(task, device, persistent)

    def get_mac_addresses(self, task: Any) -> list[str]:
        if self.macs is None:
            return super().get_mac_addresses(task)
        return self.macs


class ManagedBoot(FakeBoot):
    def __init__(self, diary: Diary) -> None:
        self.diary = diary
        self.breaks = False

    def validate_inspection(self, task: Any) -> None:
        return

    def prepare_ramdisk(self, task: Any, ramdisk_params: Mapping[str, Any]) -> None:
        self.diary.append(("prepare", dict(ramdisk_params)))

    def clean_up_ramdisk(self, task: Any) -> None:
        self.diary.append("clean up")
        if self.breaks:
            raise RuntimeError("the boot server is gone")


class Network(NoopNetwork):
    def __init__(self, diary: Diary) -> None:
        self.diary = diary

    def add_inspection_network(self, task: Any) -> dict[str, str]:
        self.diary.append("network")
        return {}

    def remove_inspection_network(self, task: Any) -> None:
        self.diary.append("no network")


@pytest.fixture
def diary() -> Diary:
    return Diary()


def driver(diary: Diary, *, managed: bool = False, macs: list[str] | None = None) -> BareDriver:
    boot = ManagedBoot(diary) if managed else FakeBoot()
    network = Network(diary) if managed else NoopNetwork()
    links = {"power": Power(diary), "management": Management(diary, macs), "boot": boot, "network": network}
    return BareDriver(links)


@pytest.fixture
def unmanaged(conf: Setter) -> None:
    conf(inspector__require_managed_boot=False)


def begin(store: Store, driver: BareDriver, **values: Any) -> Work:
    return work_on(store, new_node(store, **{"power_state": states.POWER_ON, **values}), driver)


def test_it_is_an_inspect_interface_that_tells_no_properties() -> None:
    agent = AgentInspect()
    assert isinstance(agent, InspectInterface)
    assert agent.get_properties() == {}


@pytest.mark.demand("S114")
def test_it_refuses_to_start_with_bad_hooks_or_rules(conf: Setter, tmp_path: Path) -> None:
    conf(inspector__hooks="ports,nonsense")
    with pytest.raises(HookLoadError, match="there is no hook nonsense.*hook ports needs hook validate-interfaces"):
        AgentInspect()
    path = tmp_path / "rules.yaml"
    path.write_text("- {actions: []}")
    conf(inspector__hooks="ramdisk-error", inspection_rules__built_in=str(path))
    with pytest.raises(InvalidParameterValue, match="rule 1: .*at least one item"):
        AgentInspect()


@pytest.mark.demand("S106")
def test_it_wants_a_managed_boot_unless_told_otherwise(conf: Setter, store: Store, diary: Diary) -> None:
    task: Any = begin(store, driver(diary))
    with pytest.raises(UnsupportedDriverExtension, match=r"\[inspector\]require_managed_boot"):
        AgentInspect().validate(task)
    conf(inspector__require_managed_boot=False)
    AgentInspect().validate(task)


def test_it_needs_to_know_where_a_managed_ramdisk_posts(conf: Setter, store: Store, diary: Diary) -> None:
    task: Any = begin(store, driver(diary, managed=True))
    with pytest.raises(InvalidParameterValue, match=r"\[service_catalog\]endpoint_override"):
        AgentInspect().validate(task)
    conf(service_catalog__endpoint_override="http://api.example.org:6385/")
    AgentInspect().validate(task)
    assert booting.callback_url() == CALLBACK


@pytest.mark.usefixtures("unmanaged")
def test_it_boots_an_unmanaged_machine_from_the_network(store: Store, diary: Diary) -> None:
    task: Any = begin(store, driver(diary), driver_info={"redfish_address": "https://192.0.2.7"})
    assert AgentInspect().inspect_hardware(task) == states.INSPECTWAIT
    assert diary == [states.POWER_OFF, ("pxe", False), states.POWER_ON]
    assert task.node.power_state == states.POWER_ON
    stored = store.nodes.get(task.node.uuid)
    assert stored.driver_internal_info["inspector_manage_boot"] is False
    assert stored.driver_internal_info["lookup_bmc_addresses"] == ["192.0.2.7"]
    assert store.nodes.bmc_addresses(task.node.id) == ["192.0.2.7"]


@pytest.mark.demand("S78")
@pytest.mark.usefixtures("unmanaged")
def test_a_ramdisk_is_known_by_the_keys_that_the_hardware_type_declares(store: Store, diary: Diary) -> None:
    declaring = driver(diary)
    declaring.bmc_address_keys = ("acme_bmc",)
    task: Any = begin(store, declaring, driver_info={"acme_bmc": "192.0.2.8", "proxy_address": "192.0.2.9"})
    AgentInspect().inspect_hardware(task)
    assert store.nodes.bmc_addresses(task.node.id) == ["192.0.2.8"]


@pytest.mark.demand("S106")
def test_it_boots_a_managed_machine_itself(conf: Setter, store: Store, diary: Diary) -> None:
    conf(service_catalog__endpoint_override="http://api.example.org:6385")
    task: Any = begin(store, driver(diary, managed=True))
    assert AgentInspect().inspect_hardware(task) == states.INSPECTWAIT
    memory = store.nodes.get(task.node.uuid).driver_internal_info
    parameters = {"ipa-inspection-callback-url": f"{CALLBACK}?boot_token={memory['inspection_boot_token']}"}
    assert diary == [states.POWER_OFF, "network", ("prepare", parameters), states.POWER_ON]
    assert memory["inspector_manage_boot"] is True


@pytest.mark.usefixtures("unmanaged")
@pytest.mark.parametrize(
    ("power_state", "done"),
    [(states.POWER_ON, [("pxe", False), states.REBOOT]), (states.POWER_OFF, [("pxe", False), states.POWER_ON])],
)
def test_it_restarts_a_machine_that_must_not_be_switched_off(
    store: Store, diary: Diary, power_state: str, done: list[Any]
) -> None:
    task: Any = begin(store, driver(diary), disable_power_off=True, power_state=power_state)
    AgentInspect().inspect_hardware(task)
    assert diary == done
    assert task.node.power_state == states.POWER_ON


@pytest.mark.usefixtures("unmanaged")
def test_it_asks_the_bmc_before_it_switches(store: Store, diary: Diary) -> None:
    task: Any = begin(store, driver(diary), power_state=states.POWER_OFF)
    AgentInspect().inspect_hardware(task)
    assert diary == [("pxe", False), states.POWER_ON]


@pytest.mark.usefixtures("unmanaged")
def test_it_makes_ports_of_what_the_bmc_knows(conf: Setter, store: Store, diary: Diary) -> None:
    task: Any = begin(store, driver(diary, macs=[MAC, OTHER_MAC.upper(), "nonsense", MAC]))
    new_port(store, task.node, MAC)
    AgentInspect().inspect_hardware(task)
    assert [port.address for port in task.ports] == [MAC, OTHER_MAC]
    conf(inspector__pre_create_ports=False)
    other: Any = begin(store, driver(diary, macs=["52:54:00:00:00:77"]))
    AgentInspect().inspect_hardware(other)
    assert other.ports == []


@pytest.mark.usefixtures("unmanaged")
def test_a_bmc_gives_a_projects_node_no_more_ports_than_it_may_have(conf: Setter, store: Store, diary: Diary) -> None:
    conf(api__parts_per_node=1)
    task: Any = begin(store, driver(diary, macs=[MAC, OTHER_MAC]), owner="a")
    with pytest.raises(RowLimit, match=r"The node has 1 ports.*\[api\]parts_per_node"):
        AgentInspect().inspect_hardware(task)
    assert store.ports.find(node_id=task.node.id) == []
    assert diary == []


@pytest.mark.usefixtures("unmanaged")
def test_it_leaves_an_address_to_the_node_that_has_it(
    store: Store, diary: Diary, caplog: pytest.LogCaptureFixture
) -> None:
    new_port(store, new_node(store), OTHER_MAC)
    task: Any = begin(store, driver(diary, macs=[MAC, OTHER_MAC]))
    AgentInspect().inspect_hardware(task)
    assert [port.address for port in store.ports.find(node_id=task.node.id)] == [MAC]
    assert (
        f"reports MAC addresses of other nodes' ports, which become no ports of this node: {OTHER_MAC}" in caplog.text
    )


def test_it_knows_new_addresses() -> None:
    assert new_macs([MAC, MAC.upper(), "x", OTHER_MAC.replace(":", "-")], [MAC]) == [OTHER_MAC]


@pytest.mark.usefixtures("unmanaged")
def test_it_makes_something_of_the_data_and_switches_off(store: Store, diary: Diary) -> None:
    task: Any = begin(store, driver(diary), driver_internal_info={"inspector_manage_boot": False})
    found = inventory(MAC, booted=MAC)
    assert AgentInspect().continue_inspection(task, found, {"error": None}) is None
    assert [port.address for port in task.ports] == [MAC]
    assert stored_found(store, task.node) is not None
    assert diary == [states.POWER_OFF]
    assert task.node.power_state == states.POWER_OFF
    assert "inspector_manage_boot" not in task.node.driver_internal_info


@pytest.mark.parametrize("options", [{"inspector__power_off": False}, {"deploy__fast_track": True}])
def test_it_leaves_the_machine_on_when_told_so(
    conf: Setter, store: Store, diary: Diary, options: dict[str, bool]
) -> None:
    conf(**options)
    task: Any = begin(store, driver(diary))
    AgentInspect().continue_inspection(task, inventory(MAC))
    assert diary == []


@pytest.mark.parametrize(
    ("wanted", "error", "kept"),
    [
        ("on_failure", "it burns", 1), ("on_failure", None, 0), ("always", "it burns", 1), ("always", None, 1),
        ("never", "it burns", 0), ("never", None, 0),
    ],
)  # fmt: skip
def test_it_keeps_the_logs_of_the_ramdisk_when_wanted(
    conf: Setter, store: Store, diary: Diary, tmp_path: Path, wanted: str, error: str | None, kept: int
) -> None:
    conf(agent__deploy_logs_collect=wanted, agent__deploy_logs_local_path=str(tmp_path / "logs"))
    task: Any = begin(store, driver(diary))
    with contextlib.suppress(HardwareInspectionFailure):
        AgentInspect().continue_inspection(task, inventory(MAC), {"error": error, "logs": "YW4gYXJjaGl2ZQ=="})
    files = list(tmp_path.glob("logs/*_inspection_*.tar.gz"))
    assert [file.read_bytes() for file in files] == [b"an archive"] * kept
    found = stored_found(store, task.node)
    assert found is None if error else found is not None and "logs" not in found[1]


@pytest.mark.parametrize("posted", [3, ["x"], "no base64!", "", None, {}])
def test_logs_that_are_none_change_nothing(
    conf: Setter, store: Store, diary: Diary, tmp_path: Path, posted: Any
) -> None:
    conf(agent__deploy_logs_collect="always", agent__deploy_logs_local_path=str(tmp_path / "logs"))
    task: Any = begin(store, driver(diary))
    AgentInspect().continue_inspection(task, inventory(MAC), {"error": None, "logs": posted})
    assert stored_found(store, task.node) is not None
    assert not list(tmp_path.glob("logs/*"))


def test_it_clears_up_a_managed_boot(store: Store, diary: Diary) -> None:
    task: Any = begin(store, driver(diary, managed=True), driver_internal_info={"inspector_manage_boot": True})
    AgentInspect().continue_inspection(task, inventory(MAC))
    assert diary == [states.POWER_OFF, "clean up", "no network"]


def test_it_clears_up_after_a_failure_too(store: Store, diary: Diary) -> None:
    driver_of_node = driver(diary, managed=True)
    task: Any = begin(store, driver_of_node, driver_internal_info={"inspector_manage_boot": True})
    with pytest.raises(HardwareInspectionFailure, match="it burns"):
        AgentInspect().continue_inspection(task, inventory(MAC), {"error": "it burns"})
    assert diary == [states.POWER_OFF, "clean up", "no network"]
    assert store.ports.find(node_id=task.node.id) == []


def test_it_tells_the_first_failure_when_clearing_up_fails_as_well(store: Store, diary: Diary) -> None:
    driver_of_node = driver(diary, managed=True)
    driver_of_node.boot.breaks = True  # type: ignore[union-attr]
    task: Any = begin(store, driver_of_node, driver_internal_info={"inspector_manage_boot": True})
    with pytest.raises(HardwareInspectionFailure, match="it burns"):
        AgentInspect().continue_inspection(task, inventory(MAC), {"error": "it burns"})


@pytest.mark.demand("S79")
@pytest.mark.parametrize(("state", "fails"), [(states.INSPECTING, True), (states.ENROLL, False)])
def test_a_discovered_machine_need_not_be_switched_off(
    store: Store, diary: Diary, caplog: pytest.LogCaptureFixture, state: str, fails: bool
) -> None:
    class Unknown(Power):
        def get_power_state(self, task: Any) -> Any:
            raise InvalidParameterValue(err="redfish_address is missing")

    task: Any = begin(store, BareDriver({"power": Unknown(diary)}), provision_state=state)
    with pytest.raises(InvalidParameterValue) if fails else contextlib.nullcontext():
        AgentInspect().continue_inspection(task, inventory(MAC))
    assert stored_found(store, task.node) is not None
    assert ("clearing up after its inspection failed: redfish_address is missing" in caplog.text) is not fails


@pytest.mark.parametrize("breaks", [False, True])
def test_it_stops_waiting(store: Store, diary: Diary, breaks: bool) -> None:
    driver_of_node = driver(diary, managed=True)
    driver_of_node.boot.breaks = breaks  # type: ignore[union-attr]
    info = {"inspector_manage_boot": True, "lookup_bmc_addresses": ["192.0.2.7"], "other": 1}
    task: Any = begin(store, driver_of_node, driver_internal_info=info)
    store.nodes.set_bmc_addresses(task.node.id, ["192.0.2.7"])
    if breaks:
        with pytest.raises(RuntimeError, match="the boot server is gone"):
            AgentInspect().abort(task)
    else:
        AgentInspect().abort(task)
    assert diary == [states.POWER_OFF, "clean up", "no network"]
    assert store.nodes.bmc_addresses(task.node.id) == []
    assert task.node.driver_internal_info.keys() - {"last_power_state_change"} == {"other"}


@pytest.mark.parametrize("verb", ["end", "abort", "failure"])
@pytest.mark.parametrize("kept", ["fast track", "option"])
def test_every_end_leaves_the_machine_on_where_that_is_wanted(
    conf: Setter, store: Store, diary: Diary, verb: str, kept: str
) -> None:
    conf(inspector__power_off=kept != "option")
    info = {"inspector_manage_boot": True}
    driver_info = {"fast_track": kept == "fast track"}
    task: Any = begin(store, driver(diary, managed=True), driver_internal_info=info, driver_info=driver_info)
    if verb == "abort":
        AgentInspect().abort(task)
    else:
        with pytest.raises(HardwareInspectionFailure) if verb == "failure" else contextlib.nullcontext():
            AgentInspect().continue_inspection(task, inventory(MAC), {"error": verb == "failure"})
    assert diary == ["clean up", "no network"]


@pytest.mark.parametrize("breaks", ["prepare_ramdisk", "connect"])
def test_a_start_that_fails_leaves_nothing_behind(conf: Setter, store: Store, diary: Diary, breaks: str) -> None:
    conf(service_catalog__endpoint_override="http://192.0.2.1:6385")
    driver_of_node = driver(diary, managed=True)

    def fail(*_arguments: Any) -> None:
        raise InvalidParameterValue(err="no such image")

    setattr(driver_of_node.boot if breaks == "prepare_ramdisk" else driver_of_node.network, breaks, fail)
    task: Any = begin(store, driver_of_node)
    with pytest.raises(InvalidParameterValue, match="no such image"):
        AgentInspect().inspect_hardware(task)
    assert diary[-2:] == ["clean up", "no network"]
    assert "inspector_manage_boot" not in task.node.driver_internal_info


def test_it_needs_the_interfaces_it_works_with(store: Store) -> None:
    task: Any = begin(store, BareDriver({"power": FakePower(), "boot": None}))
    with pytest.raises(UnsupportedDriverExtension):
        AgentInspect().validate(task)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("nofb  console=ttyS0", {"nofb": None, "console": "ttyS0"}),
        ('a="b c" d=e=f =g', {"a": "b c", "d": "e=f"}),
    ],
)
def test_it_reads_more_kernel_parameters(text: str, expected: dict[str, str | None]) -> None:
    assert booting.extra_parameters(text) == expected


def test_it_tells_the_ramdisk_what_the_operator_wants(conf: Setter) -> None:
    conf(
        service_catalog__endpoint_override="http://api.example.org:6385",
        inspector__callback_endpoint_override="http://ramdisks.example.org",
        inspector__force_dhcp=True,
        inspector__extra_kernel_params="nofb",
    )
    assert booting.ramdisk_parameters(stays=True) == {
        "ipa-inspection-callback-url": "http://ramdisks.example.org/v1/continue_inspection",
        "ipa-collect-lldp": "1",
        "ipa-api-url": "http://ramdisks.example.org",
        "nofb": None,
    }
