"""Inspect interface `inspector` with the real ironic-inspector, from the request to the inventory."""

import json
import subprocess
from pathlib import Path

import pytest
import requests

from ironic.tests.live_service import PROGRAMS
from ironic.tests.scenario.clients.lab import eventually
from ironic.tests.scenario.inspector.standalone_site import MAC, REPORT, StandaloneSite

RULE = {
    "description": "much memory",
    "conditions": [{"field": "memory_mb", "op": "ge", "value": 1}],
    "actions": [{"action": "set-capability", "name": "much-memory", "value": "wow"}],
}


@pytest.mark.demand("S111")
def test_the_report_is_handed_on_and_the_inventory_is_fetched(site: StandaloneSite) -> None:
    uuid = site.begin()
    site.waits(uuid)
    answer = site.report()
    assert (answer.status_code, answer.json()) == (200, {"uuid": uuid})
    node = site.wait_for(uuid, "manageable")
    assert node["last_error"] is None
    assert node["properties"]["memory_mb"] in (4096, "4096")
    assert node["inspection_finished_at"] is not None
    ports = site.call("GET", f"nodes/{uuid}/ports").json()["ports"]
    assert {port["address"] for port in ports} >= {MAC}
    found = site.call("GET", f"nodes/{uuid}/inventory").json()
    assert found["inventory"].items() >= REPORT["inventory"].items()
    assert "all_interfaces" in found["plugin_data"]
    assert site.state(uuid)["finished"] is True


@pytest.mark.demand("S111")
def test_a_failure_quotes_the_inspector(site: StandaloneSite) -> None:
    rule = {**RULE, "actions": [{"action": "fail", "message": "the disks are <b>gone</b>"}]}
    assert requests.post(f"{site.old_url}/v1/rules", json=rule, timeout=30).status_code in (200, 201)
    try:
        uuid = site.begin()
        site.waits(uuid)
        site.report()
        node = site.wait_for(uuid, "inspect failed")
    finally:
        requests.delete(f"{site.old_url}/v1/rules", timeout=30)
    assert "inspector" in node["last_error"]
    assert "the disks are gone" in node["last_error"]
    assert site.call("GET", f"nodes/{uuid}/inventory").status_code == 404


@pytest.mark.demand("S111")
def test_an_abort_reaches_the_inspector(site: StandaloneSite) -> None:
    uuid = site.begin()
    site.waits(uuid)
    assert site.call("PUT", f"nodes/{uuid}/states/provision", {"target": "abort"}).status_code == 202
    site.wait_for(uuid, "inspect failed")
    eventually(lambda: site.state(uuid)["finished"])
    assert site.state(uuid)["error"] == "Canceled by operator"


@pytest.mark.demand("S111")
def test_a_second_report_changes_nothing(site: StandaloneSite) -> None:
    uuid = site.begin()
    site.waits(uuid)
    assert site.report().status_code == 200
    site.report()
    assert site.wait_for(uuid, "manageable")["last_error"] is None


@pytest.mark.demand("S111")
def test_an_inspector_that_is_down_fails_the_start_and_is_waited_for_later(site: StandaloneSite) -> None:
    uuid = site.begin()
    site.waits(uuid)
    assert site.report().status_code == 200
    eventually(lambda: site.state(uuid)["finished"])
    site.wait_for(uuid, "manageable")
    site.inspector.stop()
    try:
        assert site.call("PUT", f"nodes/{uuid}/states/provision", {"target": "inspect"}).status_code == 202
        error = site.wait_for(uuid, "inspect failed")["last_error"]
    finally:
        site.inspector.start()
    assert "standalone inspector can't start the introspection" in error


@pytest.mark.demand("S172")
def test_its_rules_are_converted(site: StandaloneSite, tmp_path: Path) -> None:
    assert requests.post(f"{site.old_url}/v1/rules", json=RULE, timeout=30).status_code in (200, 201)
    try:
        output = tmp_path / "new.json"
        words = ["convert-rules", "--service", site.old_url, "--output", str(output)]
        subprocess.run([PROGRAMS / "ironic-inventory", *words], check=True, stdin=subprocess.DEVNULL, timeout=120)
        (made,) = json.loads(output.read_text())
        assert made["description"] == "much memory"
        assert site.call("POST", "inspection_rules", made).status_code == 201
    finally:
        requests.delete(f"{site.old_url}/v1/rules", timeout=30)
