"""Firmware updates through Redfish: order, restarts, tasks, and what a conductor that dies leaves behind."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, UnsupportedDriverExtension
from ironic.core.flows import node_waits, states
from ironic.core.values.value_types import utc_now
from ironic.drivers.contract.step_declarations import StepDone, StepFailed
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.bmc.bmc_gateway import RECENT
from ironic.drivers.modules.redfish.firmware import RedfishFirmware
from ironic.drivers.modules.redfish.orders.firmware_updates import UPDATES
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.unit.drivers import machine
from ironic.tests.unit.drivers.machine import Work, items_of, work_on

KEY = UPDATES.kind
UPDATE = "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
TASK = "/redfish/v1/TaskService/Tasks/1"
URL = "https://images.example.com/bios.bin"


@pytest.fixture(autouse=True)
def at_once(conf: Callable[..., Any]) -> None:
    conf(redfish__firmware_update_reboot_delay=0, redfish__firmware_update_validation_interval=0)


@pytest.fixture
def sent() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def bmc(sent: list[dict[str, Any]]) -> Iterator[HostileBmc]:
    with bmc_that_updates(sent) as running:
        yield running


@contextmanager
def bmc_that_updates(sent: list[dict[str, Any]]) -> Iterator[HostileBmc]:
    """Run a BMC that updates firmware in a task; the orders are added to a list."""
    with hostile_bmc(BiosVersion="1.0", PowerState="On") as running:
        documents = running.documents
        documents["/redfish/v1"]["UpdateService"] = {"@odata.id": "/redfish/v1/UpdateService"}
        documents["/redfish/v1/UpdateService"] = {
            "Id": "UpdateService",
            "Name": "Updates",
            "Actions": {"#UpdateService.SimpleUpdate": {"target": UPDATE}},
        }
        documents[TASK] = {"Id": "1", "Name": "Update", "TaskState": "Starting"}
        documents[SYSTEM]["Links"] = {
            "ManagedBy": [{"@odata.id": "/redfish/v1/Managers/1"}],
            "Chassis": [{"@odata.id": "/redfish/v1/Chassis/1"}],
        }
        documents["/redfish/v1/Managers/1"] = {"Id": "1", "FirmwareVersion": "7.0", "Model": "BMC 9"}
        documents["/redfish/v1/Chassis/1"] = {
            "Id": "1",
            "Name": "Chassis",
            "ChassisType": "RackMount",
            "NetworkAdapters": {"@odata.id": "/redfish/v1/Chassis/1/NetworkAdapters"},
        }
        documents["/redfish/v1/Chassis/1/NetworkAdapters"] = {
            "Name": "Adapters",
            "Members": [{"@odata.id": "/redfish/v1/Chassis/1/NetworkAdapters/N"}],
        }
        documents["/redfish/v1/Chassis/1/NetworkAdapters/N"] = {
            "Id": "N",
            "SerialNumber": "SN1",
            "Manufacturer": "Acme",
            "Model": "N25",
            "Controllers": [{"FirmwarePackageVersion": "2.2"}],
        }

        def misbehave(handler: Handler) -> bool:
            if handler.path != UPDATE:
                return False
            sent.append(json.loads(handler.content))
            handler.answer(202, {"@odata.id": TASK}, {"Location": TASK})
            return True

        running.misbehave = misbehave
        yield running


def on(bmc: HostileBmc) -> Work:
    task = work_on(
        driver_info=bmc.driver_info(),
        provision_state=states.CLEANING,
        power_state=states.POWER_ON,
        provision_updated_at=utc_now(),
    )
    task.driver = BareDriver({"firmware": RedfishFirmware(), "power": RedfishPower()})
    return task


def begun(bmc: HostileBmc, *updates: dict[str, Any]) -> Work:
    task = on(bmc)
    assert RedfishFirmware().update(task, list(updates)) == states.CLEANWAIT
    task.node.provision_state = states.CLEANWAIT
    return task


def look(task: Work) -> Any:
    """Look at the update as any conductor does: by what is stored."""
    return machine.look(task, RedfishFirmware(), KEY)


def until_end(task: Work, most: int = 12) -> Any:
    for _ in range(most):
        if (end := look(task)) is not None:
            return end
    pytest.fail(f"the step goes on for ever: {remembered(task)}")


def remembered(task: Work) -> dict[str, Any]:
    return machine.remembered(task, KEY)


def phase(task: Work) -> str:
    return str(remembered(task)["phase"])


def task_is(bmc: HostileBmc, state: str | None, **more: Any) -> None:
    if state is None:
        del bmc.documents[TASK]
    else:
        bmc.documents[TASK] = {"Id": "1", "Name": "Update", "TaskState": state, **more}


def restarts(bmc: HostileBmc) -> int:
    return bmc.count("POST", RESET) // 2


def test_versions_are_stored_by_component(bmc: HostileBmc) -> None:
    task = on(bmc)
    RedfishFirmware().cache_firmware_components(task)
    stored = {item["component"]: item for item in items_of(task.store.firmware)}
    assert {name: item["current_version"] for name, item in stored.items()} == {
        "bios": "1.0",
        "bmc": "7.0",
        "nic:SN1": "2.2",
    }
    assert (stored["nic:SN1"]["vendor"], stored["nic:SN1"]["model"], stored["bmc"]["model"]) == ("Acme", "N25", "BMC 9")
    bmc.documents[SYSTEM]["BiosVersion"] = "1.1"
    task.store.firmware.sync(
        1, [{name: item[name] for name in ("component", "current_version")} for item in stored.values()]
    )
    RedfishFirmware().cache_firmware_components(on_same(task))
    changed = [item for item in items_of(task.store.firmware) if item["last_version_flashed"]]
    assert [(item["component"], item["last_version_flashed"]) for item in changed] == [("bios", "1.1")]


def on_same(task: Work) -> Work:
    RECENT._kept.clear()
    return task


def test_cards_that_can_not_be_read_are_left_out(bmc: HostileBmc) -> None:
    del bmc.documents["/redfish/v1/Chassis/1/NetworkAdapters"]
    task = on(bmc)
    RedfishFirmware().cache_firmware_components(task)
    assert {item["component"] for item in items_of(task.store.firmware)} == {"bios", "bmc"}


@pytest.mark.difference("cards of a machine that is off")
def test_cards_of_a_machine_that_is_off_are_left_out(bmc: HostileBmc) -> None:
    usual = bmc.misbehave

    def misbehave(handler: Handler) -> bool:
        is_about_cards = handler.path.endswith("/NetworkAdapters")
        if is_about_cards:
            handler.answer(400, {"error": {"message": "the system is off"}})
        return is_about_cards or usual(handler)

    bmc.misbehave = misbehave
    task = on(bmc)
    RedfishFirmware().cache_firmware_components(task)
    assert {item["component"] for item in items_of(task.store.firmware)} == {"bios", "bmc"}
    task = begun(bmc, {"component": "bmc", "url": URL})
    task_is(bmc, "Completed", TaskStatus="OK")
    assert until_end(task) == StepDone()


def test_a_machine_without_versions_says_so() -> None:
    with hostile_bmc() as bmc, pytest.raises(UnsupportedDriverExtension):
        RedfishFirmware().cache_firmware_components(on(bmc))


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"component": "bios"},
        {"component": "disk", "url": URL},
        {"component": "nic:", "url": URL},
        {"component": "bios", "url": "ftp://192.0.2.1/x"},
        {"component": "bios", "url": 5},
        {"component": "bios", "url": URL, "wait": 0},
        {"component": "bios", "url": URL, "wait": True},
        {"component": "bios", "url": URL, "more": 1},
        "bios",
    ],
)
def test_wrong_updates_are_refused_by_number(bmc: HostileBmc, update: Any) -> None:
    with pytest.raises(InvalidParameterValue, match="update 2"):
        RedfishFirmware().update(on(bmc), [{"component": "bios", "url": URL}, update])


def test_a_bios_update_restarts_the_machine_once(bmc: HostileBmc, sent: list[dict[str, Any]]) -> None:
    task = begun(bmc, {"component": "bios", "url": URL})
    assert sent == [{"ImageURI": URL, "TransferProtocol": "HTTPS"}]
    assert restarts(bmc) == 0
    assert look(task) is None
    assert restarts(bmc) == 1
    assert not RedfishPower().supports_power_sync(task)
    task_is(bmc, "Running")
    assert look(task) is None
    task_is(bmc, "Completed", TaskStatus="OK")
    bmc.documents[SYSTEM]["BiosVersion"] = "1.1"
    assert until_end(task) == StepDone()
    assert (restarts(bmc), len(sent)) == (1, 1)
    assert not node_waits.is_open(task.node, KEY)
    assert "1.1" in [item["current_version"] for item in items_of(task.store.firmware)]
    assert RedfishPower().supports_power_sync(task)


def test_versions_that_are_missing_do_not_keep_a_step_from_its_end(bmc: HostileBmc) -> None:
    task = begun(bmc, {"component": "bios", "url": URL})
    task_is(bmc, "Completed", TaskStatus="OK")
    bmc.documents[SYSTEM] |= {"BiosVersion": None, "Links": {}}
    assert until_end(task) == StepDone()


def test_a_task_that_has_ended_without_a_restart_gets_it(bmc: HostileBmc) -> None:
    task = begun(bmc, {"component": "bios", "url": URL})
    task_is(bmc, "Completed", TaskStatus="OK")
    assert until_end(task) == StepDone()
    assert restarts(bmc) == 1


@pytest.mark.difference("tasks forgotten")
def test_a_task_that_is_gone_has_done_its_work_if_the_version_shows_it(bmc: HostileBmc) -> None:
    task = begun(bmc, {"component": "bmc", "url": URL})
    task_is(bmc, None)
    for _ in range(8):
        assert look(task) is None, "the BMC may show the version later"
    bmc.documents["/redfish/v1/Managers/1"]["FirmwareVersion"] = "7.1"
    assert until_end(task) == StepDone()
    assert restarts(bmc) == 0, "the machine runs on while its BMC is updated"


@pytest.mark.parametrize("other", ["none", "bios", "odd"])
def test_a_task_that_is_gone_without_a_new_version_has_failed(bmc: HostileBmc, other: str) -> None:
    task = begun(bmc, {"component": "bmc", "url": URL})
    task_is(bmc, None)
    for _ in range(8):
        assert look(task) is None
    if other == "bios":
        bmc.documents[SYSTEM]["BiosVersion"] = "1.1"
    if other == "odd":
        bmc.documents["/redfish/v1/Managers/1"]["FirmwareVersion"] = None
    age(task, "settles_since", 481)
    end = until_end(task)
    assert isinstance(end, StepFailed)
    assert "updating bmc may have failed: its task is gone" in end.reason


@pytest.mark.parametrize("component", ["bios", "nic:SN1"])
def test_no_machine_is_restarted_for_a_task_that_is_gone(bmc: HostileBmc, component: str) -> None:
    task = begun(bmc, {"component": component, "url": URL})
    task_is(bmc, None)
    end = look(task)
    assert isinstance(end, StepFailed)
    assert (restarts(bmc), "its task is gone" in end.reason) == (0, True)


def test_a_task_that_is_gone_after_the_restart_is_judged_by_the_version(bmc: HostileBmc) -> None:
    task = begun(bmc, {"component": "bios", "url": URL})
    assert look(task) is None
    assert restarts(bmc) == 1
    task_is(bmc, None)
    bmc.documents[SYSTEM]["BiosVersion"] = "1.1"
    assert until_end(task) == StepDone()
    assert restarts(bmc) == 1


@pytest.mark.parametrize("state", ["Own", "UpdateFailed", "Completed with errors", ""])
def test_an_update_whose_task_is_over_in_another_state_has_failed(bmc: HostileBmc, state: str) -> None:
    task = begun(bmc, {"component": "bmc", "url": URL})
    task_is(bmc, state, PercentComplete=100, Messages=[{"Message": "Not for this part.", "Severity": "Critical"}])
    end = look(task)
    assert isinstance(end, StepFailed)
    assert "Not for this part." in end.reason


def test_a_running_card_keeps_its_power(bmc: HostileBmc) -> None:
    task = begun(bmc, {"component": "nic:SN1", "url": URL})
    task_is(bmc, "Running")
    age(task, "sent_at", 3600)
    assert look(task) is None
    assert restarts(bmc) == 0
    task_is(bmc, "Completed", TaskStatus="Warning")
    assert until_end(task) == StepDone()
    assert restarts(bmc) == 1


def test_a_card_that_does_not_begin_gets_a_restart(bmc: HostileBmc) -> None:
    task = begun(bmc, {"component": "nic:SN1", "url": URL})
    assert look(task) is None
    assert restarts(bmc) == 0
    age(task, "sent_at", 60)
    assert look(task) is None
    assert restarts(bmc) == 1


def age(task: Work, name: str, seconds: float) -> None:
    machine.remember(task, KEY, **{name: (utc_now() - timedelta(seconds=seconds)).isoformat()})


def test_updates_follow_one_another_in_the_given_order(bmc: HostileBmc, sent: list[dict[str, Any]]) -> None:
    urls = [f"http://192.0.2.9/{name}.bin" for name in ("bmc", "bios", "nic")]
    names = ("bmc", "bios", "nic:SN1")
    task = begun(bmc, *({"component": name, "url": url} for name, url in zip(names, urls, strict=True)))
    task_is(bmc, "Completed", TaskStatus="OK")
    assert until_end(task, 40) == StepDone()
    assert [order["ImageURI"] for order in sent] == urls
    assert restarts(bmc) == 2


@pytest.mark.parametrize("state, more", [("Exception", {}), ("Killed", {}), ("Completed", {"TaskStatus": "Critical"})])
def test_a_failed_task_fails_the_step_with_its_messages(bmc: HostileBmc, state: str, more: dict[str, Any]) -> None:
    task = begun(bmc, {"component": "bios", "url": URL}, {"component": "bmc", "url": URL})
    task_is(
        bmc, state, Messages=[{"Message": "unknown", "MessageId": "Update.1.0.Bad"}, {"Message": "Wrong image"}], **more
    )
    end = look(task)
    assert isinstance(end, StepFailed)
    assert f"updating bios from {URL} failed: Update.1.0.Bad; Wrong image" in end.reason
    assert not node_waits.is_open(task.node, KEY)


def test_it_waits_as_long_as_the_argument_says(bmc: HostileBmc) -> None:
    task = begun(bmc, {"component": "bmc", "url": URL, "wait": 100})
    task_is(bmc, "Completed", TaskStatus="OK")
    assert look(task) is None
    assert look(task) is None
    assert phase(task) == "pause"
    age(task, "until", 1)
    assert until_end(task) == StepDone()


def test_the_bmc_must_answer_before_it_goes_on(bmc: HostileBmc, sent: list[dict[str, Any]]) -> None:
    task = begun(bmc, {"component": "bmc", "url": URL}, {"component": "bios", "url": URL})
    task_is(bmc, "Completed", TaskStatus="OK")
    assert look(task) is None
    assert look(task) is None
    for path in ("/redfish/v1/Managers/1", "/redfish/v1/Chassis/1/NetworkAdapters"):
        kept = bmc.documents.pop(path)
        assert look(task) is None
        bmc.documents[path] = kept
        assert remembered(task).get("answers", 0) == 0, "the answers before do not count"
    for number in range(3):
        assert (remembered(task).get("answers", 0), len(sent)) == (number, 1)
        assert look(task) is None
    assert look(task) is None
    assert len(sent) == 2


def test_answers_of_the_bmc_count_at_intervals(bmc: HostileBmc, conf: Callable[..., Any]) -> None:
    conf(redfish__firmware_update_validation_interval=30)
    task = begun(bmc, {"component": "bmc", "url": URL})
    task_is(bmc, "Completed", TaskStatus="OK")
    for _ in range(4):
        assert look(task) is None
    assert remembered(task)["answers"] == 1
    age(task, "answered_at", 31)
    assert look(task) is None
    assert remembered(task)["answers"] == 2


def test_a_bmc_that_does_not_come_back_fails_the_step(bmc: HostileBmc) -> None:
    task = begun(bmc, {"component": "bmc", "url": URL})
    task_is(bmc, "Completed", TaskStatus="OK")
    assert look(task) is None
    del bmc.documents["/redfish/v1/Managers/1"]
    assert look(task) is None
    age(task, "settles_since", 481)
    end = look(task)
    assert isinstance(end, StepFailed)
    assert "did not answer steadily within 480 seconds" in end.reason


def test_nothing_is_asked_of_the_bmc_where_that_is_not_wanted(bmc: HostileBmc, conf: Callable[..., Any]) -> None:
    conf(redfish__firmware_update_resource_validation_timeout=0)
    task = begun(bmc, {"component": "bmc", "url": URL})
    task_is(bmc, "Completed", TaskStatus="OK")
    del bmc.documents["/redfish/v1/Managers/1"]
    assert until_end(task, 3) == StepDone()


def test_updates_have_an_end(bmc: HostileBmc) -> None:
    task = begun(bmc, {"component": "bios", "url": URL})
    age(task, "began_at", 7201)
    end = look(task)
    assert isinstance(end, StepFailed)
    assert "longer than 7200 seconds" in end.reason


def test_the_wait_does_not_time_out_while_the_bmc_answers(bmc: HostileBmc) -> None:
    task = begun(bmc, {"component": "nic:SN1", "url": URL})
    task_is(bmc, "Running")
    before = task.node.provision_updated_at = utc_now() - timedelta(minutes=20)
    assert look(task) is None
    assert task.node.provision_updated_at > before
    bmc.documents.clear()
    before = task.node.provision_updated_at = utc_now() - timedelta(minutes=20)
    assert look(task) is None
    assert task.node.provision_updated_at == before


# A conductor that dies


def test_a_restart_that_a_dead_conductor_has_only_stored_is_done(bmc: HostileBmc) -> None:
    task = begun(bmc, {"component": "bios", "url": URL})
    machine.remember(task, KEY, phase="restart", restarted_at=utc_now().isoformat())
    assert look(task) is None
    assert restarts(bmc) == 1
    assert phase(task) == "task"


@pytest.mark.parametrize("sign", ["task", "reset time"])
def test_a_restart_that_a_dead_conductor_has_done_is_not_repeated(bmc: HostileBmc, sign: str) -> None:
    task = begun(bmc, {"component": "bios", "url": URL})
    machine.remember(task, KEY, phase="restart", restarted_at=utc_now().isoformat())
    if sign == "task":
        task_is(bmc, "Running")
    else:
        bmc.documents[SYSTEM]["LastResetTime"] = (utc_now() + timedelta(seconds=5)).isoformat() + "Z"
    assert look(task) is None
    assert restarts(bmc) == 0
    assert phase(task) == "task"


def test_an_order_that_a_dead_conductor_may_have_sent_is_not_sent_again(
    bmc: HostileBmc, sent: list[dict[str, Any]]
) -> None:
    task = begun(bmc, {"component": "bios", "url": URL})
    machine.remember(task, KEY, phase="sending")
    end = look(task)
    assert isinstance(end, StepFailed)
    assert "is not known" in end.reason
    assert len(sent) == 1
