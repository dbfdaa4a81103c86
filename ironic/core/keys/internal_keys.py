"""Keys of driver_internal_info: each is declared once, with its type and what it says, by the module that owns it.

What is stored there may come from an earlier release or from a driver of another vendor: a value of another type counts
as none. What lists and objects hold is for the owner to judge. The page doc/internal-info.md is made from the
declarations.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, get_origin

T = TypeVar("T")


class Record(Protocol):
    """The part of a node record that is used here."""

    @property
    def driver_internal_info(self) -> Any: ...

    def set_driver_internal_info(self, key: str, value: Any) -> Any: ...

    def del_driver_internal_info(self, key: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class InternalKey(Generic[T]):
    """A key of driver_internal_info, the type of its values, and in words what they say. The caller saves the node."""

    name: str
    kind: type[T]
    says: str

    def read(self, info: Mapping[str, Any] | None) -> T | None:
        """Return the value in a node's driver_internal_info; None without one of the right type."""
        found = (info or {}).get(self.name)
        is_right = isinstance(found, get_origin(self.kind) or self.kind) and (
            self.kind is not int or not isinstance(found, bool)
        )
        return found if is_right else None

    def of(self, node: Record) -> T | None:
        """Return the value of a node; None without one of the right type."""
        return self.read(node.driver_internal_info)

    def set(self, node: Record, value: T) -> None:
        """Set the value of a node."""
        node.set_driver_internal_info(self.name, value)

    def delete(self, node: Record) -> T | None:
        """Delete the key from a node, if it is there; return the value that it had."""
        found = self.of(node)
        node.del_driver_internal_info(self.name)
        return found
