"""One of two conductors over RabbitMQ or JSON-RPC, and MariaDB, is killed, paused or started twice in all its works."""

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from ironic import db
from ironic.core.flows import states
from ironic.tests.databases import database_with_tables
from ironic.tests.functional.life import battery
from ironic.tests.functional.life.account import check_ended, check_moves
from ironic.tests.functional.life.works import (
    DELAYS,
    FAKES,
    SLOW,
    WORKS,
    Work,
    begin,
    check_failed,
    create,
    create_at,
    is_over,
    row,
)
from ironic.tests.live_service import Options
from ironic.tests.site import BOTH, BOTH_IN_BATTERY, Site, eventually

# heartbeat_timeout, the look-out interval and some room for a slow machine.
TAKEN_OVER = 20

SLOW_MACHINES: Options = {"DEFAULT": FAKES, "fake": DELAYS, "conductor": {"graceful_shutdown_timeout": 2}}
QUICK_MACHINES: Options = {"DEFAULT": FAKES}

# Why a second process of a name does not start: with JSON-RPC it takes its port before its name.
REFUSED = {"oslo": "runs conductor", "json-rpc": "it may be this service, running already"}


@dataclass
class Pair:
    """Two conductors, and the database behind them."""

    site: Site
    store: db.Store
    nodes: dict[str, Work]

    def check(self, nodes: dict[str, Work]) -> None:
        """Check that these nodes moved by the table only, and that nothing is left over."""
        check_moves(self.site.logs, {uuid: work.begins for uuid, work in nodes.items()}, self.store)
        check_ended(self.store, nodes)

    def of(self, name: str) -> dict[str, Work]:
        """Return the nodes that a conductor works on, with their works."""
        return {uuid: work for uuid, work in self.nodes.items() if row(self.store, uuid)[1] == self.site.host(name)}

    def begin(self) -> None:
        """Have both conductors work."""
        begin(self.site.ask, self.store, self.nodes)

    def await_end(self, nodes: dict[str, Work]) -> float:
        """Wait until nothing is under way on these nodes, and return how long it took."""
        began = time.monotonic()
        eventually(lambda: [uuid for uuid in nodes if not is_over(self.store, uuid)], [], TAKEN_OVER)
        return time.monotonic() - began


# So slow that nothing ends by itself while another process starts.
ENDLESS: Options = {**SLOW_MACHINES, "fake": dict.fromkeys(DELAYS, 120.0)}


@pytest.fixture
def pair(tmp_path: Path, carrier: str, request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Run an API and two conductors with slow machines, and have nodes for every operation, some of them on each."""
    with ExitStack() as stack:
        url = stack.enter_context(database_with_tables("mariadb", tmp_path))
        running = Site(tmp_path, url, carrier=carrier)
        store = db.connect(url)
        stack.callback(store.close)
        stack.callback(running.stop)
        options = getattr(request, "param", SLOW_MACHINES)
        services = [
            running.start_api(QUICK_MACHINES),
            *(running.start_conductor(name, options) for name in ("one", "two")),
        ]
        for service in services:
            service.await_ready()
        running.await_conductors("one", "two")
        nodes = create(running.ask, store, WORKS) | create_at(running, store, "two", WORKS)
        yield Pair(running, store, nodes)


@BOTH
@pytest.mark.parametrize(
    "after", [pytest.param(0.0, marks=pytest.mark.battery), 0.5, pytest.param(0.75, marks=pytest.mark.battery)]
)
def test_the_other_takes_over_what_the_dead_one_was_doing(pair: Pair, after: float) -> None:
    pair.begin()
    theirs = pair.of("two")
    assert theirs
    time.sleep(after * SLOW)
    pair.site.kill("two")
    caught = {uuid: row(pair.store, uuid)[0] for uuid in theirs if row(pair.store, uuid)[1]}
    seconds = pair.await_end(theirs)
    for uuid, state in caught.items():
        ended = check_failed(pair.store, uuid, state, "stopped giving signs of life")
        battery.survived("two conductors", state, f"kill -9 after {after:.0%} of a step", ended, seconds)
    assert caught
    assert not pair.of("two")
    pair.check(theirs)


@BOTH_IN_BATTERY
def test_a_paused_one_writes_nothing_once_its_nodes_were_taken_over(pair: Pair) -> None:
    pair.begin()
    theirs = pair.of("two")
    pair.site.conductors["two"].signal(signal.SIGSTOP)
    seconds = pair.await_end(theirs)
    taken = {uuid: row(pair.store, uuid) for uuid in theirs}
    pair.site.conductors["two"].signal(signal.SIGCONT)
    time.sleep(2 * SLOW)
    assert {uuid: row(pair.store, uuid) for uuid in theirs} == taken
    for uuid, work in theirs.items():
        assert taken[uuid][0] == states.after(work.state, "fail")
        battery.survived("two conductors", work.state, "SIGSTOP, taken over, SIGCONT", taken[uuid][0], seconds)
    eventually(lambda: pair.site.alive(), {"one", "two"})
    pair.check(theirs)


@BOTH
@pytest.mark.battery
@pytest.mark.parametrize("pair", [ENDLESS], indirect=True)
def test_a_second_process_of_the_same_name_is_refused_and_the_work_of_the_first_goes_on(
    pair: Pair, carrier: str
) -> None:
    pair.begin()
    theirs = pair.of("two")
    first = pair.site.conductors["two"]
    second = pair.site.start_conductor("two", QUICK_MACHINES)
    pair.site.conductors["two"] = first
    status, output = second.end()
    assert status == 1
    assert REFUSED[carrier] in output
    time.sleep(SLOW)
    for uuid, work in theirs.items():
        assert row(pair.store, uuid)[:2] == (work.state, pair.site.host("two")), work.state
        battery.survived("two conductors", work.state, "a second process of its name", work.state, 0)
    assert pair.site.alive() == {"one", "two"}
