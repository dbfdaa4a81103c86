"""The storages of a Redfish machine, their drives and volumes: which volumes are logical disks, and which drives serve.

Who orders a change of logical disks takes whole lists of volumes and of storages from here. Drives are seen: those
whose state is not known are left out, and what is missing says so.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import sushy

from ironic.core.readings import Seen, Whole
from ironic.drivers.modules.redfish.tree.certainty import Resource, Uncertain, given, leads_to, value_at, whole_links
from ironic.drivers.modules.redfish.tree.members import (
    is_there,
    linked,
    seen_drives,
    seen_members,
    whole_members,
)
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_system import System
from ironic.drivers.modules.redfish.wire.document_faults import fault_at
from ironic.drivers.modules.redfish.wire.plain_paths import end_of, plain_path

# Kinds of volumes in schemas before they had levels.
_FORMER_TYPES: Final = {
    "NonRedundant": "RAID0",
    "Mirrored": "RAID1",
    "StripedWithParity": "RAID5",
    "SpannedMirrors": "RAID10",
    "SpannedStripesWithParity": "RAID50",
}
_RAW: Final = "RawDevice"


@dataclass(frozen=True, slots=True)
class Drive:
    """A physical drive; ``used`` when a volume that stays has a part of it."""

    path: str
    name: str
    controller: str
    size: int
    kind: str = ""
    protocol: str = ""
    used: bool = False


@dataclass(frozen=True, slots=True)
class LogicalDisk:
    """A volume that is a logical disk; ``size`` in bytes, ``raid_type`` in the words of the standard."""

    id: str
    name: str | None
    controller: str
    size: int
    raid_type: str


def named(storages: Iterable[Any]) -> dict[str, Any]:
    """Return storages by their ids, or by the last part of the path those whose id may be meant for another."""
    found = list(storages)
    ids = Counter(storage.identity for storage in found)
    ends = {end_of(storage.path) for storage in found}

    def name(storage: Any) -> str:
        own, end = storage.identity, end_of(storage.path)
        return own if ids[own] == 1 and (own == end or own not in ends) else end

    return {name(storage): storage for storage in found}


def storages_of(system: System, names: Collection[str]) -> dict[str, Any]:
    """Return the storages with these names, without names all; those that do not exist are left out.

    Raise Uncertain when a storage that can't be read may be meant.
    """
    if not names:
        return named(whole_members(system, "storage"))
    seen = seen_members(system, "storage")
    found = named(seen.items)
    # The end of a path is a name whatever the ids of others are.
    doubtful = [name for name in names if name not in found or name != end_of(found[name].path)]
    if seen.missing and doubtful:
        raise Uncertain(system.path, f"which storage {doubtful[0]} is is not known: {'; '.join(seen.missing)}")
    return {name: storage for name, storage in found.items() if name in names}


def logical_disks_of(storage: Any) -> Whole[Any]:
    """Return the volumes of a controller that are logical disks; raise Uncertain when that can't be said of all."""
    return Whole(volume for volume in whole_members(storage, "volumes") if raid_type(volume))


def raid_type(volume: Resource) -> str:
    """Return the level of a logical disk, empty for any other volume; older BMCs state a kind of volume only.

    Raise Uncertain where the BMC states it in an odd way, or a kind that is not known.
    """
    level, kind = given(volume, "RAIDType", str), given(volume, "VolumeType", str)
    if not level and kind and kind not in (_RAW, *_FORMER_TYPES):
        raise Uncertain(volume.path, f"VolumeType is {kind!r:.40}, which is no kind of volume that is known")
    return str(level or _FORMER_TYPES.get(kind or "", ""))


def volume_paths(system: System) -> Whole[Mapping[str, str]]:
    """Return all logical disks of the machine; raise Uncertain where a volume may be one.

    Who deletes all of them must not leave the unreadable ones.
    """
    found = []
    if not leads_to(system, "Storage"):
        raise Uncertain(system.path, "it shows no Storage, so it may have logical disks that are not seen")
    for name, storage in storages_of(system, ()).items():
        if not leads_to(storage, "Volumes") and _has_levels(storage):
            raise Uncertain(storage.path, "it lists levels of RAID and no Volumes, so it may have some")
        for volume in whole_members(storage, "volumes"):
            if raid_type(volume):
                found.append({"controller": name, "path": volume.path})
            elif len(linked(volume, "Drives")) > 1:
                raise Uncertain(volume.path, "it has several drives and no RAIDType, so it may be a logical disk")
            elif not volume.json.get("VolumeType"):
                raise Uncertain(volume.path, "it shows neither RAIDType nor VolumeType, so it may be a logical disk")
    return Whole(found)


def _has_levels(storage: Resource) -> bool:
    controllers = storage.json.get("StorageControllers") or ()
    return any(one.get("SupportedRAIDTypes") for one in controllers)


def paths_at(system: System, controllers: Collection[str]) -> Whole[str]:
    """Return the paths of `volumes_at`."""
    return Whole(volume.path for volume in volumes_at(system, controllers))


def volumes_at(system: System, controllers: Collection[str]) -> Whole[Any]:
    """Return all volumes of these controllers, logical disks or not; raise Uncertain in doubt."""
    if not controllers:
        return Whole()
    storages = storages_of(system, controllers)
    if gone := sorted(set(controllers) - storages.keys()):
        raise Uncertain(system.path, f"it has no storage {gone[0]} any more")
    return Whole(volume for name in sorted(controllers) for volume in whole_members(storages[name], "volumes"))


def drives_of(system: System, controllers: Collection[str], *, with_used: bool) -> Seen[Drive]:
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


def logical_disks(system: System, changed: Collection[str]) -> Whole[LogicalDisk] | None:
    """Return all logical disks of the machine, None when some can't be read or do not show their size.

    Raise Uncertain when those of the ``changed`` controllers can't be.
    """
    seen = seen_members(system, "storage")
    found: list[LogicalDisk] = []
    is_whole = not seen.missing
    for name, storage in named(seen.items).items():
        try:
            volumes = logical_disks_of(storage)
        except UnusableAnswer:
            if name in changed:
                raise
            is_whole = False
            continue
        for volume in volumes:
            size = value_at(volume, "CapacityBytes", int).shown(0)
            is_whole = is_whole and size > 0
            found.append(LogicalDisk(volume.identity, volume.name, name, size, raid_type(volume)))
    return Whole(found) if is_whole else None


class VolumesPlace(NamedTuple):
    """Where new volumes of a storage are ordered, and when changes of volumes apply: None where it is not said."""

    path: str
    when: sushy.ApplyTime | None


def volumes_place(storage: Any) -> VolumesPlace:
    """Return where and when volumes of a storage are changed: at once if the BMC offers that."""
    volumes = storage.volumes
    support = volumes.operation_apply_time_support
    values = support.mapped_supported_values if support is not None else ()
    times = (sushy.ApplyTime.IMMEDIATE, sushy.ApplyTime.ON_RESET)
    return VolumesPlace(volumes.path, next((when for when in times if when in values), None))
