"""What interfaces declare of the waits that they look at; see `ironic.drivers.contract.waits`."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from inspect import getattr_static
from typing import Any, Final, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

_MARK: Final = "_wait_terms"


class Ordered(Enum):
    """What setting a value of the firmware returns that is ordered and takes effect when the machine starts."""

    ORDERED = auto()


ORDERED: Final = Ordered.ORDERED


@dataclass(frozen=True, slots=True)
class Terms:
    """Which kind of wait a method looks at, and at most how often, in seconds."""

    kind: str
    interval: Callable[[], float]


def looks(kind: str, interval: Callable[[], float]) -> Callable[[Method], Method]:
    """Mark a method ``(self, task, wait)`` that looks at waits of a kind; an interval of 0 switches that off."""

    def mark(method: Method) -> Method:
        setattr(method, _MARK, Terms(kind, interval))
        return method

    return mark


def collect(cls: type) -> dict[str, tuple[str, Terms]]:
    """Return name and terms of the methods of an interface class by the kind of wait that they look at."""
    marked = ((name, getattr(getattr_static(cls, name), _MARK, None)) for name in dir(cls))
    return {terms.kind: (name, terms) for name, terms in marked if terms is not None}
