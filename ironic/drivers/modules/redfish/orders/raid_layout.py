"""Which drives the logical disks of a RAID configuration are made of; a pure function of drives and wishes.

The drives of one logical disk are on one controller and equal in kind, protocol and size. Logical disks whose drives
are given and that have a size come first, then those whose drives are to be found, then those that take the rest of
given drives. Where the first choice leaves no drives for a later logical disk, others are tried.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.redfish.tree.storages import Drive

GIB: Final = 1024**3
_STRIPE: Final = 64 * 1024**2
_MAX: Final = "MAX"
# A user's list of logical disks must not keep a worker busy for ever.
_MOST_TRIES: Final = 20_000
_MOST_DRIVES: Final = 1000


@dataclass(frozen=True, slots=True)
class Level:
    """A RAID level: its name with Redfish, drives of one span, and how many of these hold no data."""

    raid_type: str
    least: int
    most: int
    overhead: int
    # Spans of a nested level; 0: as many as pairs of drives.
    spans: int = 1

    def counts(self, available: int) -> Iterator[int]:
        """Yield the possible numbers of drives, the smallest first."""
        if self.spans == 0:
            yield from range(4, available + 1, 2)
        else:
            yield from range(self.least * self.spans, min(self.most * self.spans, available) + 1, self.spans)

    def usable_stripes(self, stripes: int, drives: int) -> int:
        """Return how many stripes of data fit on so many drives."""
        spans = self.spans or drives // 2
        return stripes * (drives - self.overhead * spans)


LEVELS: Final[Mapping[str, Level]] = {
    "0": Level("RAID0", 1, _MOST_DRIVES, 0),
    "1": Level("RAID1", 2, 2, 1),
    "5": Level("RAID5", 3, _MOST_DRIVES, 1),
    "6": Level("RAID6", 4, _MOST_DRIVES, 2),
    "1+0": Level("RAID10", 2, 2, 1, spans=0),
    "5+0": Level("RAID50", 3, _MOST_DRIVES, 1, spans=2),
    "6+0": Level("RAID60", 4, _MOST_DRIVES, 2, spans=2),
}
LEVEL_OF: Final = {level.raid_type: name for name, level in LEVELS.items()}


@dataclass(frozen=True, slots=True)
class NewVolume:
    """A volume to create; without a size it takes all there is."""

    controller: str
    raid_type: str
    drives: tuple[str, ...]
    size: int | None = None
    name: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {name: getattr(self, name) for name in self.__slots__} | {"drives": list(self.drives)}


@dataclass(slots=True)
class _State:
    """The stripes that are free on each drive, and the drives that have been chosen."""

    free: dict[str, int]
    whole: set[str]
    # Names of drives of which a logical disk takes the rest.
    reserved: frozenset[str] = frozenset()
    tries: int = 0
    found: dict[int, NewVolume] = field(default_factory=dict)


def plan(wanted: Sequence[Mapping[str, Any]], drives: Sequence[Drive]) -> list[NewVolume]:
    """Return the volumes for logical disks, in their order; raise InvalidParameterValue when they do not fit."""
    for disk in wanted:
        if disk["raid_level"] not in LEVELS:
            raise _wrong(disk, f"RAID level {disk['raid_level']} can't be created, only {', '.join(LEVELS)}")
        if disk["size_gb"] == _MAX and not disk.get("physical_disks"):
            raise _wrong(disk, "size MAX needs physical_disks")
    state = _State(
        {drive.path: drive.size // _STRIPE for drive in drives},
        {drive.path for drive in drives if not drive.used},
        frozenset(str(name) for disk in wanted if disk["size_gb"] == _MAX for name in disk["physical_disks"]),
    )
    order = sorted(range(len(wanted)), key=lambda number: (_rank(wanted[number]), number))
    if not _place(order, wanted, drives, state):
        raise InvalidParameterValue(
            err=f"The RAID configuration does not fit: no choice of the {len(drives)} drives holds all "
            f"{len(wanted)} logical disks. Drives of one logical disk are on one controller and of one size and kind."
        )
    return [state.found[number] for number in range(len(wanted))]


def _rank(disk: Mapping[str, Any]) -> int:
    if not disk.get("physical_disks"):
        return 1
    return 2 if disk["size_gb"] == _MAX else 0


def _place(order: Sequence[int], wanted: Sequence[Mapping[str, Any]], drives: Sequence[Drive], state: _State) -> bool:
    """Choose drives for the logical disks of ``order``; return False when no choice works."""
    if not order:
        return True
    number, disk = order[0], wanted[order[0]]
    for chosen in _choices(disk, drives, state):
        state.tries += 1
        if state.tries > _MOST_TRIES:
            return False
        level = LEVELS[disk["raid_level"]]
        stripes = min(state.free[drive.path] for drive in chosen)
        taken = _stripes_of(disk, level, stripes, len(chosen))
        if taken is None:
            continue
        before, whole = dict(state.free), set(state.whole)
        for drive in chosen:
            state.free[drive.path] -= taken
            state.whole.discard(drive.path)
        size = None if disk["size_gb"] == _MAX else disk["size_gb"] * GIB
        paths = tuple(drive.path for drive in chosen)
        state.found[number] = NewVolume(chosen[0].controller, level.raid_type, paths, size, disk.get("volume_name"))
        if _place(order[1:], wanted, drives, state):
            return True
        state.free, state.whole = before, whole
    return False


def _stripes_of(disk: Mapping[str, Any], level: Level, stripes: int, drives: int) -> int | None:
    """Return the stripes that a logical disk takes from each drive; None when it does not fit."""
    if disk["size_gb"] == _MAX:
        return stripes or None
    data = level.usable_stripes(1, drives)
    needed = -(-disk["size_gb"] * GIB // (_STRIPE * data))
    return needed if needed <= stripes else None


def _choices(disk: Mapping[str, Any], drives: Sequence[Drive], state: _State) -> Iterator[tuple[Drive, ...]]:
    """Yield the sets of drives that a logical disk may be made of: the smallest first, reserved drives last."""
    level = LEVELS[disk["raid_level"]]
    fitting = [drive for drive in drives if _fits(disk, drive, state)]
    if named := disk.get("physical_disks"):
        given = [drive for drive in fitting if drive.name in named]
        is_complete = len(given) == len(set(map(str, named))) and len(given) in level.counts(len(given))
        if is_complete and len({drive.controller for drive in given}) == 1:
            yield tuple(given)
        return
    count = disk.get("number_of_physical_disks")
    ordered = sorted(fitting, key=_likeness)
    groups = [list(group) for _, group in groupby(ordered, key=_likeness)]
    for group in groups:
        # Drives with the least space that is enough come first, so that whole drives are left for others.
        group.sort(
            key=lambda drive: (
                drive.name in state.reserved, drive.path in state.whole, state.free[drive.path], drive.path,
            )
        )  # fmt: skip
    for takes_reserved in (False, True):
        for size in sorted({size for group in groups for size in level.counts(len(group))}):
            if count in (None, size):
                for group in groups:
                    for start in range(len(group) - size + 1):
                        chosen = tuple(group[start : start + size])
                        if any(drive.name in state.reserved for drive in chosen) is takes_reserved:
                            yield chosen


def _likeness(drive: Drive) -> tuple[str, str, str, int]:
    return drive.controller, drive.kind, drive.protocol, drive.size


def _fits(disk: Mapping[str, Any], drive: Drive, state: _State) -> bool:
    shares = disk.get("share_physical_disks", False)
    return (
        (shares or drive.path in state.whole)
        and not drive.used
        and disk.get("controller") in (None, drive.controller)
        and disk.get("disk_type") in (None, drive.kind.lower())
        and disk.get("interface_type") in (None, drive.protocol.lower())
    )


def _wrong(disk: Mapping[str, Any], reason: str) -> InvalidParameterValue:
    name = disk.get("volume_name")
    return InvalidParameterValue(err=f"Logical disk {name or disk}: {reason}.")
