"""What the BMC reports is refreshed by operations and by power synchronisation, and never fails them."""

import logging
from typing import Any

import pytest

from ironic.conductor import power_sync
from ironic.conductor.power_sync import PowerSync
from ironic.core.errors import IronicError, MissingParameterValue
from ironic.core.errors.hardware_errors import RedfishConnectionError
from ironic.core.flows import states
from ironic.drivers.modules.fake import FakeBIOS, FakeFirmware, FakeManagement
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.databases import counting_statements
from ironic.tests.unit.conductor.flows.bench import HOST

REPORTED = {
    "get_boot_mode": "uefi",
    "get_secure_boot_state": False,
    "detect_vendor": "Acme",
    "get_node_health": "OK",
}
ALL = [*REPORTED, "cache_bios_settings", "cache_firmware_components"]


@pytest.fixture
def answers(monkeypatch) -> dict[str, Any]:
    """Have the fake family report these; errors are raised. ``asked`` has the calls."""
    given: dict[str, Any] = {**REPORTED, "cache_bios_settings": [], "cache_firmware_components": [], "asked": []}

    def reporting(name: str) -> Any:
        def report(interface, task):
            given["asked"].append(name)
            if isinstance(given[name], Exception):
                raise given[name]
            if name == "cache_bios_settings":
                task.store.bios_settings.sync(task.node.id, given[name])
            elif name == "cache_firmware_components":
                task.store.firmware.sync(task.node.id, given[name])
            return given[name]

        return report

    for name in REPORTED:
        monkeypatch.setattr(FakeManagement, name, reporting(name))
    monkeypatch.setattr(FakeBIOS, "cache_bios_settings", reporting("cache_bios_settings"))
    monkeypatch.setattr(FakeFirmware, "cache_firmware_components", reporting("cache_firmware_components"))
    return given


def recorded(bench, uuid) -> tuple[Any, ...]:
    node = bench.row(uuid)
    return node.boot_mode, node.secure_boot, node.properties.get("vendor"), node.health


SERVICE = {"service_steps": [{"interface": "vendor", "step": "first"}]}


def test_an_inspection_refreshes_the_firmware_while_the_ramdisk_runs(bench, answers, caplog):
    """Some BMCs show network cards only of a machine that is on."""
    bench.script.answers["inspect_hardware"] = states.INSPECTWAIT
    uuid = bench.node("inspect", "vendor", provision_state=states.MANAGEABLE)
    bench.verb(uuid, "inspect")
    seen = []
    bench.script.answers["continue_inspection"] = lambda task: seen.extend(answers["asked"])
    answers["cache_firmware_components"] = IronicError("no answer")
    bench.endpoint.continue_inspection(bench.context, uuid, {"interfaces": []}, {})
    assert seen == ["cache_firmware_components"]
    assert bench.state(uuid) == (states.MANAGEABLE, None)
    assert "not refreshed from the BMC at the report of its ramdisk: firmware components (no answer)" in caplog.text


@pytest.mark.parametrize(
    "state, verb, arguments, times",
    [
        (states.ENROLL, "manage", {}, 1),
        (states.MANAGEABLE, "provide", {}, 2),
        (states.MANAGEABLE, "clean", {"clean_steps": SERVICE["service_steps"]}, 2),
        (states.ACTIVE, "service", SERVICE, 2),
        (states.AVAILABLE, "active", {}, 1),
    ],
)
def test_an_operation_refreshes_what_the_bmc_reports(bench, answers, state, verb, arguments, times):
    answers["cache_bios_settings"] = [{"name": "SMT", "value": "on"}]
    answers["cache_firmware_components"] = [{"component": "bmc", "current_version": "1.2"}]
    uuid = bench.node("vendor", "power", provision_state=state)
    bench.verb(uuid, verb, **arguments)
    assert bench.row(uuid).last_error is None
    assert recorded(bench, uuid) == ("uefi", False, "Acme", "OK")
    node_id = bench.row(uuid).id
    assert bench.store.bios_settings.rows(["name", "value"], node_id) == [("SMT", "on")]
    assert bench.store.firmware.rows(["component", "initial_version"], node_id) == [("bmc", "1.2")]
    assert {name: answers["asked"].count(name) for name in ALL} == dict.fromkeys(ALL, times) | {"detect_vendor": 1}


@pytest.mark.parametrize("health, severity", [("CRITICAL", "ERROR"), ("WARNING", "WARNING"), ("OK", None)])
def test_a_health_that_an_operation_finds_changed_is_in_node_history(bench, answers, health, severity):
    uuid = bench.node(provision_state=states.ENROLL, health="OK")
    answers["get_node_health"] = health
    bench.verb(uuid, "manage")
    assert bench.row(uuid).health == health
    said = [entry for entry in bench.history(uuid) if entry[1] == "monitoring"]
    assert said == (
        [(severity, "monitoring", f"The health of the machine is {health} now; it was OK")] * bool(severity)
    )


