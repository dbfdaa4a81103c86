"""How much is known of what a machine shows: of a list, whether it is whole; of one value, whether it is there.

What is seen may be shown, and says what is missing. Who orders, deletes, declares something done or stores a fact takes
a `Whole` list, or what `Value.certain` returns: nothing else makes a whole list than what has found all of it, and mypy
refuses any other list, or a value of which it may not be known what it is, in its place.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Generic, Never, TypeVar

T = TypeVar("T", covariant=True)
D = TypeVar("D")


class Whole(tuple[T, ...]):
    """All of a list."""


class Seen(Generic[T]):
    """What could be read of a list; ``missing`` says in a few words each what could not, and is empty for all of it."""

    __slots__ = ("items", "missing")

    def __init__(self, items: Iterable[T] = (), missing: Iterable[str] = ()) -> None:
        self.items: tuple[T, ...] = tuple(items)
        self.missing: tuple[str, ...] = tuple(missing)

    def with_missing(self, *more: str) -> "Seen[T]":
        """Return it with more that could not be read."""
        return Seen(self.items, (*self.missing, *more))


class Value(ABC, Generic[T]):
    """One value of a machine: `Known`, `ABSENT`, or `Unreadable`; a null in its place means that there is none."""

    __slots__ = ()

    @abstractmethod
    def certain(self) -> T | None:
        """Return the value, None where the machine has none; raise the error of one that can't be read."""

    def shown(self, default: D) -> T | D:
        """Return the value if it is known, or else the default."""
        return default


@dataclass(frozen=True, slots=True)
class Known(Value[T]):
    """A value that the machine shows."""

    value: T

    def certain(self) -> T:
        """Return the value."""
        return self.value

    def shown(self, default: object) -> T:
        """Return the value."""
        return self.value


class Absent(Value[Never]):
    """The machine has no such value: there is one of it, `ABSENT`."""

    __slots__ = ()

    def certain(self) -> None:
        """Return None."""
        return


ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class Unreadable(Value[Never]):
    """The machine has a value and can't show it, or it is not known whether it has; ``error`` says why."""

    error: Exception

    def certain(self) -> Never:
        """Raise the error."""
        raise self.error
