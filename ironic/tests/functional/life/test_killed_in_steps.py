"""The conductor is killed between saving a step and beginning it, inside of it, and while it waits.

At most the one step repeats that was under way, and none is lost: what waits goes on, what was at work says where it
was, and the rest can be asked for from there. The service has no carrier of calls, or listens for those of others at a
port, which is part of its name.
"""

import signal
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic import db
from ironic.core.flows import states
from ironic.tests.functional.life import battery
from ironic.tests.functional.life.stepping import (
    ENTRY_POINTS,
    KINDS,
    PACKAGE,
    STEPS,
    Case,
    Kind,
    driver_info,
    options,
)
from ironic.tests.functional.life.works import is_over, row
from ironic.tests.live_service import Options, Service, create_database, free_port, write_options
from ironic.tests.out_of_tree import lay_out
from ironic.tests.site import eventually

HEADERS = {"X-OpenStack-Ironic-API-Version": "1.115"}
PATIENCE = 60


class OneProcess:
    """The all-in-one service with the stepping interface, its database beside it."""

    def __init__(self, directory: Path, carrier: str) -> None:
        self.directory, self._port, self._lives = directory, free_port(), 0
        self._carrier, self._rpc_port = carrier, free_port()
        self.host = "the-one" if carrier == "none" else f"127.0.0.1:{self._rpc_port}"
        self._package = lay_out(directory / "package", PACKAGE, ENTRY_POINTS)
        self._database = f"sqlite:///{directory}/ironic.sqlite"
        create_database(write_options(directory / "ironic.conf", self._options(directory / "none.log")))
        self.store = db.connect(self._database)

    def start(self) -> None:
        """Start the service, or start it again."""
        self._lives += 1
        log = self.directory / f"life{self._lives}.log"
        files = [write_options(self.directory / "ironic.conf", self._options(log))]
        self.service = Service("ironic", files, log, self._port, {"PYTHONPATH": str(self._package)})
        self.service.await_ready()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.service.signal(signal.SIGKILL)
        self.service.end()

    def ask(self, method: str, path: str, body: Any = None) -> requests.Response:
        """Send a request and return the answer."""
        return requests.request(method, f"http://127.0.0.1:{self._port}{path}", json=body, headers=HEADERS, timeout=60)

    def provision(self, uuid: str, body: Mapping[str, Any]) -> None:
        """Send a verb."""
        answer = self.ask("PUT", f"/v1/nodes/{uuid}/states/provision", dict(body))
        assert answer.status_code == 202, answer.text

    def begin(self, kind: Kind, *, waits: bool, place: str | None) -> Case:
        """Make a node and have its flow begin."""
        directory = self.directory / "-".join((kind.name, str(waits), str(place).replace(" ", "-")))
        directory.mkdir()
        if place is not None:
            (directory / "stop").write_text(place)
        values = {"driver": "fake-hardware", "driver_info": driver_info(directory, waits=waits)}
        created = self.ask("POST", "/v1/nodes", values)
        assert created.status_code == 201, created.text
        case = Case(created.json()["uuid"], kind, directory, waits, place)
        self.store.nodes.update(case.uuid, {"provision_state": kind.begins, "power_state": states.POWER_ON})
        self.provision(case.uuid, kind.body)
        return case

    def _options(self, log: Path) -> Options:
        host = self.host.partition(":")[0]
        general = {"host": host, "rpc_transport": self._carrier, "log_file": log}
        return {
            **options(),
            "DEFAULT": {**options()["DEFAULT"], **general},
            "api": {"host_ip": "127.0.0.1", "port": self._port},
            "json_rpc": {"host_ip": "127.0.0.1", "port": self._rpc_port},
            "database": {"connection": self._database},
        }


@pytest.fixture
def one(tmp_path: Path, carrier: str) -> Iterator[OneProcess]:
    running = OneProcess(tmp_path, carrier)
    running.start()
    yield running
    running.service.stop()
    running.store.close()


