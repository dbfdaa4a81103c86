"""Which node an allocation gets.

Everything here is computed from values: what stands against a node, in which order nodes are tried, what to say when
none was left. Who looks for nodes and who takes one is decided above. Source: doc/contract/allocations.md#which-node.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from ironic.core import states

ALLOCATING: Final = "allocating"
ACTIVE: Final = "active"
ERROR: Final = "error"

# A machine whose power nobody knows may be broken, or in somebody's hands.
POWER_UNKNOWN: Final = ("error",)

# The states of a node with an instance on it that is there already; one may be written down afterwards.
DEPLOYED: Final = frozenset(
    {
        states.ACTIVE,
        states.RESCUE,
        states.RESCUING,
        states.RESCUEWAIT,
        states.RESCUEFAIL,
        states.UNRESCUING,
        states.UNRESCUEFAIL,
        states.SERVICING,
        states.SERVICEWAIT,
        states.SERVICEHOLD,
        states.SERVICEFAIL,
    }
)


# What must be so of a node in the very statement that takes a node.
FREE: Final = {
    "instance_uuid": None,
    "reservation": None,
    "provision_state": states.AVAILABLE,
    "maintenance": False,
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an allocation asks for; no candidates: any node will do."""

    resource_class: str | None
    traits: Sequence[str] = ()
    candidates: Sequence[str] = ()
    owner: str | None = None
    name: str | None = None


class Node(Protocol):
    """What is looked at of a node."""

    @property
    def uuid(self) -> str: ...
    @property
    def provision_state(self) -> str: ...
    @property
    def maintenance(self) -> bool: ...
    @property
    def instance_uuid(self) -> str | None: ...
    @property
    def power_state(self) -> str | None: ...
    @property
    def resource_class(self) -> str | None: ...
    @property
    def owner(self) -> str | None: ...
    @property
    def lessee(self) -> str | None: ...


class Named(Protocol):
    """What the order is made by."""

    @property
    def name(self) -> str | None: ...


N = TypeVar("N", bound=Named)


def objection(wanted: Wanted, node: Node, traits: Collection[str]) -> str | None:
    """Return what stands against a free node for an allocation; None when it fits."""
    if node.provision_state != states.AVAILABLE:
        return f"it is in state '{node.provision_state}'"
    if node.instance_uuid is not None:
        return f"instance {node.instance_uuid} is on it"
    if node.maintenance:
        return "it is in maintenance"
    if node.power_state is None or node.power_state in POWER_UNKNOWN:
        return "its power state is not known"
    if wanted.resource_class != node.resource_class:
        return f"its resource class is {node.resource_class}"
    return _objection_to_details(wanted, node, traits)


def objection_to_deployed(wanted: Wanted, node: Node, traits: Collection[str]) -> str | None:
    """Return what stands against writing down that an allocation has a deployed node; None when nothing does."""
    if node.provision_state not in DEPLOYED:
        return f"nothing is deployed on it in state '{node.provision_state}'"
    if wanted.resource_class not in (None, node.resource_class):
        return f"its resource class is {node.resource_class}"
    return _objection_to_details(wanted, node, traits)


def _objection_to_details(wanted: Wanted, node: Node, traits: Collection[str]) -> str | None:
    if wanted.candidates and node.uuid not in wanted.candidates:
        return "it is none of the candidates"
    if wanted.owner is not None and wanted.owner not in (node.owner, node.lessee):
        return f"it belongs neither to project {wanted.owner} nor is lent to it"
    if missing := sorted(set(wanted.traits) - set(traits)):
        return f"it has not the traits {', '.join(missing)}"
    return None


def in_order(wanted: Wanted, nodes: Sequence[N], shuffle: Callable[[list[N]], None]) -> list[N]:
    """Return the nodes as they are to be tried: by chance, but one with the allocation's name first."""
    mixed = list(nodes)
    shuffle(mixed)
    return sorted(mixed, key=lambda node: wanted.name is None or node.name != wanted.name)


def failure(wanted: Wanted, lost: int) -> str:
    """Say why an allocation got no node; ``lost`` nodes fitted, but others were quicker each time."""
    if lost:
        return (
            f"{lost} nodes with {_described(wanted)} were available, but all of them were locked or taken by others "
            "again and again. Try again later."
        )
    return (
        f"No available node with {_described(wanted)} was found. Look for nodes that are available, not in "
        "maintenance, of known power state and without an instance."
    )


def _described(wanted: Wanted) -> str:
    parts = [f"resource class {wanted.resource_class}"]
    if wanted.traits:
        parts.append(f"traits {', '.join(wanted.traits)}")
    if wanted.candidates:
        parts.append(f"one of {len(wanted.candidates)} candidate UUIDs")
    if wanted.owner is not None:
        parts.append(f"owner or lessee {wanted.owner}")
    return ", ".join(parts)
