"""Many machines are enrolled from a file by the stock client and verified, some of which have dead BMCs.

An ordinary run has few of them; `make battery` has 500, and its account has the figures of doc/redfish.md.
"""

import json
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.tests.functional.life import battery
from ironic.tests.functional.life.many_bmcs import driver_info, many_bmcs
from ironic.tests.live_service import PROGRAMS, Service, all_in_one_below

HEADERS = {"X-OpenStack-Ironic-API-Version": "1.95"}
BUSY = (409, 503)
BOUND = 1800.0


@pytest.mark.parametrize(
    ("count", "dead"),
    [(30, 4), pytest.param(500, 0, marks=pytest.mark.battery), pytest.param(500, 50, marks=pytest.mark.battery)],
)
def test_machines_are_enrolled_in_bulk(tmp_path: Path, count: int, dead: int) -> None:
    """Dead ones end in enroll with the reason, and delay the others little."""
    patience = {} if count > 100 else {"connection_attempts": 1, "read_timeout": 5}
    with many_bmcs(count, dead) as addresses, _service(tmp_path, patience) as service:
        began = time.monotonic()
        _create(tmp_path / "nodes.json", service, addresses)
        created = time.monotonic() - began
        uuids = {node["name"]: node["uuid"] for node in _nodes(service)}
        assert len(uuids) == count
        began = time.monotonic()
        for uuid in uuids.values():
            _manage(service, uuid)
        asked, states = time.monotonic() - began, Counter[str]()
        passed: dict[int, float] = {}
        while states["manageable"] + states["enroll"] < count:
            assert time.monotonic() - began < BOUND, states
            time.sleep(0.5)
            states = Counter(node["provision_state"] for node in _nodes(service))
            passed.setdefault(states["manageable"], time.monotonic() - began)
        assert states == Counter({"manageable": count - dead, "enroll": dead})
        told = [node["last_error"] for node in _nodes(service) if node["provision_state"] == "enroll"]
        assert all("BMC" in text for text in told), told
        figures = (
            f"created {created:.0f} s, asked {asked:.0f} s, all living ones verified "
            f"{passed[count - dead]:.0f} s, all {max(passed.values()):.0f} s"
        )
        battery.survived("bulk enrolment", f"{count} machines", f"{dead} dead", figures, time.monotonic() - began)
    assert "Traceback" not in service.log


def _service(directory: Path, redfish: dict[str, Any]) -> Any:
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "enabled_hardware_types": "redfish",
            "enabled_boot_interfaces": "ipxe",
            "enabled_deploy_interfaces": "direct",
        },
        "redfish": redfish,
    }
    return all_in_one_below(directory, options)


def _create(path: Path, service: Service, addresses: list[str]) -> None:
    nodes = [
        {"name": f"machine-{number}", "driver": "redfish", "driver_info": driver_info(address)}
        for number, address in enumerate(addresses)
    ]
    path.write_text(json.dumps({"nodes": nodes}))
    command = [str(PROGRAMS / "baremetal"), "--os-auth-type", "none", "--os-endpoint", service.url, "create", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=BOUND)


def _nodes(service: Service) -> list[dict[str, Any]]:
    fields = "uuid,name,provision_state,last_error"
    found: list[dict[str, Any]] = []
    url = f"{service.url}/v1/nodes?fields={fields}&limit=1000"
    found += requests.get(url, headers=HEADERS, timeout=60).json()["nodes"]
    return found


def _manage(service: Service, uuid: str) -> None:
    """Ask for the verification, again while the service has no free worker."""
    url = f"{service.url}/v1/nodes/{uuid}/states/provision"
    deadline = time.monotonic() + BOUND
    while True:
        answer = requests.put(url, json={"target": "manage"}, headers=HEADERS, timeout=60)
        if answer.status_code not in BUSY:
            assert answer.status_code == 202, answer.text
            return
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.2)
