"""RAID interface `redfish`: logical disks are volumes of the BMC's storage controllers.

A controller takes one change after another, some only when the machine starts. What remains to be done is stored with
the node, and a periodic method continues when the tasks of the BMC have ended. A failed task fails the step.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
from ironic.drivers.modules.redfish.orders import raid_layout
from ironic.drivers.modules.redfish.orders.bmc_tasks import read_task, task_begun_by
from ironic.drivers.modules.redfish.orders.raid_layout import GIB, LEVEL_OF, Drive, NewVolume
from ironic.drivers.modules.redfish.orders.raid_volumes import (
    RaidChange,
    logical_disks_of,
    named,
    not_carried_out,
    paths_at,
    raid_type,
    storages_of,
    volume_paths,
)
from ironic.drivers.modules.redfish.orders.resets import check_restart
from ironic.drivers.modules.redfish.orders.stored_changes import is_stored_soon
from ironic.drivers.modules.redfish.orders.waiting_step import BmcStep, Verdict
from ironic.drivers.modules.redfish.tree.bmc_survey import SURVEY, has_link
from ironic.drivers.modules.redfish.tree.certainty import Resource, Uncertain, leads_to, whole_links
from ironic.drivers.modules.redfish.tree.members import (
    is_there,
    linked,
    plain_path,
    seen_drives,
    seen_members,
    whole_members,
)
from ironic.drivers.modules.redfish.tree.task_ends import End
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES
from ironic.drivers.modules.redfish.wire.bmc_answer import BmcAnswer, UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_connection import System, change, connector_of, read
from ironic.drivers.modules.redfish.wire.differences import Behaviour
from ironic.drivers.modules.redfish.wire.document_repair import fault_at
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
_RAW: Final = "RawDevice"


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
            drives = _drives(system, chosen, with_used=not delete_existing)
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
    _store(task, _logical_disks(task, controllers))
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
            volumes = storage.volumes
            when = _apply_time(volumes)
            monitor = _delete(system, item, when) if kind == "delete" else _create(system, volumes, item, when)
            rest[kind].remove(item)
            if monitor is not None:
                busy.add(controller)
                tasks.append(monitor)
                restarts = restarts or when is sushy.ApplyTime.ON_RESET

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
    disks = _logical_disks(task, work.controllers)

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


def _create(system: System, volumes: Any, item: Mapping[str, Any], when: Any) -> str | None:
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
    if when is not None:
        payload[_WHEN] = when.value
    return task_begun_by(_sent(partial(connector_of(system).post, volumes.path), payload))


def _delete(system: System, item: Mapping[str, Any], when: Any) -> str | None:
    payload = {} if when is None else {_WHEN: when.value}
    return task_begun_by(_sent(partial(connector_of(system).delete, item["path"]), payload))


def _sent(send: Callable[..., BmcAnswer], payload: dict[str, Any]) -> BmcAnswer:
    """Send an order, without a time where the BMC offers times and refuses them."""
    return in_one_form(_with_or_without_time(payload), lambda body: send(data=body or None))


def _with_or_without_time(payload: dict[str, Any]) -> Forms[dict[str, Any]]:
    error = yield payload
    if _WHEN in payload and shows(error, Behaviour.REFUSES_APPLY_TIME):
        yield {name: value for name, value in payload.items() if name != _WHEN}


def _apply_times(system: System, names: Collection[str]) -> list[object]:
    """Return when changes of the logical disks of these controllers apply, as `_apply_time` does."""
    return [_apply_time(storage.volumes) for storage in storages_of(system, names).values()]


def _apply_time(volumes: Any) -> Any:
    support = volumes.operation_apply_time_support
    values = support.mapped_supported_values if support is not None else []
    for when in (sushy.ApplyTime.IMMEDIATE, sushy.ApplyTime.ON_RESET):
        if when in values:
            return when
    return None


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


def _drives(system: System, controllers: Collection[str], *, with_used: bool) -> Seen[Drive]:
    """Return the drives of controllers that can make volumes, and which drives can't be read or may be in use.

    With names of ``controllers`` these must be whole, without any all of them: raise Uncertain else.
    """
    drives, missing = list[Drive](), list[str]()
    for name, storage in storages_of(system, controllers).items():
        seen = _drives_at(name, storage, with_used=with_used)
        drives += seen.items
        missing += seen.missing
    return Seen(drives, missing)


def _drives_at(name: str, storage: Any, *, with_used: bool) -> Seen[Drive]:
    if not _makes_volumes(storage):
        return Seen()
    seen = seen_drives(storage)
    drives = [drive for drive in seen.items if is_there(drive) and (drive.capacity_bytes or 0) > 0]
    used = _used(storage, drives) if with_used else set()
    faults = {plain_path(drive.path): fault for drive in drives if with_used and (fault := _volumes_fault(drive))}
    found = [
        Drive(
            drive.path,
            drive.identity,
            name,
            int(drive.capacity_bytes),
            kind=str(getattr(drive.media_type, "value", drive.media_type) or ""),
            protocol=str(getattr(drive.protocol, "value", drive.protocol) or ""),
            used=plain_path(drive.path) in used | faults.keys(),
        )
        for drive in drives
    ]
    return Seen(found, (*seen.missing, *faults.values()))


def _used(storage: Any, drives: Iterable[Resource]) -> set[str]:
    """Return the paths of the drives in use, in the form of `plain_path`.

    A volume names its drives, or they name it. Where neither is so, each of them may be in use: raise Uncertain.
    """
    used, raw = set[str](), set[str]()
    for volume in whole_members(storage, "volumes"):
        # An odd level is no level, and what is recorded after the order needs it.
        level = raid_type(volume)
        # A list that is null says nothing, and drives may name the volume then.
        is_said = fault_at(volume.json, "Links") is None and "Drives" in volume.json.get("Links", {})
        own = set(map(plain_path, whole_links(volume, "Drives"))) if is_said else set()
        own |= {
            plain_path(drive.path)
            for drive in drives
            if plain_path(volume.path) in map(plain_path, (linked if own else whole_links)(drive, "Volumes"))
        }
        # One drive as it is, which BMCs show as a volume, too, can be used.
        is_raw = volume.json.get("VolumeType") == _RAW and not level and len(own) < 2
        if not is_raw and not own & set(map(plain_path, storage.drives_identities or own)):
            raise Uncertain(volume.path, "it does not show which drives of its controller it has")
        used |= set() if is_raw else own
        raw |= {plain_path(volume.path)} if is_raw else set()
    # A volume that a drive names may be one that the list does not have.
    return used | {plain_path(drive.path) for drive in drives if {*map(plain_path, linked(drive, "Volumes"))} - raw}


def _volumes_fault(drive: Resource) -> str | None:
    """Return why a drive can't say its volumes, None where it can: one may be a volume that the list does not have."""
    try:
        whole_links(drive, "Volumes")
    except Uncertain as error:
        return f"{error.fault} at {error.path}"
    return None


