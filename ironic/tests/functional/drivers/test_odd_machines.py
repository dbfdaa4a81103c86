"""Odd BMCs, as people have reported them: each oddity takes away itself and nothing else."""

import gzip
import json
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import MissingParameterValue, PowerStateFailure
from ironic.core.errors.hardware_errors import RedfishConnectionError, RedfishError
from ironic.core.flows import states
from ironic.drivers.modules.bmc.bmc_gateway import RECENT
from ironic.drivers.modules.redfish.firmware import RedfishFirmware
from ironic.drivers.modules.redfish.inspect import RedfishInspect
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.orders import stored_changes
from ironic.drivers.modules.redfish.orders.boot_override import restore_device
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.tree.inventory import inventory_of
from ironic.drivers.modules.redfish.tree.members import all_members
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.tests.conftest import Setter
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.recorded_machines import MACHINE, tree, with_chassis
from ironic.tests.redfish_bmc import redfish_bmc
from ironic.tests.unit.drivers.machine import Work, items_of, work_on

SECRET = "the password of a BMC"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
NICS = f"{MACHINE}/EthernetInterfaces"
CHASSIS = "/redfish/v1/Chassis/1U"
Misbehave = Callable[[Handler], bool]


@pytest.fixture
def whole() -> Iterator[HostileBmc]:
    """Serve a machine with all branches, and a second network card."""
    with hostile_bmc() as bmc:
        bmc.documents = with_chassis(tree(), CHASSIS)
        # The recorded chassis is one of another machine.
        bmc.documents[CHASSIS]["Links"]["ComputerSystems"] = [{"@odata.id": MACHINE}]
        (first,) = bmc.documents[NICS]["Members"]
        card = bmc.documents[first["@odata.id"]]
        second = f"{NICS}/second"
        bmc.documents[second] = {**card, "@odata.id": second, "Id": "second", "MACAddress": "12:44:6a:3b:04:12"}
        bmc.documents[NICS]["Members"] = [first, {"@odata.id": second}]
        bmc.documents[NICS]["Members@odata.count"] = 2
        yield bmc


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    with hostile_bmc() as running:
        yield running


def on(bmc: HostileBmc, system: str | None = SYSTEM, **values: Any) -> Work:
    RECENT._kept.clear()
    return work_on(driver_info={**bmc.driver_info(), "redfish_system_id": system}, **values)


def inventory(bmc: HostileBmc) -> dict[str, Any]:
    return read(on(bmc, MACHINE), "reading the inventory", inventory_of)


def answer_at(path: str, answer: Callable[[Handler], None], method: str = "GET") -> Misbehave:
    def misbehave(handler: Handler) -> bool:
        is_meant = handler.command == method and handler.path.split("?")[0].rstrip("/") == path
        if is_meant:
            answer(handler)
        return is_meant

    return misbehave


def hang_up(handler: Handler) -> None:
    handler.close_connection = True
    handler.connection.close()


# Collections


@pytest.mark.difference("null for no members")
def test_each_collection_may_be_null_or_nonsense(whole: HostileBmc) -> None:
    before = inventory(whole)
    collections = [path for path, document in whole.documents.items() if "Members" in document and path.count("/") > 4]
    assert len(collections) > 10
    for path in collections:
        members = whole.documents[path]["Members"]
        odds: tuple[Any, ...] = (None, "none", 5, [None], [[]], [5], [{}], [{"@odata.id": None}])
        for odd in odds:
            whole.documents[path] = {**whole.documents[path], "Members": odd}
            after = inventory(whole)
            branch = {"Storage": ("disks", "storage_controllers"), "SimpleStorage": ("disks",)}
            lost = {"EthernetInterfaces": ("interfaces",), "Processors": ("cpu",), "Drives": ("disks",), **branch}
            allowed = (*lost.get(path.rpartition("/")[2], ()), "pci_devices")
            assert {name for name in before if before[name] != after.get(name) and name not in allowed} == set(), path
            RedfishManagement().get_sensors_data(on(whole, MACHINE))
        whole.documents[path]["Members"] = members


@pytest.mark.difference("one member for a list")
@pytest.mark.parametrize("make", [lambda path: {"@odata.id": path}, lambda path: path, lambda path: [path]])
def test_members_may_be_an_object_or_a_path(whole: HostileBmc, make: Callable[[str], Any]) -> None:
    whole.documents[NICS]["Members"] = make(f"{NICS}/second")
    assert [card["mac_address"] for card in inventory(whole)["interfaces"]] == ["12:44:6a:3b:04:12"]


@pytest.mark.difference("drives behind a link")
def test_drives_may_be_behind_a_link_to_a_collection(whole: HostileBmc) -> None:
    before = inventory(whole)["disks"]
    storage = whole.documents[f"{MACHINE}/Storage/1"]
    whole.documents[f"{MACHINE}/Storage/1/Drives"] = {"Name": "Drives", "Members": storage["Drives"]}
    storage["Drives"] = {"@odata.id": f"{MACHINE}/Storage/1/Drives"}
    assert inventory(whole)["disks"] == before != []


