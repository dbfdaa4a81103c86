"""The steps that an agent offers, as the node remembers them.

An agent is asked once, when it has come up; what it says is kept by interface in driver_internal_info, with the time
and the versions of its hardware managers, which go back to it with every step. Keys: facts/steps.yaml,
progress_fields.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Protocol

VERSIONS: Final = "hardware_manager_version"

Steps = dict[str, list[dict[str, Any]]]


class HasMemory(Protocol):
    """The part of a node's record that is used here."""

    @property
    def driver_internal_info(self) -> Any: ...

    def set_driver_internal_info(self, key: str, value: Any) -> Any: ...

    def del_driver_internal_info(self, key: str) -> Any: ...


def cached(node: HasMemory, flow: str) -> Steps:
    """Return the agent's steps for a flow by interface; empty when no agent was asked."""
    return node.driver_internal_info.get(_key(flow)) or {}


def is_known(node: HasMemory, flow: str) -> bool:
    """Tell whether an agent was asked, even if it had nothing to offer."""
    return node.driver_internal_info.get(_key(flow)) is not None


def refreshed_at(node: HasMemory, flow: str) -> str | None:
    """Return when the agent was asked."""
    when: str | None = node.driver_internal_info.get(f"{_key(flow)}_refreshed")
    return when


def versions(node: HasMemory) -> dict[str, str]:
    """Return the versions of the hardware managers that offered the steps."""
    return node.driver_internal_info.get(VERSIONS) or {}


def remember(node: HasMemory, flow: str, by_manager: Mapping[str, Iterable[Mapping[str, Any]]], versions: Any) -> None:
    """Keep what an agent offers; the caller saves the node."""
    by_interface: Steps = {}
    for steps in by_manager.values():
        for step in steps:
            by_interface.setdefault(str(step["interface"]), []).append(dict(step))
    node.set_driver_internal_info(_key(flow), by_interface)
    node.set_driver_internal_info(f"{_key(flow)}_refreshed", datetime.now(UTC).replace(tzinfo=None).isoformat())
    node.set_driver_internal_info(VERSIONS, dict(versions or {}))


def forget(node: HasMemory, flow: str) -> None:
    """Forget what an agent offered."""
    for key in (_key(flow), f"{_key(flow)}_refreshed"):
        node.del_driver_internal_info(key)


def _key(flow: str) -> str:
    return f"agent_cached_{flow}_steps"
