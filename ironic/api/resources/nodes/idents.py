"""From what stands in a path to a node.

A node is named by its UUID, since 1.5 also by its name. Other spellings of a UUID pass the check and name nothing.
"""

from collections.abc import Sequence
from typing import Any

from ironic.api import access
from ironic.api.request import Request, printable
from ironic.core import syntax
from ironic.core.errors import InvalidUuidOrName, NodeNotFound


def check(request: Request, ident: str) -> str:
    """Return an ident this version may use."""
    if syntax.is_uuid(ident):
        return ident
    if request.minor < 5:
        raise NodeNotFound(node=ident)
    is_name = syntax.is_host_name if request.minor < 10 else syntax.is_name
    if not is_name(ident):
        raise InvalidUuidOrName(name=printable(ident))
    return ident


def row(request: Request, columns: Sequence[str], ident: str) -> tuple[Any, ...]:
    """Return these columns of a node."""
    return request.store.nodes.row(columns, check(request, ident))


def seen(request: Request, ident: str) -> int:
    """Return the id of a node that a list is asked for; one that the caller may not see is not there."""
    found, owner, lessee = row(request, ("id", "owner", "lessee"), ident)
    access.require_seen(request, ident, owner, lessee)
    return int(found)
