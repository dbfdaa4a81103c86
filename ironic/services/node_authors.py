"""Whose word a change of a node is: that of an operator, a caller of the API, inspection rules, or a tool.

An author says by which values it is bound as a project is, what it has written itself, and whom it may name.
`services.nodes` decides by that.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar

from ironic.core.context import RequestContext
from ironic.core.errors import InvalidParameterValue, NodeNotFound
from ironic.core.secrets.secret_updates import Written
from ironic.db import Store
from ironic.rpc.hash_ring import HashRingManager
from ironic.services.row_limits import Room


class Author:
    """An author that nothing binds, as an operator, or a tool of one, is; others override what differs."""

    # The state by which a change is judged; None: that of the node.
    state: ClassVar[str | None] = None
    # Whether what the author has not written itself comes from the report of a machine.
    reports: ClassVar[bool] = False
    # Whether the node is stored later, and not in the transaction that is open.
    stores_later: ClassVar[bool] = False
    # Whose requests the history of the node names.
    context: RequestContext | None = None
    # The agent's kernel parameters that projects may give.
    kernel_parameters: Collection[str] = ()
    # Whether it is noted who has chosen the host of a BMC, also where no project has chosen before.
    notes_choices: bool = True

    def __init__(self, store: Store, hash_ring: HashRingManager) -> None:
        """Name the database and the conductors of the nodes."""
        self.store, self.hash_ring = store, hash_ring

    def is_bound(self, field: str) -> bool:
        """Return whether the author may write into a field only what a project may."""
        return False

    def written(self, field: str) -> Written:
        """Return what the author has itself written into a field, path and value, in its order."""
        return ()

    def check_rights(
        self, before: Mapping[str, Any], values: Mapping[str, Any], owner: str | None, lessee: str | None
    ) -> None:
        """Raise an error if the author may not give a node of this owner and lessee these values."""

    def seen_node(self, ident: str, missing: str) -> tuple[str, str | None, str | None]:
        """Return UUID, owner and lessee of a node that the author names; raise InvalidParameterValue if it is none."""
        try:
            uuid, owner, lessee = self.store.nodes.row(("uuid", "owner", "lessee"), ident)
        except NodeNotFound:
            raise InvalidParameterValue(err=missing) from None
        return uuid, owner, lessee

    def may_give_children(self, owner: str | None, lessee: str | None) -> bool:
        """Return whether the author may make a node the parent of others."""
        return True

    def room(self, owner: str | None) -> Room | None:
        """Return the room for another node of this owner, None if there is no limit."""
        return None

    def also_store(self, work: Callable[[], object]) -> None:
        """Do work in the transaction that stores the node, which is open unless the author ``stores_later``."""
        work()
