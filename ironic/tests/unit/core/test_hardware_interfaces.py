"""Defaults and choices of interfaces, from names alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.core.errors import (
    DriverNotFound,
    FixedInterface,
    IncompatibleInterface,
    InterfaceNotFoundInEntrypoint,
    NoValidDefaultForInterface,
)
from ironic.core.hardware_interfaces import KINDS, InterfaceRow, choose_default, choose_interfaces, with_fixed

NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f"])
SUPPORTED = st.lists(NAMES, unique=True)
ENABLED = st.frozensets(NAMES)


@pytest.mark.demand("S7", "S13")
@given(supported=SUPPORTED, enabled=ENABLED)
def test_without_a_configured_default_the_first_supported_one_that_is_enabled_wins(
    supported: list[str], enabled: frozenset[str]
) -> None:
    default = choose_default(supported, enabled, None)
    if enabled.isdisjoint(supported):
        assert default is None
    else:
        assert default in enabled
        before = supported[: supported.index(default or "")]
        assert enabled.isdisjoint(before), "something preferred was passed over"


@pytest.mark.demand("S12")
@given(supported=SUPPORTED, enabled=ENABLED, configured=NAMES)
def test_a_configured_default_wins_or_there_is_none(
    supported: list[str], enabled: frozenset[str], configured: str
) -> None:
    usable = configured in supported and configured in enabled
    assert choose_default(supported, enabled, configured) == (configured if usable else None)


@pytest.mark.demand("S7")
@given(supported=SUPPORTED, enabled=ENABLED, data=st.data())
def test_the_order_of_enabling_says_nothing(supported: list[str], enabled: frozenset[str], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(sorted(enabled)))
    assert choose_default(supported, shuffled, None) == choose_default(supported, sorted(enabled), None)


def rows(hardware_type: str, **names: list[str]) -> list[InterfaceRow]:
    """Return rows of every kind; the first name is the default, a kind that isn't named has just "x"."""
    return [
        InterfaceRow(hardware_type, kind, name, position == 0)
        for kind in KINDS
        for position, name in enumerate(names.get(kind, ["x"]))
    ]


SERVED = rows("metal", power=["redfish", "ipmi"], vendor=["none"]) + rows("toy", power=["fake"], boot=["pxe", "fake"])


@pytest.mark.demand("S22")
def test_what_is_left_open_gets_the_default() -> None:
    chosen = choose_interfaces(SERVED, "metal", {"power": "ipmi", "boot": None})
    assert chosen.keys() == set(KINDS)
    assert (chosen["power"], chosen["vendor"], chosen["boot"]) == ("ipmi", "none", "x")
    assert choose_interfaces(SERVED, "metal", {})["power"] == "redfish"


@pytest.mark.parametrize(
    "hardware_type, requested, error",
    [
        ("unknown", {}, DriverNotFound),
        ("metal", {"power": "fake"}, IncompatibleInterface),
        ("metal", {"power": "pxe"}, InterfaceNotFoundInEntrypoint),
        ("metal", {"boot": "pxe"}, IncompatibleInterface),
        ("toy", {"power": "redfish", "boot": "pxe"}, IncompatibleInterface),
    ],
)
def test_what_does_not_fit_is_refused(
    hardware_type: str, requested: dict[str, str | None], error: type[Exception]
) -> None:
    with pytest.raises(error):
        choose_interfaces(SERVED, hardware_type, requested)


def test_the_refusal_says_what_would_fit() -> None:
    with pytest.raises(IncompatibleInterface) as refusal:
        choose_interfaces(SERVED, "metal", {"power": "fake"})
    assert refusal.value.facts == {
        "kind": "power", "name": "fake", "driver": "metal", "supported": "ipmi, redfish",
    }  # fmt: skip
    assert "reset_interfaces" in str(refusal.value)


@pytest.mark.demand("S12", "S13")
def test_a_hardware_type_without_default_needs_an_explicit_choice() -> None:
    served = [row._replace(default=False) if row.interface_type == "power" else row for row in SERVED]
    with pytest.raises(NoValidDefaultForInterface) as refusal:
        choose_interfaces(served, "metal", {})
    assert refusal.value.facts == {"kind": "power", "driver": "metal"}
    assert choose_interfaces(served, "metal", {"power": "ipmi"})["power"] == "ipmi"


def test_conductors_that_disagree_are_outvoted() -> None:
    old, new = rows("metal", power=["ipmi", "redfish"]), rows("metal", power=["redfish", "ipmi"])
    assert choose_interfaces(old + new + new, "metal", {})["power"] == "redfish"
    assert (
        choose_interfaces(old + new, "metal", {})["power"]
        == choose_interfaces(new + old, "metal", {})["power"]
        == "ipmi"
    )


ALL = with_fixed(["metal", "toy", "old"], SERVED)


@pytest.mark.demand("S19")
def test_a_driver_without_rows_has_a_nameless_interface_of_each_kind() -> None:
    assert ALL[: len(SERVED)] == SERVED
    assert ALL[len(SERVED) :] == [InterfaceRow("old", kind, None, True) for kind in KINDS]
    assert with_fixed([], []) == []


@pytest.mark.demand("S23")
def test_a_classic_driver_leaves_all_interfaces_null() -> None:
    nothing = dict.fromkeys(KINDS)
    assert choose_interfaces(ALL, "old", {}) == nothing
    assert choose_interfaces(ALL, "old", {"power": None}, kept={"power": "redfish", "vendor": "none"}) == nothing
    assert choose_interfaces(ALL, "old", {"power": None}, ["power"]) == {"power": None}


@pytest.mark.demand("S23")
@pytest.mark.parametrize("name", ["redfish", "fake", "unknown"])
def test_an_interface_can_not_be_chosen_for_a_classic_driver(name: str) -> None:
    with pytest.raises(FixedInterface) as refusal:
        choose_interfaces(ALL, "old", {"power": name})
    assert refusal.value.facts == {"kind": "power", "driver": "old"}
    assert refusal.value.status == 400 and "power_interface must be null" in str(refusal.value)


@pytest.mark.demand("S24")
def test_what_a_node_keeps_must_be_supported_by_a_hardware_type() -> None:
    assert choose_interfaces(ALL, "metal", {"boot": None}, kept={"power": "ipmi"})["power"] == "ipmi"
    assert choose_interfaces(ALL, "metal", {"power": "redfish"}, kept={"power": "ipmi"})["power"] == "redfish"
    with pytest.raises(IncompatibleInterface):
        choose_interfaces(ALL, "metal", {}, kept={"power": "fake"})


def test_a_name_that_is_classic_for_some_conductors_only_is_decided_by_most() -> None:
    classic = with_fixed(["metal"], [])
    assert choose_interfaces([*SERVED, *classic, *classic], "metal", {})["power"] is None
    assert choose_interfaces([*SERVED, *SERVED, *classic], "metal", {})["power"] == "redfish"
    assert choose_interfaces([*SERVED, *classic], "metal", {"power": "ipmi"})["power"] == "ipmi"
