"""How much is known of a list that a machine shows: it is whole, or it is seen in part.

What is seen may be shown, and says what is missing. Who orders, deletes, declares something done or stores a fact takes
a `Whole` list: nothing else makes one than what has found all of it, and mypy refuses any other list in its place.
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T", covariant=True)


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
