"""Methods of an interface that a conductor calls from time to time.

The decorator writes the terms on the method; the conductor collects them from every enabled implementation, once
each (S18), and decides when they run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import getattr_static
from typing import Any, Final, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

_MARK: Final = "_periodic_terms"


@dataclass(frozen=True, slots=True)
class Terms:
    """How often a method runs, and whether it does at all; ``options`` are for who runs it."""

    spacing: float
    enabled: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PeriodicMethod:
    """A method of one implementation with its terms."""

    method: Callable[..., Any]
    terms: Terms


def periodic(spacing: float, enabled: bool = True, **options: Any) -> Callable[[Method], Method]:
    """Have a method called every ``spacing`` seconds."""

    def mark(method: Method) -> Method:
        setattr(method, _MARK, Terms(spacing, enabled, options))
        return method

    return mark


def collect(interface: object) -> list[PeriodicMethod]:
    """Return the periodic methods of an implementation that are switched on."""
    cls = type(interface)
    marked = ((name, getattr(getattr_static(cls, name), _MARK, None)) for name in dir(cls))
    return [PeriodicMethod(getattr(interface, name), terms) for name, terms in marked if terms and terms.enabled]
