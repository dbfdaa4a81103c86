import pytest

from ironic.conductor.differences import differences
from ironic.db import InterfaceRow, ServedInterface


def here(*rows):
    return [InterfaceRow(kind, interface, name, False) for kind, interface, name in rows]


def there(host, *rows):
    return [ServedInterface(host, "", kind, interface, name, False) for kind, interface, name in rows]


FAKE = ("fake-hardware", "power", "fake")
REDFISH = ("fake-hardware", "power", "redfish")


@pytest.mark.demand("S34")
@pytest.mark.parametrize(
    "mine, others",
    [
        ([FAKE], []),
        ([FAKE], there("c2", FAKE)),
        ([FAKE, REDFISH], there("c2", REDFISH, FAKE)),
        ([FAKE], there("c2", ("redfish", "power", "redfish"))),
        ([], there("c2", FAKE)),
    ],
)
def test_agreement_and_other_hardware_types_are_no_difference(mine, others):
    assert differences(here(*mine), others) == []


@pytest.mark.demand("S34")
def test_there_is_one_difference_per_type_and_kind_with_all_sets():
    mine = here(FAKE, REDFISH, ("fake-hardware", "boot", "fake"), ("redfish", "boot", "ipxe"))
    others = [
        *there("c2", FAKE, ("fake-hardware", "boot", "fake"), ("redfish", "boot", "pxe")),
        *there("c3", FAKE, REDFISH, ("fake-hardware", "boot", "fake"), ("redfish", "boot", "ipxe")),
        *there("c4", REDFISH, ("fake-hardware", "boot", "fake"), ("redfish", "boot", "pxe")),
    ]
    power, boot = differences(mine, others)
    assert (power.hardware_type, power.interface_type) == ("fake-hardware", "power")
    assert power.here == {"fake", "redfish"}
    assert power.elsewhere == {"c2": {"fake"}, "c4": {"redfish"}}
    assert (boot.hardware_type, boot.interface_type) == ("redfish", "boot")
    assert boot.here == {"ipxe"}
    assert boot.elsewhere == {"c2": {"pxe"}, "c4": {"pxe"}}


def test_a_kind_that_only_the_other_serves_is_a_difference():
    (found,) = differences(here(FAKE), there("c2", FAKE, ("fake-hardware", "rescue", "agent")))
    assert (found.interface_type, found.here) == ("rescue", frozenset())
    assert found.elsewhere == {"c2": {"agent"}}


def test_a_difference_explains_itself():
    (found,) = differences(here(FAKE, REDFISH), there("c2", FAKE))
    text = str(found)
    assert "fake-hardware" in text
    assert "This one: fake, redfish; c2: fake." in text
    assert "enabled_power_interfaces" in text
