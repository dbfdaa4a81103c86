"""Choose the node for an allocation.

Computed from values alone: whether a node fits, in which order nodes are tried, and the error text when none is left.
The conductor looks for nodes, `services.allocation_binding` binds one. Source: doc/contract/allocations.md#which-node.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from ironic.core.flows import states

ALLOCATING: Final = "allocating"
ACTIVE: Final = "active"
ERROR: Final = "error"

# A machine in an unknown power state may be broken or under repair.
POWER_UNKNOWN: Final = ("error",)

# The states of a node with a deployed instance, for which an allocation may be recorded afterwards.
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


# The condition in the UPDATE statement that binds a node.
FREE: Final = {
    "instance_uuid": None,
    "reservation": None,
    "provision_state": states.AVAILABLE,
    "maintenance": False,
}


@dataclass(frozen=True, slots=True)
class AllocationRequest:
    """What an allocation requires; without candidates, any node may be chosen."""

    resource_class: str | None
    traits: Sequence[str] = ()
    candidates: Sequence[str] = ()
    owner: str | None = None
    name: str | None = None


class Node(Protocol):
    """The values of a node that decide whether it fits."""

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
    """A node with a name, by which the order is made."""

    @property
    def name(self) -> str | None: ...


N = TypeVar("N", bound=Named)


def objection(wanted: AllocationRequest, node: Node, traits: Collection[str]) -> str | None:
    """Return why a free node does not fit an allocation; None when it fits."""
    if node.provision_state != states.AVAILABLE:
        return f"it is in state '{node.provision_state}'"
    if node.instance_uuid is not None:
        return f"it has instance {node.instance_uuid}"
    if node.maintenance:
        return "it is in maintenance"
    if node.power_state is None or node.power_state in POWER_UNKNOWN:
        return "its power state is not known"
    if wanted.resource_class != node.resource_class:
        return f"its resource class is {node.resource_class}"
    return _objection_to_details(wanted, node, traits)


def objection_to_deployed(wanted: AllocationRequest, node: Node, traits: Collection[str]) -> str | None:
    """Return why an allocation can't be recorded for a deployed node; None when it can."""
    if node.provision_state not in DEPLOYED:
        return f"nothing is deployed on it in state '{node.provision_state}'"
    if wanted.resource_class not in (None, node.resource_class):
        return f"its resource class is {node.resource_class}"
    return _objection_to_details(wanted, node, traits)


def _objection_to_details(wanted: AllocationRequest, node: Node, traits: Collection[str]) -> str | None:
    if wanted.candidates and node.uuid not in wanted.candidates:
        return "it is not among the candidates"
    if wanted.owner is not None and wanted.owner not in (node.owner, node.lessee):
        return f"project {wanted.owner} is neither its owner nor its lessee"
    if missing := sorted(set(wanted.traits) - set(traits)):
        return f"it lacks the traits {', '.join(missing)}"
    return None


def in_order(wanted: AllocationRequest, nodes: Sequence[N], shuffle: Callable[[list[N]], None]) -> list[N]:
    """Return the nodes in the order of trial: shuffled, but a node with the allocation's name first."""
    mixed = list(nodes)
    shuffle(mixed)
    return sorted(mixed, key=lambda node: wanted.name is None or node.name != wanted.name)


def failure(wanted: AllocationRequest, lost: int) -> str:
    """Return the error text of an allocation that got no node; ``lost`` nodes fitted but were taken by others."""
    if lost:
        return (
            f"{lost} nodes with {_described(wanted)} were available, but each was locked or taken by another request. "
            "Try again later."
        )
    return (
        f"No available node with {_described(wanted)} was found. Look for nodes that are available, not in "
        "maintenance, of known power state and without an instance."
    )


def _described(wanted: AllocationRequest) -> str:
    parts = [f"resource class {wanted.resource_class}"]
    if wanted.traits:
        parts.append(f"traits {', '.join(wanted.traits)}")
    if wanted.candidates:
        parts.append(f"one of {len(wanted.candidates)} candidate UUIDs")
    if wanted.owner is not None:
        parts.append(f"owner or lessee {wanted.owner}")
    return ", ".join(parts)
