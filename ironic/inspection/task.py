"""The task protocol of inspection: one locked node, its ports and port groups, and the database.

`ironic.drivers.contract.task` adds what drivers use, such as the node's interfaces; the conductor's task implements
both. Hooks and rules get a `StagedTask`, which stores their changes when a phase ends.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ironic.core.context import RequestContext

if TYPE_CHECKING:
    from ironic.db import NodeRecord, PortgroupRecord, PortRecord, Store


class Task(Protocol):
    """One piece of work on one node, with the lock held."""

    __slots__ = ()

    @property
    def context(self) -> RequestContext: ...
    @property
    def node(self) -> "NodeRecord": ...
    @property
    def store(self) -> "Store": ...
    @property
    def portgroups(self) -> "Sequence[PortgroupRecord]": ...

    @property
    def ports(self) -> "Sequence[PortRecord]":
        """The node's ports."""

    @ports.setter
    def ports(self, ports: "Sequence[PortRecord] | None") -> None:
        """Set the ports; None makes the next access read them again."""
