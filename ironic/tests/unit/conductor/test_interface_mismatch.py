import pytest

from ironic.conductor.interface_mismatch import differences
from ironic.core.hardware_interfaces import KINDS
from ironic.db import ServedInterface


def on(host, *rows):
    return [ServedInterface(host, "", kind, interface, name, False) for kind, interface, name in rows]


FAKE = ("fake-hardware", "power", "fake")
REDFISH = ("fake-hardware", "power", "redfish")
BOOT = ("fake-hardware", "boot", "fake")


@pytest.mark.demand("S34")
@pytest.mark.parametrize(
    "served",
    [
        [],
        on("c1", FAKE),
        [*on("c1", FAKE), *on("c2", FAKE)],
        [*on("c1", FAKE, REDFISH), *on("c2", REDFISH, FAKE)],
        [*on("c1", FAKE), *on("c2", ("redfish", "power", "redfish"))],
    ],
)
def test_agreement_and_other_hardware_types_are_no_difference(served):
    assert differences(served) == []


@pytest.mark.demand("S34")
def test_there_is_one_difference_per_type_and_kind_with_all_sets():
    served = [
        *on("c1", FAKE, REDFISH, BOOT, ("redfish", "boot", "ipxe")),
        *on("c2", FAKE, BOOT, ("redfish", "boot", "pxe")),
        *on("c3", FAKE, REDFISH, BOOT, ("redfish", "boot", "ipxe")),
        *on("c4", REDFISH, BOOT, ("redfish", "boot", "pxe")),
    ]
    power, boot = differences(served)
    assert (power.hardware_type, power.interface_type) == ("fake-hardware", "power")
    assert power.offered == {"c1": {"fake", "redfish"}, "c2": {"fake"}, "c3": {"fake", "redfish"}, "c4": {"redfish"}}
    assert (boot.hardware_type, boot.interface_type) == ("redfish", "boot")
    assert boot.offered == {"c1": {"ipxe"}, "c2": {"pxe"}, "c3": {"ipxe"}, "c4": {"pxe"}}


def test_a_kind_that_only_one_of_them_serves_is_a_difference():
    (found,) = differences([*on("c1", FAKE), *on("c2", FAKE, ("fake-hardware", "rescue", "agent"))])
    assert (found.interface_type, found.offered) == ("rescue", {"c1": frozenset(), "c2": {"agent"}})


def test_a_difference_explains_itself():
    (found,) = differences([*on("c3", FAKE, REDFISH), *on("c1", FAKE, REDFISH), *on("c2", FAKE)])
    text = str(found)
    assert "fake-hardware" in text
    assert " c1, c3: fake, redfish; c2: fake." in text
    assert "enabled_power_interfaces" in text


OLD = [("old", kind, None) for kind in KINDS]
NEW = [("old", kind, "fake") for kind in KINDS]


@pytest.mark.demand("S19", "S34")
def test_a_classic_driver_that_is_a_hardware_type_elsewhere_is_one_difference():
    assert differences([*on("c1", *OLD), *on("c2", *OLD)]) == []
    (found,) = differences([*on("c1", *OLD), *on("c2", *NEW), *on("c3", *OLD)])
    assert "old is a classic driver on c1, c3 and a hardware type on c2" in str(found)
    assert "enabled_drivers or enabled_hardware_types" in str(found)
