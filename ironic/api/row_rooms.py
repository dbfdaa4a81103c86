"""How many rows of a kind the callers of a project may have; administrators of the whole site are not limited.

What a project has besides nodes counts per project, or per node that it is a part of: a project with more nodes needs
more ports, and only requests about the same node wait for each other.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ironic.api import access
from ironic.api.request import Request
from ironic.core.model.fields import Resource
from ironic.core.model.node import Node
from ironic.services import row_limits
from ironic.services.row_limits import Room


def of_project(request: Request, project: str | None, resource: type[Resource]) -> Room | None:
    """Return the room for rows that a project owns; None for a caller who is bound to no project."""
    if project is None:
        return None
    name = "nodes_per_project" if resource is Node else "rows_per_project"
    most: int = getattr(request.settings, name)
    return Room(most, resource.plural(), f"[api]{name}", filters={"owner": project})


def of_node(request: Request, resource: type[Resource]) -> Callable[[Mapping[str, Any]], Room | None]:
    """Return a function that takes the columns of a part that a node gets and returns the room for it."""
    most = most_parts(request)
    return lambda columns: row_limits.of_parts(most, resource.plural(), columns["node_id"])


def most_parts(request: Request) -> int:
    """Return how many parts of a kind a node may have when this caller adds or moves another one; 0: any number."""
    is_limited = request.is_judged and not access.is_site_operator(request)
    return request.settings.parts_per_node if is_limited else 0


def of_move(request: Request, columns: Mapping[str, object]) -> dict[str, int]:
    """Return the argument ``most`` of a conductor's call if new columns move a part to another node."""
    most = most_parts(request) if "node_id" in columns else 0
    return {"most": most} if most else {}
