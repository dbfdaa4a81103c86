"""A conductor that gets a signal to stop hands its nodes over and finishes its work; how, depends on the signal."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.conf import CONF
from ironic.tests.functional.drivers.scripted_bmc import ScriptedBmc, silent_bmc
from ironic.tests.live_service import STOP_SECONDS, Options, Service, write_options
from ironic.tests.site import WITH_REDFISH, Site, eventually, site

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
    running.await_conductors("one", "two")
    return started


@pytest.fixture
def bmc() -> Iterator[ScriptedBmc]:
    with silent_bmc() as running:
        yield running


def begin(running: Site, bmc: ScriptedBmc) -> dict[str, Any]:
    """Have the second conductor begin to verify one of its nodes, which ends when the BMC answers."""
    node = running.nodes_of("two", **bmc.node_values)[0]
    running.put(f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    assert running.node(node["uuid"])["reservation"] == running.host("two")
    return node


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR2])
def test_work_under_way_is_finished_while_the_other_one_serves_the_rest(
    survivor: Site, bmc: ScriptedBmc, number: signal.Signals
) -> None:
    leaving = leaver(survivor, {"DEFAULT": WITH_REDFISH})
    node, other = begin(survivor, bmc), survivor.nodes_of("two")[0]
    leaving.signal(number)
    assert survivor.ask("GET", f"/v1/nodes/{other['uuid']}/management/boot_device").status_code == 200
    eventually(lambda: survivor.owner(other), "one")
    assert survivor.node(node["uuid"])["reservation"] == survivor.host("two")
    bmc.may_answer.set()
    assert leaving.ended_well()
    found = survivor.node(node["uuid"])
    assert (found["provision_state"], found["reservation"], found["last_error"]) == ("manageable", None, None)
    assert survivor.alive() == {"one"}
    assert "Traceback" not in survivor.log


def test_without_work_it_drains_at_once(changed: Site) -> None:
    # Much longer than ended_well waits.
    assert CONF.drain_shutdown_timeout >= 10 * STOP_SECONDS
    for service in (changed.conductors["one"], changed.api):
        service.signal(signal.SIGUSR2)
    assert all(service.ended_well() for service in (changed.conductors["one"], changed.api))


def test_work_that_does_not_end_is_given_up_after_its_time(survivor: Site, bmc: ScriptedBmc) -> None:
    leaving = leaver(survivor, {"DEFAULT": WITH_REDFISH, "conductor": {"graceful_shutdown_timeout": 2}})
    node = begin(survivor, bmc)
    leaving.signal(signal.SIGTERM)
    assert leaving.end()[0] == UNFINISHED
    assert f"provision verb manage of node {node['uuid']}" in leaving.log.splitlines()[-1]
    found = survivor.node(node["uuid"])
    assert (found["provision_state"], found["reservation"]) == ("enroll", None)
    assert "was stopped" in found["last_error"]


def test_draining_has_its_time_too(survivor: Site, bmc: ScriptedBmc) -> None:
    terms: dict[str, dict[str, object]] = {
        "DEFAULT": {**WITH_REDFISH, "drain_shutdown_timeout": 2},
        "conductor": {"graceful_shutdown_timeout": 1},
    }
    leaving = leaver(survivor, terms)
    begin(survivor, bmc)
    leaving.signal(signal.SIGUSR2)
    assert leaving.end()[0] == UNFINISHED
    assert "drained for 2 seconds" in leaving.log


def test_who_drains_can_still_be_told_to_end(survivor: Site, bmc: ScriptedBmc) -> None:
    leaving = leaver(survivor, {"DEFAULT": WITH_REDFISH, "conductor": {"graceful_shutdown_timeout": 1}})
    begin(survivor, bmc)
    leaving.signal(signal.SIGUSR2)
    eventually(lambda: "pieces of work continue" in leaving.log, True)
    # It drains for longer than work has after a signal to end.
    time.sleep(1.5)
    assert "provision verb manage" not in leaving.log.rpartition("pieces of work continue")[2]
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


def test_the_api_judges_conductors_by_the_new_limit(tmp_path: Path) -> None:
    with site(tmp_path, conductors=["one"], options={"conductor": {"heartbeat_timeout": 600}}) as changed:
        changed.conductors["one"].signal(signal.SIGSTOP)
        assert changed.alive() == {"one"}
        file = tmp_path / "api.conf"
        file.write_text(file.read_text().replace("heartbeat_timeout = 600", "heartbeat_timeout = 1"))
        changed.api.signal(signal.SIGHUP)
        eventually(changed.alive, set())
        node = changed.ask("POST", "/v1/nodes", {"driver": "fake-hardware"})
        assert node.status_code == 400
