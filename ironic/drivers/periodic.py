"""Methods of an interface that a conductor calls from time to time.

The decorators write the terms on the method; the conductor collects them from every enabled implementation, once each
(S18), and decides when they run. `periodic` is called as ``(self, manager, context)``, `node_periodic` for each node of
this conductor that uses the interface as ``(self, task, manager, context, *extra fields)``. The manager offers
``store``, ``host`` and ``acquire``. A method that fails is logged and comes again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static
from typing import Any, Final, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

_MARK: Final = "_periodic_terms"


@dataclass(frozen=True, slots=True)
class NodeTerms:
    """Which nodes a method wants, and how it takes them."""

    purpose: str
    filters: Mapping[str, Any]
    predicate: Callable[[Any], bool] | None
    extra_fields: tuple[str, ...]
    limit: int | None
    shared: bool


@dataclass(frozen=True, slots=True)
class Terms:
    """How often a method runs, and whether it does at all; with ``nodes`` it runs once per node."""

    spacing: float
    enabled: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    nodes: NodeTerms | None = None


@dataclass(frozen=True, slots=True)
class PeriodicMethod:
    """A method of one implementation with its terms; nodes know the implementation by kind and name."""

    method: Callable[..., Any]
    terms: Terms
    interface: Any
    name: str

    @property
    def kind(self) -> str:
        """Kind of the interface."""
        return str(self.interface.interface_type)

    @property
    def title(self) -> str:
        """Name it for logs."""
        return f"{self.kind} interface {self.name}: {self.method.__name__}"


def periodic(spacing: float, enabled: bool = True, **options: Any) -> Callable[[Method], Method]:
    """Have a method called every ``spacing`` seconds."""
    return _marked(Terms(spacing, enabled, options))


def node_periodic(
    purpose: str,
    spacing: float,
    enabled: bool = True,
    filters: Mapping[str, object] | None = None,
    predicate: Callable[[Any], bool] | None = None,
    predicate_extra_fields: Sequence[str] = (),
    limit: int | None = None,
    shared_task: bool = True,
    node_count_metric_name: str | None = None,
) -> Callable[[Method], Method]:
    """Have a method called every ``spacing`` seconds for each node that the filters and then the predicate let through.

    Filters are those of the store (``reserved``, ``maintenance``, ``provision_state``, ...). The extra fields are
    columns of the node. At most ``limit`` nodes are taken at a time. No metric is kept of their number.
    """
    wanted = NodeTerms(purpose, filters or {}, predicate, tuple(predicate_extra_fields), limit, shared_task)
    return _marked(Terms(spacing, enabled, nodes=wanted))


def _marked(terms: Terms) -> Callable[[Method], Method]:
    def mark(method: Method) -> Method:
        setattr(method, _MARK, terms)
        return method

    return mark


def collect(interface: object, name: str) -> list[PeriodicMethod]:
    """Return the periodic methods of an implementation that are switched on."""
    cls = type(interface)
    marked = ((attribute, getattr(getattr_static(cls, attribute), _MARK, None)) for attribute in dir(cls))
    return [
        PeriodicMethod(getattr(interface, attribute), terms, interface, name)
        for attribute, terms in marked
        if terms and terms.enabled
    ]
