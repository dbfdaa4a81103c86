"""What stops the start of a conductor, and what only deserves a warning."""

import abc
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg

from ironic.conf import CONF, OPTIONS
from ironic.core.errors import DriverLoadError
from ironic.core.hardware_interfaces import KINDS
from ironic.drivers.composition import absent_names
from ironic.drivers.composition.composed_drivers import Composition
from ironic.drivers.composition.driver_options import DriverOptions
from ironic.drivers.composition.extensions import Ambiguous, installed, interfaces_group
from ironic.drivers.modules import fake, noop
from ironic.drivers.modules.fake import FakePower
from ironic.tests.unit.drivers.plugins import (
    ENABLED,
    AcmeHardware,
    AcmePower,
    ManySteps,
    Published,
    Registry,
    broken,
    compose,
    registry,
    wanted,
)

# A boot interface that is not built yet.
LATER = "idrac-redfish-virtual-media"


def enabling(kind: str, *names: str) -> DriverOptions:
    """Enable these interfaces of a kind, and what is enough of the others."""
    usual = wanted("acme")
    return replace(usual, enabled={**usual.enabled, kind: names})


def faults(*args: Any, **kwargs: Any) -> list[str]:
    """Return what stops the start."""
    with pytest.raises(DriverLoadError) as stop:
        compose(*args, **kwargs)
    found: list[str] = stop.value.facts["faults"]
    assert all(fault in str(stop.value) for fault in found)
    return found


@pytest.mark.demand("S11")
def test_a_default_outside_the_enabled_list_names_option_value_and_what_is_allowed() -> None:
    (fault,) = faults(wanted("acme", power=("acme",), defaults={"power": "acme-plus"}))
    assert "default_power_interface is acme-plus" in fault
    assert "enabled_power_interfaces does not enable (acme)" in fault


class ByName(AcmeHardware):
    supported_power_interfaces = ["acme"]


@pytest.mark.demand("S16")
def test_everything_that_is_wrong_is_told_at_once() -> None:
    published = registry(
        {"acme": ByName, "missing-library": broken()},
        power={"acme": broken("No module named 'acmelib'")},
    )
    wish = wanted(
        "acme",
        "missing-library",
        "acmee",
        power=("acme", "pover"),
        boot=("fake", "foot"),
        deploy=("fake",),
        defaults={"vendor": "other"},
    )
    found = faults(wish, published)
    text = "\n".join(found)
    assert len(found) == 7
    assert "hardware type missing-library can't be loaded: ImportError: No module named 'vendorlib'" in text
    assert "there is no hardware type acmee (option enabled_hardware_types); installed ones: acme" in text
    assert "there is no power interface pover (option enabled_power_interfaces)" in text
    assert "there is no boot interface foot" in text
    assert "power interface acme can't be loaded: ImportError: No module named 'acmelib'" in text
    assert "hardware type acme supports none of the enabled deploy interfaces" in text
    assert "default_vendor_interface is other" in text


@pytest.mark.demand("S13", "S16")
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_without_anything_usable_stops_the_start(kind: str) -> None:
    (fault,) = faults(replace(wanted(), enabled={**ENABLED, kind: ()}))
    assert fault.startswith(f"hardware type acme supports none of the enabled {kind} interfaces")
    assert f"enabled_{kind}_interfaces" in fault


class Sick(FakePower):
    def __init__(self) -> None:
        raise RuntimeError("no licence")


class Unfinished(AcmeHardware):
    @property
    def supported_power_interfaces(self) -> Any:
        import vendorlib_that_is_not_there  # type: ignore[import-not-found]  # noqa: F401

        return []


class Odd(AcmeHardware):
    supported_power_interfaces = ["odd"]


