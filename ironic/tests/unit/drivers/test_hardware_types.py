"""Our hardware types, and what is published under which name."""

import configparser
import re
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

import ironic
from ironic.conf import CONF
from ironic.core.errors import DriverLoadError
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.drivers.base import BareDriver
from ironic.drivers.composition import absent_names, driver_options
from ironic.drivers.composition.composed_drivers import Composition
from ironic.drivers.composition.composer import Composer
from ironic.drivers.composition.driver_options import DriverOptions
from ironic.drivers.composition.extensions import CLASSIC_GROUP, TYPES_GROUP, Ambiguous, installed, interfaces_group
from ironic.drivers.contract.interfaces import BASES
from ironic.drivers.fake_hardware import FakeHardware
from ironic.drivers.generic import GenericHardware, ManualManagementHardware
from ironic.drivers.hardware_type import AbstractHardwareType
from ironic.drivers.intel_ipmi import IntelIPMIHardware
from ironic.drivers.ipmi import IPMIHardware
from ironic.drivers.redfish import RedfishHardware
from ironic.tests.conftest import Setter
from ironic.tests.repository import ROOT
from ironic.tests.unit.drivers.plugins import Published

TYPES = [FakeHardware, IntelIPMIHardware, IPMIHardware, ManualManagementHardware, RedfishHardware]

NETWORK = ["ipxe", "pxe", "http-ipxe", "http"]

# The reference's order, without what is not built yet.
EXPECTED: dict[type[AbstractHardwareType], dict[str, list[str]]] = {
    FakeHardware: {
        "bios": ["fake", "no-bios"],
        "boot": ["fake", *NETWORK],
        "console": ["fake", "no-console", "fake-graphical"],
        "deploy": ["fake", "autodetect", "direct", "ramdisk", "custom-agent"],
        "firmware": ["fake", "no-firmware"],
        "inspect": ["fake", "agent", "inspector", "no-inspect"],
        "management": ["fake"],
        "network": ["noop"],
        "power": ["fake"],
        "raid": ["fake", "no-raid", "agent"],
        "rescue": ["fake", "no-rescue", "agent"],
        "storage": ["fake", "noop"],
        "vendor": ["fake", "no-vendor"],
    },
    IntelIPMIHardware: {"management": ["intel-ipmitool"], "power": ["ipmitool"], "vendor": ["ipmitool", "no-vendor"]},
    IPMIHardware: {
        "boot": NETWORK,
        "console": ["ipmitool-socat", "no-console", "fake-graphical"],
        "deploy": ["autodetect", "direct", "ramdisk", "custom-agent"],
        "inspect": ["agent", "inspector", "no-inspect"],
        "management": ["ipmitool", "noop"],
        "power": ["ipmitool"],
        "raid": ["no-raid", "agent"],
        "vendor": ["ipmitool", "no-vendor"],
    },
    ManualManagementHardware: {
        "boot": NETWORK,
        "console": ["no-console", "fake-graphical"],
        "deploy": ["autodetect", "direct", "ramdisk", "custom-agent", "noop"],
        "inspect": ["agent", "inspector", "no-inspect"],
        "management": ["noop", "fake"],
        "power": ["agent", "fake"],
        "vendor": ["no-vendor"],
    },
    RedfishHardware: {
        "boot": [*NETWORK, "redfish-virtual-media", "redfish-https"],
        "deploy": ["autodetect", "direct", "ramdisk", "custom-agent"],
        "bios": ["redfish", "no-bios"],
        "console": ["redfish-graphical", "ipmitool-socat", "no-console", "fake-graphical"],
        "firmware": ["redfish", "no-firmware"],
        "raid": ["redfish", "no-raid", "agent"],
        "vendor": ["redfish", "no-vendor"],
        "inspect": ["redfish", "agent", "inspector", "no-inspect"],
        "management": ["redfish", "noop"],
        "power": ["redfish"],
        "storage": ["noop"],
    },
}


def published_here() -> dict[str, set[str]]:
    """Return what our own setup.cfg publishes, whatever else is installed."""
    parser = configparser.ConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(Path(ironic.__file__).parent.parent / "setup.cfg")
    section = parser["options.entry_points"]
    return {group: {line.split("=")[0].strip() for line in section[group].strip().splitlines()} for group in section}


@pytest.mark.demand("S4", "S6")
@pytest.mark.parametrize("hardware_type", TYPES)
def test_supported_interfaces_come_in_the_promised_order(hardware_type: type[AbstractHardwareType]) -> None:
    instance = hardware_type()
    for kind, names in EXPECTED[hardware_type].items():
        assert list(getattr(instance, f"supported_{interface_field(kind)}s")) == names


@pytest.mark.parametrize("hardware_type", TYPES)
def test_only_what_exists_is_listed(hardware_type: type[AbstractHardwareType]) -> None:
    published = published_here()
    for kind in KINDS:
        listed = getattr(hardware_type(), f"supported_{interface_field(kind)}s")
        assert set(listed) <= published[interfaces_group(kind)]


def test_the_contract_has_the_lists_of_the_generic_type() -> None:
    page = (ROOT / "doc" / "contract" / "drivers.md").read_text()
    table = page.partition("| kind | here |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (\w+) \| ([\w, -]+) \| ([\w, -]*)\|$", table, re.MULTILINE)
    shown = {kind: (here.split(", "), set(filter(None, missing.strip().split(", ")))) for kind, here, missing in rows}
    assert shown.keys() == set(KINDS) - {"management", "power"}
    for kind, (here, missing) in shown.items():
        assert here == getattr(Generic(), f"supported_{interface_field(kind)}s")
        assert missing == absent_names.names(kind, former=False) - {
            f"idrac-redfish{end}" for end in ("", "-virtual-media")
        }