@pytest.mark.difference("dead members")
@pytest.mark.parametrize(
    "answer",
    [
        lambda handler: handler.answer(404, {}),
        lambda handler: handler.answer(500, {"error": "boom"}),
        lambda handler: handler.answer(403, {}),
        lambda handler: handler.send(200, b"<html>"),
        lambda handler: handler.answer(200, [1]),
        lambda handler: handler.answer(200, {}),
        lambda handler: handler.answer(200, None),
        lambda handler: handler.send(302, b"", {"Location": "http://192.0.2.7/"}),
        lambda handler: handler.send(200, b"{", length=5),
        hang_up,
    ],
)
def test_a_dead_member_takes_away_itself(whole: HostileBmc, answer: Callable[[Handler], None], conf: Setter) -> None:
    conf(redfish__connection_attempts=1)
    whole.misbehave = answer_at(f"{NICS}/second", answer)
    assert [card["mac_address"] for card in inventory(whole)["interfaces"]] == ["12:44:6a:3b:04:11"]


def test_a_member_that_never_answers_takes_away_itself_and_many_end_the_read(whole: HostileBmc, conf: Setter) -> None:
    conf(redfish__connection_attempts=1, redfish__read_timeout=1)
    dead: set[str] = {f"{NICS}/second"}
    over = threading.Event()

    def misbehave(handler: Handler) -> bool:
        if handler.path.rstrip("/") in dead:
            over.wait(30)
            return True
        return False

    whole.misbehave = misbehave
    assert len(inventory(whole)["interfaces"]) == 1
    dead |= {f"{NICS}/12446A3B0411", f"{MACHINE}/Processors/CPU1", f"{MACHINE}/Storage", CHASSIS, f"{NICS}"}
    with pytest.raises(RedfishConnectionError):
        inventory(whole)
    over.set()


def test_all_pages_of_a_collection_are_read(whole: HostileBmc) -> None:
    first, second = whole.documents[NICS]["Members"]
    whole.documents[NICS] |= {"Members": [first], "Members@odata.nextLink": f"{NICS}/page2"}
    whole.documents[f"{NICS}/page2"] = {"Members": [second], "Members@odata.nextLink": f"{NICS}/page3"}
    whole.documents[f"{NICS}/page3"] = {"Members": None, "Members@odata.nextLink": NICS}
    assert len(inventory(whole)["interfaces"]) == 2
    del whole.documents[f"{NICS}/page2"]
    assert len(inventory(whole)["interfaces"]) == 1


@pytest.mark.difference("pages of collections")
@pytest.mark.parametrize("name", ["Members@odata.nextLink", "@odata.nextLink"])
@pytest.mark.parametrize(
    "form", ["{path}", "{own}{path}", "redfish{rest}", "?page=2", "EthernetInterfaces?page=2", {"@odata.id": "{path}"}]
)
def test_a_page_is_found_in_all_forms_of_its_link(whole: HostileBmc, name: str, form: Any) -> None:
    first, second = whole.documents[NICS]["Members"]
    path = f"{NICS}?page=2"

    def page(handler: Handler) -> bool:
        is_meant = handler.path == path
        if is_meant:
            handler.answer(200, {"Members": [second]})
        return is_meant

    text = form["@odata.id"] if isinstance(form, dict) else form
    place = text.format(path=path, own=whole.address, rest=path.removeprefix("/redfish"))
    whole.documents[NICS] |= {"Members": [first], name: {"@odata.id": place} if isinstance(form, dict) else place}
    whole.misbehave = page
    assert len(inventory(whole)["interfaces"]) == 2


@pytest.mark.parametrize("place", ["http://192.0.2.7/page", "http://[page", 5, [1], NICS, "?", f"{NICS}/hangs"])
def test_a_page_that_cannot_be_read_takes_away_itself(whole: HostileBmc, conf: Setter, place: Any) -> None:
    conf(redfish__connection_attempts=1)
    whole.misbehave = answer_at(f"{NICS}/hangs", hang_up)
    whole.documents[NICS]["Members@odata.nextLink"] = place
    assert len(inventory(whole)["interfaces"]) == 2
    with pytest.raises(RedfishError, match="incomplete"):
        read(on(whole, MACHINE), "reading", lambda system: all_members(system.ethernet_interfaces))


@pytest.mark.parametrize("place", [None, "", {}])
def test_a_link_to_no_page_ends_a_collection(whole: HostileBmc, place: Any) -> None:
    whole.documents[NICS]["Members@odata.nextLink"] = place
    assert len(read(on(whole, MACHINE), "reading", lambda system: all_members(system.ethernet_interfaces))) == 2


# Links


def with_links(documents: dict[str, Any], spell: Callable[[str], str]) -> dict[str, Any]:
    def spelt(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: spell(item) if name == "@odata.id" else spelt(item) for name, item in value.items()}
        return [spelt(item) for item in value] if isinstance(value, list) else value

    return {path: spelt(document) for path, document in documents.items()}


@pytest.mark.difference("links with an address")
@pytest.mark.parametrize("form", ["{own}{path}", "{capital}{path}", "{slashless}", " {path} ", "{path}#", "{path}#/x"])
def test_links_to_the_own_server_are_followed_in_all_forms(whole: HostileBmc, form: str) -> None:
    before, plain = inventory(whole), whole.documents
    capital = whole.address.replace("http", "HTTP")

    def spell(path: str) -> str:
        return form.format(path=path, own=whole.address, capital=capital, slashless=path.lstrip("/"))

    whole.documents = with_links(plain, spell)
    assert inventory(whole) == before
    assert RedfishManagement().get_sensors_data(on(whole, MACHINE)) != {}


