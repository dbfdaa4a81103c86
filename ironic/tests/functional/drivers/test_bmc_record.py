"""Records of BMCs: a walk through the emulator and through hostile BMCs, and what the player makes of the record."""

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ironic.core.clock import CLOCK
from ironic.core.errors import InvalidParameterValue
from ironic.core.flows import states
from ironic.drivers.modules.redfish.records import walk
from ironic.drivers.modules.redfish.records.record import record_of
from ironic.drivers.modules.redfish.records.walk import Limits, Walk, Walked
from ironic.drivers.modules.redfish.wire.bmc_access import access_by
from ironic.tests.functional.drivers.hostile_bmc import SESSIONS, SYSTEM, USER, Handler, HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.played_bmc import played
from ironic.tests.functional.drivers.played_operations import OPERATIONS, Machine
from ironic.tests.functional.drivers.recorded_machines import CHASSIS_OF_DELL, Recorded, tree, with_chassis
from ironic.tests.redfish_bmc import redfish_bmc

SECRET = "canary-of-the-bmc"
ROOT = "/redfish/v1"
USUAL = Limits()
COMMAND = [sys.executable, "-m", "ironic.command.inventory", "record-bmc"]


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "_LONGEST_PAUSE", 0.0)


def walked(bmc: HostileBmc, limits: Limits = USUAL, **info: Any) -> Walked:
    given = {name: value for name, value in bmc.driver_info(**info).items() if value is not None}
    return Walk(access_by(given), limits, CLOCK, lambda answers, waiting: None).run()


def recorded(found: Walked, file: Path, host: str = "127.0.0.1") -> dict[str, Any]:
    """Write the record of a walk; return it."""
    record = record_of(found, host, USER, SECRET, "ironic test")
    file.write_text(json.dumps(record))
    return record


