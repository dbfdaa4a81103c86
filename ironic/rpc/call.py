"""How a call to a conductor is declared.

The terms are written on the method by a decorator: what the call needs of its node, how long to wait for the answer,
whether to wait at all. Clients and servers of every transport read them from there.
"""

import enum
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_MARK: Final = "__conversation__"


class NodeLock(enum.Enum):
    """How a call takes the node that its first argument names."""

    EXCLUSIVE = enum.auto()  # NodeLocked when somebody else has the node and keeps it
    SHARED = enum.auto()  # others may hold the node meanwhile


EXCLUSIVE: Final = NodeLock.EXCLUSIVE
SHARED: Final = NodeLock.SHARED


@dataclass(frozen=True, slots=True)
class Call:
    """One call: how long to wait (None: as configured), what it takes, and its node's lock (None: it takes no node)."""

    name: str
    timeout: float | None
    wait: bool
    signature: inspect.Signature
    lock: NodeLock | None = None
    purpose: str = ""
    background: bool = False

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """What stands after self and context."""
        return list(self.signature.parameters.values())[2:]

    def arguments(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Name the arguments that stand after self and context; TypeError if they don't fit."""
        return dict(list(self.signature.bind(None, None, *args, **kwargs).arguments.items())[2:])


def call(
    *,
    lock: NodeLock | None = None,
    purpose: str = "",
    background: bool = False,
    timeout: float | None = None,
    wait: bool = True,
) -> Callable[[Function], Function]:
    """Declare a method of a conversation to be a call.

    ``purpose`` says to users why the node is taken; ``{name}`` stands for the argument of that name. What follows a
    ``background`` call, whose caller comes again by itself, leaves the reserved workers to users.
    """

    def mark(function: Function) -> Function:
        made = Call(function.__name__, timeout, wait, inspect.signature(function), lock, purpose, background)
        _check_purpose(made)
        setattr(function, _MARK, made)
        return function

    return mark


def _check_purpose(call: Call) -> None:
    if (call.lock is None) == bool(call.purpose):
        raise TypeError(f"{call.name}: a call has either both a lock and a purpose or neither")
    known = {parameter.name for parameter in call.parameters}
    if unknown := set(re.findall(r"{(\w+)", call.purpose)) - known:
        raise TypeError(f"{call.name}: its purpose names {', '.join(sorted(unknown))}, which is no argument of it")


def calls_of(conversation: type) -> dict[str, Call]:
    """Return the calls that a conversation and those it is composed of declare, by name."""
    members = (member for cls in reversed(conversation.__mro__) for member in vars(cls).values())
    marked = (getattr(member, _MARK, None) for member in members)
    return {call.name: call for call in marked if isinstance(call, Call)}