def step_of(one: OneProcess, case: Case) -> str | None:
    """Return the step that the node shows."""
    shown: dict[str, Any] | None = getattr(one.store.nodes.get(case.uuid), f"{case.kind.name}_step")
    return (shown or {}).get("step")


def rest_of(one: OneProcess, case: Case) -> list[dict[str, Any]]:
    """Return the steps that had not ended, as the node has kept them."""
    info = one.store.nodes.get(case.uuid).driver_internal_info
    steps = info[f"{case.kind.name}_steps"][info[f"{case.kind.name}_step_index"] :]
    return [{key: each[key] for key in ("interface", "step")} | {"args": {}} for each in steps]


def check_failed(one: OneProcess, case: Case) -> None:
    """See that a node at work failed and says where; nothing was begun that users can't see."""
    state, holder, error = row(one.store, case.uuid)
    assert (state, holder) == (states.after(case.kind.working, "fail"), None)
    assert f"conductor {one.host} was restarted" in error and "vendor.second" in error
    assert step_of(one, case) == "second"
    assert case.begun == (STEPS[:1] if case.place == "before second" else STEPS[:2])


def go_on(one: OneProcess, case: Case) -> list[str]:
    """Ask for what had not ended, or for all of it where a part can't be asked for; return what was begun then."""
    before = len(case.begun)
    case.let_go()
    one.ask("DELETE", f"/v1/nodes/{case.uuid}/maintenance")
    asked = {} if case.kind.name == "deploy" else {f"{case.kind.name}_steps": rest_of(one, case)}
    one.provision(case.uuid, {"target": case.kind.again, **asked})
    ends = states.MANAGEABLE if case.kind.name == "clean" else case.kind.ends
    eventually(lambda: row(one.store, case.uuid), (ends, None, None), PATIENCE)
    return case.begun[before:]


def note(case: Case, ended: str, began: float) -> None:
    """Put the case into the account of the battery."""
    caught = case.kind.working if case.place else case.kind.waiting
    step = f"{case.place or 'waiting in second'} ({'goes on elsewhere' if case.waits else 'done at once'})"
    battery.survived("all-in-one", f"{caught}, {step}", "kill -9", ended, time.monotonic() - began)


@pytest.mark.parametrize("carrier", ["none", "json-rpc"])
@pytest.mark.demand("S50", "S60")
def test_at_most_one_step_repeats_and_none_is_lost(one: OneProcess) -> None:
    at_work = [
        one.begin(kind, waits=waits, place=place)
        for kind in KINDS
        for waits in (False, True)
        for place in ("before second", "inside second")
    ]
    waiting = [one.begin(kind, waits=True, place=None) for kind in KINDS]
    for case in at_work:
        eventually((case.directory / "stopped").exists, True, PATIENCE)
        assert row(one.store, case.uuid)[:2] == (case.kind.working, one.host)
    for case in waiting:
        eventually(lambda case=case: row(one.store, case.uuid)[:2], (case.kind.waiting, None), PATIENCE)  # type: ignore[misc]  # mypy infers no type of a default
    assert {step_of(one, case) for case in (*at_work, *waiting)} == {"second"}

    one.kill()
    began = time.monotonic()
    one.start()
    for case in waiting:
        assert (row(one.store, case.uuid)[0], step_of(one, case)) == (case.kind.waiting, "second")
        case.let_go()
    for case in waiting:
        eventually(partial(row, one.store, case.uuid), (case.kind.ends, None, None), PATIENCE)
        assert case.begun == STEPS
        note(case, case.kind.ends, began)
    for case in at_work:
        eventually(partial(is_over, one.store, case.uuid), True, PATIENCE)
        check_failed(one, case)
        note(case, row(one.store, case.uuid)[0], began)
    for case in at_work:
        assert go_on(one, case) == (STEPS if case.kind.name == "deploy" else STEPS[1:])
