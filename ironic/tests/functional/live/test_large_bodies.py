"""Large bodies from many senders at once: the service keeps within bounds, whatever they are made of."""

import http.client
import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ironic.tests.live_service import Service, all_in_one, free_port, write_options
from ironic.tests.load import machine_free_options

MIB = 1024 * 1024
LARGEST = 16 * MIB
SENDERS = 24
# What the process has when it does nothing is part of it.
MOST_MIB = 512

_KNOWN = b'"inventory":{"interfaces":[{"mac_address":"52:54:00:00:00:99"}]}'


def _filled(piece: bytes, start: bytes = b"[", end: bytes = b"0]") -> bytes:
    return start + piece * ((LARGEST - len(start) - len(end)) // len(piece)) + end


# By what they are made of; whatever has too many values or is nested too deeply is a 400, the others find no node.
SHAPES: dict[str, Callable[[], bytes]] = {
    "empty objects": lambda: _filled(b"{},"),
    "objects of one key": lambda: _filled(b'{"a":1},'),
    "short texts": lambda: _filled(b'"",'),
    "large numbers": lambda: _filled(b"18446744073709551615,"),
    "one key again and again": lambda: _filled(b'"a":18446744073709551615,', b"{", b'"a":0}'),
    "one long number": lambda: _filled(b"9", b'{"a":', b"}"),
    "deep nesting": lambda: _filled(b"["),
    "quotes": lambda: _filled(b'"'),
    "escaped quotes": lambda: _filled(rb"\"", b'{"a":"', b'"}'),
    "a long text": lambda: _filled(b"a", b"{" + _KNOWN + b',"logs":"', b'"}'),
    "a long text of wide letters": lambda: _filled(b"a", b"{" + _KNOWN + b',"logs":"', '😀"}'.encode()),
    "as many objects as are allowed": lambda: b"{" + _KNOWN + b',"x":[' + b'{"a":1},' * 82_000 + b"0]}",
    "zeros": lambda: bytes(LARGEST),
    "blanks": lambda: b" " * LARGEST,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory, port = tmp_path_factory.mktemp("large"), free_port()
    options = machine_free_options(directory, port)
    # The limits for a source are another test's matter.
    more = write_options(directory / "more.conf", {"api": {"inspection_reports_per_minute": 0}})
    with all_in_one([options, more], directory / "ironic.log", port) as running:
        yield running


def post(service: Service, content: bytes, address: str = "127.0.0.1") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", service.port or 0, timeout=300, source_address=(address, 0))
    try:
        headers = {"Content-Type": "application/json", "X-OpenStack-Ironic-API-Version": "1.84"}
        connection.request("POST", "/v1/continue_inspection", content, headers)
        return connection.getresponse().status
    except OSError:
        # It was refused before all of it was sent.
        return 0
    finally:
        connection.close()


def peak(service: Service) -> float:
    """Return the most memory, in MiB, that the process has had."""
    status = Path(f"/proc/{service.process_id}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def test_posts_of_empty_objects_stay_within_bounds_round_after_round(service: Service) -> None:
    content = SHAPES["empty objects"]()
    with ThreadPoolExecutor(SENDERS) as senders:
        statuses = Counter(senders.map(post, itertools.repeat(service, 3 * SENDERS), itertools.repeat(content)))
    assert statuses.keys() <= {400, 503, 0} and statuses[400], statuses
    assert peak(service) < MOST_MIB
    assert service.get("/v1/nodes").status_code == 200


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_that_is_sent_by_many_at_once_takes_more(service: Service, shape: str) -> None:
    content = SHAPES[shape]()
    with ThreadPoolExecutor(SENDERS) as senders:
        statuses = Counter(senders.map(post, itertools.repeat(service, SENDERS), itertools.repeat(content)))
    assert statuses.keys() <= {400, 404, 503, 0}, statuses
    assert peak(service) < MOST_MIB
    assert service.get("/v1/nodes").status_code == 200


def report_of_a_large_machine() -> bytes:
    """Return what an agent reports of a machine with 64 network cards, 200 disks and 512 threads, with its logs."""
    cards = [
        {
            "name": f"ens{number}f0np0",
            "mac_address": f"52:54:00:00:01:{number:02x}",
            "ipv4_address": f"192.0.2.{number}",
            "ipv6_address": f"2001:db8::{number:x}%ens{number}f0np0",
            "has_carrier": True,
            "lldp": [[kind, "04" * 24] for kind in range(1, 31)],
            "vendor": "0x15b3",
            "product": "0x1017",
            "client_id": None,
            "biosdevname": None,
            "speed_mbps": 100_000,
            "pci_address": f"0000:{number:02x}:00.0",
            "driver": "mlx5_core",
        }
        for number in range(64)
    ]
    disks = [
        {"name": f"/dev/sd{number}", "model": "x" * 20, "size": 10**13, "rotational": False, "wwn": f"0x{number:016x}"}
        | {key: f"{key} of {number}" for key in ("serial", "vendor", "hctl", "by_path", "uuid", "partition_uuid")}
        for number in range(200)
    ]
    devices = [
        {"vendor_id": "8086", "product_id": "0a54", "class": "020000", "revision": "02", "bus": f"0000:{number:04x}"}
        for number in range(2000)
    ]
    numbers = {
        "cpus": [{"cpu": number, "numa_node": 0, "thread_siblings": [number, number + 256]} for number in range(512)]
    }
    collected = [["cpu", f"logical_{number}", f"flag_{more}", "yes"] for number in range(512) for more in range(10)]
    inventory = {
        "interfaces": cards,
        "disks": disks,
        "cpu": {"model_name": "x", "count": 512, "flags": [f"flag{number}" for number in range(150)]},
        "memory": {"total": 2**42, "physical_mb": 2**22},
        "bmc_address": "192.0.2.200",
    }
    # The journal as it stands, which has many signs that look like those of JSON, and the rest packed.
    journal = 'kernel: {"a": [1, 2, 3]}, [x]: {y}\n' * 100_000
    report = {
        "inventory": inventory,
        "pci_devices": devices,
        "numa_topology": numbers,
        "data": collected,
        "logs": "H4sIAAAA" * 500_000,
        "journal": journal,
    }
    return json.dumps(report).encode()


def test_a_large_machine_gets_through(service: Service) -> None:
    content = report_of_a_large_machine()
    assert 7 * MIB < len(content) < LARGEST
    # Nothing waits for it, which is found out only once it was read and understood. The service stores some refusals of
    # an address in a minute, and others have used up those of the common one.
    assert post(service, content, "127.0.0.2") == 404
    refused = service.get("/v1/inspection/rejected_callbacks").json()["rejected_callbacks"][0]
    assert len(refused["macs"]) == 64


def test_a_source_that_floods_is_turned_away_and_told_when_to_come_again(tmp_path: Path) -> None:
    port = free_port()
    options = machine_free_options(tmp_path, port)
    with all_in_one([options], tmp_path / "ironic.log", port) as running:
        began = time.monotonic()
        statuses = Counter(post(running, b"{}") for _ in range(400))
        minutes = (time.monotonic() - began) / 60
        assert 300 <= statuses[400] <= 300 * (1 + minutes) + 1
        assert statuses[400] + statuses[503] == 400
