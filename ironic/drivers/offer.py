"""What a hardware type offers of one kind of interface."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Offer:
    """Names of implementations in order of preference, and the default if there is one."""

    names: tuple[str, ...]
    default: str | None
