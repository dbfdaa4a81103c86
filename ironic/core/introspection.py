"""What a node stores about its last inspection beside its columns, in driver_internal_info.

When it began, which the column forgets at the end, and what it does while the node is `inspecting`: the API of the
standalone inspector shows both. Whether the machine is booted by others is for the inspect interface. The only owner of
its key there. Source: doc/contract/inspection.md#api-of-the-standalone-inspector.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol

from ironic.core.values import show_time

_KEY: Final = "introspection"

STARTING: Final = "starting"
PROCESSING: Final = "processing"
REAPPLYING: Final = "reapplying"


class Record(Protocol):
    """The part of a node record that is used here."""

    @property
    def driver_internal_info(self) -> Any: ...

    def set_driver_internal_info(self, key: str, value: Any) -> Any: ...


class Introspection(NamedTuple):
    """The last inspection: when it began (ISO 8601), what it does, and whether the machine boots by itself."""

    started_at: str | None = None
    stage: str = STARTING
    boots_itself: bool = False


def of(info: Mapping[str, Any]) -> Introspection:
    """Return what driver_internal_info holds of the last inspection."""
    found = info.get(_KEY)
    return Introspection(**found) if isinstance(found, dict) else Introspection()


def begin(node: Record, now: datetime, *, stage: str = STARTING, boots_itself: bool = False) -> None:
    """Set that an inspection begins; the caller saves the node."""
    node.set_driver_internal_info(_KEY, Introspection(show_time(now), stage, boots_itself)._asdict())


def process(node: Record) -> None:
    """Set that the data of the ramdisk are processed; the caller saves the node."""
    node.set_driver_internal_info(_KEY, of(node.driver_internal_info)._replace(stage=PROCESSING)._asdict())


def end(node: Record) -> None:
    """Set that the inspection has ended; the caller saves the node."""
    node.set_driver_internal_info(_KEY, of(node.driver_internal_info)._replace(boots_itself=False)._asdict())
