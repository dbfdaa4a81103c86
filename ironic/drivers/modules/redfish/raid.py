"""RAID interface `redfish`: logical disks are volumes of the BMC's storage controllers.

A controller takes one change after another, some only when the machine starts. What remains to be done is stored with
the node, and a periodic method continues when the tasks of the BMC have ended. A failed task fails the step.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import sushy

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import node_waits
from ironic.core.flows.node_waits import NodeWait
from ironic.core.memory import own_values
from ironic.core.readings import Seen, Whole
from ironic.drivers.contract.interfaces import RAIDInterface
from ironic.drivers.contract.interfaces.raid import RAID_APPLY_CONFIGURATION_ARGSINFO
from ironic.drivers.contract.step_declarations import StepDone, StepFailed, clean_step, deploy_step, service_step
from ironic.drivers.contract.task import Task
from ironic.drivers.contract.wait_declarations import looks
from ironic.drivers.contract.waits import Ended
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.orders import raid_layout
from ironic.drivers.modules.redfish.orders.bmc_tasks import read_task, task_begun_by
from ironic.drivers.modules.redfish.orders.raid_layout import GIB, LEVEL_OF, NewVolume
from ironic.drivers.modules.redfish.orders.raid_volumes import RaidChange, not_carried_out
from ironic.drivers.modules.redfish.orders.restarts import check_restart
from ironic.drivers.modules.redfish.orders.stored_changes import is_stored_soon
from ironic.drivers.modules.redfish.orders.waiting_step import BmcStep, Verdict
from ironic.drivers.modules.redfish.tree.members import has_link
from ironic.drivers.modules.redfish.tree.storages import (
    Drive,
    LogicalDisk,
    VolumesPlace,
    drives_of,
    logical_disks,
    paths_at,
    storages_of,
    volume_paths,
    volumes_place,
)
from ironic.drivers.modules.redfish.tree.task_ends import End
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES
from ironic.drivers.modules.redfish.wire.bmc_answer import BmcAnswer
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of
from ironic.drivers.modules.redfish.wire.differences import Behaviour
from ironic.drivers.modules.redfish.wire.forms import Forms, in_one_form
from ironic.drivers.modules.redfish.wire.quirks import shows
from ironic.drivers.nodes import node_attributes

LOG = logging.getLogger(__name__)

_CHANGE: Final = BmcStep("raid_configs", "raid", RaidChange)

_DELETE: Final = {"description": "Whether to delete the logical disks that are there; false if left out."}
_CREATE_ARGSINFO: Final = {
    "create_root_volume": RAID_APPLY_CONFIGURATION_ARGSINFO["create_root_volume"],
    "create_nonroot_volumes": RAID_APPLY_CONFIGURATION_ARGSINFO["create_nonroot_volumes"],
    "delete_existing": _DELETE,
}
_APPLY_ARGSINFO: Final = {
    **RAID_APPLY_CONFIGURATION_ARGSINFO,
    "create_nonroot_volumes": {"description": "Whether to create the other logical disks; false if left out."},
    "delete_existing": _DELETE,
}
_OPERATIONS: Final = {"create": "creating logical disks", "delete": "deleting logical disks"}
_SCSI: Final = "scsi"
_WHEN: Final = "@Redfish.OperationApplyTime"


class RedfishRAID(RAIDInterface):
    """Creates and deletes volumes through Redfish."""

    survey = SURVEY
    is_needed = False

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate_raid_config(self, task: Task, raid_config: dict[str, Any]) -> None:
        super().validate_raid_config(task, raid_config)
        if any(disk.get("interface_type") == _SCSI for disk in raid_config["logical_disks"]):
            raise InvalidParameterValue(
                err=f"The RAID configuration for node {task.node.uuid} is wrong: interface_type can be sas or sata."
            )

    def lacks(self, system: System) -> str | None:
        if has_link(system, "Storage"):
            return None
        return "no storage controllers (Storage); choose RAID interface agent or no-raid"

    @clean_step(priority=0, argsinfo=_CREATE_ARGSINFO)
    def create_configuration(
        self,
        task: Task,
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = True,
        delete_existing: bool = False,
    ) -> str | None:
        """Create the logical disks of the target configuration, after deleting all others with ``delete_existing``."""
        node = task.node
        if not node.target_raid_config:
            raise MissingParameterValue(err=f"Node {node.uuid} has no target RAID configuration to create.")
        self.validate_raid_config(task, node.target_raid_config)
        selected = {True: create_root_volume, False: create_nonroot_volumes}
        wanted = [
            disk for disk in node.target_raid_config["logical_disks"] if selected[bool(disk.get("is_root_volume"))]
        ]

        given_controllers = [disk.get("controller") for disk in wanted]
        chosen = {str(one) for one in given_controllers} if all(given_controllers) else set[str]()

        def look(system: System) -> tuple[Seen[Drive], Whole[Mapping[str, str]], Whole[str]]:
            drives = drives_of(system, chosen, with_used=not delete_existing)
            present = volume_paths(system) if delete_existing else Whole[Mapping[str, str]]()
            controllers = {drive.controller for drive in drives.items} | {item["controller"] for item in present}
            return drives, present, paths_at(system, controllers)

        drives, present, before = read(task, "reading the drives", look, anew=True)
        volumes = [volume.as_dict() for volume in _plan(wanted, drives)]
        return _begin(task, RaidChange.creating(volumes, before, instead_of=present))

    @clean_step(priority=0)
    @deploy_step(priority=0)
    @service_step(priority=0)
    def delete_configuration(self, task: Task) -> str | None:
        present = read(task, "reading the volumes", volume_paths, anew=True)
        return _begin(task, RaidChange.deleting(present))

    @deploy_step(priority=0, argsinfo=_APPLY_ARGSINFO)
    @service_step(priority=0, argsinfo=_APPLY_ARGSINFO)
    def apply_configuration(
        self,
        task: Task,
        raid_config: dict[str, object],
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = False,
        delete_existing: bool = False,
    ) -> str | None:
        return super().apply_configuration(
            task,
            raid_config,
            create_root_volume=create_root_volume,
            create_nonroot_volumes=create_nonroot_volumes,
            delete_existing=delete_existing,
        )

    @looks(_CHANGE.kind, interval=lambda: CONF.redfish.raid_config_status_interval)
    def look_at_raid_configuration(self, task: Task, wait: NodeWait) -> Ended | None:
        """Continue the changes of a node; return how they have ended."""
        return _CHANGE.look(task, wait, _judge)


# The changes, one after another on each controller


def _begin(task: Task, work: RaidChange) -> str | None:
    """Order the first changes; return the waiting state, or None when the BMC has done all at once."""
    controllers = sorted({str(item["controller"]) for item in (*work.delete, *work.create)})
    work = replace(work, controllers=controllers)
    if controllers:
        times = read(task, "reading when changes of logical disks apply", partial(_apply_times, names=controllers))
        if sushy.ApplyTime.ON_RESET in times:
            check_restart(task, _OPERATIONS[work.operation])
    try:
        work = _send(task, work)
    except Exception:
        node_waits.end(task.node, _CHANGE.kind)
        task.node.save()
        raise
    if work.tasks:
        _wait(task, work)
        return _CHANGE.begin(task, f"the BMC to {work.operation} logical disks")
    node_waits.end(task.node, _CHANGE.kind)
    if (fault := _fault_afterwards(task, work)) is not None:
        raise RedfishError(node=task.node.uuid, operation=_OPERATIONS[work.operation], error=fault)
    _store(task, _logical_disks_now(task, controllers))
    return None


def _fault_afterwards(task: Task, work: RaidChange) -> str | None:
    """Return what of the changes the BMC does not show, None when it shows all of them, now or a little later."""
    fault: list[str | None] = []

    def is_carried_out() -> bool:
        fault[:] = [read(task, "reading the volumes", lambda system: not_carried_out(system, work), anew=True)]
        return fault == [None]

    is_stored_soon(is_carried_out)
    return fault[0]


def _wait(task: Task, work: RaidChange) -> None:
    (_CHANGE.restart if work.restarts else _CHANGE.remember)(task, replace(work, restarts=False))


def _send(task: Task, known: RaidChange) -> RaidChange:
    """Order changes until each controller has a task or nothing is left; volumes are deleted before others are made."""
    # What is known of orders is stored before them: a conductor that takes over does not give them twice.
    _CHANGE.remember(task, replace(known, sending=True))
    rest: dict[str, list[Any]] = {"delete": list(known.delete), "create": list(known.create)}
    tasks: list[str] = []
    restarts = False

    def act(system: System) -> None:
        nonlocal restarts
        storages = storages_of(system, {item["controller"] for items in rest.values() for item in items})
        kind = "delete" if rest["delete"] else "create"
        busy: set[str] = set()
        for item in list(rest[kind]):
            controller = item["controller"]
            if controller in busy:
                continue
            storage = storages.get(controller)
            if storage is None:
                raise UnusableAnswer(f"its storage {controller}, whose logical disks are to be changed, can't be read")
            place = volumes_place(storage)
            order = _delete if kind == "delete" else _create
            monitor = order(system, item, place)
            rest[kind].remove(item)
            if monitor is not None:
                busy.add(controller)
                tasks.append(monitor)
                restarts = restarts or place.when is sushy.ApplyTime.ON_RESET

    while (rest["delete"] or rest["create"]) and not tasks:
        change(task, "changing the logical disks", act)
    return replace(known, delete=rest["delete"], create=rest["create"], tasks=tasks, restarts=restarts, sending=False)


def _judge(task: Task, known: RaidChange) -> Verdict[RaidChange]:
    if known.sending:
        return StepFailed(
            "the conductor ended while it ordered a change of logical disks; check which of them there are"
        )

    def states(system: System) -> list[Any]:
        return [read_task(system, uri) for uri in known.tasks]

    found = read(task, "watching a change of logical disks", states, anew=True)
    # A task that says nothing may have done its work, which the volumes show.
    unsaid = [state for state in found if state.end is End.UNSAID and not state.word]
    if failed := [state.text for state in found if state.is_over and not state.is_good and state not in unsaid]:
        return StepFailed(f"the logical disks could not be changed: {'; '.join(failed)}")
    if not all(state.is_over for state in found):
        return None
    work = replace(known, unsaid=[*known.unsaid, *(state.text for state in unsaid)])
    if work.delete or work.create:
        return lambda task, _: _continue(task, work)
    if work.restarted_at and not work.has_booted(task.node):
        return None
    if (fault := _fault_afterwards(task, work)) is not None:
        return StepFailed("; ".join(("the logical disks could not be changed", fault, *work.unsaid)))
    disks = _logical_disks_now(task, work.controllers)

    def finish(task: Task, _: RaidChange) -> Ended:
        _store(task, disks)
        return StepDone()

    return finish


def _continue(task: Task, work: RaidChange) -> Ended | None:
    work = _send(task, work)
    if work.tasks:
        _wait(task, work)
    else:
        _CHANGE.remember(task, work)  # the next look finds the end
    return None


def _create(system: System, item: Mapping[str, Any], place: VolumesPlace) -> str | None:
    """Order a volume; return the monitor of the BMC's task, None when it is made.

    The library would fail when the BMC does not show a new volume at once.
    """
    payload: dict[str, Any] = {
        "RAIDType": item["raid_type"],
        "Links": {"Drives": [{"@odata.id": path} for path in item["drives"]]},
    }
    if item["size"] is not None:
        payload["CapacityBytes"] = item["size"]
    if item["name"]:
        payload["Name"] = item["name"]
    if place.when is not None:
        payload[_WHEN] = place.when.value
    return task_begun_by(_sent(partial(connector_of(system).post, place.path), payload))


def _delete(system: System, item: Mapping[str, Any], place: VolumesPlace) -> str | None:
    payload = {} if place.when is None else {_WHEN: place.when.value}
    return task_begun_by(_sent(partial(connector_of(system).delete, item["path"]), payload))


def _sent(send: Callable[..., BmcAnswer], payload: dict[str, Any]) -> BmcAnswer:
    """Send an order, without a time where the BMC offers times and refuses them."""
    return in_one_form(_with_or_without_time(payload), lambda body: send(data=body or None))


def _with_or_without_time(payload: dict[str, Any]) -> Forms[dict[str, Any]]:
    error = yield payload
    if _WHEN in payload and shows(error, Behaviour.REFUSES_APPLY_TIME):
        yield {name: value for name, value in payload.items() if name != _WHEN}


def _apply_times(system: System, names: Collection[str]) -> list[object]:
    """Return when changes of the logical disks of these controllers apply."""
    return [volumes_place(storage).when for storage in storages_of(system, names).values()]


# Reading


def _plan(wanted: Sequence[Mapping[str, Any]], drives: Seen[Drive]) -> list[NewVolume]:
    """Return the volumes to make; an error that they do not fit says which drives were left out."""
    try:
        return raid_layout.plan(wanted, drives.items)
    except InvalidParameterValue as error:
        if not drives.missing:
            raise
        reason = "; ".join(drives.missing)
        raise InvalidParameterValue(
            err=f"{error} Drives are left out, as their state is not known: {reason}."
        ) from error


def _logical_disks_now(task: Task, changed: Collection[str]) -> Whole[LogicalDisk] | None:
    return read(task, "reading the logical disks", lambda system: logical_disks(system, changed), anew=True)


def _store(task: Task, found: Whole[LogicalDisk] | None) -> None:
    """Store the logical disks of a node; a root volume becomes that of the node's properties."""
    node = task.node
    if found is None:
        LOG.warning(
            "Node %s: raid_config stays as it was: not all controllers show their logical disks and the sizes of them",
            node.uuid,
        )
        node.save()
        return
    node.raid_config = {
        "logical_disks": [
            {
                "id": disk.id,
                "name": disk.name,
                "controller": disk.controller,
                "size_gb": disk.size // GIB,
                "raid_level": _level_of(disk),
            }
            for disk in found
        ],
        "last_updated": task.clock.now().isoformat(),
    }
    wanted = (node.target_raid_config or {}).get("logical_disks", ())
    root: dict[str, object] = next((disk for disk in wanted if disk.get("is_root_volume")), {})
    made = next((disk for disk in found if root.get("volume_name") and disk.name == root["volume_name"]), None)
    own_values.take_back(node, "properties")
    if made is not None:
        own_values.write(node, "properties", "local_gb", made.size // GIB)
        node_attributes.lend_capability(node, "raid_level", _level_of(made))
    node.save()


def _level_of(disk: LogicalDisk) -> str:
    return LEVEL_OF.get(disk.raid_type, disk.raid_type)
