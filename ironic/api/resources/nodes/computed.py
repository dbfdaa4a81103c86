"""What takes a look elsewhere to show a node: its traits and the conductor that serves it.

Both are asked once for a whole page.
"""

from collections.abc import Sequence
from typing import Any, Final

from ironic.api import computed
from ironic.api.request import Request
from ironic.core.errors import NoValidHost
from ironic.core.model.node import Node

# The columns that decide on a node's conductor.
PLACED_BY: Final = Node.conductor.needs


def traits(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[list[str]]:
    """Return the traits of each node, in one statement for all."""
    found = request.store.traits.of([row[0] for row in rows])
    return [found.get(row[0], []) for row in rows]


def hosts(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[str | None]:
    """Return the conductor that serves each node, None where none does."""
    return [host(request, *row) for row in rows]


def host(request: Request, uuid: str, driver: str, group: str) -> str | None:
    """Return the conductor that serves a node, if one does."""
    try:
        return request.placement.host_for(uuid, driver, group)
    except NoValidHost:
        return None


computed.bind(Node, traits=traits, conductor=hosts)