@pytest.mark.parametrize("failing", ALL)
def test_a_failing_refresh_fails_nothing_and_is_logged_once(bench, answers, caplog, failing):
    answers[failing] = IronicError("odd answer")
    uuid = bench.node(provision_state=states.ENROLL, boot_mode="bios", health="WARNING")
    with caplog.at_level(logging.WARNING):
        assert bench.verb(uuid, "manage") == (states.MANAGEABLE, None)
    (line,) = [record.getMessage() for record in caplog.records if "not refreshed" in record.getMessage()]
    assert uuid in line and line.count("odd answer") == 1
    wanted = ("uefi", False, "Acme", "OK")
    kept = {"get_boot_mode": ("bios", *wanted[1:]), "get_secure_boot_state": ("uefi", None, "Acme", "OK"),
            "detect_vendor": ("uefi", False, None, "OK"), "get_node_health": (*wanted[:3], "WARNING")}  # fmt: skip
    assert recorded(bench, uuid) == kept.get(failing, wanted)


def test_a_reason_for_several_failures_is_logged_once(bench, answers, caplog):
    answers |= dict.fromkeys(REPORTED, MissingParameterValue(err="no address"))
    uuid = bench.node(provision_state=states.ENROLL)
    bench.verb(uuid, "manage")
    (line,) = [record.getMessage() for record in caplog.records if "not refreshed" in record.getMessage()]
    assert line.endswith("the end of verify: boot_mode, secure_boot, vendor, health (no address)")


def test_nothing_more_is_read_from_a_bmc_that_can_not_be_reached(bench, answers):
    answers["get_boot_mode"] = RedfishConnectionError(node="n", address="a", operation="o", error="no route")
    uuid = bench.node(provision_state=states.ENROLL)
    assert bench.verb(uuid, "manage") == (states.MANAGEABLE, None)
    assert answers["asked"] == ["get_boot_mode"]


def test_what_a_bmc_does_not_report_stays(bench, answers):
    answers |= dict.fromkeys(REPORTED)
    uuid = bench.node(provision_state=states.ENROLL, boot_mode="uefi", secure_boot=True, health="OK")
    bench.verb(uuid, "manage")
    assert recorded(bench, uuid) == ("uefi", True, None, None)


def test_a_known_vendor_is_not_read_again(bench, answers):
    uuid = bench.node(provision_state=states.ENROLL, properties={"vendor": "Other"})
    bench.verb(uuid, "manage")
    assert (bench.row(uuid).properties["vendor"], "detect_vendor" in answers["asked"]) == ("Other", False)


# Power synchronisation


@pytest.fixture
def sync(bench, monkeypatch):
    """Return power synchronisation in which every round is a node's turn."""
    bench.store.conductors.register(HOST, "", ["fake-hardware"], [])
    monkeypatch.setattr(power_sync, "_ROUNDS_BETWEEN_SETTINGS", 1)
    return PowerSync(bench.tasks, HashRingManager(bench.store, heartbeat_timeout=60))


def active(bench, **values) -> str:
    return bench.node("power", provision_state="active", power_state="power on", **values)


def test_power_synchronisation_records_what_changed(bench, answers, sync):
    uuid = active(bench, properties={"cpu_arch": "x86_64"})
    sync()
    assert recorded(bench, uuid) == ("uefi", False, "Acme", "OK")
    assert bench.row(uuid).properties == {"cpu_arch": "x86_64", "vendor": "Acme"}
    assert bench.row(uuid).reservation is None
    with counting_statements(bench.store) as seen:
        sync()
    assert seen.writes == 0


def test_health_is_read_in_each_round_and_the_rest_in_turn(bench, answers, sync, monkeypatch):
    monkeypatch.setattr(power_sync, "_ROUNDS_BETWEEN_SETTINGS", 5)
    active(bench)
    for _ in range(10):
        sync()
    assert [answers["asked"].count(name) for name in ("get_node_health", "get_boot_mode")] == [10, 2]


@pytest.mark.parametrize("health, severity", [("WARNING", "WARNING"), ("CRITICAL", "ERROR"), (None, "INFO")])
def test_a_changed_health_is_in_node_history(bench, answers, sync, health, severity):
    uuid = active(bench, health="OK")
    answers["get_node_health"] = health
    sync()
    assert bench.row(uuid).health == health
    assert [entry[:2] for entry in bench.history(uuid)] == [(severity, "monitoring")]


def test_health_is_not_read_when_it_is_not_monitored(bench, answers, sync, conf):
    conf(conductor__enable_health_monitoring=False)
    uuid = active(bench)
    sync()
    assert bench.row(uuid).health is None and "get_node_health" not in answers["asked"]


def test_a_refresh_that_keeps_failing_is_logged_once(bench, answers, sync, caplog):
    answers["get_node_health"] = IronicError("odd answer")
    active(bench)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            sync()
    assert len([record for record in caplog.records if "odd answer" in record.getMessage()]) == 1


def test_a_machine_whose_power_differs_is_not_refreshed(bench, answers, sync):
    active(bench)
    bench.script.answers["get_power_state"] = "power off"
    sync()
    assert answers["asked"] == []