def played_on(file: Path, directory: Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Play all operations on a record; return what they show, by operation, their orders, and errors."""
    found = Recorded.of(file)
    with played() as choose:
        machine = Machine(
            found.documents, found.systems[0], directory / "machine", ("none", 1), choose, recorded=found.answers
        )
        try:
            kinds = {name: outcome.kinds for name, outcome in machine.whole.items()}
            orders = {
                name: [(one.method, one.body) for one in outcome.orders] for name, outcome in machine.whole.items()
            }
            errors = {name: str(outcome.error) for name, outcome in machine.whole.items() if outcome.error}
        finally:
            machine.close()
    return kinds, orders, errors


# The emulator


def run(*arguments: str | Path, password: str | None = None) -> tuple[int, str, str]:
    environment = {name: value for name, value in os.environ.items() if name != "IRONIC_BMC_PASSWORD"}
    if password is not None:
        environment["IRONIC_BMC_PASSWORD"] = password
    ended = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    assert "Traceback" not in ended.stderr
    return ended.returncode, ended.stdout, ended.stderr


def test_the_program_records_the_emulator_and_the_record_is_played(tmp_path: Path) -> None:
    emulated, file = tmp_path / "emulator", tmp_path / "record.json"
    emulated.mkdir()
    with redfish_bmc(emulated, user="operator", password=SECRET, tls=True, extended=True) as bmc:
        given = ("--user", "operator", "--output", file, bmc.address)
        # Its certificate is of its own.
        status, _, errors = run(*given, password=SECRET)
        assert status == 1 and "not trusted" in errors and "here: --ca" in errors and not file.exists()
        status, _, errors = run("--ca", str(bmc.verify_ca), *given, password="wrong")
        assert status == 1 and "user name or the password" in errors and not file.exists()
        status, _, errors = run("--ca", str(bmc.verify_ca), *given)
        assert status == 1 and "IRONIC_BMC_PASSWORD" in errors and not file.exists()
        status, output, errors = run("--ca", str(bmc.verify_ca), *given, password=SECRET)
        assert status == 0 and errors == ""
        (system,) = bmc.systems
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["emulator", "record.json"]
    assert "1 ComputerSystem\n" in output and "2 EthernetInterface\n" in output
    assert "left out: certificates and keys" in output and "MAC address" in output
    text = file.read_text()
    for private in (SECRET, system["uuid"], *(nic["mac"] for nic in system["nics"]), "127.0.0.1", "192.0.2.1"):
        assert private.lower() not in text.lower() + output.lower()
    kinds, orders, errors_of = played_on(file, tmp_path)
    assert kinds["power_state"] == {"power_state": states.POWER_OFF}
    assert kinds["boot_device"]["boot_device"]["boot_device"] is not None
    assert orders["power_on"] == [("POST", {"ResetType": "On"})]
    assert orders["boot_once"][0][1]["Boot"]["BootSourceOverrideTarget"] == "Pxe"
    found = kinds["inspection"]
    assert len(found["ports"]) == 2 and all(address.startswith("02:00:00:00:00:") for address in found["ports"])
    assert found["cpu"]["count"] == 64 and found["memory"]["physical_mb"] == 64 * 1024
    # Fake machines have no BIOS settings.
    assert "inspection" not in errors_of and "BIOS" in errors_of


def test_no_file_is_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "record.json"
    file.write_text("mine")
    with hostile_bmc() as bmc:
        assert run("--output", file, bmc.address)[0] == 1
        assert file.read_text() == "mine" and bmc.requests == []
        assert run("--output", file, "--replace", bmc.address)[0] == 0
    assert json.loads(file.read_text())["answers"][SYSTEM]["status"] == 200


def test_a_directory_that_is_missing_is_noticed_before_the_walk(tmp_path: Path) -> None:
    with hostile_bmc() as bmc:
        status, _, errors = run("--output", tmp_path / "none" / "record.json", bmc.address)
        assert status == 1 and "no directory" in errors and bmc.requests == []


def test_a_walk_that_is_interrupted_has_what_it_read(tmp_path: Path) -> None:
    def interrupt(answers: int, waiting: int) -> None:
        if answers == 2:
            raise KeyboardInterrupt

    with hostile_bmc(SECRET) as bmc:
        found = Walk(access_by(bmc.driver_info()), USUAL, CLOCK, interrupt).run()
        assert len(found.seen) == 2 and found.ended_early == "it was interrupted" and bmc.tokens == []
    assert recorded(found, tmp_path / "record.json")["ended_early"] == "it was interrupted"


# Hostile BMCs


def test_only_reads_are_sent_and_the_session_ends() -> None:
    with hostile_bmc(SECRET) as bmc:
        bmc.documents["/redfish/v1/Systems"]["Members"].append({"@odata.id": f"{SESSIONS}/1"})
        found = walked(bmc)
        (session,) = [path for method, path in bmc.requests if method == "DELETE"]
        others = [(method, path) for method, path in bmc.requests if method != "GET"]
        assert others == [("POST", SESSIONS), ("DELETE", session)] and bmc.tokens == []
        assert bmc.count("GET", f"{SESSIONS}/1") == 0
    assert found.left_out == {"sessions": 2} and found.ended_early is None


def test_a_refused_login_is_not_tried_often() -> None:
    with hostile_bmc(SECRET) as bmc:
        with pytest.raises(InvalidParameterValue, match="refuses the user name or the password"):
            walked(bmc, redfish_password="wrong")
        assert len(bmc.logins) <= 2
        with pytest.raises(InvalidParameterValue, match="wants a user name"):
            walked(bmc, redfish_username=None, redfish_password=None)


def chain(bmc: HostileBmc, links: Callable[[str], list[str]]) -> None:
    """Have each resource below the chassis lead on to others."""

    def misbehave(handler: Handler) -> bool:
        path = handler.path.rstrip("/")
        if not path.startswith(f"{ROOT}/Chassis"):
            return False
        handler.answer(200, {"Id": "1", "Members": [{"@odata.id": link} for link in links(path)]})
        return True

    bmc.documents[ROOT]["Chassis"] = {"@odata.id": f"{ROOT}/Chassis"}
    bmc.misbehave = misbehave


def test_links_without_end_do_not_hide_the_machine(tmp_path: Path) -> None:
    with hostile_bmc() as bmc:
        chain(bmc, lambda path: [f"{path}/{number}" for number in range(30)])
        found = walked(bmc, Limits(requests=200))
        assert len(bmc.requests) == 200
    assert found.ended_early == "200 requests were sent"
    record = recorded(found, tmp_path / "record.json")
    assert record["ended_early"] and record["answers"][SYSTEM]["status"] == 200
    assert played_on(tmp_path / "record.json", tmp_path)[0]["power_state"] == {"power_state": states.POWER_OFF}


def test_a_walk_goes_so_deep_and_no_deeper() -> None:
    with hostile_bmc() as bmc:
        chain(bmc, lambda path: [f"{path}/1"])
        found = walked(bmc, Limits(depth=7))
        assert max(path.count("/1") for _, path in bmc.requests) == 6
    assert found.left_out == {walk.TOO_DEEP: 1, "sessions": 1} and found.ended_early is None


def test_loops_are_walked_once() -> None:
    with hostile_bmc() as bmc:
        chain(bmc, lambda path: [ROOT, f"{ROOT}/", f"{ROOT}/Chassis", f"{path}#/Fans/0", SYSTEM])
        walked(bmc)
        assert len(bmc.requests) == len(set(bmc.requests)) == 4


def test_large_answers_end_the_walk_at_its_limit() -> None:
    with hostile_bmc() as bmc:
        for number in range(6):
            path = f"{ROOT}/Chassis/{number}"
            bmc.documents[SYSTEM][f"Link{number}"] = {"@odata.id": path}
            bmc.documents[path] = {"Id": "x" * 500_000}
        found = walked(bmc, Limits(size=1_200_000))
        assert len([path for _, path in bmc.requests if "Chassis" in path]) == 3
    assert found.ended_early == "the answers have 1200000 bytes"


def test_an_answer_beyond_all_bounds_is_a_fault(tmp_path: Path) -> None:
    path = f"{ROOT}/Chassis"
    with hostile_bmc() as bmc:
        bmc.documents[ROOT]["Chassis"] = {"@odata.id": path}

        def misbehave(handler: Handler) -> bool:
            if handler.path == path:
                handler.send(200, b" ", length=10**12)
            return handler.path == path

        bmc.misbehave = misbehave
        record = recorded(walked(bmc), tmp_path / "record.json")
    assert record["answers"][path] == {"fault": "the answer can't be used"}
    assert played_on(tmp_path / "record.json", tmp_path)[0]["power_state"]


def test_other_servers_get_nothing(tmp_path: Path) -> None:
    with hostile_bmc() as other, hostile_bmc(SECRET) as bmc:
        elsewhere = f"{other.address}{SYSTEM}"
        bmc.documents["/redfish/v1/Systems"]["Members"] += [{"@odata.id": elsewhere}, {"@odata.id": f"{ROOT}/Moved"}]

        def misbehave(handler: Handler) -> bool:
            if handler.path == f"{ROOT}/Moved":
                handler.send(302, b"", {"Location": elsewhere})
            return handler.path == f"{ROOT}/Moved"

        bmc.misbehave = misbehave
        found = walked(bmc)
        assert other.requests == []
        record = recorded(found, tmp_path / "record.json")
        assert str(other.address) not in json.dumps(record)
    assert found.left_out[walk.ELSEWHERE] == 2
    assert record["answers"][f"{ROOT}/Moved"]["status"] == 302


def test_a_redirect_to_the_same_path_with_a_slash_is_the_resource(tmp_path: Path) -> None:
    with hostile_bmc() as bmc:

        def misbehave(handler: Handler) -> bool:
            if handler.path == SYSTEM:
                handler.send(308, b"", {"Location": f"{SYSTEM}/"})
            return handler.path == SYSTEM

        bmc.misbehave = misbehave
        record = recorded(walked(bmc), tmp_path / "record.json")
    assert record["answers"][SYSTEM]["status"] == 200


def test_a_bmc_that_stops_to_answer_ends_the_walk(conf: Callable[..., None], tmp_path: Path) -> None:
    conf(redfish__read_timeout=1)
    released = threading.Event()
    with hostile_bmc() as bmc:
        bmc.documents[SYSTEM]["Links"] = [{"@odata.id": f"{ROOT}/Chassis/{number}"} for number in range(20)]

        def misbehave(handler: Handler) -> bool:
            if "/Chassis/" in handler.path:
                # It may end earlier: the walk does not wait as long.
                released.wait(30)
            return "/Chassis/" in handler.path

        bmc.misbehave = misbehave
        try:
            found = walked(bmc)
        finally:
            released.set()
    assert found.ended_early == "the BMC did not answer 5 times"
    record = recorded(found, tmp_path / "record.json")
    assert record["answers"][f"{ROOT}/Chassis/0"] == {"fault": "the answer did not come"}
    assert record["answers"][SYSTEM]["status"] == 200


def test_a_bmc_that_cannot_be_read_is_an_error_and_no_record(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    file = tmp_path / "record.json"
    status, _, errors = run("--output", file, f"http://127.0.0.1:{port}")
    assert status == 1 and "can't be read" in errors and list(tmp_path.iterdir()) == []


# What is in a record


def test_what_the_bmc_sent_is_kept_to_the_byte(tmp_path: Path) -> None:
    odd = (
        b'\xef\xbb\xbf{"@odata.type": "#ComputerSystem.v1_0_0.ComputerSystem",\r\n\t"Id" :"1", "Id":"2",'
        b' "PowerState":"on",'
        b' "Model": "caf\xe9 \\u00e9 C:\\x", "MemorySummary": {"TotalSystemMemoryGiB": NaN,}, "Count": 007,'
        b' "Link": {"@odata.id": "http:\\/\\/%s\\/redfish\\/v1\\/Chassis"},'
        b' "SerialNumber": "%s", "UUID": null} trailing %s'
    )
    # The address of the server, a serial number, a MAC address.
    with hostile_bmc() as bmc:
        host = bmc.address.removeprefix("http://").encode()

        def misbehave(handler: Handler) -> bool:
            if handler.path == SYSTEM:
                body = odd % (host, b"CZ1234", b"aa:bb:cc:00:11:22")
                handler.send(200, body, {"ETag": 'W/"1"', "Allow": "GET", "Server": "x", "Date": "now"})
            return handler.path == SYSTEM

        bmc.misbehave = misbehave
        bmc.documents[f"{ROOT}/Chassis"] = {"Id": "1"}
        record = recorded(walked(bmc), tmp_path / "record.json")
        assert bmc.count("GET", f"{ROOT}/Chassis") == 1
    answer = record["answers"][SYSTEM]
    expected = odd % (b"bmc.example", b"AA0001", b"02:00:00:00:00:01")
    assert answer["body"].encode(errors="surrogateescape") == expected
    assert answer["headers"] == {"ETag": 'W/"1"', "Allow": "GET"}
    assert record["systems"] == [SYSTEM]
    assert played_on(tmp_path / "record.json", tmp_path)[0]["power_state"] == {"power_state": states.POWER_ON}


def test_what_is_no_json_is_named_and_not_kept(tmp_path: Path) -> None:
    with hostile_bmc() as bmc:
        bmc.documents[SYSTEM]["Logo"] = {"@odata.id": f"{SYSTEM}/Logo"}

        def misbehave(handler: Handler) -> bool:
            if handler.path.endswith("/Logo"):
                handler.send(200, b"<html>serial 123</html>", {"Content-Type": "text/html; charset=utf-8"})
            return handler.path.endswith("/Logo")

        bmc.misbehave = misbehave
        record = recorded(walked(bmc), tmp_path / "record.json")
    no_json = {"kind": "text/html", "bytes": 23}
    assert record["answers"][f"{SYSTEM}/Logo"] == {"status": 200, "headers": {}, "no_json": no_json}


def test_what_must_stay_is_not_even_read() -> None:
    places = [
        "AccountService/Accounts/1",
        "Managers/1/LogServices/Log1/Entries",
        "Managers/1/LogServices/Sel/Entries/7",
        "Systems/1/LogServices/Lclog/Entries?$skip=50",
        "CertificateService",
        "Managers/1/NetworkProtocol/HTTPS/Certificates/1",
        "TaskService/Tasks/9",
        "EventService/Subscriptions/1",
        "LicenseService/Licenses/1",
        "Systems/1/Actions/ComputerSystem.Reset",
    ]
    allowed = [
        "Managers/1/LogServices/Log",
        "TaskService/Tasks",
        "Systems/1/Actions/ResetActionInfo",
        "Systems/1/SecureBoot",
    ]
    with hostile_bmc() as bmc:
        bmc.documents[SYSTEM]["Oem"] = {"X": [{"@odata.id": f"{ROOT}/{path}"} for path in (*places, *allowed)]}
        found = walked(bmc)
        read = {path.removeprefix(f"{ROOT}/") for _, path in bmc.requests}
    assert read == {ROOT, "Systems", "Systems/1", *allowed}
    assert found.left_out.total() == len(places) + 1  # and the sessions of the root


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_a_recorded_machine_shows_what_the_machine_shows(
    mock_up: tuple[dict[str, Any], dict[str, Any]], operation: Any
) -> None:
    before, after = mock_up
    assert len(after[operation.name].orders) == len(before[operation.name].orders)
    assert (after[operation.name].error is None) == (before[operation.name].error is None)
    assert shape(after[operation.name].kinds) == shape(before[operation.name].kinds)


@pytest.fixture(scope="module")
def mock_up(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what each operation leaves of a mock-up, and of its record that was made over the wire."""
    directory = tmp_path_factory.mktemp("mock-up")
    documents = with_chassis(tree(), CHASSIS_OF_DELL)
    with hostile_bmc() as bmc, pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "_LONGEST_PAUSE", 0.0)
        bmc.documents = documents
        recorded(walked(bmc), directory / "record.json")
    found = Recorded.of(directory / "record.json")
    setting = ("NicBoot1", "NetworkBoot")
    with played() as choose:
        first = Machine(documents, "/redfish/v1/Systems/437XR1138R2", directory / "a", setting, choose)
        second = Machine(found.documents, found.systems[0], directory / "b", setting, choose, recorded=found.answers)
    first.close()
    second.close()
    return first.whole, second.whole


def shape(value: Any) -> Any:
    """Return a value without its texts: a stand-in is a text, and as long as it was there."""
    if isinstance(value, dict):
        return sorted((shape(item) for item in value.values()), key=repr)
    if isinstance(value, list | tuple):
        return [shape(item) for item in value]
    return "text" if isinstance(value, str) else value


def test_the_program_is_one_of_the_commands() -> None:
    command = [sys.executable, "-c", "from ironic.command.inventory import main; main()", "--help"]
    assert "record-bmc" in subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
