"""Which node has sent inspection data: one and only one, or none.

The sources (the UUID the ramdisk was given, the MAC addresses of its interfaces, the addresses of its BMC) must not
contradict each other, and the node must wait for an inspection (S77, S78). Whatever goes wrong, the caller learns the
same fixed text (S76); why is for the log. Order of the steps: doc/contract/inspection.md#look-up-order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ironic.core.errors import NodeNotFound, NotFound
from ironic.core.flow import INSPECT
from ironic.db import NodeRow, Store

# The one answer to every look-up that fails: nothing may be learnt from it.
_TEXT: Final = "No node waits for this inspection data."


@dataclass(frozen=True, slots=True)
class Found:
    """The node is known; ``is_bmc_alone`` when nothing but an address of its BMC leads to it."""

    node: NodeRow
    is_bmc_alone: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The data contradict each other or the node does not wait; ``reason`` is for the log.

    ``node`` is the one that everything agrees on and that does not wait.
    """

    reason: str
    node: NodeRow | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing at all matches."""


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
    by_uuid = None if node_uuid is None else _by_uuid(store, node_uuid)
    verdict: Verdict = Refused(f"there is no node {node_uuid}")
    if node_uuid is None or by_uuid is not None:
        verdict = by_ports(by_uuid, store.nodes.by_macs(macs) if macs else [])
    if bmc_addresses and not isinstance(verdict, Refused):
        verdict = by_bmc(verdict, store.nodes.by_bmc_addresses(bmc_addresses, _WAITING))
    return verdict


def by_ports(by_uuid: NodeRow | None, owners: Sequence[NodeRow]) -> Verdict:
    """Judge by UUID and by who owns the MAC addresses."""
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
    """Judge by the waiting nodes whose BMC has one of the addresses as well."""
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
    """Return the error that answers every look-up that fails."""
    return NotFound(_TEXT)


def _by_uuid(store: Store, uuid: str) -> NodeRow | None:
    try:
        return NodeRow(*store.nodes.row(NodeRow._fields, uuid.lower()))
    except NodeNotFound:
        return None


def _names(nodes: Sequence[NodeRow]) -> str:
    return ", ".join(f"node {node.uuid}" for node in nodes)
