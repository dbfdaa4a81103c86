"""BIOS settings of odd BMCs: what is odd in a registry, in one of its rows or in a value takes away only itself."""

from collections.abc import Iterator
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.bmc.bmc_gateway import RECENT
from ironic.drivers.modules.redfish.bios import RedfishBIOS
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.test_odd_machines import answer_at, on
from ironic.tests.functional.drivers.test_odd_orders import BIOS, machine_with
from ironic.tests.unit.drivers.machine import Work, items_of

REGISTRIES = "/redfish/v1/Registries"
FILE = f"{REGISTRIES}/Reg"
REGISTRY = f"{FILE}.json"
TURBO = {"AttributeName": "Turbo", "Type": "Enumeration", "Value": [{"ValueName": "On"}, {"ValueName": "Off"}]}
CORES = {"AttributeName": "Cores", "Type": "Integer", "LowerBound": 1, "UpperBound": 8}


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    with hostile_bmc() as running:
        running.documents = machine_with(f"{SYSTEM}/Bios", {"AttributeRegistry": "Reg.v1_0_0"})
        running.documents[f"{SYSTEM}/Bios"]["Attributes"] = {"Turbo": "Off", "Cores": 4}
        running.documents["/redfish/v1"]["Registries"] = {"@odata.id": REGISTRIES}
        running.documents |= {
            REGISTRIES: {"Members": [{"@odata.id": FILE}]},
            FILE: {
                "Id": "Reg.v1_0_0", "Name": "File", "Registry": "Reg.v1_0_0", "Languages": ["en"],
                "Location": [{"Language": "en", "Uri": REGISTRY}],
            },
            REGISTRY: {
                "@odata.type": "#AttributeRegistry.v1_3_5.AttributeRegistry", "Id": "Reg.v1_0_0",
                "RegistryEntries": {"Attributes": [TURBO, CORES]},
            },
        }  # fmt: skip
        yield running


def cached(bmc: HostileBmc) -> tuple[Work, dict[str, dict[str, Any]]]:
    task = on(bmc, provision_state=states.CLEANING)
    task.driver = BareDriver({"power": RedfishPower()})
    RedfishBIOS().cache_bios_settings(task)
    return task, {row["name"]: row for row in items_of(task.store.bios_settings)}


def types(bmc: HostileBmc) -> dict[str, str | None]:
    return {name: row["attribute_type"] for name, row in cached(bmc)[1].items()}


DESCRIBED = {"Turbo": "Enumeration", "Cores": "Integer"}


@pytest.mark.difference("files of registries")
@pytest.mark.parametrize(
    "change",
    [
        {"Languages": None},
        {"Languages": "en"},
        {"Registry": "Reg.1.0.0", "Id": "Other"},
        {"Registry": "reg", "Id": "Other"},
        {"Registry": None, "Id": None},
        {"Location": {"Language": "en", "Uri": REGISTRY}},
        *(
            {"Location": [{"Language": language, "Uri": REGISTRY}]}
            for language in (None, 5, "", "EN", "en-US", "en_US", "English", "default", "zh")
        ),
        {"Location": [{"Uri": "/gone"}, {"Language": "zh", "Uri": "/gone"}, {"Language": "en", "Uri": REGISTRY}]},
        {"Location": [{"Language": "en", "Uri": "/gone"}, {"Language": "en", "Uri": REGISTRY}]},
        {"Location": [None, 5, {"Language": "en", "Uri": {"extref": REGISTRY}}]},
        {"Location": [{"Language": "en", "Uri": {"@odata.id": REGISTRY}}]},
    ],
)
def test_a_registry_is_found_by_an_odd_file(bmc: HostileBmc, change: dict[str, Any]) -> None:
    bmc.documents[FILE] |= change
    bmc.documents[f"{SYSTEM}/Bios"]["AttributeRegistry"] = "Reg" if change.get("Id", FILE) is None else "Reg.v1_0_0"
    assert types(bmc) == DESCRIBED


def test_a_registry_of_another_version_or_at_another_server_is_not_taken(bmc: HostileBmc) -> None:
    nothing = dict.fromkeys(DESCRIBED)
    for change in ({"Registry": "Reg.v1_1_0", "Id": "Reg.v1_1_0"}, {"Registry": "Regular", "Id": "Regular"}):
        bmc.documents[FILE] |= change
        assert types(bmc) == nothing
    bmc.documents[FILE] |= {"Registry": "Reg.v1_0_0"}
    bmc.documents[FILE]["Location"] = [{"Language": "en", "Uri": "http://192.0.2.7/r", "PublicationUri": "http://h/r"}]
    assert types(bmc) == nothing


