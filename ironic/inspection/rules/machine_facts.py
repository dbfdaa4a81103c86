"""What rules get to know about a machine: plain copies of the node, its ports and port groups.

Secrets are still in them; the evaluation masks them for the rules that must not see them. Times become text, so that
all of it is plain data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, Self

from ironic.core.rules import Facts
from ironic.db import NodeRecord, PortgroupRecord, PortRecord, Store


class Known(Protocol):
    """A node with what belongs to it."""

    @property
    def node(self) -> NodeRecord: ...
    @property
    def traits(self) -> Sequence[str]: ...
    @property
    def ports(self) -> Sequence[PortRecord]: ...
    @property
    def portgroups(self) -> Sequence[PortgroupRecord]: ...


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A node as it is stored, and nobody's work on it."""

    node: NodeRecord
    traits: Sequence[str]
    ports: Sequence[PortRecord]
    portgroups: Sequence[PortgroupRecord]

    @classmethod
    def read(cls, store: Store, node: NodeRecord) -> Self:
        """Read what belongs to a node."""
        ports, groups = store.ports.find(node_id=node.id), store.portgroups.find(node_id=node.id)
        return cls(node, store.traits.of([node.id])[node.id], ports, groups)


def facts_of(known: Known, inventory: Mapping[str, object], plugin_data: Mapping[str, object]) -> Facts:
    """Return the facts as they are now; of work on a node, what hooks have changed and not stored yet included."""
    return Facts(
        inventory=inventory,
        plugin_data=plugin_data,
        node=_plain(known.node.as_dict()) | {"traits": list(known.traits)},
        ports=[_plain(port.as_dict()) for port in known.ports],
        port_groups=[_plain(group.as_dict()) for group in known.portgroups],
    )


def facts_of_nobody(inventory: Mapping[str, object], plugin_data: Mapping[str, object]) -> Facts:
    """Return the facts of a machine that belongs to no node: those of a node of which nothing is known."""
    node = dict.fromkeys(NodeRecord.form.names) | {name: kind() for name, kind in NodeRecord.form.empties.items()}
    return Facts(inventory=inventory, plugin_data=plugin_data, node=node | {"traits": []})


def _plain(values: Mapping[str, object]) -> dict[str, object]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in values.items()}