@pytest.mark.parametrize("server", ["http://192.0.2.7", "http://operator@{own}", "https://{own}", "http://{host}:1"])
def test_a_link_to_another_server_takes_away_itself(whole: HostileBmc, server: str) -> None:
    own = whole.address.removeprefix("http://")
    place = server.format(own=own, host=own.partition(":")[0])
    first, second = whole.documents[NICS]["Members"]
    whole.documents[NICS]["Members"] = [{"@odata.id": f"{place}{first['@odata.id']}"}, second]
    assert [card["mac_address"] for card in inventory(whole)["interfaces"]] == ["12:44:6a:3b:04:12"]


# Bytes


@pytest.mark.difference("raw control characters", "bytes that are no UTF-8")
@pytest.mark.parametrize("odd", [b"\r\n", b"\t\x01", b"\xff\xfe", b"\\ud800", b"\\u0000", b"\xc3"])
def test_odd_bytes_in_a_text_stay_in_it(whole: HostileBmc, odd: bytes) -> None:
    documents = whole.documents

    def misbehave(handler: Handler) -> bool:
        document = documents.get(handler.path.rstrip("/"))
        if handler.command == "GET" and document is not None:
            handler.send(200, json.dumps({**document, "Model": "@@"}).encode().replace(b"@@", b"a" + odd))
        return document is not None

    before = inventory(whole)
    whole.misbehave = misbehave
    after = inventory(whole)
    assert after["system_vendor"]["product_name"].startswith("a")
    json.dumps(after, ensure_ascii=False).encode()
    assert [len(after[name]) for name in before] == [len(before[name]) for name in before]


@pytest.mark.difference("texts that are no JSON")
@pytest.mark.parametrize(
    "odd", [rb'"C:\d"', rb'"it\'s"', b'"x",', b"0077", b"", b"undefined", b'"x"}}', b'"x"}\r\n0\r\n\r\n', b"[1,,]"]
)
def test_a_part_that_is_no_json_takes_away_itself(bmc: HostileBmc, odd: bytes) -> None:
    content = b'{"Id": "1", "PowerState": "On", "Model": ' + odd + b"}"
    bmc.misbehave = answer_at(SYSTEM, lambda handler: handler.send(200, content))
    assert RedfishPower().get_power_state(on(bmc)) == states.POWER_ON


@pytest.mark.parametrize("odd", [b'"On"', b'"On" "Off"}', b'"On"}{"PowerState": "Off"}', b'"On', b'["On"'])
def test_half_a_document_has_no_power_state(bmc: HostileBmc, odd: bytes) -> None:
    bmc.misbehave = answer_at(SYSTEM, lambda handler: handler.send(200, b'{"Id": "1", "PowerState": ' + odd))
    with pytest.raises(RedfishError, match="can't be read"):
        RedfishPower().get_power_state(on(bmc))


@pytest.mark.difference("compression that is not said")
@pytest.mark.parametrize(
    "encoding, pack",
    [
        ("gzip", gzip.compress), ("x-gzip", gzip.compress), ("gzip, identity", gzip.compress), (None, gzip.compress),
        ("deflate", zlib.compress), ("gzip", bytes), ("deflate", bytes), ("br", bytes),
    ],
)  # fmt: skip
def test_what_a_body_is_shows_in_it(bmc: HostileBmc, encoding: str | None, pack: Callable[[bytes], bytes]) -> None:
    content = pack(json.dumps({"Id": "1", "PowerState": "On"}).encode())
    headers = {"Content-Encoding": encoding} if encoding else None
    bmc.misbehave = answer_at(SYSTEM, lambda handler: handler.send(200, content, headers))
    assert RedfishPower().get_power_state(on(bmc)) == states.POWER_ON


def test_a_document_may_be_called_an_archive(bmc: HostileBmc) -> None:
    headers = {"Content-Type": "application/zip"}
    bmc.misbehave = answer_at(SYSTEM, lambda handler: handler.send(200, b'{"Id": "1", "PowerState": "On"}', headers))
    assert RedfishPower().get_power_state(on(bmc)) == states.POWER_ON


@pytest.mark.difference("marks of bytes")
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_document_may_have_a_mark_of_its_bytes(bmc: HostileBmc, encoding: str) -> None:
    content = json.dumps({"Id": "1", "PowerState": "On"}).encode(encoding)
    bmc.misbehave = answer_at(SYSTEM, lambda handler: handler.send(200, content))
    assert RedfishPower().get_power_state(on(bmc)) == states.POWER_ON


# CPUs and memory


MODULES = f"{MACHINE}/Memory"


def with_modules(whole: HostileBmc, *modules: dict[str, Any]) -> None:
    """Have the machine show these modules of memory, and no summary."""
    paths = [f"{MODULES}/{number}" for number in range(len(modules))]
    whole.documents[MACHINE] |= {"MemorySummary": None, "Memory": {"@odata.id": MODULES}}
    whole.documents[MODULES] = {"Name": "Memory", "Members": [{"@odata.id": path} for path in paths]}
    whole.documents |= {path: {"Id": path[-1], **module} for path, module in zip(paths, modules, strict=True)}


