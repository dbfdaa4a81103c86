"""Rows of the reference with values that its own service never writes, and what becomes of them."""

import json

import pytest

from ironic.db import schema, takeover
from ironic.db.takeover import Loss, Settings
from ironic.tests.functional.db.test_takeover import NEWEST, change, file, found_in, one, take_over
from ironic.tests.reference_databases import recorded, restore

__all__ = ["file"]

ALL = Settings(accepted=tuple(Loss))


def json_of_levels(count: int) -> str:
    return '{"a":' + "[" * count + "]" * count + "}"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE nodes SET extra = '0' WHERE id = 1", "extra is no JSON object"),
        ("UPDATE nodes SET extra = 'false' WHERE id = 1", "extra is no JSON object"),
        ("""UPDATE nodes SET extra = '""' WHERE id = 1""", "extra is no JSON object"),
        (f"UPDATE nodes SET extra = '{json_of_levels(300)}' WHERE id = 1", "extra is JSON with more levels"),
        (f"UPDATE nodes SET extra = '{json_of_levels(5000)}' WHERE id = 1", "extra is JSON with more levels"),
        ("UPDATE volume_targets SET boot_index = 'first'", "boot_index is 'first', which is no integer"),
        ("UPDATE volume_targets SET boot_index = 2147483648", "boot_index is 2147483648, which is no integer"),
    ],
)
def test_what_has_to_be_repaired_is_said_of_the_row_before_anything_is_changed(
    file: str, statement: str, said: str
) -> None:
    change(file, statement)
    with pytest.raises(takeover.NeedsRepair, match=said):
        take_over(file, ALL)
    assert schema.current(file) == recorded(NEWEST).revision


@pytest.mark.parametrize("empty", ["mariadb"], indirect=True)
def test_days_that_no_calendar_has_are_said_before_anything_is_changed(empty: str) -> None:
    restore(empty, NEWEST)
    zero = "UPDATE nodes SET provision_updated_at = '0000-00-00 00:00:00', created_at = '2026-00-00' WHERE id = 1"
    change(empty, "SET sql_mode = ''", zero)
    with pytest.raises(takeover.NeedsRepair, match="provision_updated_at is '0000-00-00 00:00:00', which is no time"):
        take_over(empty, ALL)
    assert schema.current(empty) == recorded(NEWEST).revision


def test_a_time_with_a_zone_becomes_that_of_utc(file: str) -> None:
    change(file, "UPDATE nodes SET provision_updated_at = '2026-01-01 10:00:00+02:00' WHERE id = 1")
    assert found_in(file).changed["nodes.provision_updated_at with a time zone becomes that of UTC"] == 1
    take_over(file)
    assert one(file, "SELECT provision_updated_at FROM nodes WHERE id = 1") == "2026-01-01 08:00:00.000000"


def test_bytes_in_a_column_of_text_are_read_as_text(file: str) -> None:
    change(
        file, """UPDATE nodes SET extra = CAST('{"a":1}' AS BLOB), description = x'c3bc', owner = x'fc' WHERE id = 1"""
    )
    (place,) = found_in(file).lost[Loss.TEXT]
    assert place.endswith(".owner")
    take_over(file, ALL)
    assert json.loads(one(file, "SELECT extra FROM nodes WHERE id = 1")) == {"a": 1}
    assert one(file, "SELECT description FROM nodes WHERE id = 1") == "ü"
    assert one(file, "SELECT owner FROM nodes WHERE id = 1") == "\ufffd"
