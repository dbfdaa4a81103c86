"""Conductors come, go, die and hang; users notice as little of it as can be.

Real processes over RabbitMQ, or JSON-RPC, and MariaDB. An answer that must come at once is known by its reason, not by
a clock.
"""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.functional.bus.requests_without_end import asking
from ironic.tests.functional.drivers.scripted_bmc import silent_bmc
from ironic.tests.live_service import Options
from ironic.tests.site import BOTH, WITH_REDFISH, Site, eventually, site

# Longer than the sites' heartbeat_timeout, ring interval and check interval together.
TAKEN_OVER = 20

# What is known at once, and not after the seconds that a silent conductor is waited for.
ABSENT = {"oslo": "it does not listen to the message bus", "json-rpc": "it does not listen at its address"}
SILENT_BEFORE = "it gave no sign of life a moment ago"


@pytest.fixture
def carrier() -> str:
    """Return what carries calls where a test names nothing else."""
    return "oslo"


@pytest.fixture
def pair(tmp_path: Path, carrier: str) -> Iterator[Site]:
    """Run an API and two conductors."""
    with site(tmp_path, carrier=carrier) as running:
        yield running


@pytest.fixture
def single(tmp_path: Path, carrier: str) -> Iterator[Site]:
    """Run an API and one conductor."""
    with site(tmp_path, conductors=["one"], carrier=carrier) as running:
        yield running


@pytest.fixture
def slow_to_look(tmp_path: Path) -> Iterator[Site]:
    """Run an API that reads its table of conductors every ten minutes, unless it has a reason, and one conductor."""
    with site(tmp_path, conductors=["one"], options={"DEFAULT": {"hash_ring_reset_interval": 600}}) as running:
        yield running


def owners(running: Site, nodes: list[dict[str, Any]]) -> set[str]:
    """Return who serves these nodes."""
    return {running.owner(node) for node in nodes}


def boot_device(node: dict[str, Any]) -> str:
    """Return the path of something that only a conductor knows."""
    return f"/v1/nodes/{node['uuid']}/management/boot_device"


@BOTH
def test_one_that_comes_gets_its_share_and_one_that_goes_leaves_it_without_a_failed_request(single: Site) -> None:
    nodes = [single.create_node() for _ in range(20)]
    with asking(single, nodes) as statuses:
        single.start_conductor("two").await_ready()
        eventually(lambda: owners(single, nodes), {"one", "two"})
        leaving = single.conductors["two"]
        leaving.signal(signal.SIGTERM)
        assert leaving.ended_well()
        eventually(lambda: owners(single, nodes), {"one"})
        enough = statuses.total() + 2 * len(nodes)
        eventually(lambda: statuses.total() > enough, True)
    assert set(statuses) == {200}, statuses
    assert single.alive() == {"one"}
    assert "Traceback" not in single.log


def test_one_that_restarts_without_another_is_missed_for_a_moment_only(slow_to_look: Site) -> None:
    single = slow_to_look
    node = single.create_node()
    assert single.conductors["one"].stop() == 0
    assert single.ask("GET", boot_device(node)).status_code == 404
    assert single.ask("POST", "/v1/nodes", {"driver": "fake-hardware"}).status_code == 400
    assert single.ask("GET", "/v1/drivers/fake-hardware/properties").status_code == 404
    single.start_conductor("one").await_ready()
    eventually(lambda: single.ask("GET", boot_device(node)).status_code, 200)


def test_a_group_is_served_by_its_own_conductors(pair: Site) -> None:
    pair.start_conductor("rack", {"conductor": {"conductor_group": "Rack-1"}}).await_ready()
    inside = [pair.create_node(conductor_group="rack-1") for _ in range(5)]
    outside = [pair.create_node() for _ in range(20)]
    assert owners(pair, inside) == {"rack"}
    assert owners(pair, outside) == {"one", "two"}
    assert pair.ask("GET", boot_device(inside[0])).status_code == 200
    assert pair.ask("POST", "/v1/nodes", {"driver": "fake-hardware", "conductor_group": "none"}).status_code == 400
    assert pair.conductors["rack"].stop() == 0
    assert pair.ask("GET", boot_device(inside[0])).status_code == 404
    assert pair.ask("GET", boot_device(outside[0])).status_code == 200