@pytest.mark.demand("S3", "S16")
@pytest.mark.parametrize(
    "thing, expected",
    [
        (Published(Sick), "RuntimeError: no licence"),
        (
            Published(object),
            "builtins:object is no subclass of ironic.drivers.contract.interfaces.power_management.PowerInterface",
        ),
        (Published("text", value="odd:text"), "odd:text is no subclass of"),
        (Published(AcmeHardware), "is no subclass of"),
        (Ambiguous("a:A", "b:B"), "published more than once, for a:A and b:B"),
        (broken(), "ImportError: No module named 'vendorlib'"),
    ],
)
def test_what_can_not_be_made_stops_the_start(thing: Any, expected: str) -> None:
    published = registry({"acme": Odd})
    published["ironic.hardware.interfaces.power"]["odd"] = thing
    (fault,) = faults(wanted("acme", power=("odd",)), published)
    assert fault.startswith("power interface odd can't be loaded: ")
    assert expected in fault


class NoPower(AcmeHardware):
    @property
    @abc.abstractmethod
    def supported_power_interfaces(self) -> Any:
        """Left to subclasses."""


@pytest.mark.demand("S1", "S4", "S16")
@pytest.mark.parametrize("thing", [Published(AcmePower), Published("text", value="odd:text"), Published(NoPower)])
def test_a_hardware_type_must_be_one(thing: Any) -> None:
    (fault,) = faults(wanted("acme"), registry({"acme": thing}))
    assert fault.startswith("hardware type acme can't be loaded: TypeError")


def test_a_type_whose_list_can_not_be_made_stops_the_start() -> None:
    (fault,) = faults(wanted("acme"), registry({"acme": Unfinished}))
    assert "hardware type acme fails to list its power interfaces: ModuleNotFoundError" in fault


@pytest.mark.demand("S2")
def test_an_implementation_must_be_of_its_kind() -> None:
    class Wrong(AcmeHardware):
        supported_power_interfaces = ["impostor"]

    published = registry({"acme": Wrong}, power={"impostor": ManySteps})
    (fault,) = faults(wanted("acme", power=("impostor",)), published)
    assert "is no subclass of ironic.drivers.contract.interfaces.power_management.PowerInterface" in fault


def test_nothing_enabled_stops_the_start() -> None:
    (fault,) = faults(wanted("idrac"))
    assert "no hardware type is left to serve" in fault


# Priorities of clean steps


def steps(**priorities: Any) -> tuple[Any, Registry]:
    class Cleaner(AcmeHardware):
        supported_vendor_interfaces = ["cleaner"]

    published = registry({"acme": Cleaner}, vendor={"cleaner": ManySteps})
    return wanted("acme", vendor=("cleaner",), clean_priorities=priorities), published


@pytest.mark.demand("S48")
def test_clean_steps_of_equal_priority_in_one_interface_stop_the_start() -> None:
    (fault,) = faults(*steps())
    assert "vendor interface cleaner" in fault
    assert "equal priority 10: scrub, wipe" in fault


@pytest.mark.demand("S48")
@pytest.mark.parametrize("priority", [11, "11", 10.5, "10.5", 0, "0"])
def test_an_override_may_keep_them_apart(priority: Any) -> None:
    wish, published = steps(**{"vendor.wipe": priority})
    assert compose(wish, published).default("acme", "vendor") == "cleaner"


@pytest.mark.demand("S48")
def test_an_override_may_bring_them_together() -> None:
    wish, published = steps(**{"vendor.wipe": "3", "vendor.polish": "3.0"})
    (fault,) = faults(wish, published)
    assert "equal priority 3: polish, wipe" in fault


ERASING = ("[deploy]erase_devices_priority", "[deploy]erase_devices_metadata_priority")
RAID = ("[deploy]delete_configuration_priority", "[deploy]create_configuration_priority")
OVERRIDE = "[conductor]clean_step_priority_override"


def agents(conf: Any, **options: Any) -> Composition:
    """Compose what has the agent's steps, with options."""
    conf(enabled_hardware_types=["fake-hardware"], enabled_deploy_interfaces=["direct", "fake"])
    conf(enabled_raid_interfaces=["agent", "fake"], enabled_vendor_interfaces=["fake"], **options)
    conf(enabled_network_interfaces=["noop"], enabled_storage_interfaces=["noop"])
    return Composition.load(CONF)


