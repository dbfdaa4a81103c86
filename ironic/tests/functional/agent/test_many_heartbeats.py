"""Duplicate, late and out-of-order heartbeats, sent to a live service from many threads, do nothing twice."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.tests.agent_double import AgentDouble, agent_double
from ironic.tests.live_service import Options, Service, all_in_one_below, free_port

MAC = "52:54:00:12:34:56"
SENDERS = 4
PATIENCE = 60.0
# One of them comes twice, so that its end can be taken for that of the other.
STEPS = ["loopback_noop", "loopback_sleep", "loopback_noop", "erase_devices"]


class Site:
    """The service with one node, and an agent on its machine."""

    def __init__(self, service: Service, agent: AgentDouble) -> None:
        self._service, self.agent = service, agent
        self.node = self.ask("POST", "/v1/nodes", {"driver": "fake-hardware"}).json()["uuid"]
        assert self.ask("POST", "/v1/ports", {"node_uuid": self.node, "address": MAC}).status_code == 201
        self.provision("manage", "manageable")

    def ask(self, method: str, path: str, body: Any = None) -> requests.Response:
        headers = {"X-OpenStack-Ironic-API-Version": "1.115"}
        return requests.request(method, f"{self._service.url}{path}", json=body, headers=headers, timeout=30)

    def shown(self) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"/v1/nodes/{self.node}").json()
        return found

    def is_in(self, state: str) -> bool:
        found = self.shown()
        assert "fail" not in found["provision_state"], found["last_error"]
        return bool(found["provision_state"] == state and found["reservation"] is None)

    def provision(self, verb: str, state: str, **more: Any) -> None:
        answer = self.ask("PUT", f"/v1/nodes/{self.node}/states/provision", {"target": verb, **more})
        assert answer.status_code == 202, answer.text
        await_true(lambda: self.is_in(state))

    def look_up(self) -> None:
        """Ask for the node from several places at once; the one who is given the token is the agent."""
        with ThreadPoolExecutor(SENDERS) as askers:
            asked = [askers.submit(self.ask, "GET", f"/v1/lookup?addresses={MAC}") for _ in range(SENDERS)]
        answers = [each.result() for each in asked]
        assert {answer.status_code for answer in answers} == {200}, [answer.text for answer in answers]
        tokens = {answer.json()["config"]["agent_token"] for answer in answers}
        assert len(tokens) == 2 and "******" in tokens
        (self.agent.token,) = tokens - {"******"}

    def beat(self) -> int:
        """Send a heartbeat; return the status of the answer."""
        said = {**self.agent.beat(), "agent_token": self.agent.token}
        return self.ask("POST", f"/v1/heartbeat/{self.node}", said).status_code


def await_true(look: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < until, f"it did not come to pass in {PATIENCE} s"
        time.sleep(0.02)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    port, kinds = free_port(), ("bios", "console", "firmware", "inspect", "raid", "rescue", "vendor")
    general = {
        "debug": True,
        "enabled_hardware_types": "fake-hardware",
        "enabled_deploy_interfaces": "direct",
        **{f"enabled_{kind}_interfaces": "fake" for kind in ("boot", "management", "power")},
        **{f"enabled_{kind}_interfaces": "noop" for kind in ("network", "storage")},
        **{f"enabled_{kind}_interfaces": f"no-{kind}" for kind in kinds},
    }
    options: Options = {
        "DEFAULT": general,
        "conductor": {"node_locked_retry_interval": 1},
        "service_catalog": {"endpoint_override": f"http://127.0.0.1:{port}"},
    }
    with (
        agent_double(tls=True) as agent,
        all_in_one_below(tmp_path, options, port) as service,
    ):
        yield Site(service, agent)
    assert agent.token not in service.log
    assert "Traceback" not in service.log


def begun(agent: AgentDouble) -> list[str]:
    """Return the steps that the agent was given, in order."""
    return [params["step"]["step"] for name, params in list(agent.received) if name.startswith("clean.execute")]


def storm(site: Site, over: threading.Event) -> set[int]:
    """Send heartbeats, whatever the agent does, until it is over; return the statuses of the answers."""
    seen = set()
    while not over.is_set():
        seen.add(site.beat())
    return seen


def run_through_a_storm(site: Site) -> set[int]:
    """Have the agent do its steps while heartbeats come from everywhere; return the statuses of the answers."""
    over = threading.Event()
    with ThreadPoolExecutor(SENDERS) as senders:
        storms = [senders.submit(storm, site, over) for _ in range(SENDERS)]
        try:
            for number in range(len(STEPS)):
                await_true(lambda number=number: len(begun(site.agent)) > number)  # type: ignore[misc]  # mypy infers no type of a default
                calls = site.agent.calls
                await_true(lambda calls=calls: site.agent.calls > calls + 3)  # type: ignore[misc]  # mypy infers no type of a default
                site.agent.end()
            await_true(lambda: site.is_in("manageable"))
        finally:
            over.set()
        return set[int]().union(*(each.result() for each in storms))


def test_one_agent_gets_the_token_and_a_storm_of_heartbeats_begins_every_step_once(site: Site) -> None:
    steps = [{"interface": "deploy", "step": name, "args": {}} for name in STEPS]
    site.provision("clean", "clean wait", clean_steps=steps)
    site.look_up()
    statuses = run_through_a_storm(site)
    assert begun(site.agent) == STEPS
    assert site.agent.names.count("clean.get_clean_steps") == 1
    # Taken; refused because the node is held and its agent not known yet; refused because the operation is over.
    assert statuses <= {202, 409, 400} and 202 in statuses
    found, calls = site.shown(), site.agent.calls
    assert (found["last_error"], found["clean_step"], found["maintenance"]) == (None, {}, False)
    # What is under way still when all is over.
    assert [site.beat() for _ in range(5)] == [400] * 5
    assert (site.shown(), site.agent.calls) == (found, calls)
