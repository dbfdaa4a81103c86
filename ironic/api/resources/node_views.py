"""How values of a node are shown: masks, states of older versions, what takes a look elsewhere.

Secrets are masked here for every answer that carries a node. What is looked up (traits, the serving conductor) is asked
once for a whole page.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from ironic.api.request import Request
from ironic.core import secrets, states
from ironic.core.errors import NoValidHost


def without_secrets(info: dict[str, Any]) -> dict[str, Any]:
    """Hide what looks like a password, token or key."""
    shown: dict[str, Any] = secrets.masked(info)
    return shown


def without_instance_secrets(info: dict[str, Any]) -> dict[str, Any]:
    """Hide also what may carry a secret in itself: the config drive, the URL of the image."""
    return secrets.masked_instance_info(info)


def state_of_version(minor: int) -> Callable[[Any], Any] | None:
    """Return how a provision state reads in a version: two states came later than callers who know others."""
    if minor < 2:
        names: dict[str, str | None] = {states.AVAILABLE: None, states.INSPECTWAIT: states.INSPECTING}
    elif minor < 39:
        names = {states.INSPECTWAIT: states.INSPECTING}
    else:
        return None
    return lambda state: names.get(state, state)


# The columns that decide on a node's conductor.
PLACED_BY: Final = ("uuid", "driver", "conductor_group")


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
