"""A change of the logical disks of a Redfish machine, and whether the BMC has carried it out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ironic.core.readings import Whole
from ironic.drivers.modules.redfish.orders.waiting_step import AtBmc
from ironic.drivers.modules.redfish.tree.storages import raid_type, volume_paths, volumes_at
from ironic.drivers.modules.redfish.wire.bmc_system import System
from ironic.drivers.modules.redfish.wire.plain_paths import plain_path


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
        deleted = {plain_path(item["path"]) for item in instead_of}
        kept = [path for path in before if plain_path(path) not in deleted]
        return cls(operation="create", delete=instead_of, create=volumes, made=len(volumes), kept=kept)

    @classmethod
    def deleting(cls, present: Whole[Mapping[str, str]]) -> "RaidChange":
        """Return the change that deletes all logical disks."""
        return cls(operation="delete", delete=present, gone=[item["path"] for item in present])

    restarts: bool = False
    sending: bool = False
    unsaid: Sequence[str] = ()


def not_carried_out(system: System, change: RaidChange) -> str | None:
    """Return what of a change of logical disks the BMC does not show, None when it shows all of it."""
    if gone := change.gone:
        present = {plain_path(one["path"]) for one in volume_paths(system)}
        left = [path for path in gone if plain_path(path) in present]
        return f"the BMC has accepted the deletion of logical disks and still shows {', '.join(left)}" if left else None
    if (made := change.made) is None:
        return None
    kept = set(map(plain_path, change.kept))
    new = [one for one in volumes_at(system, change.controllers) if plain_path(one.path) not in kept]
    if len(new) < made:
        return f"the BMC has accepted {made} new logical disks and shows {len(new)}"
    if len(disks := [one.path for one in new if raid_type(one)]) > made:
        return f"{made} logical disks should be new after all others are deleted, and the BMC shows {', '.join(disks)}"
    return None