class Generic(GenericHardware):
    """The lists alone."""

    supported_power_interfaces = ["fake"]


class Bare(AbstractHardwareType):
    """Lists what is mandatory."""

    supported_deploy_interfaces = ["fake"]
    supported_power_interfaces = ["fake"]


@pytest.mark.demand("S4")
def test_power_and_deploy_alone_have_no_default_list() -> None:
    mandatory = {f"supported_{kind}_interfaces" for kind in ("deploy", "power")}
    assert AbstractHardwareType.__abstractmethods__ == mandatory
    assert GenericHardware.__abstractmethods__ == {"supported_power_interfaces"}
    published = published_here()
    for kind in KINDS:
        first = getattr(Bare(), f"supported_{interface_field(kind)}s")[0]
        assert first in published[interfaces_group(kind)]
        assert first in ("fake", "noop", f"no-{kind}")


@pytest.mark.demand("S4")
def test_a_hardware_type_that_lists_power_and_deploy_alone_can_be_served() -> None:
    entry = Published(Bare)
    everything = {**installed(), TYPES_GROUP: {"bare": entry}}
    options = DriverOptions(hardware_types=("bare",), enabled=dict.fromkeys(KINDS))
    composition = Composition(*Composer(options, everything).compose())
    chosen = {kind: composition.default("bare", kind) for kind in KINDS}
    assert (chosen["power"], chosen["deploy"], chosen["boot"], chosen["management"]) == ("fake", "fake", "fake", "noop")
    assert composition.default_driver("bare").management is not None


@pytest.mark.demand("S4")
def test_such_a_type_needs_no_option_of_what_it_does_not_list(conf: Setter) -> None:
    conf(enabled_hardware_types=["bare"], enabled_deploy_interfaces=["fake"])
    options, everything = DriverOptions.from_conf(CONF), {**installed(), TYPES_GROUP: {"bare": Published(Bare)}}
    composition = Composition(*Composer(options, everything).compose())
    offered = {row.interface_name for row in composition.interface_rows() if row.interface_type == "boot"}
    assert (composition.default("bare", "boot"), offered) == ("fake", {"fake"})
    # What the operator lists is what nodes may use.
    listed = replace(options, unasked=options.unasked - {"boot"})
    with pytest.raises(DriverLoadError, match=r"none of the enabled boot interfaces.*enabled_boot_interfaces\): fake"):
        Composer(listed, everything).compose()


def test_an_empty_list_of_interfaces_is_the_default(conf: Setter) -> None:
    usual = DriverOptions.from_conf(CONF)
    conf(**{driver_options.enabled_option(kind): [] for kind in KINDS})
    assert DriverOptions.from_conf(CONF) == usual
    Composer(usual, installed()).compose()


@pytest.mark.parametrize("kind", KINDS)
def test_no_interface_that_is_asked_for_is_replaced_without_a_word(kind: str) -> None:
    """A name that is known and not here: enabled alone, beside those that are, as the default, and both."""
    usual, here = DriverOptions.from_conf(CONF), installed()
    usual = replace(usual, hardware_types=("ipmi", "redfish"), unasked=usual.unasked - {kind})
    present = usual.enabled[kind] or ()
    for name in sorted(absent_names.names(kind)):
        for enabled, default in (((name,), None), ((*present, name), None), ((*present, name), name), (present, name)):
            asked = replace(usual, enabled={**usual.enabled, kind: enabled}, defaults={**usual.defaults, kind: default})
            found = Composer(asked, here).examine()
            assert any(name in line for line in (*found.faults, *found.remarks)), (enabled, default)


@pytest.mark.demand("S1", "S3")
def test_every_name_leads_to_a_class_of_its_kind() -> None:
    for group, names in published_here().items():
        if not group.startswith("ironic.hardware."):
            continue
        base: type = AbstractHardwareType if group == TYPES_GROUP else BASES[group.rsplit(".", 1)[1]]
        for name in names:
            assert issubclass(installed()[group][name].load(), base), (group, name)


def test_what_is_built_is_not_listed_as_missing() -> None:
    published = published_here()
    assert published[TYPES_GROUP].isdisjoint(absent_names.names(absent_names.TYPE, former=False))
    for kind in KINDS:
        assert published[interfaces_group(kind)].isdisjoint(absent_names.names(kind, former=False)), kind


@pytest.mark.demand("S2")
def test_every_kind_has_one_base_class() -> None:
    assert list(BASES) == list(KINDS)
    assert all(base.interface_type == kind for kind, base in BASES.items())
    assert BareDriver.all_interfaces == KINDS
    assert BareDriver.non_vendor_interfaces == tuple(kind for kind in KINDS if kind != "vendor")


def test_the_installed_names_are_found_without_loading_them() -> None:
    found = installed()
    assert set(found) == {TYPES_GROUP, CLASSIC_GROUP, *map(interfaces_group, KINDS)}
    assert isinstance(found[TYPES_GROUP]["redfish"], metadata.EntryPoint)


def test_a_name_published_twice_is_refused() -> None:
    with pytest.raises(ImportError, match="for a:A and b:B"):
        Ambiguous("a:A", "b:B").load()
