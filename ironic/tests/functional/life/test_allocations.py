"""Allocations are asked for at two conductors at once, one of which dies: each ends, and no node is given twice."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from ironic import db
from ironic.core.flows import states
from ironic.tests.functional.life import battery
from ironic.tests.site import Site, eventually, site

NODES = 30


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Site]:
    """Run two conductors that look for unfinished allocations often."""
    with site(tmp_path, options={"conductor": {"check_allocations_interval": 2}}) as made:
        made.await_conductors("one", "two")
        yield made


def ask(site: Site, number: int) -> str | None:
    """Ask for a node; return the UUID of the allocation that was acknowledged."""
    try:
        answer = site.ask("POST", "/v1/allocations", {"resource_class": "rack", "name": f"a{number}"})
    except requests.RequestException:
        return None
    return str(answer.json()["uuid"]) if answer.status_code == 201 else None


@pytest.mark.parametrize("again", [False, pytest.param(True, marks=pytest.mark.battery)])
def test_each_ends_and_no_node_is_given_twice(running: Site, again: bool) -> None:
    store = db.connect(running.database)
    for _ in range(NODES):
        uuid = running.create_node(resource_class="rack")["uuid"]
        store.nodes.update(uuid, {"provision_state": states.AVAILABLE, "power_state": states.POWER_OFF})
    with ThreadPoolExecutor(6) as users:
        asked = [users.submit(ask, running, number) for number in range(NODES + 10)]
        eventually(lambda: sum(each.done() for each in asked) >= 10, True)
        running.kill("two")
        began = time.monotonic()
        if again:
            running.start_conductor("two").await_ready()
    acknowledged = [uuid for each in asked if (uuid := each.result())]
    assert len(acknowledged) >= 10
    eventually(lambda: [a.uuid for a in store.allocations.find() if a.state == "allocating"], [], 30)
    ends = Counter(store.allocations.get(uuid).state for uuid in acknowledged)

    given = {node.uuid: node.instance_uuid for node in store.nodes.find() if node.instance_uuid}
    active = [one for one in store.allocations.find() if one.state == "active"]
    assert sorted(given.values()) == sorted(one.uuid for one in active)
    assert len({one.node_id for one in active}) == len(active)
    assert len(active) == min(NODES, len(store.allocations.find()))
    assert all(one.last_error for one in store.allocations.find() if one.state == "error")
    how = "kill -9" + (", started again" if again else "")
    battery.survived("allocations", f"{len(acknowledged)} asked for", how, str(dict(ends)), time.monotonic() - began)
    store.close()
