"""The files that Metal3's image and Bifrost's role render start the service; what is lost of them is on their page."""

import http.client
import json
import re
import socket
import time
from pathlib import Path

import pytest

from ironic.conf import without_effect
from ironic.tests.live_service import Service, create_database
from ironic.tests.repository import ROOT

DATA = Path(__file__).parents[2] / "data"
PAGE = ROOT / "doc" / "change-over.md"
LOST = re.compile(r"Without effect: \[(\w+)\]([a-z_]+(?:, [a-z_]+)*): ")
SKIPPED = re.compile(r"(?:hardware type|deploy interface) ([\w-]+) \(option")


def ask(door: Path, path: str) -> tuple[int, object]:
    """Return the answer of the API at a socket of the file system."""
    connection = http.client.HTTPConnection("localhost", timeout=30)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(door))
    connection.request("GET", path, headers={"X-OpenStack-Ironic-API-Version": "1.89"})
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


@pytest.mark.parametrize(
    ("tool", "types", "lost"),
    [
        ("Metal3", {"fake-hardware", "ipmi", "manual-management", "redfish"}, {"bootc", "idrac"}),
        ("Bifrost", {"ipmi", "manual-management", "redfish"}, {"dhcp_leasefile"}),
    ],
)
def test_a_rendered_file_starts_and_its_page_names_what_is_lost(
    tmp_path: Path, tool: str, types: set[str], lost: set[str]
) -> None:
    configuration = tmp_path / "ironic.conf"
    configuration.write_text((DATA / f"{tool.lower()}.conf").read_text().replace("@STATE_DIR@", str(tmp_path)))
    create_database(configuration)
    service = Service("ironic", [configuration], tmp_path / "service.log")
    try:
        service.await_ready()
        door = tmp_path / "ironic.sock"
        assert ask(door, "/")[0] == 200
        status, drivers = ask(door, "/v1/drivers")
        assert isinstance(drivers, dict)
        assert (status, {driver["name"] for driver in drivers["drivers"]}) == (200, types)
    finally:
        service.stop()
    warnings = [line for line in service.log.splitlines() if f" {service.process_id} WARNING " in line]
    assert not [line for line in service.log.splitlines() if " ERROR " in line]
    found = [match for line in warnings if (match := LOST.search(line))]
    features = {match[1] for match in found if match[1] in without_effect.GROUPS}
    names = features | {name for match in found if match[1] not in features for name in match[2].split(", ")}
    names |= {name for line in warnings for name in SKIPPED.findall(line)}
    assert not [line for line in warnings if "does not know" in line]
    assert lost <= names
    section = PAGE.read_text().partition(f"\n### {tool}\n")[2].partition("\n### ")[0]
    assert {name for name in names if name not in section} == set()


def test_a_broker_that_the_environment_names_is_used(tmp_path: Path) -> None:
    configuration = tmp_path / "ironic.conf"
    text = (DATA / "bifrost.conf").read_text().replace("@STATE_DIR@", str(tmp_path))
    configuration.write_text(text.replace("rpc_transport = none\n", ""))
    create_database(configuration)
    variables = {"OS_DEFAULT__TRANSPORT_URL": "rabbit://127.0.0.1:1/"}
    service = Service("ironic", [configuration], tmp_path / "service.log", environment=variables)
    try:
        deadline = time.monotonic() + 60
        while "The message broker at rabbit://127.0.0.1:1/ can't be used yet" not in service.log:
            assert time.monotonic() < deadline and "is ready after" not in service.log, service.log[-3000:]
            time.sleep(0.1)
    finally:
        service.stop()
