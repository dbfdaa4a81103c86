"""What a node was prepared to boot, as it is remembered on the node.

It is enough to make the files anew on another conductor's host, and to find the files of ports that are gone.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from ironic.drivers.task import Node

_KEY: Final = "netboot"


@dataclass(frozen=True, slots=True)
class Prepared:
    """For what, with which kernel parameters, and for which network cards (MAC address by the port's UUID)."""

    purpose: str
    # Shown to nobody, as its name makes sure: a token of an inspection may be among them.
    secret_parameters: dict[str, str | None]
    cards: dict[str, str]

    @classmethod
    def of(cls, node: Node) -> Self | None:
        """Return what the node was prepared for, None when it is prepared for nothing."""
        kept: Mapping[str, Any] | None = node.driver_internal_info.get(_KEY)
        return cls(**kept) if kept else None

    def keep(self, node: Node) -> None:
        """Remember it; the caller saves the node."""
        node.set_driver_internal_info(_KEY, asdict(self))


def is_kept(memory: Mapping[str, object]) -> bool:
    """Tell whether driver_internal_info says that the node is prepared for something."""
    return bool(memory.get(_KEY))


def forget(node: Node) -> None:
    """Forget it; the caller saves the node."""
    node.del_driver_internal_info(_KEY)
