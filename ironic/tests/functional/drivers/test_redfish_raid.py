"""Logical disks through Redfish, at a BMC that works in tasks."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import node_waits, states
from ironic.core.memory.agent_memory import AgentMemory
from ironic.core.values.value_types import utc_now
from ironic.drivers.contract import awaited_setting
from ironic.drivers.contract.step_declarations import StepDone, StepFailed
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.fake import FakeBoot
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.raid import RedfishRAID
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, Handler, hostile_bmc
from ironic.tests.unit.drivers import machine
from ironic.tests.unit.drivers.machine import Work, work_on

STORAGE = f"{SYSTEM}/Storage"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
GIB = 1024**3


@pytest.fixture
def bmc() -> Iterator[Any]:
    with bmc_with_storage() as running:
        yield running


@contextmanager
def bmc_with_storage() -> Iterator[Any]:
    """Run a BMC with two storage controllers; ``in_tasks``: it makes volumes in tasks."""
    with hostile_bmc(PowerState="On", Storage={"@odata.id": STORAGE}) as running:
        bmc: Any = running
        bmc.in_tasks, bmc.orders = False, []
        documents = bmc.documents
        documents[STORAGE] = {"Name": "Storage", "Members": [{"@odata.id": f"{STORAGE}/{name}"} for name in "AB"]}
        for name in "AB":
            paths = [f"{STORAGE}/{name}/Drives/{number}" for number in range(4)]
            documents[f"{STORAGE}/{name}"] = {
                "Id": name,
                "Name": name,
                "Drives": [{"@odata.id": path} for path in paths],
                "Volumes": {"@odata.id": f"{STORAGE}/{name}/Volumes"},
                "StorageControllers": [{"MemberId": "0", "SupportedRAIDTypes": ["RAID0", "RAID1"]}],
            }
            documents[f"{STORAGE}/{name}/Volumes"] = {"Name": "Volumes", "Members": []}
            for number, path in enumerate(paths):
                documents[path] = {
                    "Id": f"{name}{number}",
                    "CapacityBytes": 100 * GIB,
                    "MediaType": "SSD" if name == "B" else "HDD",
                    "Protocol": "SAS",
                }
        bmc.misbehave = lambda handler: _ordered(bmc, handler)
        yield bmc


KEY = "raid_configs"


def _ordered(bmc: Any, handler: Handler) -> bool:
    """Make or delete a volume."""
    path = handler.path.rstrip("/")
    if handler.command not in ("POST", "DELETE") or not path.startswith(STORAGE):
        return False
    body = json.loads(handler.content) if handler.content else None
    bmc.orders.append((handler.command, path, body))
    headers = {}
    if bmc.in_tasks:
        task = f"/redfish/v1/TaskService/Tasks/{len(bmc.orders)}"
        bmc.documents[task] = {"Id": "1", "Name": "RAID", "TaskState": "Running"}
        headers["Location"] = task
        handler.answer(202, {"@odata.id": task}, headers)
    else:
        handler.answer(204 if handler.command == "DELETE" else 200, {} if handler.command == "POST" else None)
    _apply(bmc, handler.command, path, body)
    return True


def _apply(bmc: Any, method: str, path: str, body: Any) -> None:
    collection = path if method == "POST" else path.rpartition("/")[0]
    members = bmc.documents[collection]["Members"]
    if method == "DELETE":
        members[:] = [member for member in members if member["@odata.id"] != path]
        return
    made = f"{collection}/{len(bmc.orders)}"
    bmc.documents[made] = {"Id": str(len(bmc.orders)), "Name": "volume", **body}
    members.append({"@odata.id": made})


def end_tasks(bmc: Any, state: str = "Completed", **more: Any) -> None:
    for path, document in bmc.documents.items():
        if "/Tasks/" in path:
            document.update({"TaskState": state, **more})


def volume_on(bmc: Any, controller: str, *drives: int) -> str:
    paths = [f"{STORAGE}/{controller}/Drives/{number}" for number in drives]
    body = {"RAIDType": "RAID1", "CapacityBytes": GIB, "Links": {"Drives": [{"@odata.id": path} for path in paths]}}
    _apply(bmc, "POST", f"{STORAGE}/{controller}/Volumes", body)
    made: str = bmc.documents[f"{STORAGE}/{controller}/Volumes"]["Members"][-1]["@odata.id"]
    return made


def on(bmc: Any, *disks: dict[str, Any]) -> Work:
    task = work_on(
        driver_info=bmc.driver_info(),
        provision_state=states.CLEANING,
        power_state=states.POWER_ON,
        target_raid_config={"logical_disks": list(disks)} if disks else {},
    )
    task.driver = BareDriver({"raid": RedfishRAID(), "power": RedfishPower()})
    return task


def look(task: Work) -> Any:
    task.node.provision_state = states.CLEANWAIT
    return machine.look(task, RedfishRAID(), KEY)


def mirror(size: int = 50, **more: Any) -> dict[str, Any]:
    return {"raid_level": "1", "size_gb": size, **more}


def test_volumes_are_made_at_once_where_the_bmc_does_so(bmc: Any) -> None:
    task = on(bmc, mirror(volume_name="root", is_root_volume=True), mirror(20, disk_type="ssd"))
    assert RedfishRAID().create_configuration(task) is None
    assert [(method, path) for method, path, _ in bmc.orders] == [
        ("POST", f"{STORAGE}/A/Volumes"),
        ("POST", f"{STORAGE}/B/Volumes"),
    ]
    assert bmc.orders[0][2] == {
        "RAIDType": "RAID1",
        "Name": "root",
        "CapacityBytes": 50 * GIB,
        "Links": {"Drives": [{"@odata.id": f"{STORAGE}/A/Drives/{number}"} for number in range(2)]},
    }
    found = task.node.saved["raid_config"]
    assert [(disk["controller"], disk["size_gb"], disk["raid_level"]) for disk in found["logical_disks"]] == [
        ("A", 50, "1"),
        ("B", 20, "1"),
    ]
    assert found["last_updated"]
    assert task.node.properties == {"local_gb": 50, "capabilities": "raid_level:1"}
    assert not node_waits.is_open(task.node, KEY)


@pytest.mark.parametrize("root, others, made", [(True, False, ["root"]), (False, True, ["data"]), (True, True, None)])
def test_root_and_other_volumes_can_be_left_out(bmc: Any, root: bool, others: bool, made: list[str] | None) -> None:
    task = on(bmc, mirror(volume_name="root", is_root_volume=True), mirror(volume_name="data"))
    RedfishRAID().create_configuration(task, create_root_volume=root, create_nonroot_volumes=others)
    assert [body["Name"] for _, _, body in bmc.orders] == (made or ["root", "data"])


def test_each_controller_works_on_one_task_and_nothing_is_held(bmc: Any) -> None:
    bmc.in_tasks = True
    task = on(bmc, mirror(), mirror(), mirror(disk_type="ssd"))
    assert RedfishRAID().create_configuration(task) == states.CLEANWAIT
    assert [path for _, path, _ in bmc.orders] == [f"{STORAGE}/A/Volumes", f"{STORAGE}/B/Volumes"]
    assert look(task) is None
    assert len(bmc.orders) == 2
    end_tasks(bmc)
    assert look(task) is None
    assert [path for _, path, _ in bmc.orders][2:] == [f"{STORAGE}/A/Volumes"]
    end_tasks(bmc)
    assert look(task) == StepDone()
    assert len(task.node.saved["raid_config"]["logical_disks"]) == 3
    assert not node_waits.is_open(task.node, KEY)
    assert bmc.count("POST", RESET) == 0


def test_a_bmc_that_does_not_show_the_disks_yet_is_looked_at_again(bmc: Any) -> None:
    bmc.in_tasks = True
    task = on(bmc, mirror())
    RedfishRAID().create_configuration(task)
    end_tasks(bmc)
    usual = bmc.misbehave

    def misbehave(handler: Handler) -> bool:
        is_restarting = handler.path.endswith("/Volumes")
        if is_restarting:
            handler.answer(503, {"error": {"message": "not yet"}})
        return is_restarting

    bmc.misbehave = misbehave
    assert look(task) is None
    bmc.misbehave = usual
    assert look(task) == StepDone()
    assert len(task.node.saved["raid_config"]["logical_disks"]) == 1


def test_changes_that_need_a_restart_get_it(bmc: Any) -> None:
    bmc.in_tasks = True
    for name in "AB":
        support = {"SupportedValues": ["OnReset"]}
        bmc.documents[f"{STORAGE}/{name}/Volumes"]["@Redfish.OperationApplyTimeSupport"] = support
    task = on(bmc, mirror())
    RedfishRAID().create_configuration(task)
    assert bmc.orders[0][2]["@Redfish.OperationApplyTime"] == "OnReset"
    assert bmc.count("POST", RESET) == 2, "off and on"
    end_tasks(bmc)
    assert look(task) == StepDone()


@pytest.mark.difference("time of a change refused")
@pytest.mark.parametrize(
    "status, text",
    [(500, "SYS029: the property @Redfish.OperationApplyTime is not supported."), (400, "OperationApplyTime: unknown")],
)
def test_a_time_of_a_change_that_is_refused_is_left_out(bmc: Any, status: int, text: str) -> None:
    support = {"SupportedValues": ["Immediate"]}
    bmc.documents[f"{STORAGE}/A/Volumes"]["@Redfish.OperationApplyTimeSupport"] = support
    usual, sent = bmc.misbehave, list[tuple[str, bool]]()

    def misbehave(handler: Handler) -> bool:
        if handler.command not in ("POST", "DELETE"):
            return bool(usual(handler))
        is_refused = b"OperationApplyTime" in handler.content
        sent.append((handler.command, is_refused))
        if is_refused:
            handler.answer(status, {"error": {"message": text}})
        return is_refused or bool(usual(handler))

    bmc.misbehave = misbehave
    task = on(bmc, mirror())
    RedfishRAID().create_configuration(task)
    RedfishRAID().delete_configuration(task)
    assert sent == [("POST", True), ("POST", False), ("DELETE", True), ("DELETE", False)]
    assert task.node.raid_config["logical_disks"] == []


def test_another_refusal_of_a_change_with_a_time_is_an_error(bmc: Any) -> None:
    support = {"SupportedValues": ["Immediate"]}
    bmc.documents[f"{STORAGE}/A/Volumes"]["@Redfish.OperationApplyTimeSupport"] = support
    usual, sent = bmc.misbehave, list[bytes]()

    def misbehave(handler: Handler) -> bool:
        if handler.command == "POST":
            sent.append(handler.content)
            handler.answer(500, {"error": {"message": "No space."}})
        return handler.command == "POST" or bool(usual(handler))

    bmc.misbehave = misbehave
    with pytest.raises(RedfishError, match="No space"):
        RedfishRAID().create_configuration(on(bmc, mirror()))
    assert len(sent) == 1


def test_a_failed_task_fails_the_step(bmc: Any) -> None:
    bmc.in_tasks = True
    task = on(bmc, mirror())
    RedfishRAID().create_configuration(task)
    end_tasks(bmc, "Exception", Messages=[{"Message": "Drive 0 is foreign"}])
    end = look(task)
    assert isinstance(end, StepFailed)
    assert "Drive 0 is foreign" in end.reason
    assert not node_waits.is_open(task.node, KEY)


def test_volumes_are_deleted_on_every_controller(bmc: Any) -> None:
    volumes = [volume_on(bmc, "A", 0, 1), volume_on(bmc, "B", 0, 1)]
    del bmc.documents[f"{STORAGE}/B"]["Volumes"]
    bmc.documents[f"{STORAGE}/B"]["StorageControllers"][0]["SupportedRAIDTypes"] = []
    task = on(bmc)
    assert RedfishRAID().delete_configuration(task) is None
    assert [(method, path) for method, path, _ in bmc.orders] == [("DELETE", volumes[0])]
    assert task.node.saved["raid_config"]["logical_disks"] == []


def test_existing_volumes_keep_their_drives(bmc: Any) -> None:
    volume_on(bmc, "A", 0, 1)
    RedfishRAID().create_configuration(on(bmc, mirror(controller="A")))
    drives = [drive["@odata.id"] for drive in bmc.orders[0][2]["Links"]["Drives"]]
    assert drives == [f"{STORAGE}/A/Drives/2", f"{STORAGE}/A/Drives/3"]


def test_existing_volumes_are_deleted_first_where_that_is_wanted(bmc: Any) -> None:
    bmc.in_tasks = True
    old = volume_on(bmc, "A", 0, 1)
    task = on(bmc, mirror(controller="A", physical_disks=["A0", "A1"]))
    RedfishRAID().create_configuration(task, delete_existing=True)
    end_tasks(bmc)
    assert look(task) is None
    assert [(method, path) for method, path, _ in bmc.orders] == [("DELETE", old), ("POST", f"{STORAGE}/A/Volumes")]
    end_tasks(bmc)
    assert look(task) == StepDone()


def test_a_conductor_that_died_while_it_gave_orders_fails_the_step(bmc: Any) -> None:
    bmc.in_tasks = True
    task = on(bmc, mirror())
    RedfishRAID().create_configuration(task)
    machine.remember(task, KEY, sending=True)
    end = look(task)
    assert isinstance(end, StepFailed)
    assert "check which of them" in end.reason
    assert len(bmc.orders) == 1


def test_a_target_is_needed_and_checked(bmc: Any) -> None:
    with pytest.raises(MissingParameterValue):
        RedfishRAID().create_configuration(on(bmc))
    with pytest.raises(InvalidParameterValue, match="sas or sata"):
        RedfishRAID().create_configuration(on(bmc, mirror(interface_type="scsi")))
    with pytest.raises(InvalidParameterValue, match="does not fit"):
        RedfishRAID().create_configuration(on(bmc, mirror(5000)))
    assert bmc.orders == []


def test_a_refused_volume_is_an_error_that_leaves_no_wait(bmc: Any) -> None:
    bmc.misbehave = lambda handler: handler.command == "POST" and (handler.answer(400, {}) or True)
    task = on(bmc, mirror())
    with pytest.raises(RedfishError, match="400"):
        RedfishRAID().create_configuration(task)
    assert not node_waits.is_open(task.node, KEY)


def test_controllers_that_make_no_volumes_are_left_alone(bmc: Any) -> None:
    bmc.documents[f"{STORAGE}/A"]["StorageControllers"][0]["SupportedRAIDTypes"] = []
    RedfishRAID().create_configuration(on(bmc, mirror()))
    assert [path for _, path, _ in bmc.orders] == [f"{STORAGE}/B/Volumes"]


def test_applying_stores_the_target_and_makes_the_root_volume_only(bmc: Any) -> None:
    task = on(bmc)
    config: dict[str, Any] = {
        "logical_disks": [mirror(is_root_volume=True, volume_name="root"), mirror(volume_name="data")]
    }
    assert RedfishRAID().apply_configuration(task, config) is None
    assert task.node.saved["target_raid_config"] == config
    assert [body["Name"] for _, _, body in bmc.orders] == ["root"]


class BootAfterASetting(FakeBoot):
    """Boots the ramdisk only with a setting that takes effect by a restart."""

    def __init__(self) -> None:
        self.is_set, self.prepared = False, 0

    def prepare_ramdisk(self, task: Any, ramdisk_params: Any) -> None:
        if not self.is_set:
            awaited_setting.suspend(task, "secure_boot", False, 60)
            raise AssertionError("the step waits by itself")
        self.prepared += 1


def test_the_agent_is_booted_at_the_end_where_a_setting_is_awaited_before(bmc: Any, conf: Any) -> None:
    conf(service_catalog__endpoint_override="http://127.0.0.1:9")
    bmc.in_tasks = True
    bmc.documents[f"{STORAGE}/A/Volumes"]["@Redfish.OperationApplyTimeSupport"] = {"SupportedValues": ["OnReset"]}
    task = on(bmc, mirror(controller="A"), mirror(controller="A"))
    boot = BootAfterASetting()
    task.driver = BareDriver({"raid": RedfishRAID(), "power": RedfishPower(), "boot": boot})
    agent = AgentMemory(task.node)
    agent.record({"callback_url": "http://127.0.0.1:9", "agent_version": "11"})
    assert RedfishRAID().create_configuration(task) == states.CLEANWAIT
    assert bmc.count("POST", RESET) == 2, "off and on, for the setting and the disks"
    end_tasks(bmc)
    assert look(task) is None
    assert bmc.count("POST", RESET) == 4, "the second disk needs a restart of its own, and the setting is not seen yet"
    end_tasks(bmc)
    assert look(task) is None, "the disks are made, the setting is awaited"
    assert bmc.count("POST", RESET) == 4
    boot.is_set = True
    node_waits.end(task.node, awaited_setting.KIND)
    task.node.save()
    assert look(task) is None
    assert (boot.prepared, bmc.count("POST", RESET)) == (1, 6)
    assert look(task) is None, "the agent has not reported"
    agent = AgentMemory(task.node)
    agent.record({"callback_url": "http://127.0.0.1:9", "agent_version": "11"})
    agent.record_contact(utc_now() + timedelta(seconds=1))
    task.node.save()
    assert look(task) == StepDone()
    assert (boot.prepared, len(bmc.orders)) == (1, 2)


def dead(bmc: Any, path: str, status: int = 500) -> None:
    usual = bmc.misbehave

    def misbehave(handler: Handler) -> bool:
        is_dead = handler.path.rstrip("/") == path
        if is_dead:
            handler.answer(status, {"error": {"message": "The controller does not answer."}})
        return is_dead or usual(handler)

    bmc.misbehave = misbehave


@pytest.mark.parametrize("what", ["", "/Volumes", "/Volumes/1"])
def test_nothing_is_deleted_while_a_volume_can_not_be_read(bmc: Any, what: str) -> None:
    volume_on(bmc, "A", 0, 1)
    bmc.documents[f"{STORAGE}/B/Volumes"]["Members"] = [{"@odata.id": f"{STORAGE}/B/Volumes/1"}]
    dead(bmc, f"{STORAGE}/B{what}")
    with pytest.raises(RedfishError, match="The controller does not answer"):
        RedfishRAID().delete_configuration(on(bmc))
    with pytest.raises(RedfishError, match="The controller does not answer"):
        RedfishRAID().create_configuration(on(bmc, mirror()), delete_existing=True)
    assert bmc.orders == []


def test_nothing_is_deleted_while_a_page_of_volumes_is_missing(bmc: Any) -> None:
    volume_on(bmc, "A", 0, 1)
    bmc.documents[f"{STORAGE}/A/Volumes"]["Members@odata.nextLink"] = f"{STORAGE}/A/Volumes/page2"
    with pytest.raises(RedfishError, match="is incomplete"):
        RedfishRAID().delete_configuration(on(bmc))
    assert bmc.orders == []


@pytest.mark.parametrize("what", ["", "/Volumes"])
def test_volumes_are_made_on_a_controller_beside_a_dead_one_if_they_name_it(bmc: Any, what: str) -> None:
    dead(bmc, f"{STORAGE}/A{what}")
    with pytest.raises(RedfishError, match="is incomplete"):
        RedfishRAID().create_configuration(on(bmc, mirror()))
    assert bmc.orders == []
    task = on(bmc, {**mirror(), "controller": "B"})
    before: dict[str, Any] = {"logical_disks": []}
    task.node.raid_config = before
    assert RedfishRAID().create_configuration(task) is None
    assert [path for _method, path, _body in bmc.orders] == [f"{STORAGE}/B/Volumes"]
    # Those of the other controller are not known, so the list is not stored.
    assert task.node.raid_config == before


@pytest.mark.parametrize("size", [None, 0, -1, "10 GB"])
def test_a_list_of_logical_disks_without_their_sizes_is_not_stored(bmc: Any, size: Any) -> None:
    made = volume_on(bmc, "B", 0, 1)
    bmc.documents[made]["CapacityBytes"] = size
    task = on(bmc, {**mirror(), "controller": "A"})
    before: dict[str, Any] = {"logical_disks": []}
    task.node.raid_config = before
    assert RedfishRAID().create_configuration(task) is None
    assert task.node.raid_config == before


@pytest.mark.difference("null for no members")
def test_volumes_that_are_null_are_not_none(bmc: Any) -> None:
    for name in "AB":
        bmc.documents[f"{STORAGE}/{name}/Volumes"]["Members"] = None
    with pytest.raises(RedfishError, match="Members is null"):
        RedfishRAID().delete_configuration(on(bmc))
    assert bmc.orders == []
