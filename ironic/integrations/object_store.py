"""Stores of objects: bytes under names. What this service needs of one, whichever it is."""

from typing import Protocol

from ironic.core.errors import IronicError


class ObjectStoreError(IronicError):
    """The store can't be reached, or refuses."""

    text = "The object store can't {operation}: {error}"


class ObjectStore(Protocol):
    """One place for objects; every method raises ObjectStoreError and may be repeated."""

    def put(
        self, name: str, data: bytes, keep_seconds: int | None = None, content_type: str = "application/json"
    ) -> None:
        """Store an object in place of any other of that name; the store may drop it after so many seconds."""

    def get(self, name: str) -> bytes | None:
        """Return an object, None when there is none."""

    def delete(self, name: str) -> None:
        """Delete an object; one that is not there is as good as deleted."""
