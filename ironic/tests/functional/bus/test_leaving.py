"""A conductor that gets a signal to stop hands its nodes over and finishes its work; how, depends on the signal."""

import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.live_service import Options, Service, write_options
from ironic.tests.site import Site, eventually, site

UNFINISHED = 3


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run an API and one conductor, which stay for all tests of leavers."""
    with site(tmp_path_factory.mktemp("site"), conductors=["one"]) as running:
        yield running


@pytest.fixture
def survivor(standing: Site) -> Iterator[Site]:
    """Return the API and the conductor that stay; a second one that was started is gone afterwards."""
    yield standing
    if leaving := standing.conductors.get("two"):
        leaving.stop()


@pytest.fixture
def changed(tmp_path: Path) -> Iterator[Site]:
    """Run an API and one conductor for one test, which ends them or changes their options."""
    with site(tmp_path, conductors=["one"]) as running:
        yield running


def leaver(running: Site, options: Options) -> Service:
    """Start a second conductor and wait until the API knows of it."""
    started = running.start_conductor("two", options)
    started.await_ready()
    time.sleep(2.5)  # the ring interval of a site
    return started


@pytest.fixture
def mute_bmc() -> Iterator[int]:
    """Return the port of a BMC that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


REDFISH = {"enabled_power_interfaces": "fake, redfish", "enabled_management_interfaces": "fake, redfish"}


def begin(running: Site, **values: Any) -> dict[str, Any]:
    """Have the second conductor begin to verify one of its nodes."""
    node = running.nodes_of("two", **values)[0]
    running.put(f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    assert running.node(node["uuid"])["reservation"] == running.host("two")
    return node


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR2])
def test_work_under_way_is_finished_while_the_other_one_serves_the_rest(survivor: Site, number: signal.Signals) -> None:
    leaving = leaver(survivor, {"fake": {"power_delay": 3}})
    node, other = begin(survivor), survivor.nodes_of("two")[0]
    leaving.signal(number)
    assert survivor.ask("GET", f"/v1/nodes/{other['uuid']}/management/boot_device").status_code == 200
    eventually(lambda: survivor.owner(other), "one", 3)
    assert survivor.node(node["uuid"])["reservation"] == survivor.host("two")
    assert leaving.end() == (0, "")
    found = survivor.node(node["uuid"])
    assert (found["provision_state"], found["reservation"], found["last_error"]) == ("manageable", None, None)
    assert survivor.alive() == {"one"}
    assert "Traceback" not in survivor.log


def test_without_work_it_drains_at_once(changed: Site) -> None:
    began = time.monotonic()
    for service in (changed.conductors["one"], changed.api):
        service.signal(signal.SIGUSR2)
    assert [service.end() for service in (changed.conductors["one"], changed.api)] == [(0, ""), (0, "")]
    assert time.monotonic() - began < 15


def begin_in_vain(running: Site, port: int) -> dict[str, Any]:
    """Have the second conductor begin something that no order of ours can end."""
    address = {"redfish_address": f"http://127.0.0.1:{port}", "redfish_system_id": "/redfish/v1/Systems/1"}
    return begin(running, power_interface="redfish", management_interface="redfish", driver_info=address)


def test_work_that_does_not_end_is_given_up_after_its_time(survivor: Site, mute_bmc: int) -> None:
    leaving = leaver(survivor, {"DEFAULT": REDFISH, "conductor": {"graceful_shutdown_timeout": 2}})
    node = begin_in_vain(survivor, mute_bmc)
    began = time.monotonic()
    leaving.signal(signal.SIGTERM)
    status, _ = leaving.end()
    assert (status, time.monotonic() - began < 20) == (UNFINISHED, True)
    assert f"provision verb manage of node {node['uuid']}" in leaving.log.splitlines()[-1]
    found = survivor.node(node["uuid"])
    assert (found["provision_state"], found["reservation"]) == ("enroll", None)
    assert "was stopped" in found["last_error"]


def test_draining_has_its_time_too(survivor: Site, mute_bmc: int) -> None:
    terms: dict[str, dict[str, object]] = {
        "DEFAULT": {**REDFISH, "drain_shutdown_timeout": 2},
        "conductor": {"graceful_shutdown_timeout": 1},
    }
    leaving = leaver(survivor, terms)
    begin_in_vain(survivor, mute_bmc)
    leaving.signal(signal.SIGUSR2)
    assert leaving.end()[0] == UNFINISHED
    assert "drained for 2 seconds" in leaving.log


def test_who_drains_can_still_be_told_to_end(survivor: Site, mute_bmc: int) -> None:
    leaving = leaver(survivor, {"DEFAULT": REDFISH, "conductor": {"graceful_shutdown_timeout": 1}})
    begin_in_vain(survivor, mute_bmc)
    leaving.signal(signal.SIGUSR2)
    eventually(lambda: "drains" in leaving.log, True)
    time.sleep(1)
    assert leaving.log.splitlines()[-1].endswith("1 pieces of work continue")
    leaving.signal(signal.SIGTERM)
    assert leaving.end()[0] == UNFINISHED


def test_options_take_their_new_values_while_it_runs(changed: Site, tmp_path: Path) -> None:
    node = changed.create_node(name="first")
    changed.provision(node["uuid"], "manage", "manageable")
    conductor = changed.conductors["one"]
    file = tmp_path / "one.conf"
    before = file.read_text()
    file.write_text(before.replace("[DEFAULT]", "[DEFAULT]\ndebug = true").replace("interval = 1", "interval = 99"))
    conductor.signal(signal.SIGHUP)
    eventually(lambda: "heartbeat_interval" in conductor.log, True)  # which can't change, and that is said
    assert " DEBUG ironic.conductor" not in conductor.log.rpartition("heartbeat_interval")[0]
    changed.provision(node["uuid"], "provide", "available")
    assert " DEBUG ironic.conductor" in conductor.log

    file.write_text("[conductor\n")
    conductor.signal(signal.SIGHUP)
    eventually(lambda: "nothing changes" in conductor.log, True)
    assert changed.ask("GET", f"/v1/nodes/{node['uuid']}/management/boot_device").status_code == 200
    write_options(file, {})


def test_the_api_judges_conductors_by_the_new_limit(changed: Site, tmp_path: Path) -> None:
    assert changed.alive() == {"one"}
    changed.conductors["one"].signal(signal.SIGSTOP)
    time.sleep(2)
    assert changed.alive() == {"one"}
    file = tmp_path / "api.conf"
    file.write_text(file.read_text().replace("heartbeat_timeout = 5", "heartbeat_timeout = 1"))
    changed.api.signal(signal.SIGHUP)
    eventually(changed.alive, set(), 2)
    node = changed.ask("POST", "/v1/nodes", {"driver": "fake-hardware"})
    assert node.status_code == 400
