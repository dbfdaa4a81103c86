"""A task, as far as an inspection knows it: one node with what belongs to it, in the store.

What drivers know of it besides, such as the node's interfaces, is said in `ironic.drivers.task`; the conductor's task
has all of it. Hooks and rules get it with their changes kept back until the phase ends (`staged_task`).
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
        """None has them read again at the next look."""