@pytest.mark.demand("S48")
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"deploy__erase_devices_priority": 99, "deploy__erase_devices_metadata_priority": 99}, ERASING),
        ({"deploy__delete_configuration_priority": 5, "deploy__create_configuration_priority": 5}, RAID),
        (
            {
                "deploy__erase_devices_priority": 7,
                "conductor__clean_step_priority_override": [{"deploy.erase_devices_metadata": "7"}],
            },
            (ERASING[0], OVERRIDE),
        ),
        (
            {"conductor__clean_step_priority_override": [{"deploy.erase_devices": "3"}, {"deploy.erase_pstore": "3"}]},
            (OVERRIDE, "erase_devices, erase_pstore"),
        ),
        (
            {
                "deploy__delete_configuration_priority": 8,
                "conductor__clean_step_priority_override": [{"raid.create_configuration": "8.0"}],
            },
            (RAID[0], OVERRIDE),
        ),
    ],
)
def test_options_that_make_the_agents_steps_equal_stop_the_start(conf: Any, options: Any, named: Any) -> None:
    with pytest.raises(DriverLoadError) as stop:
        agents(conf, **options)
    assert all(name in str(stop.value) for name in named)
    assert "equal priority" in str(stop.value)


@pytest.mark.demand("S48")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"deploy__erase_devices_priority": 0, "deploy__erase_devices_metadata_priority": 0},
        {"deploy__erase_devices_priority": 10, "deploy__delete_configuration_priority": 10},
        {
            "deploy__erase_devices_priority": 10,
            "deploy__erase_devices_metadata_priority": 10,
            "conductor__clean_step_priority_override": [{"deploy.erase_devices": "9"}],
        },
        {"conductor__clean_step_priority_override": [{"raid.create_configuration": "0"}, {"raid.b": "0"}]},
    ],
)
def test_the_agents_steps_may_have_any_other_priorities(conf: Any, options: Any) -> None:
    assert agents(conf, **options).default("fake-hardware", "deploy")


@pytest.mark.demand("S48")
def test_a_reload_that_would_make_them_equal_is_refused_until_the_file_is_mended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    conf, file = cfg.ConfigOpts(), tmp_path / "ironic.conf"
    for group, options in OPTIONS.items():
        conf.register_opts(options, None if group == "DEFAULT" else group)

    def write(erase: int, metadata: int) -> None:
        file.write_text(f"[deploy]\nerase_devices_priority={erase}\nerase_devices_metadata_priority={metadata}\n")

    def priorities() -> tuple[int, int]:
        return conf.deploy.erase_devices_priority, conf.deploy.erase_devices_metadata_priority

    write(10, 20)
    conf(["--config-file", str(file)], default_config_files=[], default_config_dirs=[])
    conf.set_override("enabled_hardware_types", ["fake-hardware"])
    conf.set_override("enabled_deploy_interfaces", ["direct", "fake"])
    conf.set_override("enabled_vendor_interfaces", ["fake"])
    composition = Composition.load(conf)
    for wanted_now, expected, errors in [((20, 20), (10, 20), 1), ((30, 30), (10, 20), 2), ((5, 6), (5, 6), 2)]:
        write(*wanted_now)
        conf.mutate_config_files()
        composition.reload()
        assert priorities() == expected
        said = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
        assert len(said) == errors
        assert all(all(name in text for name in ERASING) for text in said)


def test_disabled_steps_are_never_too_equal() -> None:
    wish, published = steps(**{"vendor.wipe": 0, "vendor.scrub": 0})
    assert compose(wish, published).default("acme", "vendor") == "cleaner"


def test_an_override_that_is_no_number_stops_the_start() -> None:
    found = faults(*steps(**{"vendor.wipe": "high"}))
    assert any("clean_step_priority_override, vendor.wipe" in fault for fault in found)


# What is not built yet