ENABLED = {"State": "Enabled", "Health": "OK"}
MODULE = {"CapacityMiB": 16384, "MemoryType": "DRAM", "Status": ENABLED}


@pytest.mark.difference("memory without a sum")
@pytest.mark.parametrize(
    "summary",
    [None, {}, "64 GiB", {"TotalSystemMemoryGiB": "many"}, {"TotalSystemMemoryGiB": -4}, {"TotalSystemMemoryGiB": 0}],
)
def test_memory_is_that_of_its_modules_where_the_summary_is_odd(whole: HostileBmc, summary: Any) -> None:
    absent = {"CapacityMiB": 1, "Status": {"State": "Absent"}}
    flash = {"CapacityMiB": 1, "MemoryType": "NVDIMM_F", "Status": ENABLED}
    with_modules(whole, MODULE, {"CapacityMiB": "8192"}, absent, flash, {"CapacityMiB": None})
    whole.documents[MACHINE]["MemorySummary"] = summary
    assert inventory(whole)["memory"] == {"physical_mb": 24576}


@pytest.mark.parametrize(
    "odd",
    [{"CapacityMiB": "16 GB"}, {"CapacityMiB": []}, {"CapacityMiB": -1}, {"CapacityMiB": None, "Status": ENABLED}, {}],
)
def test_a_part_of_the_memory_is_not_taken_for_all_of_it(whole: HostileBmc, odd: dict[str, Any]) -> None:
    with_modules(whole, MODULE, odd)
    assert "memory" not in inventory(whole)


@pytest.mark.parametrize(
    "change", [{"Members@odata.nextLink": "/gone"}, {"Members": [{"@odata.id": f"{MODULES}/0"}, {}]}, {"Members": None}]
)
def test_a_list_of_modules_with_gaps_says_nothing(whole: HostileBmc, change: dict[str, Any]) -> None:
    with_modules(whole, MODULE)
    whole.documents[MODULES] |= change
    assert "memory" not in inventory(whole)


def test_a_dead_module_of_memory_takes_away_the_memory_only(whole: HostileBmc) -> None:
    before = inventory(whole)
    with_modules(whole, MODULE, MODULE)
    whole.misbehave = answer_at(f"{MODULES}/1", lambda handler: handler.answer(500, {}))
    assert inventory(whole) == {name: value for name, value in before.items() if name != "memory"}


def test_the_modules_are_not_read_where_there_is_a_summary(whole: HostileBmc) -> None:
    size = inventory(whole)["memory"]
    with_modules(whole, MODULE)
    whole.documents[MACHINE]["MemorySummary"] = {"TotalSystemMemoryGiB": 96}
    assert inventory(whole)["memory"] == size == {"physical_mb": 96 * 1024}
    assert whole.count("GET", MODULES) == 0


SUMMARY = {"Count": 2, "LogicalProcessorCount": 64, "Model": "M"}


def test_processors_are_counted_by_the_summary_where_one_cannot_be_read(whole: HostileBmc) -> None:
    processors = f"{MACHINE}/Processors"
    whole.documents[MACHINE]["ProcessorSummary"] = SUMMARY
    whole.documents[processors] = {"Members": [{"@odata.id": f"{processors}/1"}, {"@odata.id": f"{processors}/gone"}]}
    whole.documents[f"{processors}/1"] = {"Id": "1", "TotalThreads": 16, "ProcessorType": "CPU"}
    for odd in ([], [None], [{"@odata.id": None}]):
        whole.documents[processors]["Members"] += odd
        cpu = inventory(whole)["cpu"]
        assert (cpu["count"], cpu["socket_count"]) == (64, 2)
        whole.documents[processors]["Members"] = whole.documents[processors]["Members"][:1]
    whole.documents[processors] |= {"Members": [{"@odata.id": f"{processors}/1"}], "Members@odata.count": 2}
    whole.documents[MACHINE]["ProcessorSummary"] = None
    assert inventory(whole).get("cpu", {}).keys().isdisjoint({"count", "socket_count"})


