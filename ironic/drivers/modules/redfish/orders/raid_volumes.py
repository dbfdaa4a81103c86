"""The volumes of a Redfish machine: which of them are logical disks, and whether a change of them was carried out."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ironic.core.readings import Whole
from ironic.drivers.modules.redfish.orders.waiting_step import AtBmc
from ironic.drivers.modules.redfish.tree.certainty import Resource, Uncertain, given, leads_to
from ironic.drivers.modules.redfish.tree.members import linked, plain_path, seen_members, whole_members
from ironic.drivers.modules.redfish.wire.bmc_connection import System

# Kinds of volumes in schemas before they had levels.
_FORMER_TYPES: Final = {
    "NonRedundant": "RAID0",
    "Mirrored": "RAID1",
    "StripedWithParity": "RAID5",
    "SpannedMirrors": "RAID10",
    "SpannedStripesWithParity": "RAID50",
}
_RAW: Final = "RawDevice"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaidChange(AtBmc):
    """A change of logical disks, as it is remembered from one order to the next.

    ``delete`` and ``create`` are still to be ordered, ``tasks`` are the BMC's of what was ordered. At the end the
    volumes at ``gone`` must be away, or ``made`` new ones be there beside ``kept``; what an earlier release began has
    neither.
    """

    operation: str
    delete: Sequence[Mapping[str, Any]] = ()
    create: Sequence[Mapping[str, Any]] = ()
    controllers: Sequence[str] = ()
    gone: Sequence[str] = ()
    made: int | None = None
    kept: Sequence[str] = ()
    tasks: Sequence[str] = ()

    @classmethod
    def creating(
        cls, volumes: Sequence[Mapping[str, Any]], before: Whole[str], *, instead_of: Whole[Mapping[str, str]]
    ) -> "RaidChange":
        """Return the change that makes volumes beside those ``before`` it, after others have been deleted."""
        deleted = {item["path"] for item in instead_of}
        kept = [path for path in before if path not in deleted]
        return cls(operation="create", delete=instead_of, create=volumes, made=len(volumes), kept=kept)

    @classmethod
    def deleting(cls, present: Whole[Mapping[str, str]]) -> "RaidChange":
        """Return the change that deletes all logical disks."""
        return cls(operation="delete", delete=present, gone=[item["path"] for item in present])

    restarts: bool = False
    sending: bool = False
    unsaid: Sequence[str] = ()


def named(storages: Iterable[Any]) -> dict[str, Any]:
    """Return storages by their ids, or by the last part of the path those whose id may be meant for another."""
    found = list(storages)
    ids = Counter(storage.identity for storage in found)
    ends = {_end_of(storage.path) for storage in found}

    def name(storage: Any) -> str:
        own, end = storage.identity, _end_of(storage.path)
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
    doubtful = [name for name in names if name not in found or name != _end_of(found[name].path)]
    if seen.missing and doubtful:
        raise Uncertain(system.path, f"which storage {doubtful[0]} is is not known: {'; '.join(seen.missing)}")
    return {name: storage for name, storage in found.items() if name in names}


def _end_of(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


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
    """Return the paths of all volumes of these controllers, logical disks or not; raise Uncertain in doubt."""
    return Whole(volume.path for volume in _volumes_at(system, controllers))


def not_carried_out(system: System, change: RaidChange) -> str | None:
    """Return what of a change of logical disks the BMC does not show, None when it shows all of it."""
    if gone := change.gone:
        present = {plain_path(one["path"]) for one in volume_paths(system)}
        left = [path for path in gone if plain_path(path) in present]
        return f"the BMC has accepted the deletion of logical disks and still shows {', '.join(left)}" if left else None
    if (made := change.made) is None:
        return None
    kept = set(map(plain_path, change.kept))
    new = [one for one in _volumes_at(system, change.controllers) if plain_path(one.path) not in kept]
    if len(new) < made:
        return f"the BMC has accepted {made} new logical disks and shows {len(new)}"
    if len(disks := [one.path for one in new if raid_type(one)]) > made:
        return f"{made} logical disks should be new after all others are deleted, and the BMC shows {', '.join(disks)}"
    return None


def _volumes_at(system: System, controllers: Collection[str]) -> Whole[Any]:
    if not controllers:
        return Whole()
    storages = storages_of(system, controllers)
    if gone := sorted(set(controllers) - storages.keys()):
        raise Uncertain(system.path, f"it has no storage {gone[0]} any more")
    return Whole(volume for name in sorted(controllers) for volume in whole_members(storages[name], "volumes"))