@pytest.mark.demand("S16")
def test_names_of_other_releases_are_skipped_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    wish = wanted("acme", "idrac", power=("acme", "idrac-redfish"), boot=(LATER, "fake"), defaults={"boot": LATER})
    composition = compose(wish)
    assert composition.drivers.keys() == {"acme"}
    assert composition.default("acme", "boot") == "fake"
    (skipped,) = [text for text in caplog.messages if "are skipped" in text]
    assert [each.partition(" (")[0] for each in skipped.partition(": ")[2].split("; ")] == [
        "hardware type idrac",
        f"boot interface {LATER}",
        "power interface idrac-redfish",
    ]
    assert skipped.count("use hardware type redfish and its interfaces") == 3
    assert f"default_boot_interface is ignored: {LATER} is not built yet" in caplog.text


@pytest.mark.demand("S16")
@pytest.mark.parametrize(("kind", "name"), [("network", "neutron"), ("network", "flat"), ("storage", "cinder")])
def test_an_interface_of_tenants_that_is_not_built_stops_the_start(kind: str, name: str) -> None:
    (fault,) = faults(enabling(kind, "noop", name))
    assert f"{kind} interface {name} is asked for (option enabled_{kind}_interfaces)" in fault
    (fault,) = faults(replace(enabling(kind, "noop"), defaults={kind: name}))
    assert f"{kind} interface {name} is asked for (option default_{kind}_interface)" in fault


def test_what_nobody_asked_for_is_left_out_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    wish = wanted("acme", network=("flat", "noop"), storage=("cinder", "noop"))
    composition = compose(replace(wish, unasked=frozenset({"network", "storage"})))
    assert composition.default("acme", "network") == "noop"
    assert not caplog.messages
    with pytest.raises(DriverLoadError, match="network interface flat is asked for"):
        compose(replace(wish, unasked=frozenset({"network", "storage"}), defaults={"network": "flat"}))


