"""Many nodes are on the move while conductors join, leave, are killed and come back; all of them arrive."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic import db
from ironic.core.flows import states
from ironic.tests.functional.life import battery
from ironic.tests.functional.life.account import check_ended, check_moves
from ironic.tests.functional.life.movers import Movers
from ironic.tests.live_service import Options
from ironic.tests.site import Site, eventually, site

# A user's verb is not for ever: what is refused because everybody is busy is asked again.
EXPECTED = {202, 204, 409, 503, 404, 400}

BUSY: Options = {"conductor": {"workers_pool_size": 40}, "fake": {"deploy_delay": 0.2, "power_delay": 0.05}}


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Site]:
    """Run two conductors whose machines take a moment for everything."""
    with site(tmp_path, options=BUSY) as made:
        made.await_conductors("one", "two")
        yield made


def enrolled(store: db.Store, count: int) -> list[str]:
    """Create nodes as they are before their first power check."""
    with store.writing():
        return [
            store.nodes.create(
                {"driver": "fake-hardware", "name": f"n{number}", "provision_state": states.ENROLL, **INTERFACES}
            ).uuid
            for number in range(count)
        ]


INTERFACES = {
    **{f"{kind}_interface": "fake" for kind in ("boot", "deploy", "inspect", "management", "power")},
    **{f"{kind}_interface": "noop" for kind in ("network", "storage")},
    **{f"{kind}_interface": f"no-{kind}" for kind in ("bios", "console", "firmware", "raid", "rescue", "vendor")},
}


COUNT = 500


@pytest.mark.battery
def test_all_nodes_arrive_whoever_joins_and_leaves(running: Site) -> None:
    store = db.connect(running.database)
    nodes = enrolled(store, COUNT)
    movers = Movers(running, store, nodes, users=6)
    began = time.monotonic()

    def moved(share: float) -> None:
        """Wait until so much of the way was gone by all together."""
        eventually(lambda: movers.accepted.total() >= share * 4 * COUNT, True, 300)

    with movers.at_work():
        moved(0.1)
        running.start_conductor("three", BUSY).await_ready()
        moved(0.3)
        leaving = running.conductors["one"]
        leaving.signal(signal.SIGTERM)
        assert leaving.end()[0] == 0
        moved(0.5)
        running.kill("two")
        running.start_conductor("two", BUSY)
        moved(0.7)
        running.start_conductor("one", BUSY)
        running.kill("three")
        eventually(lambda: set(nodes) - movers.done, set(), 300)
    seconds = time.monotonic() - began

    for uuid in nodes:
        state, holder, maintenance = store.nodes.row(("provision_state", "reservation", "maintenance"), uuid)
        assert (state, holder, bool(maintenance)) == (states.AVAILABLE, None, False)
    assert set(movers.answers) <= EXPECTED | {0}, movers.answers
    check_ended(store, nodes)
    made = check_moves(running.logs, dict.fromkeys(nodes, states.ENROLL), store)
    eventually(running.alive, {"one", "two"})
    battery.survived(f"{COUNT} nodes", f"{made} moves", "two join, one leaves, two killed", states.AVAILABLE, seconds)
    store.close()
