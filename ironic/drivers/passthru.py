"""Vendor methods: doors through which a driver offers what the API has no name for.

A decorator turns a method into such a door and writes its terms on it; `VendorInterface` collects them once per
class. What a vendor method raises reaches the caller as an error of ours, never as a stray exception of a library.
"""

import functools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import getattr_static
from typing import Any, Final, Literal, NamedTuple, NotRequired, TypedDict, TypeVar, cast

from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.core.management_errors import VendorPassthruException

LOG = logging.getLogger(__name__)

Method = TypeVar("Method", bound=Callable[..., Any])
Level = Literal["node", "driver"]

HTTP_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})

_MARK: Final = {"node": "_vendor_route", "driver": "_driver_route"}


class VendorMetadata(NamedTuple):
    """A vendor method and its terms."""

    method: str
    metadata: dict[str, Any]


# What a caller is held to, and the method. Without the key of the lock a call needs no node.
Terms = TypedDict(
    "Terms",
    {
        "http_methods": list[str],
        "async": bool,
        "description": str,
        "attach": bool,
        "require_exclusive_lock": NotRequired[bool | None],
        "func": Callable[..., object],
    },
)


@dataclass(frozen=True, slots=True)
class Route:
    """The terms of one vendor method."""

    name: str
    function: str
    http_methods: tuple[str, ...]
    async_call: bool
    description: str
    attach: bool
    require_exclusive_lock: bool | None

    def bound_to(self, interface: object) -> Terms:
        """Return the terms as the engine reads them, with the method of this instance."""
        terms: Terms = {
            "http_methods": list(self.http_methods),
            "async": self.async_call,
            "description": self.description,
            "attach": self.attach,
            "require_exclusive_lock": self.require_exclusive_lock,
            "func": getattr(interface, self.function),
        }
        if self.require_exclusive_lock is None:
            del terms["require_exclusive_lock"]
        return terms


def passthru(
    http_methods: Sequence[str],
    method: str | None = None,
    async_call: bool = True,
    description: str | None = None,
    attach: bool = False,
    require_exclusive_lock: bool = True,
) -> Callable[[Method], Method]:
    """Offer a method ``(self, task, **kwargs)`` on nodes; an asynchronous one is answered before it runs."""
    return _door("node", http_methods, method, async_call, description, attach, require_exclusive_lock)


def driver_passthru(
    http_methods: Sequence[str],
    method: str | None = None,
    async_call: bool = True,
    description: str | None = None,
    attach: bool = False,
) -> Callable[[Method], Method]:
    """Offer a method ``(self, context, **kwargs)`` that concerns no particular node."""
    return _door("driver", http_methods, method, async_call, description, attach, None)


def collect(cls: type, level: Level) -> tuple[Route, ...]:
    """Return the vendor methods of a class."""
    found = (getattr(getattr_static(cls, name), _MARK[level], None) for name in dir(cls))
    return tuple(route for route in found if route is not None)


def _door(
    level: Level,
    http_methods: Sequence[str],
    name: str | None,
    async_call: bool,
    description: str | None,
    attach: bool,
    exclusive: bool | None,
) -> Callable[[Method], Method]:
    verbs = _verbs(http_methods)

    def make(function: Method) -> Method:
        guarded = _guarded(function)
        route = Route(
            name or function.__name__, function.__name__, verbs, async_call, description or "", attach, exclusive
        )
        setattr(guarded, _MARK[level], route)
        return cast(Method, guarded)

    return make


def _guarded(function: Callable[..., object]) -> Callable[..., object]:
    """Let our own errors through and dress any other as one of ours."""

    @functools.wraps(function)
    def call(self: object, *args: Any, **kwargs: Any) -> object:
        try:
            return function(self, *args, **kwargs)
        except IronicError:
            raise
        except Exception as error:
            LOG.exception("Vendor method %s failed unexpectedly.", function.__name__)
            raise VendorPassthruException(method=function.__name__, error=type(error).__name__) from error

    return call


def _verbs(http_methods: Sequence[str]) -> tuple[str, ...]:
    verbs = () if isinstance(http_methods, str) else tuple(verb.upper() for verb in http_methods)
    if not verbs or not HTTP_METHODS.issuperset(verbs):
        raise InvalidParameterValue(err=f"http_methods must be a list of HTTP methods, not {http_methods!r}.")
    return verbs