def _makes_volumes(storage: Any) -> bool:
    """Return whether a storage has a place for volumes, and its first controller supports RAID or does not say."""
    if not leads_to(storage, "Volumes"):
        return False
    controllers = [one.json for one in seen_members(storage, "controllers").items] or storage.json.get(
        "StorageControllers"
    )
    types = controllers[0].get("SupportedRAIDTypes") if controllers else None
    return types is None or len(types) > 0


def _logical_disks(task: Task, changed: Collection[str]) -> list[dict[str, Any]] | None:
    """Return the logical disks that the BMC has now, None when some can't be read or do not show their size.

    Raise Uncertain when those of the ``changed`` controllers can't be.
    """

    def disks(system: System) -> list[dict[str, Any]] | None:
        seen = seen_members(system, "storage")
        found: list[dict[str, Any]] = []
        is_whole = not seen.missing
        for name, storage in named(seen.items).items():
            try:
                volumes = logical_disks_of(storage)
            except UnusableAnswer:
                if name in changed:
                    raise
                is_whole = False
                continue
            is_whole = is_whole and all((volume.capacity_bytes or 0) > 0 for volume in volumes)
            found += [
                {
                    "id": volume.identity,
                    "name": volume.name,
                    "controller": name,
                    "size_gb": (volume.capacity_bytes or 0) // GIB,
                    "raid_level": LEVEL_OF.get(raid_type(volume), raid_type(volume)),
                }
                for volume in volumes
            ]
        return found if is_whole else None

    return read(task, "reading the logical disks", disks, anew=True)


def _store(task: Task, found: list[dict[str, Any]] | None) -> None:
    """Store the logical disks of a node; a root volume becomes that of the node's properties."""
    node = task.node
    if found is None:
        LOG.warning(
            "Node %s: raid_config stays as it was: not all controllers show their logical disks and the sizes of them",
            node.uuid,
        )
        node.save()
        return
    node.raid_config = {"logical_disks": found, "last_updated": task.clock.now().isoformat()}
    root = next(
        (disk for disk in (node.target_raid_config or {}).get("logical_disks", ()) if disk.get("is_root_volume")), None
    )
    made = next(
        (disk for disk in found if root and root.get("volume_name") and disk["name"] == root["volume_name"]), None
    )
    own_values.take_back(node, "properties")
    if made is not None:
        own_values.write(node, "properties", "local_gb", made["size_gb"])
        node_attributes.lend_capability(node, "raid_level", made["raid_level"])
    node.save()
