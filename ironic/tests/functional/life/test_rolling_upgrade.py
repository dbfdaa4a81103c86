"""The last release and this one work together, as doc/rolling-upgrades.md has it, while users keep all nodes moving."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ironic import db
from ironic.core.flows import states
from ironic.tests import last_release
from ironic.tests.databases import empty_database
from ironic.tests.functional.life import battery
from ironic.tests.functional.life.account import check_ended, check_moves, moves
from ironic.tests.functional.life.movers import Movers
from ironic.tests.live_service import PROGRAMS, Options, create_database
from ironic.tests.site import Site, eventually, until

pytestmark = pytest.mark.battery

PIN = last_release.RELEASE.rpartition(".")[0]
UNPINNED: Options = {"fake": {"deploy_delay": 0.1}, "conductor": {"workers_pool_size": 20}}
PINNED: Options = {**UNPINNED, "DEFAULT": {"pin_release_version": PIN}}
PROCESSES = ("api", "one", "two")
CLEANED_LATER = [{"interface": "deploy", "step": "hold"}, {"interface": "power", "step": "power_off"}]
COUNT = 40
STRIDE = 25  # so many verbs are accepted at least in each part of the upgrade


@dataclass
class Upgrade:
    """A site on its way from the last release to this one."""

    site: Site
    store: db.Store
    # The environment in which a process is one of the last release.
    release: Mapping[str, str]
    # Of the processes that are still those of the last release.
    old: dict[str, Mapping[str, str]]

    def start(self, name: str, options: Options) -> None:
        """Start one process."""
        service = self.site.start_api(options) if name == "api" else self.site.start_conductor(name, options)
        service.await_ready()

    def replace(self, name: str) -> None:
        """End a process of the last release as an operator does, and start this one in its place."""
        self._end(name)
        del self.old[name]
        self.start(name, PINNED)

    def put_back(self, name: str) -> None:
        """End a process of this release, and start the last one in its place."""
        self._end(name)
        self.old[name] = self.release
        self.start(name, PINNED)

    def _end(self, name: str) -> None:
        service = self.site.api if name == "api" else self.site.conductors[name]
        service.signal(signal.SIGTERM)
        assert service.end()[0] == 0, service.log[-3000:]

    def moved_by(self, name: str) -> int:
        """Return how many moves the present process of a conductor has made."""
        return sum(map(len, moves([self.site.conductors[name].log]).values()))


@pytest.fixture(params=["postgresql", "mariadb", "sqlite"])
def upgrade(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Upgrade]:
    """Run the last release alone: an API and two conductors on its own tables."""
    release = last_release.lay_out(tmp_path)
    where = [sys.executable, "-P", "-c", "import ironic; print(ironic.__file__)"]
    found = subprocess.run(where, env=release, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert found.startswith(release["PYTHONPATH"])
    with ExitStack() as stack:
        url = stack.enter_context(empty_database(request.param, tmp_path))
        old: dict[str, Mapping[str, str]] = dict.fromkeys(PROCESSES, release)
        site = Site(tmp_path, url, environments=old)
        command: list[str | Path] = [PROGRAMS / "ironic-dbsync", "--config-file", *site.configuration, "upgrade"]
        subprocess.run(command, env=release, check=True)
        store = db.connect(url)
        stack.callback(store.close)
        stack.callback(site.stop)
        running = Upgrade(site, store, release, old)
        for name in PROCESSES:
            running.start(name, UNPINNED)
        eventually(site.alive, {"one", "two"})
        time.sleep(2.5)  # until the API's picture has both
        yield running


@pytest.mark.demand("S41")
def test_no_node_is_lost_on_the_way_there_back_and_there_again(upgrade: Upgrade) -> None:
    site, store = upgrade.site, upgrade.store
    held = held_in_cleaning(site)
    nodes = [site.create_node(name=f"n{number}")["uuid"] for number in range(COUNT)]
    movers = Movers(site, store, nodes, users=3, repeats=True)
    began = time.monotonic()

    def go_on() -> None:
        """Wait until users have gone some way, by what runs now."""
        wanted = movers.accepted.total() + STRIDE
        until(lambda: movers.accepted.total() >= wanted, 120)

    with movers.at_work():
        go_on()
        for name in PROCESSES:
            site.reconfigure(name, PINNED)
        go_on()
        create_database(*site.configuration)
        go_on()
        upgrade.replace("one")
        eventually(site.alive, {"one", "two"})
        go_on()
        upgrade.replace("api")
        eventually(site.alive, {"one", "two"})
        before = {name: upgrade.moved_by(name) for name in ("one", "two")}
        until(lambda: all(upgrade.moved_by(name) > count + STRIDE for name, count in before.items()), 120)
        assert upgrade.old.keys() == {"two"}
        upgrade.replace("two")
        go_on()
        for name in PROCESSES:
            upgrade.put_back(name)
            eventually(site.alive, {"one", "two"})
            go_on()
        assert upgrade.old.keys() == set(PROCESSES)
        for name in PROCESSES:
            upgrade.replace(name)
            eventually(site.alive, {"one", "two"})
        go_on()
        for name in PROCESSES:
            site.reconfigure(name, UNPINNED)
        go_on()
        movers.repeats = False
        eventually(lambda: [uuid for uuid in nodes if uuid not in movers.done], [], 300)
    seconds = time.monotonic() - began
    migrate: list[str | Path] = [PROGRAMS / "ironic-dbsync", "--config-file", *site.configuration]
    assert subprocess.run([*migrate, "online_data_migrations"], check=False).returncode == 0

    site.provision(held, "unhold", states.MANAGEABLE)
    present = {node["uuid"]: node for node in site.get("/v1/nodes?limit=1000").json()["nodes"]}
    assert present.keys() == {*nodes, held}
    assert {present[uuid]["provision_state"] for uuid in nodes} == {states.AVAILABLE}
    assert not {uuid for uuid in present if present[uuid]["maintenance"]}
    check_ended(store, present)
    made = check_moves(site.logs, dict.fromkeys(nodes, states.ENROLL), store)
    failed = [move for path in moves(site.logs).values() for move in path if move.event == "fail"]
    assert not failed, failed
    assert not {status for status in movers.answers if status >= 500 and status != 503}, movers.answers
    battery.survived(
        f"{COUNT} nodes", f"{made} moves", f"upgrade from {last_release.RELEASE}, back, and again", "available", seconds
    )


def test_a_repository_without_history_is_named(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    with pytest.raises(AssertionError, match=f"The history of {tmp_path} has neither a tag .*git fetch --unshallow"):
        last_release.lay_out(tmp_path / "release", tmp_path)


def held_in_cleaning(site: Site) -> str:
    """Have a conductor of the last release clean a node up to a hold; return its UUID."""
    node: Any = site.create_node(name="held")["uuid"]
    site.provision(node, "manage", states.MANAGEABLE)
    site.put(f"/v1/nodes/{node}/states/provision", {"target": "clean", "clean_steps": CLEANED_LATER})
    eventually(lambda: site.node(node)["provision_state"], states.CLEANHOLD)
    return str(node)
