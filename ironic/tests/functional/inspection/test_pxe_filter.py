"""The PXE filter: its files, its program, and a real dnsmasq that goes by them."""

import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.core.flows import states
from ironic.db import Store, connect, schema
from ironic.inspection.pxe_filter import HostsDir, HostsDirError, PxeFilter
from ironic.tests.conftest import Setter
from ironic.tests.databases import counting_statements, url_for_programs
from ironic.tests.private_servers import Database
from ironic.tests.site import until
from ironic.tests.unit.inspection.lab import new_node, new_port

A, B, STRANGER = "52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:99"
UNKNOWN = "unknown_hosts_filter"
PATIENCE = 60.0


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = tmp_path / "hosts.d"
    path.mkdir()
    return path


def files(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.iterdir()}


def two_nodes(store: Store) -> None:
    """One node that is being inspected and one that is not."""
    new_port(store, new_node(store, name="a", provision_state=states.INSPECTWAIT), A)
    new_port(store, new_node(store, name="b", provision_state=states.ACTIVE), B)


@pytest.mark.demand("S105")
def test_it_writes_what_the_database_says(store: Store, directory: Path) -> None:
    two_nodes(store)
    new_port(store, new_node(store, provision_state=states.INSPECTING, inspect_interface="redfish"), STRANGER)
    (directory / "foreign-file").write_text("x")
    result = PxeFilter(store, HostsDir(str(directory))).sync()
    assert files(directory) == {
        A: f"{A}\n",
        B: f"{B},ignore\n",
        STRANGER: f"{STRANGER},ignore\n",
        UNKNOWN: "*:*:*:*:*:*\n",
        "foreign-file": "x",
    }
    assert (result.hosts, len(result.changes)) == (4, 4)


@pytest.mark.demand("S105")
def test_it_writes_only_what_has_changed_and_deletes_nothing(store: Store, directory: Path) -> None:
    two_nodes(store)
    running = PxeFilter(store, HostsDir(str(directory)))
    running.sync()
    assert running.sync().changes == {}
    store.nodes.update("a", {"provision_state": states.MANAGEABLE})
    assert running.sync().changes == {A: f"{A},ignore\n", UNKNOWN: "*:*:*:*:*:*,ignore\n"}
    store.nodes.update("b", {"provision_state": states.INSPECTING})
    store.nodes.delete("a")
    assert running.sync().changes == {B: f"{B}\n", A: f"{A}\n", UNKNOWN: "*:*:*:*:*:*\n"}


def test_it_serves_strangers_while_discovery_is_on(conf: Setter, store: Store, directory: Path) -> None:
    conf(auto_discovery__enabled=True)
    PxeFilter(store, HostsDir(str(directory))).sync()
    assert files(directory) == {UNKNOWN: "*:*:*:*:*:*\n"}


@pytest.mark.demand("S105")
def test_it_only_tells_in_a_dry_run(store: Store, directory: Path) -> None:
    two_nodes(store)
    result = PxeFilter(store, HostsDir(str(directory))).sync(dry_run=True)
    assert sorted(result.changes) == [A, B, UNKNOWN]
    assert files(directory) == {}


@pytest.mark.demand("S105")
def test_it_leaves_a_file_that_another_filter_writes_for_later(store: Store, directory: Path) -> None:
    two_nodes(store)
    running = PxeFilter(store, HostsDir(str(directory)))
    with (directory / A).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        result = running.sync()
        assert list(result.failed) == [A]
        assert (directory / B).exists()
    assert list(running.sync().changes) == [A]


