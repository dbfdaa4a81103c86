"""What a conductor can be asked: the whole conversation, said once.

Clients and servers of every transport are derived from ``ConductorCalls``; a new call is a method here and one in
the conductor's endpoint. Arguments and results are plain JSON-able values, the caller's context comes first. What a
call decides is documented where it is decided; here stands only what the caller can rely on.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from ironic.core.context import RequestContext

Function = TypeVar("Function", bound=Callable[..., Any])

_MARK: Final = "__conversation__"


@dataclass(frozen=True, slots=True)
class Call:
    """One call: how long to wait for the answer (None: as configured), whether to wait at all, what it takes."""

    name: str
    timeout: float | None
    wait: bool
    signature: inspect.Signature

    def arguments(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Name the arguments that stand after self and context; TypeError if they don't fit."""
        return dict(list(self.signature.bind(None, None, *args, **kwargs).arguments.items())[2:])


def call(*, timeout: float | None = None, wait: bool = True) -> Callable[[Function], Function]:
    """Declare a method of ConductorCalls to be a call."""

    def mark(function: Function) -> Function:
        setattr(function, _MARK, Call(function.__name__, timeout, wait, inspect.signature(function)))
        return function

    return mark


class ConductorCalls(ABC):
    """One conductor, seen from outside; nodes and ports are named by UUID."""

    @call()
    @abstractmethod
    def change_node_power_state(
        self, context: RequestContext, node_id: str, target: str, timeout: int | None = None
    ) -> None:
        """Begin a power change; answers once it is accepted, the change itself goes on in the background."""

    @call()
    @abstractmethod
    def change_provision_state(
        self, context: RequestContext, node_id: str, verb: str, arguments: dict[str, Any]
    ) -> None:
        """Begin what a provision verb asks for; ``arguments`` has only what the user gave."""

    @call()
    @abstractmethod
    def destroy_node(self, context: RequestContext, node_id: str) -> None:
        """Delete a node with everything that belongs to it."""

    @call()
    @abstractmethod
    def validate_interfaces(self, context: RequestContext, node_id: str) -> dict[str, dict[str, Any]]:
        """Return ``{kind: {"result": True, False or None, "reason": text if not True}}`` of the node's interfaces."""

    @call()
    @abstractmethod
    def driver_properties(self, context: RequestContext, hardware_type: str) -> dict[str, str]:
        """Return the driver_info properties that a hardware type knows, with a description of each."""

    @call()
    @abstractmethod
    def set_boot_device(self, context: RequestContext, node_id: str, device: str, persistent: bool) -> None:
        """Choose what the machine boots from, once or from now on."""

    @call()
    @abstractmethod
    def get_boot_device(self, context: RequestContext, node_id: str) -> dict[str, Any]:
        """Return ``{"boot_device": ..., "persistent": ...}`` as the machine reports it."""

    @call()
    @abstractmethod
    def supported_boot_devices(self, context: RequestContext, node_id: str) -> list[str]:
        """Return the boot devices that the machine can be set to."""

    @call()
    @abstractmethod
    def update_port(self, context: RequestContext, port_id: str, changes: dict[str, Any]) -> None:
        """Change fields of a port; the node's network interface has a say."""

    @call()
    @abstractmethod
    def destroy_port(self, context: RequestContext, port_id: str) -> None:
        """Delete a port; the node's network interface has a say."""

    @call()
    @abstractmethod
    def heartbeat(self, context: RequestContext, node_id: str, beat: dict[str, Any]) -> None:
        """Take note of an agent's sign of life; the API has checked its token against the row.

        ``beat`` has callback_url, agent_version, agent_verify_ca, agent_status and agent_status_message.
        """

    @call()
    @abstractmethod
    def continue_inspection(
        self, context: RequestContext, node_id: str, inventory: dict[str, Any], plugin_data: dict[str, Any]
    ) -> None:
        """Go on with an inspection from what the ramdisk found; answers before the data are processed."""


def calls_of(conversation: type) -> dict[str, Call]:
    """Return the calls that a conversation declares, by name."""
    marked = (getattr(member, _MARK, None) for member in vars(conversation).values())
    return {call.name: call for call in marked if call is not None}


CALLS: Final = calls_of(ConductorCalls)
