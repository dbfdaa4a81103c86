"""How far a machine got towards answering, read off what the node remembers anyway.

On its way a machine is started, its ramdisk looks its node up (and gets a token), the agent sends heartbeats. Whoever
gives up waiting says which of these was the last and which should have come next. Pure.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from ironic.core import syntax
from ironic.core.agent_memory import KnownAgent

if TYPE_CHECKING:
    from ironic.db import NodeRecord


def last_and_next(node: "NodeRecord", since: datetime | None, expected: str) -> tuple[str, str]:
    """Return the last milestone, and what should have come next on the way to what is expected in the end."""
    agent = KnownAgent(node.driver_internal_info)
    heard = agent.last_heartbeat
    if heard is not None and since is not None and heard >= since:
        return f"its agent's last heartbeat came at {heard} UTC", expected
    if agent.is_known:
        when = f" (last heartbeat at {heard} UTC)" if heard else ""
        return f"its agent runs since before the wait{when}", expected
    if agent.token:
        return "its ramdisk has looked its node up", expected
    return _started(node), f"its ramdisk to start and look its node up, then {expected}"


def _started(node: "NodeRecord") -> str:
    changed = syntax.moment_of(node.driver_internal_info.get("last_power_state_change"))
    if changed is None:
        return f"none (recorded power state: {node.power_state or 'unknown'})"
    return f"its power state was set to '{node.power_state}' at {changed} UTC"
