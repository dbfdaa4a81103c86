"""The stand-in for a node's record refuses and returns what the store does."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.tests.unit.drivers.machine import Machine, OwnStore

EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    "name, value",
    [
        ("last_error", "text"), ("last_error", "a\0b"),
        ("last_error", "a\ud800"), ("last_error", 5), ("last_error", None),
        ("name", "n" * 255), ("name", "n" * 256), ("maintenance", True), ("maintenance", "true"), ("maintenance", 1),
        ("provision_updated_at", datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=EAST)), ("provision_updated_at", "2026"),
        ("provision_updated_at", datetime(2026, 1, 2, tzinfo=UTC)),
        ("properties", {"a": [1, "x", None, {"b": 1.5}]}), ("properties", None), ("properties", {"a": {1, 2}}),
        ("properties", {1: "a"}), ("driver_internal_info", {"at": datetime(2026, 1, 2, tzinfo=EAST)}),
        ("driver_internal_info", {"number": 2**70}), ("driver_internal_info", {"half": "\ud800"}),
        ("raid_config", {"text": ("a", "b")}), ("clean_step", {}), ("secure_boot", None), ("secure_boot", "on"),
    ],
)  # fmt: skip
def test_it_keeps_a_value_as_the_store_does(name: str, value: Any) -> None:
    store = OwnStore()
    (uuid,) = (row[0] for row in store.nodes.rows(("uuid",)))
    seen = []
    for node in (Machine(), store.nodes.get(uuid)):
        setattr(node, name, value)
        try:
            node.save()
        except InvalidParameterValue as error:
            seen.append(("refused", str(error)))
        else:
            node.refresh()
            seen.append(("kept", getattr(node, name)))
    assert seen[0] == seen[1]


def test_what_is_changed_after_it_was_saved_is_not_stored() -> None:
    node = Machine()
    node.properties = {"a": [1]}
    node.save()
    node.properties["a"].append(2)
    assert node.saved["properties"] == {"a": [1]}
    node.refresh()
    assert node.properties == {"a": [1]}
