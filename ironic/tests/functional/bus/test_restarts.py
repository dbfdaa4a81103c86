"""Database and broker come late, or go and come back; the services wait, say so, and go on by themselves.

Runs with servers of its own, so that those of other tests are never stopped.
"""

import re
import signal
import time
from collections.abc import Iterator

import pytest

from ironic.tests.live_service import create_database
from ironic.tests.private_servers import Broker, Database, private_servers
from ironic.tests.site import Site, eventually


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, Database]]:
    """Make a broker and a database of our own; the database runs, the broker does not yet."""
    with private_servers(tmp_path_factory.mktemp("servers")) as (broker, database):
        database.start()
        yield broker, database


@pytest.fixture(scope="module")
def site(servers: tuple[Broker, Database], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a site whose processes were not started yet, over a database with its tables."""
    broker, database = servers
    made = Site(tmp_path_factory.mktemp("site"), database.url, broker.url)
    create_database(*made.configuration)
    yield made
    made.stop()


def waiting_lines(log: str, what: str) -> list[str]:
    """Return the lines that say that something is waited for."""
    return [line for line in log.splitlines() if f"Waiting for the {what}" in line]


def asks(site: Site) -> int:
    """Ask a conductor something and return the status of the answer."""
    return site.ask("GET", "/v1/drivers/fake-hardware/properties").status_code


def test_services_started_before_their_servers_wait_and_say_for_what(
    site: Site, servers: tuple[Broker, Database]
) -> None:
    broker, database = servers
    database.stop()
    api, one = site.start_api(), site.start_conductor("one")
    eventually(lambda: len(waiting_lines(api.log, "database")), 1)
    eventually(lambda: len(waiting_lines(one.log, "database")), 1)
    time.sleep(3)
    assert [len(waiting_lines(service.log, "database")) for service in (api, one)] == [1, 1]

    database.start()
    api.await_ready()
    assert site.get("/v1/nodes").status_code == 200
    eventually(lambda: len(waiting_lines(one.log, "message broker")), 1)
    assert f"rabbit://127.0.0.1:{broker.port}/" in waiting_lines(one.log, "message broker")[0]
    assert "guest" not in one.log
    assert site.alive() == set()
    assert asks(site) == 404

    broker.start()
    one.await_ready()
    eventually(lambda: asks(site), 200)
    assert re.search(r"Connected to the message broker .* after \d+\.\d seconds", one.log)


def test_one_that_waits_can_be_told_to_end(site: Site, servers: tuple[Broker, Database]) -> None:
    servers[1].stop()
    impatient = site.start_conductor("impatient")
    eventually(lambda: len(waiting_lines(impatient.log, "database")), 1)
    impatient.signal(signal.SIGTERM)
    assert impatient.ended_well()
    assert "before it was ready" in impatient.log
    servers[1].start()
    del site.conductors["impatient"]


def test_the_broker_may_restart(site: Site, servers: tuple[Broker, Database]) -> None:
    broker, _ = servers
    eventually(lambda: asks(site), 200)
    broker.stop()
    began = time.monotonic()
    assert asks(site) == 503
    assert time.monotonic() - began < 20
    assert site.get("/v1/nodes").status_code == 200
    broker.start()
    eventually(lambda: asks(site), 200)
    site.provision(site.create_node()["uuid"], "manage", "manageable")


def test_the_database_may_restart_while_work_goes_on(site: Site, servers: tuple[Broker, Database]) -> None:
    _, database = servers
    site.conductors["one"].stop()
    site.start_conductor("one", {"fake": {"power_delay": 2}}).await_ready()
    eventually(lambda: asks(site), 200)
    node = site.create_node()
    site.put(f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    database.stop()
    assert site.get("/v1/nodes").status_code == 503
    time.sleep(4)  # the power state is known by now and can't be written
    database.start()
    eventually(lambda: site.node(node["uuid"])["provision_state"], "manageable")
    assert site.node(node["uuid"])["last_error"] is None
    assert "The database is back" in site.conductors["one"].log
    assert "can't be reached" in site.api.log
    eventually(site.alive, {"one"})


def test_they_end_cleanly_without_their_servers(site: Site, servers: tuple[Broker, Database]) -> None:
    broker, database = servers
    broker.stop()
    database.stop()
    services = [site.api, site.conductors["one"]]
    for service in services:
        service.signal(signal.SIGTERM)
    assert [service.end()[0] for service in services] == [0, 0]