@BOTH
def test_one_that_died_is_known_at_once_and_its_nodes_are_taken_over(pair: Site, carrier: str) -> None:
    node = pair.nodes_of("two")[0]
    pair.kill("two")
    manage = ("PUT", f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    for answer in (pair.ask("GET", boot_device(node)), pair.ask(*manage)):
        assert (answer.status_code, ABSENT[carrier] in answer.text) == (503, True), answer.text
    # Its last heartbeat is young, but the API knows better.
    assert pair.alive() == {"one"}
    eventually(lambda: pair.ask("GET", boot_device(node)).status_code, 200, TAKEN_OVER)
    assert pair.owner(node) == "one"
    assert pair.alive() == {"one"}
    pair.provision(node["uuid"], "manage", "manageable")


@BOTH
def test_what_one_was_doing_when_it_died_ends_with_a_reason(pair: Site) -> None:
    pair.conductors["two"].stop()
    pair.start_conductor("two", {"fake": {"power_delay": 30}}).await_ready()
    pair.await_conductors("one", "two")
    node = pair.nodes_of("two")[0]
    pair.put(f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    assert pair.node(node["uuid"])["reservation"] == pair.host("two")
    pair.kill("two")
    eventually(lambda: pair.node(node["uuid"])["reservation"], None, TAKEN_OVER)
    found = pair.node(node["uuid"])
    assert found["provision_state"] == "enroll"
    assert "stopped giving signs of life" in found["last_error"]


@pytest.fixture
def slow_to_notice(tmp_path: Path, carrier: str) -> Iterator[Site]:
    """Run an API and two conductors, one of which hangs for as long as it likes before it counts as dead."""
    with site(tmp_path, options={"conductor": {"heartbeat_timeout": 600}}, carrier=carrier) as running:
        yield running


@BOTH
def test_one_that_hangs_is_told_in_seconds_and_does_not_do_later_what_it_was_asked(slow_to_notice: Site) -> None:
    pair = slow_to_notice
    node = pair.nodes_of("two")[0]
    hanging = pair.conductors["two"]
    hanging.signal(signal.SIGSTOP)
    answer = pair.ask("PUT", f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    assert (answer.status_code, "did not respond for" in answer.text) == (503, True), answer.text
    answer = pair.ask("GET", boot_device(node))
    assert (answer.status_code, SILENT_BEFORE in answer.text) == (503, True), answer.text
    hanging.signal(signal.SIGCONT)
    eventually(lambda: "had given up, and did not begin it" in hanging.log, True)
    eventually(lambda: pair.ask("GET", boot_device(node)).status_code, 200)
    found = pair.node(node["uuid"])
    assert (found["provision_state"], found["last_error"]) == ("enroll", None)


def test_one_without_a_free_worker_says_so_at_once(tmp_path: Path) -> None:
    few: Options = {"DEFAULT": WITH_REDFISH, "conductor": {"workers_pool_size": 3}}
    with site(tmp_path, conductors=[]) as running, silent_bmc() as bmc:
        running.start_conductor("one", few).await_ready()
        nodes = [running.create_node(**bmc.node_values) for _ in range(4)]
        answers = [
            running.ask("PUT", f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"}) for node in nodes
        ]
        # Nobody could become free meanwhile.
        assert [answer.status_code for answer in answers] == [202, 202, 202, 503]
        assert running.node(nodes[-1]["uuid"])["provision_state"] == "enroll"
        bmc.may_answer.set()
        eventually(lambda: running.node(nodes[0]["uuid"])["provision_state"], "manageable")
        running.provision(nodes[-1]["uuid"], "manage", "manageable")
