"""The broker or the database goes away while two conductors work; every operation ends well all the same."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests

from ironic import db
from ironic.core.flows import states
from ironic.tests.functional.life import battery
from ironic.tests.functional.life.account import check_ended, check_moves
from ironic.tests.functional.life.works import DELAYS, FAKES, SLOW, WORKS, begin, create, is_over, row
from ironic.tests.live_service import Options, create_database
from ironic.tests.private_servers import Broker, Database, PrivateServer, private_servers
from ironic.tests.site import Site, eventually

# What the services wait for a database that is away, and more than that.
SHORT, LONG = 6.0, 40.0

SLOW_MACHINES: Options = {"DEFAULT": FAKES, "fake": DELAYS}

# A node that was torn down is cleaned too.
GOOD_ENDS = {work.state: states.DEFAULT_TARGET[work.state] for work in WORKS}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, Database]]:
    """Run a broker and a database of our own; the database loses nothing when it is killed."""
    with private_servers(tmp_path_factory.mktemp("servers")) as (broker, database):
        broker.start()
        database.durable = True
        database.start()
        yield broker, database


@pytest.fixture(scope="module")
def site(
    servers: tuple[Broker, Database], tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Site]:
    """Run an API and two conductors with slow machines."""
    broker, database = servers
    running = Site(tmp_path_factory.mktemp("site"), database.url, broker.url, carrier=request.param)
    create_database(*running.configuration)
    services = [
        running.start_api({"DEFAULT": FAKES}),
        *(running.start_conductor(name, SLOW_MACHINES) for name in ("one", "two")),
    ]
    for service in services:
        service.await_ready()
    running.await_conductors("one", "two")
    yield running
    running.stop()


@contextmanager
def changing(site: Site, uuid: str) -> Iterator[list[int]]:
    """Change a node again and again, whatever the answers; give the changes that were acknowledged."""
    acknowledged: list[int] = []
    stop = threading.Event()

    def change() -> None:
        number = 0
        while not stop.wait(0.05):
            number += 1
            patch = [{"op": "add", "path": "/extra/number", "value": number}]
            try:
                answer = site.ask("PATCH", f"/v1/nodes/{uuid}", patch)
            except requests.RequestException:
                continue
            if answer.status_code == 200:
                acknowledged.append(number)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield acknowledged
    finally:
        stop.set()
        thread.join()


def restart(server: PrivateServer, how: signal.Signals, seconds: float) -> None:
    """Have a server end, be away, and come back."""
    if how == signal.SIGKILL:
        server.kill()
    else:
        server.stop()
    time.sleep(seconds)
    server.start()


@pytest.mark.battery
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    ("which", "site"), [("database", "oslo"), ("broker", "oslo"), ("database", "json-rpc")], indirect=["site"]
)
def test_what_is_under_way_ends_well(
    site: Site, servers: tuple[Broker, Database], which: str, how: signal.Signals
) -> None:
    store = db.connect(site.database, retry_seconds=60)
    nodes = create(site.ask, store, WORKS)
    idle = site.create_node()["uuid"]
    with changing(site, idle) as acknowledged:
        begin(site.ask, store, nodes)
        began = time.monotonic()
        time.sleep(0.7 * SLOW)  # so that some steps end while the server is away
        restart(servers[which == "database"], how, SHORT)
        eventually(lambda: {uuid for uuid in nodes if not is_over(store, uuid)}, set(), 120)
    seconds = time.monotonic() - began
    ends = {uuid: row(store, uuid) for uuid in nodes}
    for uuid, work in nodes.items():
        assert ends[uuid] == (GOOD_ENDS[work.state], None, None), (work.state, ends[uuid])
        battery.survived(
            f"{which} restarted", work.state, f"{how.name}, away for {SHORT:.0f} s", ends[uuid][0], seconds
        )
    assert acknowledged and store.nodes.get(idle).extra["number"] >= acknowledged[-1]
    check_moves(site.logs, {uuid: work.begins for uuid, work in nodes.items()}, store)
    check_ended(store, nodes)
    eventually(lambda: site.ask("GET", "/v1/drivers/fake-hardware/properties").status_code, 200, 60)
    eventually(site.alive, {"one", "two"})
    store.close()


@pytest.mark.battery
@pytest.mark.parametrize("site", ["oslo", "json-rpc"], indirect=True)
def test_no_node_is_stuck_when_the_database_was_away_for_longer_than_anybody_waits(
    site: Site, servers: tuple[Broker, Database]
) -> None:
    store = db.connect(site.database, retry_seconds=60)
    nodes = create(site.ask, store, WORKS)
    begin(site.ask, store, nodes)
    restart(servers[1], signal.SIGTERM, LONG)
    began = time.monotonic()
    eventually(lambda: {uuid for uuid in nodes if not is_over(store, uuid)}, set(), 120)
    for uuid, work in nodes.items():
        state, holder, error = row(store, uuid)
        assert (state, holder) in ((GOOD_ENDS[work.state], None), (states.after(work.state, "fail"), None)) or (
            work.state == states.DELETING and state == states.CLEANFAIL
        ), (work.state, state, error)
        assert state == GOOD_ENDS[work.state] or error, (work.state, state)
        how = f"SIGTERM, away for {LONG:.0f} s"
        battery.survived("database restarted", work.state, how, str(state), time.monotonic() - began)
    check_ended(store, nodes)
    eventually(site.alive, {"one", "two"})
    store.close()