@pytest.mark.difference("processors that say nothing")
@pytest.mark.parametrize(
    "processors, summary, found",
    [
        ([{"TotalThreads": 32, "Model": "A"}, {"TotalThreads": 32}], SUMMARY, (64, 2, "A")),
        # Without hyper-threading fewer threads than the processors have are counted.
        ([{"TotalThreads": 64, "Model": "A"}, {"TotalThreads": 64}], SUMMARY, (128, 2, "A")),
        # The list may be a part, and so may the sum.
        ([{"TotalThreads": 16, "Model": "A"}, {"TotalThreads": 16}], SUMMARY, (None, 2, "A")),
        ([{"TotalThreads": 16}], SUMMARY, (64, 2, "M")),
        ([{"TotalThreads": 16}], {"Count": 2}, (None, 2, None)),
        ([{"TotalThreads": 16}], {"Count": 2, "LogicalProcessorCount": 16}, (None, 2, None)),
        ([{"TotalThreads": 16}, {"TotalThreads": "N/A"}], {"Count": 1, "LogicalProcessorCount": 8}, (None, 2, None)),
        # BMCs count empty sockets, or cores.
        ([{"TotalThreads": 16}, {"Status": {"State": "Absent"}}], {"Count": 2}, (16, 1, None)),
        ([{"TotalThreads": 16, "TotalCores": 8}], {"Count": 8}, (16, 1, None)),
        ([{"TotalThreads": 16, "Model": "A"}, {"TotalThreads": "N/A"}], SUMMARY, (64, 2, "A")),
        ([{"TotalThreads": 16}, {"TotalThreads": "N/A"}], {"Count": 2}, (None, 2, None)),
        ([{"TotalThreads": 16}, {"TotalThreads": -16}], {"Count": 2}, (None, 2, None)),
        ([], SUMMARY, (64, 2, "M")),
        ([], {"Count": "2", "LogicalProcessorCount": [], "Model": {}}, (None, 2, None)),
        ([], None, (None, None, None)),
        ([], "none", (None, None, None)),
    ],
)
def test_what_processors_do_not_say_is_in_their_summary(
    whole: HostileBmc, processors: list[dict[str, Any]], summary: Any, found: tuple[Any, ...]
) -> None:
    paths = [f"{MACHINE}/Processors/{number}" for number in range(len(processors))]
    listed = {"Members": [{"@odata.id": path} for path in paths], "Members@odata.count": len(paths)}
    whole.documents[f"{MACHINE}/Processors"] |= listed
    whole.documents |= {path: {"Id": path[-1], **one} for path, one in zip(paths, processors, strict=True)}
    whole.documents[MACHINE]["ProcessorSummary"] = summary
    cpu = inventory(whole).get("cpu", {})
    assert tuple(cpu.get(name) for name in ("count", "socket_count", "model_name")) == found


# Which machine


@pytest.mark.parametrize(
    "members, why",
    [
        ([SYSTEM, "/redfish/v1/Systems/2"], f"several systems; set redfish_system_id to one of {SYSTEM}, /redfish"),
        ([], "names no system"),
        (None, "names no system"),
    ],
)
def test_the_machine_is_never_guessed(bmc: HostileBmc, members: Any, why: str) -> None:
    bmc.documents["/redfish/v1/Systems"]["Members"] = members and [{"@odata.id": path} for path in members]
    with pytest.raises(PowerStateFailure, match=why):
        RedfishPower().set_power_state(on(bmc, None), states.POWER_ON)
    assert bmc.count("POST", RESET) == 0


@pytest.mark.parametrize(
    "more", [{"Members@odata.nextLink": "/redfish/v1/Systems/more"}, {"Members": [{"@odata.id": SYSTEM}, {}]}]
)
def test_a_list_of_systems_with_gaps_is_no_answer(bmc: HostileBmc, more: dict[str, Any]) -> None:
    bmc.documents["/redfish/v1/Systems"] |= more
    with pytest.raises(RedfishError, match="incomplete, as .*; set redfish_system_id"):
        RedfishPower().get_power_state(on(bmc, None))


# Power


@pytest.mark.difference("other ways to power on")
@pytest.mark.parametrize(
    "offers, state, sent",
    [
        (["On", "ForceOn", "PushPowerButton"], "Off", "On"),
        (["ForceOff", "ForceOn", "PushPowerButton"], "Off", "ForceOn"),
        (["PushPowerButton"], "Off", "PushPowerButton"),
        (["forceoff", "ON"], "Off", "On"),
        (["PushPowerButton"], "PoweringOff", None),
        (["ForceOff", "Nmi"], "Off", None),
    ],
)
def test_a_machine_is_switched_on_by_what_its_bmc_offers(
    bmc: HostileBmc, offers: list[str], state: str, sent: str | None
) -> None:
    action = {"target": RESET, "ResetType@Redfish.AllowableValues": offers}
    bmc.documents[SYSTEM] |= {"PowerState": state, "Actions": {"#ComputerSystem.Reset": action}}
    came: list[str] = []

    def misbehave(handler: Handler) -> bool:
        if handler.command == "POST":
            came.append(json.loads(handler.content)["ResetType"])
        return False

    bmc.misbehave = misbehave
    if sent is None:
        with pytest.raises(PowerStateFailure) as failure:
            RedfishPower().set_power_state(on(bmc), states.POWER_ON)
        assert f"offers no power action On or ForceOn or PushPowerButton now, only {', '.join(offers)}" in str(
            failure.value
        )
        assert "ResetType" not in str(failure.value)
    else:
        RedfishPower().set_power_state(on(bmc), states.POWER_ON)
    assert came == ([sent] if sent else [])


def test_an_nmi_that_is_not_offered_is_said_in_words(bmc: HostileBmc) -> None:
    bmc.documents[SYSTEM]["Actions"]["#ComputerSystem.Reset"]["ResetType@Redfish.AllowableValues"] = ["On"]
    with pytest.raises(RedfishError, match="offers no power action Nmi now, only On"):
        RedfishManagement().inject_nmi(on(bmc))


# Boot device


BOOT = {"BootSourceOverrideTarget": "None", "BootSourceOverrideEnabled": "Disabled"}


