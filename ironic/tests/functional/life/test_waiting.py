"""Nodes that wait lose their conductor: they go on waiting, go on working when it is time, and never wait for ever."""

import functools
import itertools
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ironic import db
from ironic.core.flows import states
from ironic.core.values.value_types import utc_now
from ironic.tests.functional.life import battery
from ironic.tests.functional.life.account import check_ended, check_moves
from ironic.tests.functional.life.works import WAITING_MACHINES, WAITS, begin, create, create_at, row
from ironic.tests.live_service import Options
from ironic.tests.site import BOTH_IN_BATTERY, Site, eventually, site

TIMEOUT = 10
# heartbeat_timeout, the look-out interval, and room for a slow machine.
LATE = 20

TIMEOUTS = dict.fromkeys(
    ("deploy_callback_timeout", "service_callback_timeout", "inspect_wait_timeout", "rescue_callback_timeout"), TIMEOUT
)
OPTIONS: Options = {**WAITING_MACHINES, "conductor": TIMEOUTS}


@dataclass
class Waiting:
    """Two conductors, and nodes that wait in every state there is."""

    site: Site
    store: db.Store
    began: dict[str, str]
    cleaning: list[str]

    @property
    def limited(self) -> list[str]:
        """The nodes whose wait ends soon."""
        return [uuid for uuid in self.began if uuid not in self.cleaning]


@pytest.fixture
def waiting(tmp_path: Path, carrier: str) -> Iterator[Waiting]:
    """Run the conductors and have the nodes wait."""
    with site(tmp_path, options=OPTIONS, carrier=carrier) as running:
        running.await_conductors("one", "two")
        store = db.connect(running.database)
        nodes = create(running.ask, store, WAITS) | create_at(running, store, "two", WAITS)
        began = {uuid: work.begins for uuid, work in nodes.items()}
        begin(running.ask, store, nodes)
        # No rescue works without a ramdisk that boots; its wait is a row like the others.
        rescued = running.nodes_of("two")[0]["uuid"]
        store.nodes.update(rescued, {"provision_state": states.RESCUEWAIT, "provision_updated_at": utc_now()})
        cleaning = [uuid for uuid, work in nodes.items() if work.state == states.CLEANWAIT]
        yield Waiting(running, store, began | {rescued: states.RESCUEWAIT}, cleaning)
        store.close()


def come_back(site: Site, uuid: str, mac: str) -> None:
    """Be the agent that a node waits for, which retries until a service listens."""
    site.ask("POST", "/v1/ports", {"node_uuid": uuid, "address": mac})
    token = site.get(f"/v1/lookup?addresses={mac}").json()["config"]["agent_token"]
    body = {"callback_url": "https://127.0.0.1:7", "agent_token": token, "agent_version": "11.0.0"}
    eventually(lambda: site.ask("POST", f"/v1/heartbeat/{uuid}", body).status_code, 202, LATE)


@BOTH_IN_BATTERY
@pytest.mark.parametrize(
    ("how", "after"),
    [
        pytest.param(signal.SIGKILL, 0.0, marks=pytest.mark.battery),
        (signal.SIGKILL, 0.5),
        pytest.param(signal.SIGKILL, 0.95, marks=pytest.mark.battery),
        pytest.param(signal.SIGSTOP, 0.5, marks=pytest.mark.battery),
    ],
)
def test_what_waits_goes_on_without_the_conductor_it_had(waiting: Waiting, how: signal.Signals, after: float) -> None:
    store, lost = waiting.store, waiting.site.conductors["two"]
    caught = {uuid: row(store, uuid)[0] for uuid in waiting.began}
    assert set(caught.values()) == states.WAITING
    time.sleep(after * TIMEOUT)
    lost.signal(how)
    began = time.monotonic()
    eventually(
        lambda: [
            uuid for uuid in waiting.limited if row(store, uuid)[:2] != (states.after(caught[uuid], "fail"), None)
        ],
        [],
        TIMEOUT + LATE,
    )
    seconds = time.monotonic() - began
    for uuid in waiting.limited:
        state, _, error = row(store, uuid)
        assert f"Timed out after {TIMEOUT} seconds in state '{caught[uuid]}'" in error, error
        assert "Last milestone: " in error and "Expected next: " in error, error
        battery.survived("waiting", caught[uuid], f"{how.name} after {after:.0%} of the wait", state, seconds)

    macs = (f"52:54:00:00:00:{number:02x}" for number in itertools.count())
    for uuid in waiting.cleaning:
        assert row(store, uuid) == (states.CLEANWAIT, None, None)
        come_back(waiting.site, uuid, next(macs))
        eventually(functools.partial(row, store, uuid), (states.MANAGEABLE, None, None))
        battery.survived("waiting", states.CLEANWAIT, f"{how.name}, then its agent came", states.MANAGEABLE, seconds)
    lost.signal(signal.SIGCONT)
    check_moves(waiting.site.logs, waiting.began, store)
    check_ended(store, waiting.began)
