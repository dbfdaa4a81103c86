"""Names that end as old versions let any path end.

Before 1.91 a caller may write `.json` behind a path, and it is taken off. A thing may really be called so; it is found
by the whole name where there is none of the shorter one. Source: doc/contract/versions.md#endings-in-json.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors import IronicError

if TYPE_CHECKING:
    from ironic.db import Store
    from ironic.db.repository import Repository

# By the wildcard that ends a path: where things are kept whose names may have a dot.
_KEPT: Final[Mapping[str, "Callable[[Store], Repository[Any]]"]] = {
    "node": lambda store: store.nodes,
    "port": lambda store: store.ports,
    "portgroup": lambda store: store.portgroups,
    "allocation": lambda store: store.allocations,
}


def as_named(request: Request, route: Route, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of a path that lost its ending, with the ending where it belongs to the name."""
    kind = route.path.rpartition("{")[2].removesuffix("}")
    kept = _KEPT.get(kind) if route.path.endswith("}") else None
    if kept is None or _is_there(kept(request.store), values[-1]):
        return values
    return (*values[:-1], f"{values[-1]}.json")


def _is_there(things: "Repository[Any]", ident: str) -> bool:
    try:
        things.row(("uuid",), ident)
    except IronicError:
        return False
    return True
