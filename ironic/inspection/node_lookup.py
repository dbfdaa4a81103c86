"""Match inspection data with a node by UUID, MAC addresses or BMC address: exactly one node, or none.

The sources (the UUID the ramdisk was given, the MAC addresses of its interfaces, the addresses of its BMC) must not
contradict each other, and the node must wait for an inspection (S77, S78). Every failed look-up is answered with the
same fixed text (S76); the reason goes to the log only. Order of the steps: doc/contract/inspection.md#look-up-order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ironic.core.errors import NodeNotFound, NotFound
from ironic.core.flows.flow import INSPECT
from ironic.db import NodeRow, Store

# The answer to every failed look-up: the sender may learn nothing from it.
_TEXT: Final = "No node waits for this inspection data."


@dataclass(frozen=True, slots=True)
class Found:
    """One node matches; ``is_bmc_alone`` when only an address of its BMC leads to it."""

    node: NodeRow
    is_bmc_alone: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The data contradict each other or the node does not wait; ``reason`` is for the log.

    ``node`` is set when all addresses agree on one node and it does not wait.
    """

    reason: str
    node: NodeRow | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """No node matches."""


Verdict = Found | Refused | Unknown

_WAITING: Final = INSPECT.waiting


def judge(
    store: Store,
    *,
    macs: Sequence[str],
    bmc_addresses: Sequence[str] = (),
    node_uuid: str | None = None,
) -> Verdict:
    """Return the node that the data belong to, or why there is none."""
    by_uuid = None
    if node_uuid is not None:
        try:
            by_uuid = NodeRow(*store.nodes.row(NodeRow._fields, node_uuid.lower()))
        except NodeNotFound:
            return Refused(f"there is no node {node_uuid}")
    verdict = by_ports(by_uuid, store.nodes.by_macs(macs) if macs else [])
    if bmc_addresses and not isinstance(verdict, Refused):
        verdict = by_bmc(verdict, store.nodes.by_bmc_addresses(bmc_addresses, _WAITING))
    return verdict


def by_ports(by_uuid: NodeRow | None, owners: Sequence[NodeRow]) -> Verdict:
    """Judge by the UUID and by the owners of the MAC addresses."""
    if len(owners) > 1:
        return Refused(f"its MAC addresses belong to {_names(owners)}")
    if by_uuid is not None and owners and owners[0].id != by_uuid.id:
        return Refused(f"it names node {by_uuid.uuid}, but its MAC addresses belong to {_names(owners)}")
    node = owners[0] if owners else by_uuid
    if node is None:
        return Unknown()
    if node.provision_state != _WAITING:
        return Refused(f"node {node.uuid} is in state '{node.provision_state}' and waits for no inspection", node)
    return Found(node)


def by_bmc(so_far: Found | Unknown, matches: Sequence[NodeRow]) -> Verdict:
    """Complete a verdict by the waiting nodes whose BMC has one of the addresses."""
    if not matches:
        return so_far
    if isinstance(so_far, Found):
        if any(match.id == so_far.node.id for match in matches):
            return so_far
        return Refused(f"it is node {so_far.node.uuid}, but its BMC addresses are those of {_names(matches)}")
    if len(matches) > 1:
        return Refused(f"its BMC addresses are those of {_names(matches)}")
    return Found(matches[0], is_bmc_alone=True)


def nothing_found() -> NotFound:
    """Return the error that answers every failed look-up."""
    return NotFound(_TEXT)


def _names(nodes: Sequence[NodeRow]) -> str:
    return ", ".join(f"node {node.uuid}" for node in nodes)