def test_it_waits_a_moment_for_another_filter(store: Store, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two_nodes(store)
    with (directory / A).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        monkeypatch.setattr(time, "sleep", lambda _seconds: fcntl.flock(held, fcntl.LOCK_UN))
        result = PxeFilter(store, HostsDir(str(directory))).sync()
    assert not result.failed
    assert files(directory)[A]


@pytest.mark.parametrize("path", [None, "", "/no/such/place"])
def test_it_needs_a_directory(path: str | None) -> None:
    with pytest.raises(HostsDirError, match="dhcp_hostsdir"):
        HostsDir(path)


def test_it_writes_nothing_when_many_files_are_up_to_date(store: Store, directory: Path) -> None:
    node = new_node(store)
    macs = [f"52:54:01:00:{number >> 8:02x}:{number & 255:02x}" for number in range(5000)]
    with store.writing():
        for mac in macs:
            new_port(store, node, mac)
    running = PxeFilter(store, HostsDir(str(directory)))
    running.sync()
    assert running.sync().changes == {}


# Following


@pytest.fixture
def following(store: Store, directory: Path) -> PxeFilter:
    """Return a filter that has synchronised the two nodes."""
    two_nodes(store)
    running = PxeFilter(store, HostsDir(str(directory)))
    running.sync()
    return running


@pytest.mark.demand("S105")
def test_it_follows_inspections_that_begin_and_end(store: Store, directory: Path, following: PxeFilter) -> None:
    assert following.follow().changes == {}
    store.nodes.update("b", {"provision_state": states.INSPECTING})
    assert following.follow().changes == {B: f"{B}\n"}
    store.nodes.update("a", {"provision_state": states.MANAGEABLE})
    assert following.follow().changes == {A: f"{A},ignore\n"}
    new_port(store, store.nodes.get("b"), STRANGER)
    assert following.follow().changes == {STRANGER: f"{STRANGER}\n"}
    assert following.follow().changes == {}
    assert files(directory) == {
        A: f"{A},ignore\n",
        B: f"{B}\n",
        STRANGER: f"{STRANGER}\n",
        UNKNOWN: "*:*:*:*:*:*\n",
    }
    # What it has written is what a synchronisation would.
    assert following.sync().changes == {}


@pytest.mark.demand("S105")
def test_it_follows_by_one_query_that_reads_no_other_node(
    store: Store, directory: Path, following: PxeFilter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostsDir, "sizes", lambda self: pytest.fail("it has read the directory"))
    with counting_statements(store) as seen:
        following.follow()
    (text,) = seen.texts
    with store.engine.connect() as connection:
        values = (states.INSPECTING, states.INSPECTWAIT)
        plan = str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values).all())
    assert "provision_state_idx" in plan
    assert "SCAN" not in plan


def test_it_synchronises_when_the_first_inspection_begins_and_the_last_one_ends(
    store: Store, directory: Path, following: PxeFilter
) -> None:
    store.nodes.update("a", {"provision_state": states.MANAGEABLE})
    assert following.follow().changes == {A: f"{A},ignore\n", UNKNOWN: "*:*:*:*:*:*,ignore\n"}
    store.nodes.update("b", {"provision_state": states.INSPECTWAIT})
    assert following.follow().changes == {B: f"{B}\n", UNKNOWN: "*:*:*:*:*:*\n"}


def test_it_tries_again_to_write_what_it_follows(store: Store, directory: Path, following: PxeFilter) -> None:
    store.nodes.update("b", {"provision_state": states.INSPECTING})
    with (directory / B).open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert list(following.follow().failed) == [B]
    assert following.follow().changes == {B: f"{B}\n"}
    assert following.follow().changes == {}


# The program


@pytest.mark.demand("S105")
def test_the_program_serves_a_machine_soon_after_its_inspection_has_begun(
    store: Store, directory: Path, command: list[str]
) -> None:
    two_nodes(store)
    config = Path(command[-1])
    config.write_text(config.read_text().replace("sync_period = 1", "sync_period = 3600"))
    with subprocess.Popen(command) as process:
        try:
            until(lambda: len(files(directory)) == 3)
            store.nodes.update("b", {"provision_state": states.INSPECTING})
            until(lambda: files(directory)[B] == f"{B}\n")
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


@pytest.fixture
def command(store: Store, directory: Path, tmp_path: Path) -> list[str]:
    config = tmp_path / "filter.conf"
    config.write_text(
        f"[database]\nconnection = {url_for_programs(store)}\n"
        f"[pxe_filter]\ndhcp_hostsdir = {directory}\nsync_period = 1\n"
    )
    return [sys.executable, "-m", "ironic.command.pxe_filter", "--config-file", str(config)]


def test_the_program_looks_once(store: Store, directory: Path, command: list[str]) -> None:
    two_nodes(store)
    dry = subprocess.run([*command, "--dry-run"], capture_output=True, text=True, timeout=60)
    assert (dry.returncode, files(directory)) == (0, {})
    assert f"{B}: {B},ignore\n" in dry.stdout
    assert "3 of 3 host files would be changed." in dry.stdout
    once = subprocess.run([*command, "--once"], capture_output=True, text=True, timeout=60)
    assert (once.returncode, sorted(files(directory))) == (0, [A, B, UNKNOWN])
    again = subprocess.run([*command, "--once"], capture_output=True, text=True, timeout=60)
    assert again.stdout == "0 of 3 host files were changed.\n"


