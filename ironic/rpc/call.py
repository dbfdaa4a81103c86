"""How a call to a conductor is declared.

The terms (how long to wait for the answer, whether to wait at all) are written on the method by a decorator; clients
and servers of every transport read them from there.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

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
    """Declare a method of a conversation to be a call."""

    def mark(function: Function) -> Function:
        setattr(function, _MARK, Call(function.__name__, timeout, wait, inspect.signature(function)))
        return function

    return mark


def calls_of(conversation: type) -> dict[str, Call]:
    """Return the calls that a conversation and those it is composed of declare, by name."""
    members = (member for cls in reversed(conversation.__mro__) for member in vars(cls).values())
    marked = (getattr(member, _MARK, None) for member in members)
    return {call.name: call for call in marked if isinstance(call, Call)}
