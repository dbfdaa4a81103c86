"""`ironic-api` and two `ironic-conductor` work as one service over RabbitMQ and a database server."""

import signal
from collections.abc import Iterator

import pytest

from ironic.tests.site import Site, eventually, site

KINDS = ["mariadb", "postgresql"]


@pytest.fixture(scope="module", params=KINDS)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run the three programs over one database server and the broker."""
    with site(tmp_path_factory.mktemp("site"), kind=request.param) as made:
        yield made


def test_the_api_asks_conductors_over_the_bus(running: Site) -> None:
    nodes = [running.create_node(name=f"n{number}") for number in range(20)]
    for node in nodes:
        running.put(f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    eventually(lambda: {n["provision_state"] for n in running.api.get("/v1/nodes").json()["nodes"]}, {"manageable"})
    conductors = {n["conductor"] for n in running.api.get("/v1/nodes/detail").json()["nodes"]}
    assert len(conductors) == 2


def test_an_error_of_a_conductor_reaches_the_user(running: Site) -> None:
    node = running.create_node()
    answer = running.ask("PUT", f"/v1/nodes/{node['uuid']}/management/boot_device", {"boot_device": "toaster"})
    assert answer.status_code == 400
    assert "toaster" in answer.text


def test_when_a_conductor_ends_the_other_serves_its_nodes(running: Site) -> None:
    gone = running.conductors["two"]
    gone.signal(signal.SIGTERM)
    assert gone.ended_well()
    eventually(lambda: [c["alive"] for c in running.api.get("/v1/conductors").json()["conductors"]].count(True), 1)
    eventually(lambda: len({n["conductor"] for n in running.api.get("/v1/nodes/detail").json()["nodes"]}), 1)
    running.provision(running.create_node()["uuid"], "manage", "manageable")


def test_the_api_and_the_last_conductor_end_cleanly(running: Site) -> None:
    assert running.api.stop() == 0
    assert running.conductors["one"].stop() == 0
    assert "Traceback" not in running.api.log + running.conductors["one"].log
