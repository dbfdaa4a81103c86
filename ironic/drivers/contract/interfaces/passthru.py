"""Vendor passthru: decorators for vendor methods, and the base class of vendor interfaces.

A vendor method offers a feature of a driver that the API does not have. A decorator stores its terms as an attribute of
the method; `VendorInterface` collects them once per class. An exception that is no IronicError reaches the caller as
VendorPassthruException.
"""

import functools
import logging
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import getattr_static
from typing import Any, ClassVar, Final, Literal, NamedTuple, NotRequired, TypedDict, TypeVar, cast

from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.core.errors.hardware_errors import VendorPassthruException
from ironic.drivers.contract.contract_types import Task
from ironic.drivers.contract.interfaces.base_interface import BaseInterface

LOG = logging.getLogger(__name__)

Method = TypeVar("Method", bound=Callable[..., Any])
Level = Literal["node", "driver"]

HTTP_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})

_MARK: Final = {"node": "_vendor_route", "driver": "_driver_route"}


class VendorMetadata(NamedTuple):
    """The name of a vendor method and its terms."""

    method: str
    metadata: dict[str, Any]


# The terms of a vendor method as the conductor reads them. Methods of a driver have no key for the lock.
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
        """Return the terms with the bound method of an interface."""
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
    """Make a method ``(self, task, **kwargs)`` a vendor method of nodes.

    With ``async_call`` the API answers before the method runs; with ``attach`` it returns the result as a file.
    """
    return _vendor_method("node", http_methods, method, async_call, description, attach, require_exclusive_lock)


def driver_passthru(
    http_methods: Sequence[str],
    method: str | None = None,
    async_call: bool = True,
    description: str | None = None,
    attach: bool = False,
) -> Callable[[Method], Method]:
    """Make a method ``(self, context, **kwargs)`` a vendor method of the driver, which concerns no particular node."""
    return _vendor_method("driver", http_methods, method, async_call, description, attach, None)


def collect(cls: type, level: Level) -> tuple[Route, ...]:
    """Return the vendor methods of a class at a level."""
    found = (getattr(getattr_static(cls, name), _MARK[level], None) for name in dir(cls))
    return tuple(route for route in found if route is not None)


def _vendor_method(
    level: Level,
    http_methods: Sequence[str],
    name: str | None,
    async_call: bool,
    description: str | None,
    attach: bool,
    exclusive: bool | None,
) -> Callable[[Method], Method]:
    verbs = () if isinstance(http_methods, str) else tuple(verb.upper() for verb in http_methods)
    if not verbs or not HTTP_METHODS.issuperset(verbs):
        raise InvalidParameterValue(err=f"http_methods must be a list of HTTP methods, not {http_methods!r}.")

    def decorate(function: Method) -> Method:
        @functools.wraps(function)
        def call(self: object, *args: Any, **kwargs: Any) -> object:
            try:
                return function(self, *args, **kwargs)
            except IronicError:
                raise
            except Exception as error:
                LOG.exception("Vendor method %s failed unexpectedly", function.__name__)
                raise VendorPassthruException(method=function.__name__, error=type(error).__name__) from error

        route = Route(
            name or function.__name__, function.__name__, verbs, async_call, description or "", attach, exclusive
        )
        setattr(call, _MARK[level], route)
        return cast(Method, call)

    return decorate


class VendorInterface(BaseInterface[Task]):
    """Vendor methods of nodes and of the driver itself."""

    interface_type: ClassVar[str] = "vendor"

    _node_routes: ClassVar[tuple[Route, ...]] = ()
    _driver_routes: ClassVar[tuple[Route, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._node_routes = collect(cls, "node")
        cls._driver_routes = collect(cls, "driver")

    @cached_property
    def vendor_routes(self) -> dict[str, Terms]:
        """The vendor methods of a node by name, with their terms and ``func``."""
        return {route.name: route.bound_to(self) for route in self._node_routes}

    @cached_property
    def driver_routes(self) -> dict[str, Terms]:
        """The vendor methods of the driver by name, with their terms and ``func``."""
        return {route.name: route.bound_to(self) for route in self._driver_routes}

    @abstractmethod
    def validate(self, task: Task, method: str | None = None, **kwargs: Any) -> None:
        """Check the node and, when ``method`` is given, the arguments of that vendor method.

        Raises UnsupportedDriverExtension, InvalidParameterValue or MissingParameterValue.
        """

    def driver_validate(self, method: str, **kwargs: Any) -> None:
        """Check the arguments of a vendor method of the driver; accept all by default."""