@pytest.mark.parametrize("kind", [None, 5, "AttributeRegistry.1.0.0", "#Own.v1.Own"])
def test_a_registry_is_one_by_its_content(bmc: HostileBmc, kind: Any) -> None:
    bmc.documents[REGISTRY]["@odata.type"] = kind
    assert types(bmc) == DESCRIBED


@pytest.mark.parametrize(
    "row",
    [None, 5, "Cores", [], {}, {"AttributeName": None}, {"AttributeName": ["Cores"]}, {"AttributeName": "Cores"},
     {**CORES, "AttributeName": 7}],
)  # fmt: skip
def test_an_odd_row_takes_away_itself(bmc: HostileBmc, row: Any) -> None:
    bmc.documents[REGISTRY]["RegistryEntries"]["Attributes"] = [row, TURBO]
    assert types(bmc) == {"Turbo": "Enumeration", "Cores": None}


@pytest.mark.parametrize(
    "odd, found",
    [
        ({"Type": "integer"}, {}),
        ({"LowerBound": "1", "UpperBound": 8.0}, {}),
        ({"UpperBound": 2**64 - 1}, {"upper_bound": None}),
        ({"LowerBound": -(2**64), "UpperBound": "many"}, {"lower_bound": None, "upper_bound": None}),
        ({"LowerBound": 1.5}, {"lower_bound": None}),
        ({"LowerBound": 9}, {"lower_bound": None, "upper_bound": None}),
        ({"ReadOnly": "false", "ResetRequired": "no"}, {}),
        ({"ReadOnly": "True"}, {"read_only": True}),
        ({"ReadOnly": {}, "Value": 5, "MaxLength": None}, {}),
    ],
)
def test_an_odd_leaf_of_a_row_takes_away_itself(bmc: HostileBmc, odd: dict[str, Any], found: dict[str, Any]) -> None:
    named = {"attribute_type": "Integer", "lower_bound": 1, "upper_bound": 8, "read_only": False}
    bmc.documents[REGISTRY]["RegistryEntries"]["Attributes"] = [TURBO, {**CORES, **odd}]
    row = cached(bmc)[1]["Cores"]
    assert {name: row[name] or (False if name == "read_only" else row[name]) for name in named} == {**named, **found}


@pytest.mark.parametrize(
    "values, words",
    [
        (["On", "Off"], ["On", "Off"]),
        ({"ValueName": "On"}, ["On"]),
        ([{"ValueName": 1}, {"ValueName": "On"}], [1, "On"]),
        ([{"ValueName": None}, {"ValueName": "On"}, None, {}, {"ValueDisplayName": "Off"}], ["On", "Off"]),
        ([{"ValueName": ["On"]}, {"ValueName": "Off"}], []),
        ([{"ValueName": True}], []),
        (None, []),
        ("On", ["On"]),
    ],
)
def test_values_are_shown_as_far_as_they_are_known(bmc: HostileBmc, values: Any, words: list[Any]) -> None:
    bmc.documents[REGISTRY]["RegistryEntries"]["Attributes"] = [{**TURBO, "Value": values}]
    task, rows = cached(bmc)
    assert (rows["Turbo"]["allowable_values"] or []) == words
    if "On" in words:
        assert RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "On"}]) == states.CLEANWAIT
    else:
        with pytest.raises(InvalidParameterValue, match="Turbo can't be checked: the BMC's registry"):
            RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "On"}])
    assert bmc.count("PATCH", BIOS) == int("On" in words)


# What is set must be certain


LOCALE = {"AttributeName": "Locale", "Type": "String", "MinLength": 2, "MaxLength": 4}
GONE = object()
ODD_RIGHTS: list[Any] = [True, "True", 1, "yes", [], {}, None, 0, [True]]
ODD_VALUES: list[Any] = [None, [], {}, [None], [5.5, "On"], [{"ValueName": ["On"]}, "On"]]
ODD_BOUNDS: list[Any] = ["many", 8.5, [8], {}, True, -(2**64)]