@pytest.mark.difference("boot device not stored")
def test_a_boot_device_that_is_accepted_and_not_stored_is_an_error(bmc: HostileBmc, conf: Setter) -> None:
    bmc.documents[SYSTEM]["Boot"] = BOOT
    bmc.misbehave = answer_at(SYSTEM, lambda handler: handler.answer(200, {}), "PATCH")
    with pytest.raises(RedfishError, match=r"accepted boot device pxe \(Pxe\) and has not stored it: it shows None"):
        RedfishManagement().set_boot_device(on(bmc), "pxe")


@pytest.mark.parametrize("status", [200, 202, 204])
@pytest.mark.parametrize("shown", ["Off", "off", "Blinking", "Own"])
def test_a_light_that_is_accepted_and_not_stored_is_an_error(
    bmc: HostileBmc, monkeypatch: pytest.MonkeyPatch, status: int, shown: str
) -> None:
    monkeypatch.setattr(stored_changes, "_SECONDS", 0.1)
    bmc.documents[SYSTEM] |= {"UUID": "u", "IndicatorLED": "Off"}

    def accept(handler: Handler) -> None:
        bmc.documents[SYSTEM]["IndicatorLED"] = shown
        handler.answer(status, None)

    bmc.misbehave = answer_at(SYSTEM, accept, "PATCH")
    with pytest.raises(RedfishError, match="has accepted on and has not stored it: it shows (off|blinking|unknown)"):
        RedfishManagement().set_indicator_state(on(bmc), "system", "u", "on")


def test_a_light_may_be_stored_late(bmc: HostileBmc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_changes, "_SECONDS_BETWEEN_LOOKS", 0.01)
    bmc.documents[SYSTEM] |= {"UUID": "u", "IndicatorLED": "Off"}
    looks = iter(["Off", "Off", "lit"])

    def misbehave(handler: Handler) -> bool:
        if handler.command == "PATCH":
            handler.answer(204, None)
        elif bmc.count("PATCH", SYSTEM) and handler.path == SYSTEM:
            handler.answer(200, {**bmc.documents[SYSTEM], "IndicatorLED": next(looks)})
        else:
            return False
        return True

    bmc.misbehave = misbehave
    RedfishManagement().set_indicator_state(on(bmc), "system", "u", "on")
    assert next(looks, None) is None


def test_a_boot_device_may_be_stored_late_or_in_the_settings(bmc: HostileBmc) -> None:
    settings = {"SettingsObject": {"@odata.id": f"{SYSTEM}/Settings"}}
    bmc.documents[SYSTEM] |= {"Boot": BOOT, "@Redfish.Settings": settings}
    bmc.documents[f"{SYSTEM}/Settings"] = {"Id": "Settings", "Boot": dict(BOOT)}
    RedfishManagement().set_boot_device(on(bmc), "pxe")
    assert bmc.documents[f"{SYSTEM}/Settings"]["Boot"]["BootSourceOverrideTarget"] == "Pxe"
    assert bmc.documents[SYSTEM]["Boot"] == BOOT


@pytest.mark.parametrize("settings", [None, {}, "none"])
@pytest.mark.parametrize("mode", [False, True])
def test_dead_settings_do_not_keep_a_boot_device_from_being_set(
    bmc: HostileBmc, conf: Setter, settings: Any, mode: bool
) -> None:
    conf(redfish__boot_mode_config_timeout=0)
    link = {"SettingsObject": {"@odata.id": f"{SYSTEM}/Settings"}}
    bmc.documents[SYSTEM] |= {"Boot": dict(BOOT), "@Redfish.Settings": link}
    bmc.documents[f"{SYSTEM}/Settings"] = settings
    if mode:
        RedfishManagement().set_boot_mode(on(bmc), "uefi")
    else:
        RedfishManagement().set_boot_device(on(bmc), "pxe")
        assert bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideTarget"] == "Pxe"
    assert bmc.count("PATCH", SYSTEM) == 1


@pytest.mark.parametrize(
    "odd",
    [
        {"@Redfish.Settings": {}},
        {"@Redfish.Settings": {"SettingsObject": None, "ETag": 5}},
        {"@Redfish.Settings": {"SettingsObject": {"@odata.id": "http://192.0.2.7/x"}}},
        {"Boot": None},
        {"Boot": {"BootSourceOverrideTarget@Redfish.AllowableValues": ["PXE", None, 5]}},
        {"Boot": {"BootSourceOverrideTarget@Redfish.AllowableValues": "pxe"}},
        {"Boot": {**BOOT, "BootSourceOverrideMode": {}, "BootSourceOverrideEnabled": "disabled"}},
    ],
)
def test_a_boot_device_is_set_in_an_odd_system(bmc: HostileBmc, odd: dict[str, Any]) -> None:
    bmc.documents[SYSTEM] |= {"Boot": dict(BOOT), **odd}
    RedfishManagement().set_boot_device(on(bmc), "pxe")
    assert RedfishManagement().get_boot_device(on(bmc)) == {"boot_device": "pxe", "persistent": False}


