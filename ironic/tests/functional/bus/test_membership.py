"""Conductors come, go, die and hang; users notice as little of it as can be.

Real processes over RabbitMQ and MariaDB; times are those that were measured, with room for a slow machine.
"""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.functional.bus.requests_without_end import asking
from ironic.tests.site import Site, eventually, site

# Longer than the sites' heartbeat_timeout, ring interval and check interval together.
TAKEN_OVER = 20

# Well below the four seconds after which a silent conductor is given up; a few hundredths on a quiet machine.
AT_ONCE = 2


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Site]:
    """Run an API and two conductors."""
    with site(tmp_path) as running:
        yield running


@pytest.fixture
def single(tmp_path: Path) -> Iterator[Site]:
    """Run an API and one conductor."""
    with site(tmp_path, conductors=["one"]) as running:
        yield running


def owners(running: Site, nodes: list[dict[str, Any]]) -> set[str]:
    """Return who serves these nodes."""
    return {running.owner(node) for node in nodes}


def timed(running: Site, method: str, path: str, body: Any = None) -> tuple[int, float]:
    """Send a request; return the status of the answer and how long it took."""
    began = time.monotonic()
    answer = running.ask(method, path, body)
    return answer.status_code, time.monotonic() - began


def boot_device(node: dict[str, Any]) -> str:
    """Return the path of something that only a conductor knows."""
    return f"/v1/nodes/{node['uuid']}/management/boot_device"


def test_one_that_comes_gets_its_share_and_one_that_goes_leaves_it_without_a_failed_request(single: Site) -> None:
    nodes = [single.create_node() for _ in range(20)]
    with asking(single, nodes) as statuses:
        single.start_conductor("two").await_ready()
        eventually(lambda: owners(single, nodes), {"one", "two"})
        leaving = single.conductors["two"]
        leaving.signal(signal.SIGTERM)
        assert leaving.end() == (0, "")
        eventually(lambda: owners(single, nodes), {"one"})
        time.sleep(1)
    assert set(statuses) == {200}, statuses
    assert statuses[200] > 100
    assert single.alive() == {"one"}
    assert "Traceback" not in single.log


def test_one_that_restarts_without_another_is_missed_for_a_moment_only(single: Site) -> None:
    node = single.create_node()
    assert single.conductors["one"].stop() == 0
    assert single.ask("GET", boot_device(node)).status_code == 404
    assert single.ask("POST", "/v1/nodes", {"driver": "fake-hardware"}).status_code == 400
    assert single.ask("GET", "/v1/drivers/fake-hardware/properties").status_code == 404
    single.start_conductor("one").await_ready()
    eventually(lambda: single.ask("GET", boot_device(node)).status_code, 200, 2)


def test_a_group_is_served_by_its_own_conductors(pair: Site) -> None:
    pair.start_conductor("rack", {"conductor": {"conductor_group": "Rack-1"}}).await_ready()
    inside = [pair.create_node(conductor_group="rack-1") for _ in range(5)]
    outside = [pair.create_node() for _ in range(20)]
    assert owners(pair, inside) == {"rack"}
    assert owners(pair, outside) == {"one", "two"}
    assert pair.ask("GET", boot_device(inside[0])).status_code == 200
    assert pair.ask("POST", "/v1/nodes", {"driver": "fake-hardware", "conductor_group": "none"}).status_code == 400
    assert pair.conductors["rack"].stop() == 0
    status, seconds = timed(pair, "GET", boot_device(inside[0]))
    assert (status, seconds < AT_ONCE) == (404, True)
    assert pair.ask("GET", boot_device(outside[0])).status_code == 200


def test_one_that_died_is_known_at_once_and_its_nodes_are_taken_over(pair: Site) -> None:
    node = pair.nodes_of("two")[0]
    pair.kill("two")
    status, seconds = timed(pair, "GET", boot_device(node))
    assert (status, seconds < AT_ONCE) == (503, True), seconds
    status, seconds = timed(pair, "PUT", f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    assert (status, seconds < AT_ONCE) == (503, True), seconds
    eventually(lambda: pair.ask("GET", boot_device(node)).status_code, 200, TAKEN_OVER)
    assert pair.owner(node) == "one"
    assert pair.alive() == {"one"}
    pair.provision(node["uuid"], "manage", "manageable")


def test_what_one_was_doing_when_it_died_ends_with_a_reason(pair: Site) -> None:
    pair.conductors["two"].stop()
    pair.start_conductor("two", {"fake": {"power_delay": 30}}).await_ready()
    eventually(lambda: len(pair.alive()), 2)
    time.sleep(2.5)  # until the API's picture is new
    node = pair.nodes_of("two")[0]
    pair.put(f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    assert pair.node(node["uuid"])["reservation"] == pair.host("two")
    pair.kill("two")
    eventually(lambda: pair.node(node["uuid"])["reservation"], None, TAKEN_OVER)
    found = pair.node(node["uuid"])
    assert found["provision_state"] == "enroll"
    assert "stopped giving signs of life" in found["last_error"]


@pytest.fixture
def slow_to_notice(tmp_path: Path) -> Iterator[Site]:
    """Run an API and two conductors, one of which hangs for longer than a call waits before it counts as dead."""
    with site(tmp_path, options={"conductor": {"heartbeat_timeout": 9}}) as running:
        yield running


def test_one_that_hangs_is_told_in_seconds_and_does_not_do_later_what_it_was_asked(slow_to_notice: Site) -> None:
    pair = slow_to_notice
    node = pair.nodes_of("two")[0]
    hanging = pair.conductors["two"]
    hanging.signal(signal.SIGSTOP)
    status, seconds = timed(pair, "PUT", f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    assert (status, 3.5 < seconds < 8) == (503, True), seconds
    status, seconds = timed(pair, "GET", boot_device(node))
    assert (status, seconds < AT_ONCE) == (503, True), seconds
    hanging.signal(signal.SIGCONT)
    eventually(lambda: pair.ask("GET", boot_device(node)).status_code, 200, TAKEN_OVER)
    time.sleep(1)
    found = pair.node(node["uuid"])
    assert (found["provision_state"], found["last_error"]) == ("enroll", None)
    eventually(lambda: "had given up, and did not begin it" in hanging.log, True, 2)


def test_one_without_a_free_worker_says_so_at_once(tmp_path: Path) -> None:
    busy = {"conductor": {"workers_pool_size": 3}, "fake": {"power_delay": 2}}
    with site(tmp_path, conductors=[]) as running:
        running.start_conductor("one", busy).await_ready()
        nodes = [running.create_node() for _ in range(4)]
        answers = [
            timed(running, "PUT", f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"}) for node in nodes
        ]
        assert [status for status, _ in answers] == [202, 202, 202, 503]
        assert answers[-1][1] < AT_ONCE
        assert running.node(nodes[-1]["uuid"])["provision_state"] == "enroll"
        eventually(lambda: running.node(nodes[0]["uuid"])["provision_state"], "manageable")
        running.provision(nodes[-1]["uuid"], "manage", "manageable")
