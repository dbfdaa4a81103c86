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
from ironic.services.row_limits import Room


def of_project(request: Request, project: str | None, resource: type[Resource]) -> Room | None:
    """Return the room for rows that a project owns; None for a caller who is bound to no project."""
    if project is None:
        return None
    name = "nodes_per_project" if resource is Node else "rows_per_project"
    most: int = getattr(request.settings, name)
    return Room(most, resource.plural(), f"[api]{name}", filters={"owner": project})


def of_node(request: Request, resource: type[Resource]) -> Callable[[Mapping[str, Any]], Room | None]:
    """Return a function that takes the columns of a new part of a node and returns the room for it."""

    def room(columns: Mapping[str, Any]) -> Room | None:
        if not request.is_judged or access.is_site_operator(request):
            return None
        most, whose = request.settings.parts_per_node, "The node has"
        return Room(most, resource.plural(), "[api]parts_per_node", whose, of_node=columns["node_id"])

    return room