def test_a_device_that_is_not_stored_before_a_boot_is_in_the_log(
    bmc: HostileBmc, caplog: pytest.LogCaptureFixture
) -> None:
    bmc.documents[SYSTEM]["Boot"] = dict(BOOT)
    bmc.misbehave = answer_at(SYSTEM, lambda handler: handler.answer(200, {}), "PATCH")
    RedfishPower().set_power_state(on(bmc, driver_internal_info={"redfish_boot_device": "pxe"}), states.POWER_ON)
    assert "may boot from another device than pxe: " in caplog.text
    assert "accepted boot device pxe (Pxe) and has not stored it" in caplog.text


def test_a_bmc_that_stores_a_device_for_one_boot_only_gets_it_before_each(bmc: HostileBmc) -> None:
    def misbehave(handler: Handler) -> bool:
        if handler.command == "PATCH":
            boot = {**json.loads(handler.content)["Boot"], "BootSourceOverrideEnabled": "Once"}
            bmc.documents[SYSTEM]["Boot"] = boot
            handler.answer(204, None)
        return handler.command == "PATCH"

    bmc.documents[SYSTEM]["Boot"] = dict(BOOT)
    bmc.misbehave = misbehave
    task = on(bmc)
    RedfishManagement().set_boot_device(task, "pxe", persistent=True)
    bmc.documents[SYSTEM]["Boot"] = dict(BOOT)
    restore_device(task)
    assert bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideTarget"] == "Pxe"


# Network cards, managers and chassis


@pytest.mark.difference("cards at adapters only")
def test_cards_are_those_of_the_adapters_where_there_are_no_interfaces(whole: HostileBmc) -> None:
    adapters = f"{CHASSIS}/NetworkAdapters"
    whole.documents[CHASSIS]["NetworkAdapters"] = {"@odata.id": adapters}
    whole.documents[adapters] = {"Members": [{"@odata.id": f"{adapters}/{name}"} for name in ("dead", "A")]}
    functions = f"{adapters}/A/NetworkDeviceFunctions"
    whole.documents[f"{adapters}/A"] = {"Id": "A", "NetworkDeviceFunctions": {"@odata.id": functions}}
    whole.documents[functions] = {"Members": [{"@odata.id": f"{functions}/{name}"} for name in ("1", "2", "gone")]}
    for name, address in (("1", "52-54-00-00-00-01"), ("2", None)):
        ethernet = {"MACAddress": address, "PermanentMACAddress": "52:54:00:00:00:02"}
        whole.documents[f"{functions}/{name}"] = {"Id": name, "Ethernet": ethernet}
    for is_missing in (False, True):
        if is_missing:
            del whole.documents[MACHINE]["EthernetInterfaces"]
        else:
            whole.documents[NICS] |= {"Members": [], "Members@odata.count": 0}
        assert inventory(whole)["interfaces"] == [
            {"name": "A.1", "mac_address": "52:54:00:00:00:01"},
            {"name": "A.2", "mac_address": "52:54:00:00:00:02"},
        ]
        addresses = RedfishManagement().get_mac_addresses(on(whole, MACHINE))
        assert addresses == ["52:54:00:00:00:01", "52:54:00:00:00:02"]
        assert read(on(whole, MACHINE), "looking", RedfishInspect().lacks) is None


def test_cards_are_those_of_ports_where_there_is_nothing_else(whole: HostileBmc) -> None:
    del whole.documents[MACHINE]["EthernetInterfaces"]
    adapters = f"{CHASSIS}/NetworkAdapters"
    whole.documents[CHASSIS]["NetworkAdapters"] = {"@odata.id": adapters}
    whole.documents[adapters] = {"Members": [{"@odata.id": f"{adapters}/A"}]}
    whole.documents[f"{adapters}/A"] = {"Id": "A", "Ports": {"@odata.id": f"{adapters}/A/Ports"}}
    whole.documents[f"{adapters}/A/Ports"] = {"Members": [{"@odata.id": f"{adapters}/A/Ports/1"}]}
    port = {"Id": "1", "Ethernet": {"AssociatedMACAddresses": ["52:54:00:00:00:01", None, "x"]}}
    whole.documents[f"{adapters}/A/Ports/1"] = port
    assert inventory(whole)["interfaces"] == [{"name": "A.1", "mac_address": "52:54:00:00:00:01"}]


GONE = {"@odata.id": "/redfish/v1/Managers/Gone"}


@pytest.mark.difference("managers by another link")
@pytest.mark.parametrize("links", [{"ManagedBy": None}, {"ManagedBy": [GONE]}, None])
def test_a_manager_is_found_by_what_it_manages(whole: HostileBmc, links: Any) -> None:
    (manager,) = (path for path in whole.documents if path.startswith("/redfish/v1/Managers/") and path.count("/") == 4)
    whole.documents[manager].setdefault("Links", {})["ManagerForServers"] = [{"@odata.id": MACHINE}]
    whole.documents["/redfish/v1/Managers"] = {"Members": [{"@odata.id": manager}]}
    whole.documents[MACHINE]["Links"] = links
    if links and links["ManagedBy"]:
        whole.documents[MACHINE]["Links"] = {"ManagedBy": [GONE, {"@odata.id": manager}]}
    assert len(RedfishManagement().get_virtual_media(on(whole, MACHINE))) > 0


