"""What a conductor does with a machine's management: consoles, boot modes, RAID targets, lights, VIFs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import (
    InterfaceNotFoundInEntrypoint,
    InvalidParameterValue,
    InvalidState,
    IronicError,
    NodeLocked,
    NodeNotFound,
    NoFreeConductorWorker,
    UnsupportedDriverExtension,
)
from ironic.core.errors.hardware_errors import NetworkError
from ironic.core.flows import states
from ironic.db import Store
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.conductor.flows.bench import Bench, Script
from ironic.tests.unit.conductor.managed import Managed, Notes

NOBODY = "00000000-0000-4000-8000-000000000000"

# Each call with good arguments; whether it needs the node for itself, and the kind of interface it goes through.
CALLS: dict[str, tuple[tuple[Any, ...], bool, str]] = {
    "set_boot_device": (("pxe", False), True, "management"),
    "get_boot_device": ((), False, "management"),
    "supported_boot_devices": ((), False, "management"),
    "change_boot_mode": (("uefi",), True, "management"),
    "change_secure_boot": ((True,), True, "management"),
    "change_console": ((True,), True, "console"),
    "get_console": ((), False, "console"),
    "set_target_raid_config": (({},), True, "raid"),
    "inject_nmi": ((), True, "management"),
    "supported_indicators": ((), False, "management"),
    "get_indicator": (("system", "led"), False, "management"),
    "set_indicator": (("system", "led", "on"), True, "management"),
    "get_virtual_media": ((), False, "management"),
    "attach_virtual_media": (("cdrom", "nfs://192.0.2.1/x", "http"), True, "management"),
    "detach_virtual_media": ((None,), True, "management"),
    "list_vifs": ((), False, "network"),
    "attach_vif": (({"id": "v1"},), True, "network"),
    "detach_vif": (("v1",), True, "network"),
    "vendor_methods": ((), False, "vendor"),
    "call_vendor_method": (("ask", "POST", {}), True, "vendor"),
}
DISKS = {"logical_disks": [{"size_gb": 100, "raid_level": "1"}]}


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def bench(conf: Any, store: Store, notes: Notes) -> Bench:
    conf(conductor__node_locked_retry_attempts=1)
    composition: Any = Managed(notes)
    return Bench(store, composition, Script())


def node(bench: Bench, **values: Any) -> str:
    return bench.store.nodes.create({"driver": "managed", "provision_state": "manageable", **values}).uuid


def ask(bench: Bench, call: str, uuid: str, *arguments: Any) -> Any:
    return getattr(bench.endpoint, call)(bench.context, uuid, *arguments)


@pytest.mark.parametrize("call", CALLS)
def test_it_does_what_it_is_asked(bench: Bench, call: str) -> None:
    uuid = node(bench, last_error=None)
    ask(bench, call, uuid, *CALLS[call][0])
    row = bench.row(uuid)
    assert (row.reservation, row.last_error) == (None, None)


@pytest.mark.parametrize("call", CALLS)
def test_it_says_that_there_is_no_such_node(bench: Bench, call: str) -> None:
    with pytest.raises(NodeNotFound):
        ask(bench, call, NOBODY, *CALLS[call][0])


@pytest.mark.parametrize("call", CALLS)
def test_only_what_changes_something_waits_for_others(bench: Bench, call: str) -> None:
    uuid, (arguments, exclusive, _) = node(bench, reservation="elsewhere"), CALLS[call]
    if exclusive:
        with pytest.raises(NodeLocked):
            ask(bench, call, uuid, *arguments)
    else:
        ask(bench, call, uuid, *arguments)
    assert bench.row(uuid).reservation == "elsewhere"


@pytest.mark.demand("S26")
@pytest.mark.parametrize("call", CALLS)
def test_a_disabled_interface_stands_in_the_way_of_its_own_calls_only(bench: Bench, call: str) -> None:
    arguments, _, kind = CALLS[call]
    others = {
        f"{one}_interface": "gone" for one in ("management", "console", "raid", "network", "vendor") if one != kind
    }
    ask(bench, call, node(bench, **others), *arguments)
    uuid = node(bench, **{f"{kind}_interface": "gone"})
    with pytest.raises(InterfaceNotFoundInEntrypoint, match=f"{kind} interface named gone"):
        ask(bench, call, uuid, *arguments)
    assert bench.row(uuid).reservation is None


# Work in the background

BEGUN = {
    "change_boot_mode": "set_boot_mode",
    "change_secure_boot": "set_secure_boot_state",
    "change_console": "start_console",
    "attach_virtual_media": "attach_virtual_media",
    "detach_virtual_media": "detach_virtual_media",
}


@pytest.mark.parametrize("call", BEGUN)
def test_a_failure_in_the_background_shows_on_the_node_and_in_its_history(
    bench: Bench, notes: Notes, call: str
) -> None:
    notes.errors[BEGUN[call]] = IronicError("the BMC is on fire")
    uuid = node(bench)
    before = bench.row(uuid)
    ask(bench, call, uuid, *CALLS[call][0])
    row = bench.row(uuid)
    assert row.last_error is not None and row.last_error.startswith("the BMC is on fire. ")
    assert (row.boot_mode, row.secure_boot, row.console_enabled, row.reservation) == (
        before.boot_mode,
        before.secure_boot,
        before.console_enabled,
        None,
    )
    ((severity, _, event),) = bench.history(uuid)
    assert (severity, event) == ("ERROR", row.last_error)


@pytest.mark.parametrize("call", BEGUN)
def test_the_next_success_clears_the_error(bench: Bench, call: str) -> None:
    uuid = node(bench, last_error="an old story")
    ask(bench, call, uuid, *CALLS[call][0])
    assert bench.row(uuid).last_error is None


@pytest.mark.parametrize("call", BEGUN)
def test_without_a_free_worker_nothing_changes(bench: Bench, notes: Notes, call: str) -> None:
    uuid = node(bench, last_error="an old story")
    bench.pool.full = True
    with pytest.raises(NoFreeConductorWorker):
        ask(bench, call, uuid, *CALLS[call][0])
    row = bench.row(uuid)
    assert (row.last_error, row.reservation, notes.calls) == ("an old story", None, [])


def test_work_that_lost_its_worker_says_so(bench: Bench, notes: Notes) -> None:
    uuid = node(bench)
    bench.pool.lost = True
    with pytest.raises(NoFreeConductorWorker):
        ask(bench, "change_console", uuid, True)
    row = bench.row(uuid)
    assert (row.console_enabled, row.reservation, notes.calls) == (False, None, [])
    assert "Opening the console failed" in (row.last_error or "")


# Consoles


def test_a_console_is_opened_and_closed(bench: Bench, notes: Notes) -> None:
    uuid = node(bench)
    ask(bench, "change_console", uuid, True)
    assert bench.row(uuid).console_enabled is True
    assert ask(bench, "get_console", uuid) == {"type": "socat", "url": "tcp://192.0.2.1:9000"}
    ask(bench, "change_console", uuid, True)
    ask(bench, "change_console", uuid, False)
    assert bench.row(uuid).console_enabled is False
    assert notes.calls == [("start_console",), ("start_console",), ("stop_console",)]


@pytest.mark.parametrize("enabled", [True, False])
def test_without_a_console_nothing_is_begun(bench: Bench, enabled: bool) -> None:
    with pytest.raises(UnsupportedDriverExtension):
        ask(bench, "change_console", node(bench, console_interface="no"), enabled)


# Boot mode, secure boot


def test_boot_mode_and_secure_boot_are_kept_on_the_node(bench: Bench, notes: Notes) -> None:
    uuid = node(bench)
    ask(bench, "change_boot_mode", uuid, "bios")
    ask(bench, "change_secure_boot", uuid, False)
    assert (bench.row(uuid).boot_mode, bench.row(uuid).secure_boot) == ("bios", False)
    assert notes.calls == [("set_boot_mode", "bios"), ("set_secure_boot_state", False)]


@pytest.mark.parametrize("state", sorted(states.TRANSIENT))
@pytest.mark.parametrize("call", ["change_boot_mode", "change_secure_boot"])
def test_a_busy_machine_keeps_its_boot_mode(bench: Bench, notes: Notes, call: str, state: str) -> None:
    with pytest.raises(InvalidState, match=state):
        ask(bench, call, node(bench, provision_state=state), *CALLS[call][0])
    assert notes.calls == []


# RAID


def test_a_target_raid_config_is_noted_and_taken_back(bench: Bench) -> None:
    uuid = node(bench)
    ask(bench, "set_target_raid_config", uuid, DISKS)
    assert (bench.row(uuid).target_raid_config, bench.row(uuid).raid_config) == (DISKS, {})
    ask(bench, "set_target_raid_config", uuid, {})
    assert bench.row(uuid).target_raid_config == {}


@pytest.mark.parametrize("config", [{"bogus": 1}, {"logical_disks": []}, {"logical_disks": [{"size_gb": "x"}]}])
def test_a_wrong_raid_config_leaves_the_target_alone(bench: Bench, config: dict[str, Any]) -> None:
    uuid = node(bench, target_raid_config=DISKS)
    with pytest.raises(InvalidParameterValue):
        ask(bench, "set_target_raid_config", uuid, config)
    assert bench.row(uuid).target_raid_config == DISKS


@pytest.mark.parametrize("config", [{}, DISKS])
def test_without_raid_there_is_no_target(bench: Bench, config: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedDriverExtension):
        ask(bench, "set_target_raid_config", node(bench, raid_interface="no"), config)


# Lights, signals, VIFs


def test_a_light_is_switched(bench: Bench, notes: Notes) -> None:
    ask(bench, "set_indicator", node(bench), "system", "led", "off")
    assert notes.calls == [("set_indicator_state", "system", "led", "off")]


@pytest.mark.parametrize(
    "light, reason",
    [
        (("chassis", "led-0", "on"), "only be read"),
        (("system", "led", "purple"), "blinking, off, on"),
        (("system", "other", "on"), "no such indicator"),
        (("disk", "led", "on"), "disk"),
    ],
)
def test_a_light_that_can_not_be_switched_so_is_left_alone(
    bench: Bench, notes: Notes, light: tuple[str, str, str], reason: str
) -> None:
    with pytest.raises(InvalidParameterValue, match=reason):
        ask(bench, "set_indicator", node(bench), *light)
    assert notes.calls == []


def test_an_nmi_is_sent_once(bench: Bench, notes: Notes) -> None:
    ask(bench, "inject_nmi", node(bench))
    assert notes.calls == [("inject_nmi",)]


def test_vifs_are_the_network_interfaces_business(bench: Bench, notes: Notes) -> None:
    uuid = node(bench)
    ask(bench, "attach_vif", uuid, {"id": "v1", "physnet": "a"})
    ask(bench, "detach_vif", uuid, "v1")
    assert ask(bench, "list_vifs", uuid) == [{"id": "v1"}]
    assert notes.calls == [("vif_attach", {"id": "v1", "physnet": "a"}), ("vif_detach", "v1")]


def test_a_virtual_interface_that_fails_is_in_node_history(bench: Bench, notes: Notes) -> None:
    uuid = node(bench)
    notes.errors = {"vif_attach": NetworkError("the switch is mute"), "vif_detach": ValueError(f"node {uuid} is odd")}
    for call, argument in (("attach_vif", {"id": "v1"}), ("detach_vif", "v2")):
        with pytest.raises((NetworkError, ValueError)):
            ask(bench, call, uuid, argument)
    assert bench.history(uuid) == [
        ("ERROR", "network", "the switch is mute. Attaching virtual interface (VIF) v1 failed."),
        ("ERROR", "network", "unexpected ValueError: the node is odd. Detaching virtual interface (VIF) v2 failed."),
    ]
    assert bench.row(uuid).reservation is None


# Vendor methods


def test_a_synchronous_method_is_called_with_the_node_locked(bench: Bench, notes: Notes) -> None:
    uuid = node(bench)
    answer = ask(bench, "call_vendor_method", uuid, "ask", "PUT", {"what": "time"})
    assert answer == {"async": False, "result": {"said": "time"}}
    assert notes.calls[-1] == ("ask", "PUT", "time", False)
    assert notes.calls[0] == ("validate", "ask", {"http_method": "PUT", "what": "time"})
    assert bench.row(uuid).reservation is None


def test_an_asynchronous_method_is_only_begun(bench: Bench, notes: Notes) -> None:
    uuid = node(bench)
    assert ask(bench, "call_vendor_method", uuid, "begin", "POST", {}) == {"async": True}
    assert notes.calls[-1] == ("begin", False, "here")
    assert bench.row(uuid).reservation is None


def test_a_method_that_shares_the_node_runs_while_others_hold_it(bench: Bench, notes: Notes) -> None:
    uuid = node(bench, reservation="elsewhere")
    assert ask(bench, "call_vendor_method", uuid, "look", "GET", {}) == {"async": False, "result": True}
    assert ask(bench, "call_vendor_method", uuid, "begin_shared", "POST", {}) == {"async": True}
    assert notes.calls[-1] == ("begin_shared", True)
    with pytest.raises(NodeLocked):
        ask(bench, "call_vendor_method", uuid, "begin", "POST", {})
    assert bench.row(uuid).reservation == "elsewhere"


def test_an_asynchronous_method_that_fails_leaves_the_node_as_it_was(bench: Bench, notes: Notes, caplog: Any) -> None:
    notes.errors["begin"] = KeyError("oops")
    uuid = node(bench, provision_state=states.ACTIVE)
    ask(bench, "call_vendor_method", uuid, "begin", "POST", {})
    row = bench.row(uuid)
    assert (row.provision_state, row.last_error, row.reservation) == (states.ACTIVE, None, None)
    assert f"Vendor method begin of node {uuid} failed" in caplog.text


@pytest.mark.parametrize("kind, file", [("text", "Z3LDvG4="), ("bytes", "AP8="), ("json", "eyJhIjogWzFdfQ==")])
def test_an_attached_result_is_a_file(bench: Bench, kind: str, file: str) -> None:
    answer = ask(bench, "call_vendor_method", node(bench), "dump", "GET", {"kind": kind})
    assert answer == {"async": False, "file": file}


@pytest.mark.parametrize(
    "method, http_method, arguments, reason",
    [
        ("nope", "POST", {}, "ask, begin, begin_shared, dump, look"),
        ("ask", "GET", {}, "only by POST, PUT"),
        ("ask", "POST", {"task": 1}, "no argument named task"),
        ("ask", "POST", {"http_method": "GET", "method": "x"}, "http_method, method"),
        ("ask", "POST", {"odd": 1}, "don't fit vendor method ask.*odd"),
        ("dump", "GET", {}, "don't fit vendor method dump.*kind"),
        ("ask_all", "POST", {"what": "x"}, "no vendor method of that name"),
    ],
)
def test_a_call_that_does_not_fit_is_refused(
    bench: Bench, method: str, http_method: str, arguments: dict[str, Any], reason: str
) -> None:
    uuid = node(bench)
    with pytest.raises(InvalidParameterValue, match=reason):
        ask(bench, "call_vendor_method", uuid, method, http_method, arguments)
    assert bench.row(uuid).reservation is None


def test_the_methods_of_a_node_are_shown_with_their_terms(bench: Bench) -> None:
    found = ask(bench, "vendor_methods", node(bench))
    assert found["ask"] == {
        "http_methods": ["POST", "PUT"],
        "async": False,
        "description": "",
        "attach": False,
        "require_exclusive_lock": True,
    }
    assert set(found) == {"ask", "begin", "begin_shared", "dump", "look"}
    assert ask(bench, "vendor_methods", node(bench, vendor_interface="no")) == {}


@pytest.mark.demand("S31")
def test_a_driver_has_methods_of_its_own(bench: Bench, notes: Notes) -> None:
    found = ask(bench, "driver_vendor_methods", "managed")
    assert found["ask_all"] == {"http_methods": ["POST"], "async": False, "description": "", "attach": False}
    answer = ask(bench, "call_driver_vendor_method", "managed", "ask_all", "POST", {"what": "x"})
    assert answer == {"async": False, "result": ["kim", "POST", "x"]}
    assert notes.calls == [("driver_validate", "ask_all", {"http_method": "POST", "what": "x"})]
    assert ask(bench, "call_driver_vendor_method", "managed", "begin_all", "POST", {}) == {"async": True}
    assert notes.calls[-1] == ("begin_all", "kim")
    with pytest.raises(InvalidParameterValue, match="ask_all, begin_all"):
        ask(bench, "call_driver_vendor_method", "managed", "ask", "POST", {})


def test_a_driver_method_needs_a_free_worker_too(bench: Bench, notes: Notes) -> None:
    bench.pool.full = True
    with pytest.raises(NoFreeConductorWorker):
        ask(bench, "call_driver_vendor_method", "managed", "begin_all", "POST", {})
    assert ("begin_all", "kim") not in notes.calls


@pytest.mark.demand("S31")
def test_a_driver_says_what_logical_disks_are_made_of(bench: Bench) -> None:
    assert {"size_gb", "raid_level"} < set(ask(bench, "driver_logical_disk_properties", "managed"))
