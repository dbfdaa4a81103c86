"""Every command of the plug-in for introspection, with nothing changed but the address."""

import json
import threading
from pathlib import Path

import pytest

from ironic.tests.scenario.clients.exercises import exercises
from ironic.tests.scenario.command_line import CommandFailed
from ironic.tests.scenario.old_clients.command_line import Openstack
from ironic.tests.scenario.old_clients.inspected_site import MAC, REPORT, Site

I = ("baremetal", "introspection")  # noqa: E741


@exercises("baremetal introspection start", "baremetal introspection status", "baremetal introspection list")
def test_start_and_wait(site: Site, openstack: Openstack) -> None:
    uuid = site.machine()
    ramdisk = threading.Thread(target=lambda: (site.wait_for("one", "inspect wait"), site.post()))
    ramdisk.start()
    (row,) = openstack.json(*I, "start", "one", "--wait", "--check-errors")
    ramdisk.join()
    assert row == {"UUID": "one", "Error": None}
    status = openstack.json(*I, "status", "one")
    assert (status["uuid"], status["state"], status["finished"], status["error"]) == (uuid, "finished", True, None)
    assert status["started_at"] < status["finished_at"]
    (listed,) = openstack.json(*I, "list")
    assert listed["UUID"] == uuid
    assert site.wait_for("one", "manageable")["properties"]["memory_mb"] == 4096


@exercises("baremetal introspection list")
def test_lists_have_pages(site: Site, openstack: Openstack) -> None:
    first, second = site.machine("one"), site.machine("two", "52:54:00:00:00:22")
    for name in ("one", "two"):
        assert openstack(*I, "start", name) is not None
        site.wait_for(name, "inspect wait")
    assert [row["UUID"] for row in openstack.json(*I, "list", "--limit", "1")] == [second]
    assert [row["UUID"] for row in openstack.json(*I, "list", "--marker", second)] == [first]


@exercises("baremetal introspection abort", "baremetal introspection status")
def test_abort(site: Site, openstack: Openstack) -> None:
    site.machine()
    openstack(*I, "start", "one")
    site.wait_for("one", "inspect wait")
    openstack(*I, "abort", "one")
    site.wait_for("one", "inspect failed")
    status = openstack.json(*I, "status", "one")
    assert (status["state"], status["finished"]) == ("error", True)
    assert "aborted" in status["error"]


@exercises("baremetal introspection data save", "baremetal introspection reprocess")
def test_data_and_processing_them_again(site: Site, openstack: Openstack, tmp_path: Path) -> None:
    site.machine()
    site.inspect("one")
    saved = json.loads(openstack(*I, "data", "save", "one"))
    assert saved["inventory"] == REPORT["inventory"]
    assert saved["extra"] == {"disk": {"sda": {"size": 10}}}
    openstack(*I, "data", "save", "one", "--unprocessed", "--file", str(tmp_path / "data.json"))
    assert json.loads((tmp_path / "data.json").read_text()) == REPORT
    ended = site.wait_for("one", "manageable")["inspection_finished_at"]
    openstack(*I, "reprocess", "one")
    assert site.wait_for("one", "manageable")["inspection_finished_at"] > ended
    assert json.loads(openstack(*I, "data", "save", "one")) == saved


@exercises("baremetal introspection interface list", "baremetal introspection interface show")
def test_interfaces(site: Site, openstack: Openstack) -> None:
    site.machine()
    site.inspect("one")
    rows = {row["Interface"]: row for row in openstack.json(*I, "interface", "list", "one")}
    assert rows["eth0"]["MAC Address"] == MAC
    assert rows["eth0"]["Switch Port VLAN IDs"] == [101]
    assert rows["eth1"]["Switch Port ID"] is None
    assert [row["Interface"] for row in openstack.json(*I, "interface", "list", "one", "--vlan", "101")] == ["eth0"]
    shown = openstack.json(*I, "interface", "show", "one", "eth0")
    assert (shown["interface"], shown["mac"], shown["switch_port_id"]) == ("eth0", MAC, "Eth1")


def test_a_refusal_reaches_the_user_in_words(site: Site, openstack: Openstack) -> None:
    with pytest.raises(CommandFailed, match="no node"):
        openstack(*I, "status", "missing")
