"""How many nodes may be busy with the same thing at once, over all conductors.

One counting statement per request. The count may be off by what is accepted at the very same moment: it keeps a site
from drowning, it is no exact quota.
"""

from dataclasses import dataclass
from typing import Any, Final

from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import ConcurrentActionLimit


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: the option that holds it and the states that count."""

    operation: str
    option: str
    states: tuple[str, ...]


DEPLOYMENTS: Final = Limit("deployment", "max_concurrent_deploy", (states.DEPLOYING, states.DEPLOYWAIT))
CLEANINGS: Final = Limit("cleaning", "max_concurrent_clean", (states.DELETING, states.CLEANING, states.CLEANWAIT))


def check(task: Task, limit: Limit) -> None:
    """Raise ConcurrentActionLimit when there is no room for one more."""
    filters: dict[str, Any] = {"provision_state_in": limit.states}
    if CONF.conductor.max_concurrent_per_conductor_group:
        filters["conductor_group"] = task.node.conductor_group
    count = task.store.nodes.count(**filters)
    if count >= CONF.conductor[limit.option]:
        raise ConcurrentActionLimit(count=count, operation=limit.operation, option=f"[conductor]{limit.option}")
