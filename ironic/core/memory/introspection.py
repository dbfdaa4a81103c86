"""What a node stores about its last inspection beside its columns, in driver_internal_info.

When it began, which the column forgets at the end, and what it does while the node is `inspecting`: the API of the
standalone inspector shows both. Whether the machine is booted by others is for the inspect interface. The only owner of
its key there. Source: doc/contract/inspection.md#api-of-the-standalone-inspector.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from ironic.core.keys.internal_keys import InternalKey, Record
from ironic.core.values.value_types import show_time

_KEY: Final = InternalKey("introspection", dict[str, Any], "When the last inspection began, and what it does.")

STARTING: Final = "starting"
PROCESSING: Final = "processing"
REAPPLYING: Final = "reapplying"


class Introspection(NamedTuple):
    """The last inspection: when it began (ISO 8601), what it does, and whether the machine boots by itself."""

    started_at: str | None = None
    stage: str = STARTING
    boots_itself: bool = False


def of(info: Mapping[str, Any]) -> Introspection:
    """Return what driver_internal_info holds of the last inspection."""
    return Introspection(**(_KEY.read(info) or {}))


def begin(node: Record, now: datetime, *, stage: str = STARTING, boots_itself: bool = False) -> None:
    """Set that an inspection begins; the caller saves the node."""
    _KEY.set(node, Introspection(show_time(now), stage, boots_itself)._asdict())


def process(node: Record) -> None:
    """Set that the data of the ramdisk are processed; the caller saves the node."""
    _KEY.set(node, of(node.driver_internal_info)._replace(stage=PROCESSING)._asdict())


def end(node: Record) -> None:
    """Set that the inspection has ended; the caller saves the node."""
    _KEY.set(node, of(node.driver_internal_info)._replace(boots_itself=False)._asdict())