@pytest.mark.parametrize("how", [["--once"], []])
def test_the_program_says_why_it_can_not_start(directory: Path, command: list[str], how: list[str]) -> None:
    directory.rmdir()
    ended = subprocess.run([*command, *how], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    told = ended.stdout + ended.stderr
    assert "there is no such directory" in told
    assert "Traceback" not in told


def test_the_program_outlives_its_database(store: Store, directory: Path, command: list[str], tmp_path: Path) -> None:
    two_nodes(store)
    database = Path(str(store.engine.url.database))
    away = database.with_suffix(".away")
    shutil.copy(database, away)
    with store.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE ports RENAME TO elsewhere")
    log = tmp_path / "filter.log"
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            until(lambda: b"could not be updated" in log.read_bytes())
            assert files(directory) == {}
            with store.writing() as connection:
                connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO ports")
            until(lambda: len(files(directory)) == 3)
            store.nodes.update("a", {"provision_state": states.MANAGEABLE})
            until(lambda: files(directory)[A] == f"{A},ignore\n")
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


@pytest.mark.demand("S105")
def test_the_program_outlives_a_database_server_that_ends_and_comes_back(directory: Path, tmp_path: Path) -> None:
    server = Database(tmp_path / "server")
    config, log = tmp_path / "filter.conf", tmp_path / "filter.log"
    config.write_text(
        f"[database]\nconnection = {server.url}\n[pxe_filter]\ndhcp_hostsdir = {directory}\nsync_period = 1\n"
    )
    program = [sys.executable, "-m", "ironic.command.pxe_filter", "--config-file", str(config)]

    def failures() -> int:
        return log.read_bytes().count(b"could not be updated")

    try:
        with log.open("wb") as output, subprocess.Popen(program, stdout=output, stderr=output) as process:
            try:
                until(failures)  # the server is not there yet
                server.start()
                schema.upgrade(server.url)
                store = connect(server.url)
                two_nodes(store)
                until(lambda: len(files(directory)) == 3)
                server.kill()
                seen = failures()
                until(lambda: failures() > seen)
                assert len(files(directory)) == 3
                server.start()
                store.close()
                store = connect(server.url)
                store.nodes.update("a", {"provision_state": states.MANAGEABLE})
                until(lambda: files(directory)[A] == f"{A},ignore\n")
                store.close()
            finally:
                process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        assert b"Traceback" not in log.read_bytes()
    finally:
        server.end()


# A real dnsmasq. A relay asks for the machines, so that neither a network of its own nor privileges are needed.

SERVER, RELAY = "127.0.0.1", "127.0.0.2"
MAGIC = b"\x63\x82\x53\x63"


class Relay:
    """Asks a DHCP server for machines."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            self._socket.setsockopt(socket.SOL_SOCKET, option, 1)
        self._socket.bind((RELAY, port))

    def is_offered_an_address(self, mac: str, seconds: float = 1.0) -> bool:
        transaction = os.urandom(4)
        head = struct.pack(
            "!BBBB4sHH4s4s4s4s", 1, 1, 6, 1, transaction, 0, 0, *[b"\0" * 4] * 3, socket.inet_aton(RELAY)
        )
        hardware = bytes.fromhex(mac.replace(":", "")).ljust(16, b"\0")
        discover = head + hardware + b"\0" * 192 + MAGIC + b"\x35\x01\x01" + b"\xff"
        self._socket.sendto(discover, (SERVER, self._port))
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                answer = self._socket.recv(2048)
            except TimeoutError:
                return False
            if answer[4:8] == transaction and answer[0] == 2:
                return True
        return False

    def close(self) -> None:
        self._socket.close()


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("0.0.0.0", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def relay(directory: Path, tmp_path: Path) -> Iterator[Relay]:
    program = shutil.which("dnsmasq", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert program, "this needs dnsmasq: install Debian's package dnsmasq-base"
    port = free_port()
    config = tmp_path / "dnsmasq.conf"
    config.write_text(
        "port=0\nno-ping\nbind-interfaces\nkeep-in-foreground\nlog-facility=-\ninterface=lo\n"
        f"dhcp-alternate-port={port},{port}\ndhcp-range=127.0.0.50,127.0.0.150,255.0.0.0,10m\n"
        f"dhcp-hostsdir={directory}\ndhcp-leasefile={tmp_path}/leases\npid-file={tmp_path}/pid\nuser=\n"
    )
    log = tmp_path / "dnsmasq.log"
    with log.open("wb") as output, subprocess.Popen([program, f"--conf-file={config}"], stderr=output) as process:
        relay = Relay(port)
        try:
            until(lambda: b"DHCP, IP range" in log.read_bytes() or process.poll() is not None)
            assert process.poll() is None, log.read_text()
            yield relay
        finally:
            relay.close()
            process.terminate()


@pytest.mark.demand("S105")
def test_a_real_dnsmasq_serves_whom_the_filter_lets_in(store: Store, directory: Path, relay: Relay) -> None:
    def served() -> list[bool]:
        return [relay.is_offered_an_address(mac) for mac in (A, B, STRANGER)]

    two_nodes(store)
    running = PxeFilter(store, HostsDir(str(directory)))
    running.sync()
    until(lambda: served() == [True, False, True])
    store.nodes.update("a", {"provision_state": states.MANAGEABLE})
    running.sync()
    until(lambda: served() == [False, False, False])
    store.nodes.update("b", {"provision_state": states.INSPECTWAIT})
    running.sync()
    until(lambda: served() == [False, True, True])
