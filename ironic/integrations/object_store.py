"""The interface of object stores: bytes under names. `ironic.integrations.swift` implements it."""

import functools
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ironic.integrations.swift import SwiftContainer


class ObjectStore(Protocol):
    """A container of objects; every method raises ObjectStoreError and may be repeated."""

    def put(
        self, name: str, data: bytes, keep_seconds: int | None = None, content_type: str = "application/json"
    ) -> None:
        """Store an object in place of any other of that name; the store deletes it after ``keep_seconds``."""

    def get(self, name: str) -> bytes | None:
        """Return an object, None when there is none."""

    def delete(self, name: str) -> None:
        """Delete an object if it exists."""


@functools.cache
def swift_container(name: str) -> "SwiftContainer":
    """Return the Swift container of this name; raise ObjectStoreError when the options of [swift] are wrong."""
    # Imported here: a service that uses no object store must not load the client library.
    from ironic.integrations.swift import SwiftContainer

    return SwiftContainer.from_conf(name)