def test_firmware_of_what_answers_is_listed(whole: HostileBmc) -> None:
    chassis = whole.documents[MACHINE]["Links"]["Chassis"]
    chassis.insert(0, {"@odata.id": "/redfish/v1/Chassis/Gone"})
    task = on(whole, MACHINE)
    RedfishFirmware().cache_firmware_components(task)
    names = {row[0] for row in task.store.firmware.rows(("component", "current_version"), task.node.id)}
    assert {"bios", "bmc"} < names


@pytest.mark.difference("one serial number for all cards")
@pytest.mark.parametrize("serial", ["N/A", "", " ", None, "S1"])
def test_cards_of_one_serial_number_are_all_listed(whole: HostileBmc, serial: str | None) -> None:
    adapters = f"{CHASSIS}/NetworkAdapters"
    whole.documents[CHASSIS]["NetworkAdapters"] = {"@odata.id": adapters}
    whole.documents[adapters] = {"Members": [{"@odata.id": f"{adapters}/{name}"} for name in "ABCD"]}
    for name, own in (("A", serial), ("B", serial), ("C", "S2"), ("D", "S3")):
        controllers = [{"FirmwarePackageVersion": " " if name == "D" else f"1.{name}"}]
        whole.documents[f"{adapters}/{name}"] = {"Id": name, "SerialNumber": own, "Controllers": controllers}
    task = on(whole, MACHINE)
    RedfishFirmware().cache_firmware_components(task)
    found = {row["component"]: row["current_version"] for row in items_of(task.store.firmware)}
    assert {name: version for name, version in found.items() if name.startswith("nic:")} == {
        "nic:A": "1.A", "nic:B": "1.B", "nic:S2": "1.C",
    }  # fmt: skip


# Sensors


@pytest.mark.difference("values of other types")
@pytest.mark.parametrize(
    "name, odd",
    [
        ("Fans", None), ("Fans", "none"), ("Fans", [None]), ("Fans", [{"Reading": "4200 RPM"}]), ("Fans", {}),
        ("Temperatures", [{"SensorNumber": "0x1E", "ReadingCelsius": "hot"}]),
    ],
)  # fmt: skip
def test_odd_sensors_take_away_themselves(whole: HostileBmc, name: str, odd: Any) -> None:
    before = RedfishManagement().get_sensors_data(on(whole, MACHINE))
    (thermal,) = (path for path in whole.documents if path.endswith("/Blade1/Thermal"))
    whole.documents[thermal][name] = odd
    after = RedfishManagement().get_sensors_data(on(whole, MACHINE))
    changed = {"Fans": "Fan", "Temperatures": "Temperature"}[name]
    assert {kind: after[kind] for kind in before if kind != changed} == {
        kind: before[kind] for kind in before if kind != changed
    }


@pytest.mark.difference("sensors of one name")
def test_sensors_of_one_name_are_all_there(whole: HostileBmc) -> None:
    (thermal,) = (path for path in whole.documents if path.endswith("/Blade1/Thermal"))
    whole.documents[thermal]["Fans"] = [{"MemberId": "0", "Reading": 1}, {"MemberId": "0", "Reading": 2}]
    fans = RedfishManagement().get_sensors_data(on(whole, MACHINE))["Fan"]
    assert {fan["reading"] for fan in fans.values()} == {1, 2}


# What a person reads


def test_a_certificate_that_is_not_trusted_names_the_key(tmp_path: Path) -> None:
    with redfish_bmc(tmp_path, tls=True) as emulator:
        info = emulator.driver_info(redfish_verify_ca=True)
        with pytest.raises(RedfishConnectionError, match="not trusted.*set redfish_verify_ca"):
            RedfishPower().get_power_state(work_on(driver_info=info))
        plain = emulator.driver_info(redfish_address=emulator.address.replace("https", "http"))
        with pytest.raises(RedfishError, match="does the BMC want https"):
            RedfishPower().get_power_state(work_on(driver_info=plain))


def test_a_bmc_without_tls_or_with_an_old_one_says_what_to_set(tmp_path: Path) -> None:
    with redfish_bmc(tmp_path) as emulator:
        info = emulator.driver_info(redfish_address=emulator.address.replace("http", "https"))
        with pytest.raises(RedfishError, match=r"it does not speak TLS \(.*\); does the BMC want http\?"):
            RedfishPower().get_power_state(work_on(driver_info=info))
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        alert = threading.Thread(target=_refuse_handshake, args=(listener,), daemon=True)
        alert.start()
        info = {"redfish_address": f"https://127.0.0.1:{listener.getsockname()[1]}"}
        with pytest.raises(RedfishError, match="TLS can't be agreed on .*; for an old BMC set redfish_tls_minimum"):
            RedfishPower().get_power_state(work_on(driver_info=info))


def _refuse_handshake(listener: socket.socket) -> None:
    """Answer that the version of TLS is not supported, until the listener is closed."""
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(bytes([21, 3, 1, 0, 2, 2, 70]))


def test_a_misspelt_key_is_mentioned_without_its_value() -> None:
    with pytest.raises(MissingParameterValue, match="It has 'redfish_adress' there; is redfish_address meant") as error:
        RedfishPower().validate(work_on(driver_info={"redfish_adress": SECRET, "redfish_password": SECRET}))
    assert SECRET not in str(error.value)