@pytest.mark.parametrize(
    "entry, odd, right, wrong",
    [
        (TURBO, {"Type": GONE}, "On", "n"),
        (TURBO, {"Type": None}, "On", "able"),
        (TURBO, {"Type": 5}, "On", "able"),
        (TURBO, {"Type": ["Enumeration"]}, "On", 1),
        (TURBO, {"Type": "Enum", "ReadOnly": "False", "Immutable": False}, "On", "on "),
        (CORES, {"Type": {}}, 8, 9),
        (CORES, {"Type": "number", "LowerBound": "1"}, "8", "many"),
        (CORES, {"UpperBound": 2**64 - 1}, 9, 0),
        (LOCALE, {"Type": GONE}, "en", "e"),
    ],
)
def test_a_value_is_checked_by_what_is_certain(
    bmc: HostileBmc, entry: dict[str, Any], odd: dict[str, Any], right: Any, wrong: Any
) -> None:
    shown = {name: value for name, value in {**entry, **odd}.items() if value is not GONE}
    other = {**TURBO, "AttributeName": "Other", "ReadOnly": 7, "Value": 5}
    bmc.documents[REGISTRY]["RegistryEntries"]["Attributes"] = [None, other, shown]
    bmc.documents[f"{SYSTEM}/Bios"]["Attributes"] = {"Turbo": "Off", "Cores": 4, "Locale": "de"}
    task, _ = cached(bmc)
    name = entry["AttributeName"]
    with pytest.raises(InvalidParameterValue, match=f"{name} must be"):
        RedfishBIOS().apply_configuration(task, [{"name": name, "value": wrong}])
    assert bmc.count("PATCH", BIOS) == 0
    assert RedfishBIOS().apply_configuration(task, [{"name": name, "value": right}]) == states.CLEANWAIT
    assert bmc.count("PATCH", BIOS) == 1


@pytest.mark.parametrize(
    "entry, odd",
    [
        *((TURBO, {"ReadOnly": odd}) for odd in ODD_RIGHTS),
        *((TURBO, {"Immutable": odd}) for odd in (True, "true", 1, None)),
        *((TURBO, {"Value": odd}) for odd in ODD_VALUES),
        (TURBO, {"Value": GONE}),
        (TURBO, {"Value": GONE, "Type": GONE}),
        *((CORES, {"UpperBound": odd}) for odd in ODD_BOUNDS),
        (CORES, {"LowerBound": 9}),
        (LOCALE, {"MaxLength": "four"}),
        (LOCALE, {"Type": "Own", "MinLength": GONE, "MaxLength": GONE}),
    ],
)
def test_nothing_is_set_whose_description_is_odd_or_half(
    bmc: HostileBmc, entry: dict[str, Any], odd: dict[str, Any]
) -> None:
    shown = {name: value for name, value in {**entry, **odd}.items() if value is not GONE}
    bmc.documents[REGISTRY]["RegistryEntries"]["Attributes"] = [shown]
    value = {"Turbo": "On", "Cores": 8, "Locale": "en"}[entry["AttributeName"]]
    task, _ = cached(bmc)
    with pytest.raises(InvalidParameterValue, match=f"{entry['AttributeName']} (is read-only|can't be checked)"):
        RedfishBIOS().apply_configuration(task, [{"name": entry["AttributeName"], "value": value}])
    assert bmc.count("PATCH", BIOS) == 0


@pytest.mark.parametrize("row", [None, 5, {}, {**CORES, "AttributeName": ["Cores"]}])
def test_a_setting_may_be_the_one_without_a_name(bmc: HostileBmc, row: Any) -> None:
    bmc.documents[REGISTRY]["RegistryEntries"]["Attributes"] = [row, TURBO]
    task, _ = cached(bmc)
    with pytest.raises(InvalidParameterValue, match="Cores may be one of the settings without a name"):
        RedfishBIOS().apply_configuration(task, [{"name": "Cores", "value": 99}])
    assert RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "On"}]) == states.CLEANWAIT


@pytest.mark.parametrize("path", [REGISTRIES, FILE, REGISTRY])
def test_a_description_that_can_not_be_read_keeps_settings_from_being_set(bmc: HostileBmc, path: str) -> None:
    task, _ = cached(bmc)
    bmc.misbehave = answer_at(path, lambda handler: handler.answer(500, {}))
    RECENT._kept.clear()
    with pytest.raises(RedfishError, match="reading the description of the BIOS settings"):
        RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "On"}])
    assert bmc.count("PATCH", BIOS) == 0


