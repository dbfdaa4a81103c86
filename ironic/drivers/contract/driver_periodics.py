"""Decorators for periodic tasks: methods of interfaces that a conductor calls at intervals.

The decorators store the terms as an attribute of the method. The conductor collects them from every enabled
implementation, once each (S18), and schedules the calls. `periodic` methods are called as ``(self, manager, context)``,
`node_periodic` methods as ``(self, task, manager, context, *extra fields)``, for each node of this conductor that uses
the interface. The manager has ``store``, ``host`` and ``acquire``. A failure is logged; the method is called again at
the next interval.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static
from typing import Any, Final, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

_MARK: Final = "_periodic_terms"


@dataclass(frozen=True, slots=True)
class NodeTerms:
    """Which nodes a method is called for, and with which lock."""

    purpose: str
    filters: Mapping[str, Any]
    predicate: Callable[[Any], bool] | None
    extra_fields: tuple[str, ...]
    limit: int | None
    shared: bool
    # The gauge that has the number of nodes visited in a run.
    count_metric: str | None = None


@dataclass(frozen=True, slots=True)
class PeriodicTerms:
    """How often a method is called (seconds), if it is enabled; with ``nodes`` it is called once per node."""

    spacing: float | Callable[[], float]
    enabled: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    nodes: NodeTerms | None = None

    @property
    def seconds(self) -> float:
        """The spacing, by the options as they are now."""
        return self.spacing() if callable(self.spacing) else self.spacing


@dataclass(frozen=True, slots=True)
class PeriodicMethod:
    """A periodic method of one implementation with its terms.

    ``name`` is that of the implementation, for logs; ``users`` are the columns of the nodes that use it.
    """

    method: Callable[..., Any]
    terms: PeriodicTerms
    interface: Any
    name: str
    users: Mapping[str, str]

    @property
    def kind(self) -> str:
        """The kind of the interface."""
        return str(self.interface.interface_type)

    @property
    def identity(self) -> tuple[object, str]:
        """What makes the method different from others: its class, or for one called per node, its implementation."""
        owner = type(self.interface) if self.terms.nodes is None else self.name
        return owner, self.method.__name__

    @property
    def title(self) -> str:
        """The name of the method in logs."""
        return f"{self.name}: {self.method.__name__}"


def periodic(spacing: float, enabled: bool = True, **options: Any) -> Callable[[Method], Method]:
    """Mark a method ``(self, manager, context)`` to be called every ``spacing`` seconds."""
    return _marked(PeriodicTerms(spacing, enabled, options))


def node_periodic(
    purpose: str,
    spacing: float | Callable[[], float],
    enabled: bool = True,
    filters: Mapping[str, object] | None = None,
    predicate: Callable[[Any], bool] | None = None,
    predicate_extra_fields: Sequence[str] = (),
    limit: int | None = None,
    shared_task: bool = True,
    node_count_metric_name: str | None = None,
) -> Callable[[Method], Method]:
    """Mark a method to be called every ``spacing`` seconds for each node that passes the filters and the predicate.

    ``purpose`` names the work in reservations and logs. Filters are those of the store (``reserved``, ``maintenance``,
    ``provision_state``, ...). The extra fields are columns of the node, passed as further arguments. At most ``limit``
    nodes are visited at a time. ``node_count_metric_name`` is a gauge, below the module's name, for the number of nodes
    visited in a run. ``spacing`` may be a function of the options, which are read when the conductor starts.

    A method that polls for the end of a step returns StepDone or StepFailed once the step has ended, with the node
    locked; the conductor continues the flow.
    """
    fields = tuple(predicate_extra_fields)
    nodes = NodeTerms(purpose, filters or {}, predicate, fields, limit, shared_task, node_count_metric_name)
    return _marked(PeriodicTerms(spacing, enabled, nodes=nodes))


def _marked(terms: PeriodicTerms) -> Callable[[Method], Method]:
    def mark(method: Method) -> Method:
        setattr(method, _MARK, terms)
        return method

    return mark


def collect(interface: object, name: str, users: Mapping[str, str]) -> list[PeriodicMethod]:
    """Return the enabled periodic methods of an implementation; `PeriodicMethod` describes name and users."""
    cls = type(interface)
    marked = ((attribute, getattr(getattr_static(cls, attribute), _MARK, None)) for attribute in dir(cls))
    return [
        PeriodicMethod(getattr(interface, attribute), terms, interface, name, users)
        for attribute, terms in marked
        if terms and terms.enabled
    ]
