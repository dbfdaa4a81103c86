"""BIOS settings through Redfish, at a BMC that applies them when its machine starts."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from oslo_db.exception import DBDataError

from ironic.core.errors import InvalidParameterValue, UnsupportedDriverExtension
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import node_waits, states
from ironic.core.memory.agent_memory import AgentMemory
from ironic.core.values.value_types import utc_now
from ironic.drivers.contract.step_declarations import StepDone, StepFailed
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.redfish import bios as bios_module
from ironic.drivers.modules.redfish.bios import RedfishBIOS
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.tests.functional.drivers.scripted_bmc import SYSTEM, ScriptedBmc, scripted_bmc
from ironic.tests.unit.drivers.machine import Work, items_of, look, remembered, work_on

BIOS = f"{SYSTEM}/Bios"
PENDING = f"{BIOS}/Settings"
KEY = "redfish_bios_state"
REGISTRIES = "/redfish/v1/Registries"
ATTRIBUTES = [
    {"AttributeName": "Turbo", "Type": "Enumeration", "Value": [{"ValueName": "On"}, {"ValueDisplayName": "Off"}, {}]},
    {"AttributeName": "Cores", "Type": "Integer", "LowerBound": 1, "UpperBound": 64},
    {"AttributeName": "Quiet", "Type": "Boolean", "ReadOnly": False},
    {"AttributeName": "Tag", "Type": "String", "MinLength": 1, "MaxLength": 4},
    {"AttributeName": "Serial", "Type": "String", "ReadOnly": True},
]
CURRENT = {"Turbo": "On", "Cores": 8, "Quiet": True, "Tag": "a", "Serial": "1234"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bios_module, "_SECONDS_TO_START", 0.0)


@pytest.fixture
def bmc() -> Iterator[ScriptedBmc]:
    with scripted_bmc("On", Bios={"@odata.id": BIOS}) as script:
        script.documents |= {
            BIOS: {
                "Id": "Bios",
                "Attributes": dict(CURRENT),
                "AttributeRegistry": "Acme.1.0",
                "Actions": {"#Bios.ResetBios": {"target": f"{BIOS}/Reset"}},
                "@Redfish.Settings": {
                    "SettingsObject": {"@odata.id": PENDING},
                    "SupportedApplyTimes": ["OnReset"],
                },
            },
            PENDING: {"Id": "Settings", "Attributes": {}},
            REGISTRIES: {
                "Members": [{"@odata.id": f"{REGISTRIES}/Messages"}, {"@odata.id": f"{REGISTRIES}/Acme.1.0"}],
            },
            f"{REGISTRIES}/Acme.1.0": {
                "Id": "Acme.1.0",
                "Name": "Acme",
                "Languages": ["en"],
                "Registry": "Acme.1.0",
                "Location": [{"Language": "en", "Uri": "/registries/acme.json"}],
            },
            "/registries/acme.json": {
                "@odata.type": "#AttributeRegistry.v1_3_0.AttributeRegistry",
                "Id": "Acme",
                "Name": "Acme",
                "Language": "en",
                "OwningEntity": "Acme",
                "RegistryVersion": "1.0",
                "RegistryEntries": {"Attributes": ATTRIBUTES},
            },
        }
        script.documents["/redfish/v1"]["Registries"] = {"@odata.id": REGISTRIES}
        yield script


def on(bmc: ScriptedBmc, state: str = states.CLEANING) -> Work:
    task = work_on(
        driver_info={"redfish_address": bmc.address, "redfish_system_id": SYSTEM},
        provision_state=state,
        power_state=states.POWER_ON,
    )
    task.driver = BareDriver({"bios": RedfishBIOS(), "power": RedfishPower()})
    return task


def apply_pending(bmc: ScriptedBmc, *, refused: tuple[str, ...] = ()) -> Callable[[str], None]:
    """Return what the machine does when it starts: it applies what was sent."""

    def start(kind: str) -> None:
        for _path, body in bmc.orders:
            for name, value in (body or {}).get("Attributes", {}).items():
                if name not in refused:
                    bmc.documents[BIOS]["Attributes"][name] = value

    return start


def watched(task: Work) -> Any:
    task.node.provision_state = states.CLEANWAIT
    return look(task, RedfishBIOS(), KEY)


def orders(bmc: ScriptedBmc) -> list[Any]:
    return [(path, body) for path, body in bmc.orders]


def test_settings_are_stored_with_what_the_registry_says(bmc: ScriptedBmc) -> None:
    task = on(bmc)
    RedfishBIOS().cache_bios_settings(task)
    stored = {row["name"]: row for row in items_of(task.store.bios_settings)}
    assert {name: row["value"] for name, row in stored.items()} == {name: str(value) for name, value in CURRENT.items()}
    assert stored["Turbo"]["allowable_values"] == ["On", "Off"]
    assert (stored["Cores"]["lower_bound"], stored["Cores"]["upper_bound"]) == (1, 64)
    assert stored["Serial"]["read_only"] is True
    assert f"{REGISTRIES}/Messages" not in bmc.asked, "no other registry is loaded"


@pytest.mark.parametrize("broken", [{}, {"RegistryEntries": 5}, {"Language": 7}])
def test_settings_without_a_registry_are_stored_all_the_same(bmc: ScriptedBmc, broken: dict[str, Any]) -> None:
    bmc.documents["/registries/acme.json"] = broken
    task = on(bmc)
    RedfishBIOS().cache_bios_settings(task)
    assert {row["name"] for row in items_of(task.store.bios_settings)} == set(CURRENT)


DEAD = [{"@odata.id": f"{REGISTRIES}/Acme.1.0-old"}]


@pytest.mark.difference("registries that lead nowhere")
@pytest.mark.parametrize(
    "more, file",
    [
        ([{}], {}),
        ([{"@odata.id": None}, None, 5], {}),
        (DEAD, None),
        (DEAD, {}),
        (DEAD, {"Id": "Acme.1.0", "Registry": "Acme.1.0"}),
        (DEAD, {"Id": "Acme.1.0", "Languages": ["en"], "Registry": "Acme.1.0", "Location": None}),
        (DEAD, {"Id": "Acme.1.0", "Languages": ["en"], "Registry": "Acme.1.0", "Location": [{"Uri": "/gone.json"}]}),
    ],
)
def test_a_dead_or_unnamed_registry_takes_no_description_away(bmc: ScriptedBmc, more: list[Any], file: Any) -> None:
    bmc.documents[REGISTRIES]["Members"][:0] = more
    if file is not None:
        bmc.documents[f"{REGISTRIES}/Acme.1.0-old"] = file
    task = on(bmc)
    RedfishBIOS().cache_bios_settings(task)
    stored = {row["name"]: row for row in items_of(task.store.bios_settings)}
    assert stored["Turbo"]["allowable_values"] == ["On", "Off"]


def test_a_machine_without_settings_says_so() -> None:
    with scripted_bmc() as bmc, pytest.raises(UnsupportedDriverExtension):
        RedfishBIOS().cache_bios_settings(on(bmc))


@pytest.mark.parametrize(
    "name, value, why",
    [
        ("Turbo", "Max", "must be one of On, Off"),
        ("Cores", "many", "whole number"),
        ("Cores", 65, "at most 64"),
        ("Cores", "0", "at least 1"),
        ("Quiet", "maybe", "true or false"),
        ("Tag", "12345", "at most 4 characters"),
        ("Tag", 12, "text"),
        ("Serial", "1", "read-only"),
    ],
)
def test_values_that_do_not_fit_are_refused_by_name(bmc: ScriptedBmc, name: str, value: Any, why: str) -> None:
    task = on(bmc)
    RedfishBIOS().cache_bios_settings(task)
    with pytest.raises(InvalidParameterValue, match=f"{name} .*{why}"):
        RedfishBIOS().apply_configuration(task, [{"name": name, "value": value}])
    assert bmc.orders == []


@pytest.mark.parametrize("words", [["Enabled", "Disabled"], ["1", "2"]])
@pytest.mark.parametrize("value", ["able", "foo", "", "enabled", '["Enabled"', 2, 1.0, True, None, ["1"], {"1": 1}])
def test_an_enumeration_takes_its_words_only(bmc: ScriptedBmc, words: list[str], value: Any) -> None:
    attribute = {"AttributeName": "Turbo", "Type": "Enumeration", "Value": [{"ValueName": word} for word in words]}
    bmc.documents["/registries/acme.json"]["RegistryEntries"] = {"Attributes": [attribute]}
    task = on(bmc)
    RedfishBIOS().cache_bios_settings(task)
    with pytest.raises(InvalidParameterValue) as raised:
        RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": value}])
    quotes = "" if isinstance(value, str) else '"'
    assert f"Turbo must be one of {', '.join(f'{quotes}{word}{quotes}' for word in words)}" in str(raised.value)
    assert bmc.orders == []


@pytest.mark.parametrize("word", ["1", "2"])
def test_a_word_of_digits_is_sent_as_text(bmc: ScriptedBmc, word: str) -> None:
    attribute = {"AttributeName": "Turbo", "Type": "Enumeration", "Value": [{"ValueName": "1"}, {"ValueName": "2"}]}
    bmc.documents["/registries/acme.json"]["RegistryEntries"] = {"Attributes": [attribute]}
    task = on(bmc)
    RedfishBIOS().cache_bios_settings(task)
    RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": word}])
    assert orders(bmc)[0][1]["Attributes"] == {"Turbo": word}


def test_many_words_are_named_in_part(bmc: ScriptedBmc) -> None:
    words = [{"ValueName": f"{number}{'w' * 100}"} for number in range(500)]
    attribute = {"AttributeName": "Turbo", "Type": "Enumeration", "Value": words}
    bmc.documents["/registries/acme.json"]["RegistryEntries"] = {"Attributes": [attribute]}
    task = on(bmc)
    RedfishBIOS().cache_bios_settings(task)
    with pytest.raises(InvalidParameterValue, match="and 470 more") as raised:
        RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "foo"}])
    assert len(str(raised.value)) < 2500


@pytest.mark.difference("bounds beyond 64 bits")
@pytest.mark.parametrize(
    "kind, odd, column",
    [
        ("Integer", {"UpperBound": 2**64 - 1}, "upper_bound"),
        ("Integer", {"LowerBound": -(2**63) - 1}, "lower_bound"),
        ("String", {"MinLength": 2**32}, "min_length"),
        ("String", {"MaxLength": 2**64}, "max_length"),
    ],
)
def test_a_bound_that_can_not_be_kept_is_left_out(
    bmc: ScriptedBmc, kind: str, odd: dict[str, int], column: str
) -> None:
    bmc.documents["/registries/acme.json"]["RegistryEntries"] = {
        "Attributes": [{"AttributeName": "Tag", "Type": kind, **odd}, ATTRIBUTES[1]]
    }
    task = on(bmc)
    RedfishBIOS().cache_bios_settings(task)
    stored = {item["name"]: item for item in items_of(task.store.bios_settings)}
    assert stored.keys() == CURRENT.keys()
    assert (stored["Tag"][column], stored["Tag"]["attribute_type"]) == (None, kind)
    assert stored["Cores"]["upper_bound"] == 64


@pytest.mark.parametrize("settings", [None, [], "x", [{"name": "Turbo"}], [{"value": 1}], [5]])
def test_settings_have_a_form(bmc: ScriptedBmc, settings: Any) -> None:
    with pytest.raises(InvalidParameterValue):
        RedfishBIOS().apply_configuration(on(bmc), settings)


def test_a_step_applies_settings_by_a_restart_and_holds_nothing(bmc: ScriptedBmc) -> None:
    task = on(bmc)
    RedfishBIOS().cache_bios_settings(task)
    bmc.on_reset = apply_pending(bmc)
    wanted = [{"name": "Turbo", "value": "Off"}, {"name": "Cores", "value": "16"}]
    assert RedfishBIOS().apply_configuration(task, wanted) == states.CLEANWAIT
    assert orders(bmc) == [
        (
            PENDING,
            {
                "Attributes": {"Turbo": "Off", "Cores": 16},
                "@Redfish.SettingsApplyTime": orders(bmc)[0][1]["@Redfish.SettingsApplyTime"],
            },
        ),
        (f"{SYSTEM}/Actions/ComputerSystem.Reset", {"ResetType": "ForceOff"}),
        (f"{SYSTEM}/Actions/ComputerSystem.Reset", {"ResetType": "On"}),
    ]
    assert orders(bmc)[0][1]["@Redfish.SettingsApplyTime"]["ApplyTime"] == "OnReset"
    assert remembered(task, KEY)["requested_bios_attrs"] == {"Turbo": "Off", "Cores": 16}
    assert watched(task) == StepDone()
    assert not node_waits.is_open(task.node, KEY)
    stored = {row["name"]: row["value"] for row in items_of(task.store.bios_settings)}
    assert (stored["Turbo"], stored["Cores"]) == ("Off", "16")


def test_what_is_waited_for_is_said_without_secrets(bmc: ScriptedBmc) -> None:
    task = on(bmc)
    wanted = {"AdminPassword": "hunter2", "Turbo": "Off", "Cores": 4, "Quiet": False}
    RedfishBIOS().apply_configuration(task, [{"name": name, "value": value} for name, value in wanted.items()])
    told = task.node.saved["driver_internal_info"]["waiting_for"]
    assert told.startswith("the BMC to report AdminPassword=***") and "Turbo=Off, Cores=4 and 1 more, until " in told
    assert "hunter2" not in told
    task = on(bmc)
    RedfishBIOS().factory_reset(task)
    assert "the machine to start" in task.node.saved["driver_internal_info"]["waiting_for"]


def test_an_end_that_a_dead_conductor_has_not_stored_is_found_again(bmc: ScriptedBmc) -> None:
    task = on(bmc)
    bmc.on_reset = apply_pending(bmc)
    RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "Off"}])
    assert watched(task) == StepDone()
    assert watched(task) == StepDone()


@pytest.mark.parametrize("is_over", [True, False])
def test_settings_that_can_not_be_stored_do_not_keep_a_step_from_its_end(
    bmc: ScriptedBmc, monkeypatch: pytest.MonkeyPatch, is_over: bool
) -> None:
    """A BMC may lack its settings for a moment, and a database may refuse what a BMC invents."""
    task = on(bmc)
    RedfishBIOS().factory_reset(task)
    if is_over:
        del bmc.documents[SYSTEM]["Bios"]
    else:
        monkeypatch.setattr(task.store.bios_settings, "sync", refuse)
    bmc.documents[SYSTEM]["BootProgress"] = {"LastState": "OSRunning"}
    assert watched(task) == StepDone()


def refuse(*_arguments: object) -> None:
    raise DBDataError("too long")


@pytest.mark.parametrize("settings", [None, {}, 5, {"SettingsObject": None}, {"SettingsObject": {}}])
def test_settings_that_can_only_be_read_are_said_to_be_so(bmc: ScriptedBmc, settings: Any) -> None:
    bmc.documents[BIOS]["@Redfish.Settings"] = settings
    with pytest.raises(RedfishError, match="can only be read: its resource Bios leads to none that can be changed"):
        RedfishBIOS().apply_configuration(on(bmc), [{"name": "Cores", "value": 4}])
    assert bmc.orders == []


def test_settings_that_the_machine_has_need_no_restart(bmc: ScriptedBmc) -> None:
    task = on(bmc)
    RedfishBIOS().cache_bios_settings(task)
    assert RedfishBIOS().apply_configuration(task, [{"name": "Cores", "value": "8"}]) is None
    assert bmc.orders == []


def test_a_value_that_is_pending_otherwise_is_set_back(bmc: ScriptedBmc) -> None:
    bmc.documents[PENDING]["Attributes"] = {"Turbo": "Off"}
    task = on(bmc)
    RedfishBIOS().cache_bios_settings(task)
    assert RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "On"}]) == states.CLEANWAIT
    assert orders(bmc)[0][1]["Attributes"] == {"Turbo": "On"}


def test_settings_that_the_machine_does_not_take_fail_the_step(bmc: ScriptedBmc) -> None:
    task = on(bmc)
    bmc.on_reset = apply_pending(bmc, refused=("Turbo",))
    RedfishBIOS().apply_configuration(task, [{"name": "Turbo", "value": "Off"}, {"name": "Cores", "value": 4}])
    # Without a progress the machine may be starting still.
    assert watched(task) is None
    bmc.documents[SYSTEM]["BootProgress"] = {"LastState": "OSRunning"}
    end = watched(task)
    assert isinstance(end, StepFailed)
    assert "Turbo were not updated" in end.reason


@pytest.mark.parametrize("shows_at_once", [False, True])
def test_values_that_came_with_the_restart_show_that_the_machine_has_started(
    bmc: ScriptedBmc, monkeypatch: pytest.MonkeyPatch, shows_at_once: bool
) -> None:
    monkeypatch.setattr(bios_module, "_SECONDS_TO_START", 3600.0)
    task = on(bmc)
    if shows_at_once:
        # It shows what is only ordered, so what it shows says nothing about the start of the machine.
        bmc.on_order = lambda _path: bmc.documents[BIOS]["Attributes"].update(Cores=4)
    RedfishBIOS().apply_configuration(task, [{"name": "Cores", "value": 4}])
    if not shows_at_once:
        assert watched(task) is None
    bmc.documents[BIOS]["Attributes"]["Cores"] = 4
    bmc.documents[PENDING]["Attributes"] = {"Cores": 4}
    assert watched(task) is None, "it still lists them as pending"
    bmc.documents[PENDING]["Attributes"] = {}
    assert watched(task) == (None if shows_at_once else StepDone())


def test_a_bmc_that_is_silent_after_a_change_gets_its_restart(
    bmc: ScriptedBmc, monkeypatch: pytest.MonkeyPatch, conf: Callable[..., None]
) -> None:
    monkeypatch.setattr(bios_module, "_SECONDS_TO_START", 3600.0)
    conf(redfish__connection_attempts=1)
    task = on(bmc)

    def order(path: str) -> None:
        bmc.refusal = 503 if path == PENDING else None

    bmc.on_order = order
    monkeypatch.setattr(task.driver.power, "set_power_state", lambda *_arguments: setattr(bmc, "refusal", None))
    assert RedfishBIOS().apply_configuration(task, [{"name": "Cores", "value": 4}]) == states.CLEANWAIT
    bmc.documents[BIOS]["Attributes"]["Cores"] = 4
    assert watched(task) is None, "it may have shown the new value before"


def test_a_progress_of_the_boot_before_is_no_failure(bmc: ScriptedBmc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bios_module, "_SECONDS_TO_START", 3600.0)
    bmc.documents[SYSTEM]["BootProgress"] = {"LastState": "OSRunning"}
    task = on(bmc)
    RedfishBIOS().apply_configuration(task, [{"name": "Cores", "value": 4}])
    assert watched(task) is None
    bmc.documents[BIOS]["Attributes"]["Cores"] = 4
    assert watched(task) == StepDone()


def test_it_waits_while_the_machine_starts(bmc: ScriptedBmc) -> None:
    task = on(bmc)
    bmc.on_reset = apply_pending(bmc)
    RedfishBIOS().apply_configuration(task, [{"name": "Cores", "value": 4}])
    bmc.documents[SYSTEM]["BootProgress"] = {"LastState": "MemoryInitializationStarted"}
    assert watched(task) is None
    bmc.documents[SYSTEM]["BootProgress"] = {"LastState": "OSRunning"}
    assert watched(task) == StepDone()


def test_it_waits_while_a_job_of_the_bmc_goes_on(bmc: ScriptedBmc) -> None:
    task = on(bmc)
    RedfishBIOS().apply_configuration(task, [{"name": "Cores", "value": 4}])
    bmc.documents[PENDING]["Attributes"] = {"Cores": 4}
    assert watched(task) is None
    bmc.documents[PENDING]["Attributes"] = {}
    bmc.documents[BIOS]["Attributes"]["Cores"] = 4
    assert watched(task) == StepDone()


def test_a_bmc_that_does_not_answer_is_looked_at_again(bmc: ScriptedBmc) -> None:
    task = on(bmc)
    RedfishBIOS().apply_configuration(task, [{"name": "Cores", "value": 4}])
    bmc.refusal = 503
    assert watched(task) is None
    bmc.refusal = None
    bmc.documents[BIOS]["Attributes"]["Cores"] = 4
    assert watched(task) == StepDone()


@pytest.mark.difference("no boot progress")
@pytest.mark.parametrize("without_progress", [True, False])
def test_a_factory_reset_ends_when_the_machine_has_started(
    bmc: ScriptedBmc, without_progress: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = on(bmc)
    assert RedfishBIOS().factory_reset(task) == states.CLEANWAIT
    assert orders(bmc)[0][0] == f"{BIOS}/Reset"
    if without_progress:
        monkeypatch.setattr(bios_module, "_SECONDS_TO_START", 3600.0)
        assert watched(task) is None
        monkeypatch.setattr(bios_module, "_SECONDS_TO_START", 0.0)
    else:
        bmc.documents[SYSTEM]["BootProgress"] = {"LastState": "SystemHardwareInitializationComplete"}
        assert watched(task) is None
        bmc.documents[SYSTEM]["BootProgress"] = {"LastState": "OSBootStarted"}
    assert watched(task) == StepDone()


def test_with_an_agent_the_step_ends_after_its_first_heartbeat(bmc: ScriptedBmc, conf: Callable[..., None]) -> None:
    conf(api__public_endpoint="http://192.0.2.9:6385")
    task = on(bmc)
    bmc.on_reset = apply_pending(bmc)
    prepared = []

    class Boot:
        def prepare_ramdisk(self, task: Work, parameters: dict[str, object]) -> None:
            prepared.append(parameters)

    task.driver.boot = Boot()  # type: ignore[assignment]
    AgentMemory(task.node).record({"callback_url": "http://192.0.2.1:9999"})
    RedfishBIOS().apply_configuration(task, [{"name": "Cores", "value": 4}])
    assert len(prepared) == 1
    # The conductor forgets the agent when it switches the machine off.
    AgentMemory(task.node).forget_on_restart()
    assert watched(task) is None
    memory = AgentMemory(task.node)
    memory.record({"callback_url": "http://192.0.2.1:9999"})
    memory.record_contact(utc_now() + timedelta(seconds=1))
    task.node.save()
    assert watched(task) == StepDone()
