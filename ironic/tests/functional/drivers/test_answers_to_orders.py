"""What odd BMCs say with orders that they carry out, and of the tasks in which they do."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.redfish.bios import RedfishBIOS
from ironic.drivers.modules.redfish.firmware import RedfishFirmware
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.orders.bmc_tasks import read_task
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.raid import RedfishRAID
from ironic.drivers.modules.redfish.vendor import RedfishVendorPassthru
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.test_odd_machines import RESET, answer_at, on
from ironic.tests.functional.drivers.test_odd_orders import DRIVE, NOTE, URL, machine_with
from ironic.tests.unit.drivers.machine import Work, remembered


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    with hostile_bmc() as running:
        yield running


VOLUMES = f"{SYSTEM}/Storage/A/Volumes"
UPDATE = "/redfish/v1/UpdateService/Update"
DISK = {"raid_level": "0", "size_gb": 1}
MONITOR = "/redfish/v1/TaskService/TaskMonitors/1"
ANSWERS = [
    b"",
    b"OK",
    b"<html>",
    b"[1]",
    b"null",
    b'{"Id": 5}',
    b'{"@odata.id": 7, "Name": "x"}',
    b'{"error": {}}',
    b"\xff",
]
ORDERS: dict[str, tuple[str, Callable[[Work], Any]]] = {
    "power": (RESET, lambda task: RedfishPower().set_power_state(task, states.POWER_ON)),
    "insertion": (f"{DRIVE}/Insert", lambda task: RedfishManagement().attach_virtual_media(task, "cdrom", URL)),
    "defaults": (f"{SYSTEM}/Bios/Reset", lambda task: RedfishBIOS().factory_reset(task)),
    "logical disk": (VOLUMES, lambda task: RedfishRAID().create_configuration(task)),
    "no logical disk": (f"{VOLUMES}/1", lambda task: RedfishRAID().delete_configuration(task)),
    "subscription": (
        "/redfish/v1/EventService/Subscriptions",
        lambda task: RedfishVendorPassthru().create_subscription(task, Destination="https://192.0.2.5/events"),
    ),
}


def machine_for_orders() -> dict[str, Any]:
    found = machine_with(
        DRIVE, {"Inserted": False, "Actions": {"#VirtualMedia.InsertMedia": {"target": f"{DRIVE}/Insert"}}}
    )
    found[f"{SYSTEM}/Bios"]["Actions"] = {"#Bios.ResetBios": {"target": f"{SYSTEM}/Bios/Reset"}}
    found[SYSTEM] |= {"PowerState": "Off", "Storage": {"@odata.id": f"{SYSTEM}/Storage"}}
    storage = f"{SYSTEM}/Storage/A"
    drives = [{"@odata.id": f"{storage}/Drives/{number}"} for number in range(2)]
    documents: dict[str, Any] = {
        f"{SYSTEM}/Storage": {"Members": [{"@odata.id": storage}]},
        storage: {"Drives": drives, "Volumes": {"@odata.id": VOLUMES}},
        VOLUMES: {"Members": [{"@odata.id": f"{VOLUMES}/1"}]},
        f"{VOLUMES}/1": {"RAIDType": "RAID0", "Links": {"Drives": drives[:1]}},
        **{drive["@odata.id"]: {"CapacityBytes": 2**40} for drive in drives},
        "/redfish/v1/UpdateService": {"Actions": {"#UpdateService.SimpleUpdate": {"target": UPDATE}}},
    }
    found["/redfish/v1"]["UpdateService"] = {"@odata.id": "/redfish/v1/UpdateService"}
    return found | {path: {"@odata.id": path, **content} for path, content in documents.items()}


def carry_out(bmc: HostileBmc, place: str, status: int, content: bytes, headers: dict[str, str]) -> list[str]:
    """Have the BMC carry out each order with this answer; return where orders at this place came."""
    bmc.documents, came = machine_for_orders(), list[str]()

    def misbehave(handler: Handler) -> bool:
        if handler.command == "GET":
            return False
        if handler.path == RESET:
            bmc.documents[SYSTEM]["PowerState"] = "On"
        if handler.command == "DELETE" and status != 202:
            bmc.documents[VOLUMES]["Members"] = []
        if handler.command == "POST" and handler.path == VOLUMES and status != 202:
            bmc.documents[f"{VOLUMES}/2"] = {"Id": "2", "RAIDType": "RAID0", "CapacityBytes": 2**30}
            bmc.documents[VOLUMES]["Members"].append({"@odata.id": f"{VOLUMES}/2"})
        if handler.path == f"{DRIVE}/Insert":
            bmc.documents[DRIVE]["Inserted"] = True
        is_meant = handler.path == place
        if is_meant:
            came.append(handler.path)
        handler.send(status if is_meant else 204, content if is_meant else b"", headers)
        return True

    bmc.misbehave = misbehave
    return came


@pytest.mark.difference("answers to orders")
@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("status, headers", [(200, {}), (201, {}), (201, {"Location": "/gone"}), (204, {})])
def test_an_order_is_carried_out_whatever_is_said_with_it(
    bmc: HostileBmc, name: str, status: int, headers: dict[str, str]
) -> None:
    place, give = ORDERS[name]
    for content in ANSWERS if status != 204 else (b"",):
        came = carry_out(bmc, place, status, content, headers)
        task = on(bmc, provision_state=states.CLEANING, target_raid_config={"logical_disks": [DISK]})
        task.driver = BareDriver({"power": RedfishPower()})
        give(task)
        assert came == [place], content


@pytest.mark.difference("tasks at another address")
@pytest.mark.parametrize("content", ANSWERS)
@pytest.mark.parametrize("place", [MONITOR, f"https://bmc.example.com{MONITOR}"])
@pytest.mark.parametrize("name", ["logical disk", "no logical disk", "firmware"])
def test_a_task_is_found_by_its_header_whatever_is_said_with_it(
    bmc: HostileBmc, name: str, place: str, content: bytes
) -> None:
    orders = {**ORDERS, "firmware": (UPDATE, update)}
    came = carry_out(bmc, orders[name][0], 202, content, {"Location": place})
    bmc.documents[MONITOR] = {"TaskState": "Running", "Name": "Task"}
    task = on(bmc, provision_state=states.CLEANING, target_raid_config={"logical_disks": [DISK]})
    task.driver = BareDriver({"power": RedfishPower()})
    assert orders[name][1](task) == states.CLEANWAIT
    assert len(came) == 1
    (kind,) = task.node.saved_waits
    memory = remembered(task, kind)
    assert memory.get("tasks", [memory.get("task")]) == [MONITOR]


@pytest.mark.parametrize(
    "status, document, location",
    [
        (202, {"@odata.id": MONITOR, "TaskState": "New"}, None),
        (202, {"@odata.id": MONITOR, "@odata.type": "#Task.v1_4_3.Task"}, "/elsewhere"),
        (202, {"@odata.id": f"{VOLUMES}/2", "RAIDType": "RAID0"}, MONITOR),
        (202, {"@odata.id": "/redfish/v1/JobService/Jobs/7"}, None),
        (200, {"@odata.id": MONITOR, "TaskState": "Running"}, None),
        (201, {"@odata.id": MONITOR, "JobState": "New"}, f"{VOLUMES}/2"),
        (202, {}, f" {MONITOR} "),
    ],
)
@pytest.mark.parametrize("name", ["logical disk", "no logical disk"])
def test_a_task_is_told_from_what_an_order_is_about(
    bmc: HostileBmc, name: str, status: int, document: dict[str, Any], location: str | None
) -> None:
    headers = {} if location is None else {"Location": location}
    carry_out(bmc, ORDERS[name][0], status, json.dumps({"Name": "Task", **document}).encode(), headers)
    task = on(bmc, provision_state=states.CLEANING, target_raid_config={"logical_disks": [DISK]})
    task.driver = BareDriver({"power": RedfishPower()})
    assert ORDERS[name][1](task) == states.CLEANWAIT
    jobs = "/redfish/v1/JobService/Jobs/7"
    assert remembered(task, "raid_configs")["tasks"] == [jobs if jobs in document.values() else MONITOR]


@pytest.mark.parametrize("name", ["logical disk", "no logical disk"])
def test_a_change_without_a_task_is_an_error_that_says_so(bmc: HostileBmc, name: str) -> None:
    carry_out(bmc, ORDERS[name][0], 202, b"OK", {})
    task = on(bmc, provision_state=states.CLEANING, target_raid_config={"logical_disks": [DISK]})
    task.driver = BareDriver({"power": RedfishPower()})
    with pytest.raises(RedfishError, match="accepted the order and names no task"):
        ORDERS[name][1](task)


def update(task: Work) -> Any:
    return RedfishFirmware().update(task, [{"component": "bios", "url": "https://192.0.2.5/bios.bin"}])


@pytest.mark.parametrize("status", [200, 202])
def test_an_update_without_a_task_is_an_error_that_says_so(bmc: HostileBmc, status: int) -> None:
    carry_out(bmc, UPDATE, status, b"OK", {})
    with pytest.raises(RedfishError, match=f"took the order with status {status} and names no task"):
        update(on(bmc, provision_state=states.CLEANING))


@pytest.mark.parametrize("status", [400, 409, 412, 422])
def test_the_monitor_of_a_task_may_answer_with_the_refusal_of_the_order(bmc: HostileBmc, status: int) -> None:
    bmc.misbehave = answer_at("/monitor", lambda handler: handler.answer(status, {"error": NOTE}))
    task = read(on(bmc), "watching", lambda system: read_task(system, "/monitor"))
    assert (task.is_over, task.is_good, task.text) == (True, False, "No licence for power.")


@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_a_monitor_that_gives_no_answer_says_nothing_of_its_task(bmc: HostileBmc, status: int) -> None:
    bmc.misbehave = answer_at("/monitor", lambda handler: handler.answer(status, {"error": NOTE}))
    with pytest.raises(RedfishError, match="No licence for power"):
        read(on(bmc), "watching", lambda system: read_task(system, "/monitor"))


WENT_WELL = {"TaskState": "Completed"}
MADE = {"@odata.id": "/redfish/v1/Systems/1/Storage/A/Volumes/2", "Name": "Volume"}
ENDS: dict[str, list[tuple[int, dict[str, Any] | None]]] = {
    "GOOD": [
        (200, {**WENT_WELL, "TaskStatus": "OK"}),
        (200, {**WENT_WELL, "TaskStatus": "warning"}),
        (200, {**WENT_WELL, "TaskStatus": "Warning", "Messages": [{"Severity": "Warning", "MessageId": "X.1.Slow"}]}),
        (200, {**WENT_WELL, "JobState": None, "Messages": None}),
        (200, {**WENT_WELL, "JobState": "Completed", "Messages": [{"Severity": "OK", "MessageId": "X.1.NoErrors"}]}),
        (200, {"TaskState": " completed ", "TaskStatus": ""}),
        (200, {**WENT_WELL, "TaskStatus": "N/A"}),
        (200, {**WENT_WELL, "Status": {"Health": "OK"}, "Oem": {"Own": {"JobState": "Completed"}, "Else": 5}}),
        (200, {**WENT_WELL, "error": {"code": "Base.1.8.Success", "message": "Done."}}),
        (200, {**WENT_WELL, "PercentComplete": "many", "EndTime": 5, "Messages": 7}),
        (202, WENT_WELL),
        (200, {"JobState": "COMPLETED", "Message": "Job completed successfully.", "MessageId": "PR19"}),
        (200, MADE),
        (201, MADE),
        (200, {"error": {"@Message.ExtendedInfo": [{"MessageId": "Base.1.8.Success"}]}}),
        (204, None),
    ],
    "BAD": [
        (200, {**WENT_WELL, "TaskStatus": "critical"}),
        (200, {**WENT_WELL, "TaskStatus": "Warning", "Messages": [{"Message": "No.", "Severity": "Critical"}]}),
        (200, {**WENT_WELL, "Messages": [{"MessageSeverity": "CRITICAL"}, {"MessageSeverity": "OK"}]}),
        (200, {**WENT_WELL, "Messages": {"Severity": "Error"}}),
        (200, {**WENT_WELL, "Messages": [{"MessageId": "Update.1.0.VerificationFailed"}]}),
        (200, {**WENT_WELL, "MessageSeverity": "Critical"}),
        (200, {**WENT_WELL, "JobState": "Exception"}),
        (200, {**WENT_WELL, "Status": {"Health": "Critical"}}),
        (200, {**WENT_WELL, "Oem": {"Own": {"JobState": "Failed"}}}),
        (200, {**WENT_WELL, "Messages": [[{"Message": "No.", "Severity": "Critical"}]]}),
        (200, {**WENT_WELL, "Messages": [{"@Message.ExtendedInfo": [{"MessageSeverity": "Critical"}]}]}),
        (200, {**WENT_WELL, "@Message.ExtendedInfo": [{"MessageSeverity": "Critical"}]}),
        (200, {**WENT_WELL, "error": {"code": "Base.1.8.GeneralError", "message": "No."}}),
        (200, {"TaskState": "Running", "JobState": "Killed"}),
        (200, {"TaskState": "Exception"}),
        (200, {"TaskState": "Cancelled", "TaskStatus": "OK", "PercentComplete": 100}),
        (200, {"JobState": "Exception", "JobStatus": "OK"}),
        (200, {"TaskState": "FAILED"}),
        (200, {"TaskState": "CompletedWithErrors", "PercentComplete": 40}),
        (200, {"TaskState": "Completed with errors", "PercentComplete": 100}),
        (200, {"TaskState": "CompletedWithFailure"}),
        (200, {"TaskState": "UpdateFailed", "PercentComplete": 100, "TaskStatus": "OK"}),
        (200, {"TaskState": "RebootFailed"}),
        (200, {"TaskState": "Rejected", "EndTime": "2030-01-01T00:00:00Z"}),
        (200, {"TaskState": "Invalid", "PercentComplete": "100"}),
        (200, {"TaskState": "Timeout"}),
        (200, {"TaskState": "Own", "TaskStatus": "Critical"}),
        (200, {"TaskState": None, "TaskStatus": "Critical", "PercentComplete": 100}),
        (200, {"error": {"@Message.ExtendedInfo": [{"MessageId": "Base.1.8.GeneralError", "Message": "No."}]}}),
    ],
    "UNSAID": [
        (200, {"TaskState": "Own", "PercentComplete": 100}),
        (200, {"TaskState": "Own", "EndTime": "2030-01-01T00:00:00Z"}),
        (200, {"TaskState": "Succeeded", "PercentComplete": 100}),
        (200, {"TaskState": None, "PercentComplete": 100}),
        (200, {"@odata.type": "#Task.v1_4_3.Task", "PercentComplete": 100, "TaskStatus": "OK"}),
        (200, {**WENT_WELL, "JobState": "Odd"}),
        (200, {**WENT_WELL, "TaskStatus": "Minor"}),
        (200, {**WENT_WELL, "TaskStatus": {"Health": "Critical"}}),
        (200, {**WENT_WELL, "Messages": [{"Severity": ["Critical"]}]}),
        (200, {}),
        (404, {}),
        (410, {}),
    ],
    "None": [
        (200, {"TaskState": "Cancelling"}),
        (200, {"TaskState": "Interrupted", "PercentComplete": 100}),
        (200, {"TaskState": "Suspended", "EndTime": "2030-01-01T00:00:00Z"}),
        (200, {"TaskState": "Service"}),
        (200, {"TaskState": "Running", "TaskStatus": "Critical"}),
        (200, {**WENT_WELL, "JobState": "Running"}),
        (200, {"TaskState": "Downloading", "PercentComplete": "10"}),
        (200, {"TaskState": "Downloading"}),
        (200, {"TaskState": "Succeeded"}),
        (200, {"TaskState": "Own", "EndTime": "1969-12-31T18:00:00-06:00"}),
        (200, {"TaskState": "Own", "EndTime": "TIME_NA", "PercentComplete": True}),
        (202, {"TaskState": None}),
        (202, {"TaskState": 5, "PercentComplete": None}),
        (200, {"TaskState": None, "PercentComplete": 40}),
        (200, {"@odata.type": "#Task.v1_4_3.Task", "TaskStatus": "OK"}),
        (200, {"JobState": "running"}),
    ],
}


@pytest.mark.difference("words of their own for tasks")
@pytest.mark.parametrize(
    "status, document, end", [(status, document, end) for end, seen in ENDS.items() for status, document in seen]
)
def test_a_task_goes_on_until_something_says_that_it_is_over_and_is_good_by_the_word_of_the_standard_only(
    bmc: HostileBmc, status: int, document: dict[str, Any] | None, end: str
) -> None:
    named = {"Name": "Task", **document} if document else document
    bmc.misbehave = answer_at("/monitor", lambda handler: handler.answer(status, named))
    task = read(on(bmc), "watching", lambda system: read_task(system, "/monitor"))
    assert (task.end.name if task.end else "None") == end
    assert bool(task.text) == (end in ("BAD", "UNSAID"))


@pytest.mark.parametrize("content", [b"", b"{}", b'{"TaskState": "Comp', b"null", b"[]", b'{"Name": "Task"}'])
def test_half_the_document_of_a_task_says_nothing(bmc: HostileBmc, content: bytes) -> None:
    path = "/redfish/v1/TaskService/Tasks/1"
    bmc.misbehave = answer_at(path, lambda handler: handler.send(200, content))
    assert not read(on(bmc), "watching", lambda system: read_task(system, path)).is_over


@pytest.mark.parametrize(
    "messages, text",
    [
        ([{"Message": "No space."}], "No space."),
        ({"Message": "No space."}, "No space."),
        ("No space.", "No space."),
        (["No space.", None, {}, {"Message": None, "MessageId": "Own.1.Full"}], "No space.; Own.1.Full"),
        (None, "the BMC reports state Exception and no reason"),
        ([{"Message": "", "MessageId": 5}], "the BMC reports state Exception and no reason"),
        ([{"Message": "a\n" * 900}], f"{'a ' * 149}a…"),
    ],
)
def test_the_reason_of_a_failed_task_is_quoted(bmc: HostileBmc, messages: Any, text: str) -> None:
    document = {"Name": "Task", "TaskState": "Exception", "Messages": messages}
    bmc.misbehave = answer_at("/monitor", lambda handler: handler.answer(200, document))
    assert read(on(bmc), "watching", lambda system: read_task(system, "/monitor")).text == text


@pytest.mark.parametrize(
    ("document", "end"),
    [
        ({"@odata.id": "/redfish/v1/Systems/1/Storage/1/Volumes/5", "Description": "A volume"}, "GOOD"),
        ({"@odata.id": "/redfish/v1/Systems/1/Storage/1/Volumes/5", "Description": "A volume", "error": None}, "GOOD"),
        ({"Description": "The task"}, "UNSAID"),
        ({"Description": "The task", "error": {"message": "No space."}}, "BAD"),
    ],
)
@pytest.mark.parametrize("notes", [None, [], {}])
def test_what_a_monitor_describes_is_no_message(
    bmc: HostileBmc, document: dict[str, Any], end: str, notes: object
) -> None:
    answered = {**document, "@Message.ExtendedInfo": notes}
    bmc.misbehave = answer_at("/Monitors/7", lambda handler: handler.answer(200, answered))
    task = read(on(bmc), "watching", lambda system: read_task(system, "/Monitors/7"))
    assert task.end is not None and task.end.name == end
