"""Defaults and choices of interfaces, from names alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.core.errors import (
    DriverNotFound,
    IncompatibleInterface,
    InterfaceNotFoundInEntrypoint,
    NoValidDefaultForInterface,
)
from ironic.core.hardware_interfaces import KINDS, InterfaceRow, choose_default, choose_interfaces

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
