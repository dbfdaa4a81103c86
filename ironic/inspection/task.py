"""What an inspection needs of the task it runs in.

The conductor's task has all of it; a test makes one from a store and a record. Hooks do not get this task but one that
keeps their changes back until the phase ends (`staged_task`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ironic.core.context import RequestContext

if TYPE_CHECKING:
    from ironic.db import NodeRecord, PortgroupRecord, PortRecord, Store


class Task(Protocol):
    """One piece of work on one node, with the lock held."""

    @property
    def context(self) -> RequestContext: ...
    @property
    def node(self) -> "NodeRecord": ...
    @property
    def store(self) -> "Store": ...
    @property
    def driver(self) -> Any: ...
    @property
    def portgroups(self) -> "Sequence[PortgroupRecord]": ...

    @property
    def ports(self) -> "Sequence[PortRecord]":
        """The node's ports."""

    @ports.setter
    def ports(self, ports: "Sequence[PortRecord] | None") -> None:
        """None has them read again at the next look."""
