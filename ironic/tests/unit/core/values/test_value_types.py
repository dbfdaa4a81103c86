import datetime
from typing import Any

import pytest

from ironic.core.values import value_types as types
from ironic.core.values.value_types import ValueType

UUID = "abcdef00-0000-4000-8000-000000000001"

GOOD: list[tuple[ValueType, Any, Any]] = [
    (types.Text(3), "abc", "abc"),
    (types.Text(None), "x" * 5000, "x" * 5000),
    (types.Text(3, 1), "a", "a"),
    (types.LowerText(), "Rack A", "rack a"),
    (types.Uuid(), UUID.upper(), UUID),
    (types.Uuid(), UUID.replace("-", ""), UUID),
    (types.LogicalName(), "A-b._~1", "A-b._~1"),
    (types.LogicalName().at(9), "a.b-c", "a.b-c"),
    (types.Mac(), "AA:BB:CC:DD:EE:FF", "aa:bb:cc:dd:ee:ff"),
    (types.Bool(), True, True),
    (types.Bool(), " yes ", True),
    (types.Bool(), "OFF", False),
    (types.StrictBool(), False, False),
    (types.Integer(1, 5), 5, 5),
    (types.Integer(digits=True), "-7", -7),
    (types.Enum("a", "b"), "b", "b"),
    (types.State(), "wait call-back", "wait call-back"),
    (types.Object(), {"a": 1}, {"a": 1}),
    (types.Array(), [1], [1]),
    (types.Words(), " a,, b ", ["a", "b"]),
    (types.Pattern("trait", "CUSTOM_[A-Z]+", "must be a trait"), "CUSTOM_A", "CUSTOM_A"),
]

BAD: list[tuple[ValueType, Any]] = [
    (types.Text(3), "abcd"),
    (types.Text(3, 1), ""),
    (types.Text(), "a\0b"),
    (types.Text(), 7),
    (types.Uuid(), "x"),
    (types.Uuid(), 7),
    (types.Uuid(), UUID + "0"),
    (types.LogicalName(), "a b"),
    (types.LogicalName(), "a\n"),
    (types.LogicalName(), ""),
    (types.LogicalName(), "x" * 256),
    (types.LogicalName(), UUID),
    (types.LogicalName(), "."),
    (types.LogicalName(), ".."),
    (types.LogicalName().at(9), "a_b"),
    (types.LogicalName().at(9), "-a"),
    (types.LogicalName().at(9), "x" * 64),
    (types.Mac(), "aa:bb:cc:dd:ee"),
    (types.Mac(), "aa:bb-cc:dd:ee:ff"),
    (types.Bool(), "perhaps"),
    (types.Bool(), 1),
    (types.Bool(), []),
    (types.StrictBool(), "true"),
    (types.Integer(1), 0),
    (types.Integer(1, 5), 6),
    (types.Integer(), True),
    (types.Integer(), 1.0),
    (types.Integer(), "1"),
    (types.Integer(digits=True), "1.5"),
    (types.Integer(digits=True), "٣"),
    (types.Enum("a", "b"), "c"),
    (types.Enum("a", "b"), ["a"]),
    (types.State(), "bogus"),
    (types.Object(), []),
    (types.Array(), {}),
    (types.Words(), 7),
    (types.Pattern("trait", "CUSTOM_[A-Z]+", "must be a trait"), "CUSTOM_a"),
]


@pytest.mark.parametrize(("kind", "given", "stored"), GOOD)
def test_a_fit_value_is_stored_in_one_form(kind: ValueType, given: Any, stored: Any) -> None:
    assert kind.validate(given) == stored


@pytest.mark.parametrize(("kind", "given"), BAD)
def test_an_unfit_value_is_refused_without_being_quoted(kind: ValueType, given: Any) -> None:
    with pytest.raises(ValueError, match="must") as refusal:
        kind.validate(given)
    if isinstance(given, str) and len(given) > 4:
        assert given not in str(refusal.value)


def test_times_always_carry_microseconds_and_offset() -> None:
    moment = datetime.datetime(2026, 1, 31, 10, 20, 30)
    assert types.show_time(moment) == "2026-01-31T10:20:30.000000+00:00"
    assert types.show_time(None) is None