@pytest.mark.demand("S16")
@pytest.mark.parametrize("kind", KINDS)
def test_names_of_the_past_are_skipped_with_a_way_on(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    for name in absent_names.names(kind, former=True):
        caplog.clear()
        compose(enabling(kind, *(ENABLED[kind] or ()), name))
        (text,) = [text for text in caplog.messages if "are skipped" in text]
        assert f"{kind} interface {name} (option enabled_{kind}_interfaces): " in text


@pytest.mark.demand("S16")
def test_names_from_before_this_service_was_written_are_known(caplog: pytest.LogCaptureFixture) -> None:
    types = ("oneview", "cisco-ucs-managed", "cisco-ucs-standalone")
    compose(wanted("acme", *types, deploy=("acme", "iscsi"), power=("acme", "cimc", "ucsm", "oneview")))
    (text,) = [text for text in caplog.messages if "are skipped" in text]
    assert "deploy interface iscsi (option enabled_deploy_interfaces): use direct" in text
    for name in types:
        assert f"hardware type {name} (option enabled_hardware_types): use hardware type redfish" in text


def test_a_type_without_interfaces_is_skipped_by_those_that_it_supports(caplog: pytest.LogCaptureFixture) -> None:
    class Manual(AcmeHardware):
        supported_power_interfaces = ["fake"]

    types = {"acme": AcmeHardware, "manual": Manual}
    composition = compose(wanted("acme", "manual", power=("acme", "ilo")), registry(types))
    assert composition.drivers.keys() == {"acme"}
    (text,) = [text for text in caplog.messages if "Skipping" in text]
    assert "manual: it supports none of the power interfaces that are left; enable one that it supports" in text
    assert text.endswith("(option enabled_power_interfaces): fake.")


def test_a_type_that_is_incomplete_without_them_is_skipped_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    class NeedsLater(AcmeHardware):
        supported_boot_interfaces = [LATER]

    types = {"acme": AcmeHardware, "needs-later": NeedsLater}
    composition = compose(wanted("acme", "needs-later", boot=("fake", LATER)), registry(types))
    assert composition.drivers.keys() == {"acme"}
    assert f"Skipping hardware type needs-later: it can't do without boot interfaces ({LATER})" in caplog.text


def test_a_type_skipped_does_not_have_its_interfaces_loaded() -> None:
    class NeedsLater(AcmeHardware):
        supported_boot_interfaces = [LATER]
        supported_power_interfaces = ["fake"]

    published = registry({"acme": AcmeHardware, "needs-later": NeedsLater})
    compose(wanted("acme", "needs-later", boot=("fake", LATER), power=("acme", "fake")), published)
    assert published["ironic.hardware.interfaces.power"]["fake"].loads == []
    assert published["ironic.hardware.interfaces.power"]["acme"].loads


def test_a_plugin_may_publish_what_is_not_built_here_yet() -> None:
    class Vendors(AcmeHardware):
        supported_power_interfaces = [AcmePower]

    published = registry({"ipmi": Vendors}, power={"ipmitool": AcmePower})
    del published["ironic.hardware.interfaces.power"]["acme"]
    assert compose(wanted("ipmi", power=("ipmitool",)), published).default("ipmi", "power") == "ipmitool"


def test_an_orphaned_implementation_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    class Orphan(AcmePower):
        supported = False

    class Owner(AcmeHardware):
        supported_power_interfaces = [Orphan]

    compose(wanted("acme", power=("orphan",)), registry({"acme": Owner}, power={"orphan": Orphan}))
    assert "power interface orphan is deprecated and unsupported" in caplog.text


def test_the_configuration_of_the_recorded_exchanges_starts(
    conf: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    conf(
        enabled_hardware_types=["fake-hardware", "manual-management"],
        enabled_bios_interfaces=["fake", "no-bios"],
        enabled_boot_interfaces=["fake", "pxe"],
        enabled_console_interfaces=["fake", "no-console"],
        enabled_deploy_interfaces=["fake", "direct"],
        enabled_firmware_interfaces=["fake", "no-firmware"],
        enabled_inspect_interfaces=["fake", "no-inspect"],
        enabled_management_interfaces=["fake", "noop"],
        enabled_network_interfaces=["noop"],
        enabled_power_interfaces=["fake", "agent"],
        enabled_raid_interfaces=["fake", "no-raid"],
        enabled_rescue_interfaces=["fake", "no-rescue"],
        enabled_storage_interfaces=["fake", "noop"],
        enabled_vendor_interfaces=["fake", "no-vendor"],
        default_network_interface="noop",
    )
    composition = Composition.load(CONF)
    assert composition.drivers.keys() == {"fake-hardware", "manual-management"}
    assert "Skipping" not in caplog.text
    assert composition.default("manual-management", "boot") == "pxe"
    assert composition.default("manual-management", "power") == "agent"


def test_no_name_that_is_not_built_is_installed() -> None:
    for kind in KINDS:
        assert not absent_names.names(kind, former=False) & installed()[interfaces_group(kind)].keys()


class Listing(AcmeHardware):
    """Lists an inspect interface of its own."""

    @property
    def supported_inspect_interfaces(self) -> list[Any]:
        return [noop.NoInspect]


class Entering(fake.FakeInspect):
    """Enters itself in the list of a type when it is made, as published packages do."""

    made = 0

    def __init__(self) -> None:
        Entering.made += 1
        before = Listing.supported_inspect_interfaces

        def listed(hardware_type: Any) -> list[Any]:
            return [*before.__get__(hardware_type), Entering]

        Listing.supported_inspect_interfaces = property(listed)  # type: ignore[assignment, method-assign]


def test_an_inspect_interface_may_enter_itself_in_the_list_of_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    # Restored at the end: the interface replaces the property of the class.
    monkeypatch.setattr(Listing, "supported_inspect_interfaces", Listing.supported_inspect_interfaces)
    monkeypatch.setattr(Entering, "__module__", "vendor.inspect")
    entering = Published(Entering)
    published = registry({"acme": Listing}, inspect={"entering": entering, "broken": broken()})
    composition = compose(wanted("acme", inspect=("no-inspect", "entering", "broken")), published)
    assert composition.choices("acme", "inspect") == ("no-inspect", "entering")
    assert composition.default("acme", "inspect") == "no-inspect"
    assert type(composition.implementation("acme", "inspect", "entering")) is Entering
    assert Entering.made == 1
