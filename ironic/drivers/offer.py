"""What a hardware type offers of one kind of interface."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Offer:
    """Names of implementations in order of preference, the default if there is one, and what is taken unlisted."""

    names: tuple[str, ...]
    default: str | None
    # Those of the names that the hardware type does not list itself.
    besides: frozenset[str] = frozenset()