@pytest.mark.parametrize(
    "path, odd",
    [
        (REGISTRIES, {"Members": None}),
        (REGISTRIES, {"Members": "x"}),
        (REGISTRIES, {"Members": [5]}),
        (REGISTRIES, {"Members": [{}]}),
        (REGISTRIES, {"Members": [], "Members@odata.count": 1}),
        (FILE, {"Location": None}),
        (FILE, {"Location": "x"}),
        (FILE, {"Location": [5]}),
        (FILE, {"Location": [{"Language": "en", "Uri": None}]}),
        (f"{SYSTEM}/Bios", {"AttributeRegistry": ["Reg"]}),
        ("/redfish/v1", {"Registries": None}),
        ("/redfish/v1", {"Registries": {}}),
    ],
)
def test_a_description_that_may_be_there_keeps_settings_from_being_set(bmc: HostileBmc, path: str, odd: Any) -> None:
    bmc.documents[path] |= odd
    task, _ = cached(bmc)
    with pytest.raises(RedfishError, match="is incomplete, as "):
        RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "able"}])
    assert bmc.count("PATCH", BIOS) == 0


@pytest.mark.parametrize("path", [FILE, REGISTRY])
def test_a_description_that_says_nothing_keeps_settings_from_being_set(bmc: HostileBmc, path: str) -> None:
    bmc.documents[path] = {}
    task, _ = cached(bmc)
    with pytest.raises(RedfishError, match="BIOS settings"):
        RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "able"}])
    assert bmc.count("PATCH", BIOS) == 0


@pytest.mark.parametrize("odd", [None, "x", 5, {}])
def test_a_setting_may_be_one_that_an_odd_description_has(bmc: HostileBmc, odd: Any) -> None:
    bmc.documents[REGISTRY]["RegistryEntries"] = {"Attributes": odd}
    task, _ = cached(bmc)
    with pytest.raises((InvalidParameterValue, RedfishError), match="can't be read"):
        RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "able"}])
    assert bmc.count("PATCH", BIOS) == 0


@pytest.mark.parametrize("path", [REGISTRIES, FILE, REGISTRY])
def test_a_bmc_without_a_description_takes_any_setting(bmc: HostileBmc, path: str) -> None:
    del bmc.documents[path]
    task, _ = cached(bmc)
    assert RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "On"}]) == states.CLEANWAIT


def test_numbers_and_words_of_one_enumeration_differ(bmc: HostileBmc) -> None:
    bmc.documents[REGISTRY]["RegistryEntries"]["Attributes"] = [
        {**TURBO, "Value": [{"ValueName": 1}, {"ValueName": "2"}]}
    ]
    task, _ = cached(bmc)
    for wrong in ("1", 2, True):
        with pytest.raises(InvalidParameterValue, match=r'Turbo must be one of 1, "2" \(text in quotes\)'):
            RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": wrong}])
    assert bmc.count("PATCH", BIOS) == 0
    assert RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": 1}]) == states.CLEANWAIT


def test_an_odd_value_is_not_known(bmc: HostileBmc) -> None:
    odd = {"Object": {"x": 1}, "List": [1], "Number": 2**70, "Half": "\ud800", "Truth": True, "Null": None}
    bmc.documents[f"{SYSTEM}/Bios"]["Attributes"] |= odd
    values = {name: row["value"] for name, row in cached(bmc)[1].items()}
    assert values == {
        "Turbo": "Off", "Cores": "4", "Object": None, "List": None, "Number": str(2**70), "Half": "\ufffd" * 3,
        "Truth": "True", "Null": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "odd",
    [
        {"Messages": [5, None, {"MessageId": 5}]},
        {"Messages": "none", "Time": "never", "ETag": 5},
        {"SupportedApplyTimes": None},
        {"SupportedApplyTimes": [5, "Own"]},
        {"SettingsObject": BIOS},
        {"SettingsObject": {"@odata.id": BIOS, "@odata.type": 5}, "MaintenanceWindowResource": 1},
    ],
)
@pytest.mark.parametrize("settings", [None, {}, {"Attributes": None}, {"Attributes": "x"}])
def test_settings_are_changed_through_an_odd_annotation(bmc: HostileBmc, odd: dict[str, Any], settings: Any) -> None:
    bmc.documents[f"{SYSTEM}/Bios"]["@Redfish.Settings"] |= odd
    bmc.documents[BIOS] = settings
    task, _ = cached(bmc)
    assert RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "On"}]) == states.CLEANWAIT
    assert bmc.count("PATCH", BIOS) == 1
