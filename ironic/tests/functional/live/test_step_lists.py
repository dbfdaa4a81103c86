"""Lists of steps over the wire of a running service: child nodes, templates, runbooks, holds, limits, and kill -9."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.core.flows import states
from ironic.core.hardware_interfaces import KINDS
from ironic.tests.live_service import Service, create_database, free_port, write_options

PATIENCE = 60
ENABLED = {kind: "noop" if kind in ("network", "storage") else "fake" for kind in KINDS}
TRAIT = "CUSTOM_GOLD"


class Site:
    """One service with its directory; can be killed and started again with other options."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._service: Service | None = None

    def start(self, **options: dict[str, object]) -> None:
        port = free_port()
        given: dict[str, dict[str, object]] = {
            "DEFAULT": {
                "auth_strategy": "noauth",
                "rpc_transport": "none",
                "host": "conductor-1",
                "state_path": self._directory,
                "log_file": self._directory / f"service-{port}.log",
                "enabled_hardware_types": "fake-hardware",
                **{f"enabled_{kind}_interfaces": name for kind, name in ENABLED.items()},
            },
            "api": {"host_ip": "127.0.0.1", "port": port},
            "database": {"connection": f"sqlite:///{self._directory}/service.sqlite"},
        }
        configuration = write_options(self._directory / "ironic.conf", given | options)
        if not (self._directory / "service.sqlite").exists():
            create_database(configuration)
        self._service = Service("ironic", [configuration], self._directory / f"service-{port}.log", port)
        self._service.await_ready()

    def kill(self) -> None:
        assert self._service is not None
        self._service.signal(signal.SIGKILL)
        self._service.end()

    def stop(self) -> None:
        if self._service is not None:
            self._service.stop()

    def call(self, method: str, path: str, body: Any = None) -> requests.Response:
        assert self._service is not None
        headers = {"X-OpenStack-Ironic-API-Version": "1.115"}
        return requests.request(method, f"{self._service.url}{path}", json=body, headers=headers, timeout=30)

    def get(self, path: str) -> Any:
        return self.call("GET", path).json()

    def node(self, name: str, state: str = states.MANAGEABLE, **values: Any) -> str:
        """Enroll a node and bring it into a state; return its UUID."""
        body = {"driver": "fake-hardware", "name": name, "automated_clean": False, **values}
        answer = self.call("POST", "/v1/nodes", body)
        assert answer.status_code == 201, answer.text
        ways = {states.MANAGEABLE: ["manage"], states.AVAILABLE: ["manage", "provide"]}
        for verb in ways.get(state, ["manage", "provide", "active"]):
            self.verb(name, verb)
            self.settle(name)
        assert self.settle(name)["provision_state"] == state
        uuid: str = answer.json()["uuid"]
        return uuid

    def verb(self, name: str, verb: str, status: int = 202, **arguments: Any) -> str:
        answer = self.call("PUT", f"/v1/nodes/{name}/states/provision", {"target": verb, **arguments})
        assert answer.status_code == status, answer.text
        return answer.text

    def settle(self, name: str) -> dict[str, Any]:
        """Read the node until it is not locked; return it."""
        return self.await_node(name, lambda node: node["provision_state"] not in states.WORKING)

    def await_node(self, name: str, right: Any) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while True:
            node: dict[str, Any] = self.get(f"/v1/nodes/{name}")
            if right(node) and node["reservation"] is None:
                return node
            assert time.monotonic() < deadline, node
            time.sleep(0.05)

    def await_that(self, right: Any) -> None:
        deadline = time.monotonic() + PATIENCE
        while not right():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def events(self, name: str) -> list[str]:
        """Return the node's history, oldest first."""
        return [entry["event"] for entry in self.get(f"/v1/nodes/{name}/history")["history"]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    running = Site(tmp_path_factory.mktemp("steps"))
    running.start(conductor={"automated_cleaning_runbook": "usual", "automated_cleaning_step_source": "hybrid"})
    yield running
    running.stop()


RESET = {"interface": "bios", "step": "factory_reset"}
APPLY = {"interface": "bios", "step": "apply_configuration", "args": {"settings": [{"name": "a", "value": "1"}]}}


def on_children(step: dict[str, Any], *limit: str) -> dict[str, Any]:
    return {**step, "execute_on_child_nodes": True} | ({"limit_child_node_execution": list(limit)} if limit else {})


def test_a_step_runs_on_the_child_nodes_and_their_histories_tell(site: Site) -> None:
    parent = site.node("server")
    cards = [site.node(f"card-{number}", parent_node=parent) for number in (1, 2)]
    site.verb("server", "clean", clean_steps=[on_children(APPLY), on_children(RESET, cards[1])])
    assert site.settle("server")["provision_state"] == states.MANAGEABLE
    settings = [site.get(f"/v1/nodes/{card}/bios")["bios"] for card in cards]
    assert [[(one["name"], one["value"]) for one in each] for each in settings] == [[("a", "1")], []]
    assert site.get("/v1/nodes/server/bios")["bios"] == []
    what = f"clean step bios.apply_configuration of its parent node {parent}"
    assert site.events("card-1") == [f"{what} begins", f"{what} ended"]
    assert site.events("server")[:2] == [
        "clean step bios.apply_configuration begins",
        "clean step bios.apply_configuration ended",
    ]


def test_what_a_child_can_not_do_names_it_and_limits_are_judged_at_once(site: Site) -> None:
    parent = site.node("rack-1")
    card = site.node("rack-1-card", parent_node=parent)
    stranger = site.node("stranger")
    assert stranger in site.verb("rack-1", "clean", 400, clean_steps=[on_children(RESET, stranger)])
    site.verb("rack-1", "clean", clean_steps=[on_children({"interface": "bios", "step": "nope"})])
    node = site.settle("rack-1")
    assert (node["provision_state"], node["maintenance"]) == (states.CLEANFAIL, False)
    assert all(words in node["last_error"] for words in (card, "bios.nope"))


def test_power_of_the_children_follows_the_list(site: Site) -> None:
    parent = site.node("rack-2", states.ACTIVE)
    site.node("rack-2-card", parent_node=parent)
    steps = [on_children({"interface": "power", "step": name}) for name in ("power_on", "hold", "power_off")]
    site.verb("rack-2", "service", service_steps=steps)
    assert site.settle("rack-2")["provision_state"] == states.SERVICEHOLD
    assert site.get("/v1/nodes/rack-2-card")["power_state"] == "power on"
    site.verb("rack-2", "unhold")
    assert site.settle("rack-2")["provision_state"] == states.ACTIVE
    assert site.get("/v1/nodes/rack-2-card")["power_state"] == "power off"


def test_progress_is_on_the_node_and_in_its_history(site: Site) -> None:
    site.node("progress")
    hold = {"interface": "deploy", "step": "hold"}
    site.verb("progress", "clean", clean_steps=[RESET, hold, RESET])
    node = site.settle("progress")
    memory = node["driver_internal_info"]
    assert node["provision_state"] == states.CLEANHOLD
    assert node["clean_step"]["step"] == "hold"
    assert (memory["clean_step_index"], len(memory["clean_steps"])) == (1, 3)
    assert node["created_at"] < memory["clean_step_started_at"] <= node["provision_updated_at"]
    site.verb("progress", "abort")
    assert site.settle("progress")["provision_state"] == states.CLEANFAIL
    assert site.events("progress")[:3] == [
        "clean step bios.factory_reset begins",
        "clean step bios.factory_reset ended",
        "clean step deploy.hold begins",
    ]


def test_a_wait_for_some_time_ends_by_itself_or_by_an_abort(site: Site) -> None:
    site.node("waits")
    for seconds in (1, 30):
        wait = {"interface": "deploy", "step": "wait", "args": {"seconds": seconds}}
        site.verb("waits", "clean", clean_steps=[wait, RESET])
        assert site.settle("waits")["provision_state"] == states.CLEANWAIT
        if seconds == 1:
            site.await_node("waits", lambda node: node["provision_state"] == states.MANAGEABLE)
    site.verb("waits", "abort")
    assert site.settle("waits")["provision_state"] == states.CLEANFAIL
    assert "in step deploy.wait" in site.get("/v1/nodes/waits")["last_error"]
    events = [event for event in site.events("waits") if event.startswith("clean step")]
    assert events == [
        "clean step deploy.wait begins",
        "clean step deploy.wait ended",
        "clean step bios.factory_reset begins",
        "clean step bios.factory_reset ended",
        "clean step deploy.wait begins",
    ]


def test_a_template_joins_the_deployment_of_an_instance_with_its_trait(site: Site) -> None:
    step = {**RESET, "args": {}, "priority": 150}
    assert site.call("POST", "/v1/deploy_templates", {"name": "CUSTOM_BIOS", "steps": [step]}).status_code == 201
    site.node("templated", states.AVAILABLE)
    traits = [{"op": "add", "path": "/instance_info/traits", "value": ["CUSTOM_BIOS"]}]
    assert site.call("PATCH", "/v1/nodes/templated", traits).status_code == 200
    assert "does not have: CUSTOM_BIOS" in site.verb("templated", "active", 400)
    refused = site.get("/v1/nodes/templated")
    assert (refused["provision_state"], refused["reservation"]) == (states.AVAILABLE, None)
    assert site.call("PUT", "/v1/nodes/templated/traits/CUSTOM_BIOS").status_code == 204
    site.verb("templated", "active")
    assert site.settle("templated")["provision_state"] == states.ACTIVE
    assert [event for event in site.events("templated") if event.endswith("begins")] == [
        "deploy step bios.factory_reset begins",
        "deploy step deploy.deploy begins",
    ]


@pytest.mark.demand("S59")
def test_a_runbook_cleans_by_request_and_by_itself(site: Site) -> None:
    steps = [{**RESET, "order": 2}, {**APPLY, "order": 1}]
    answer = site.call("POST", "/v1/runbooks", {"name": "usual", "steps": steps})
    assert answer.status_code == 201, answer.text
    assert site.call("PUT", "/v1/runbooks/usual/traits", {"traits": [TRAIT]}).status_code == 204
    site.node("booked", automated_clean=True)
    assert "trait" in site.verb("booked", "provide", 400)
    assert site.call("PUT", f"/v1/nodes/booked/traits/{TRAIT}").status_code == 204
    shown = site.get("/v1/nodes/booked/cleaning/steps")
    expected = ["bios.apply_configuration", "bios.factory_reset"]
    assert [f"{step['interface']}.{step['step']}" for step in shown["steps"]] == expected
    ways: list[tuple[str, dict[str, Any], str]] = [
        ("clean", {"runbook": "usual"}, states.MANAGEABLE),
        ("provide", {}, states.AVAILABLE),
    ]
    for verb, arguments, ends in ways:
        before = len(site.events("booked"))
        site.verb("booked", verb, **arguments)
        assert site.settle("booked")["provision_state"] == ends
        assert site.events("booked")[before:] == [
            f"clean step {name} {what}" for name in expected for what in ("begins", "ended")
        ]


@pytest.mark.demand("S60")
def test_a_conductor_that_is_killed_on_a_child_leaves_nothing_locked_and_says_where_it_was(tmp_path: Path) -> None:
    site = Site(tmp_path)
    try:
        site.start(fake={"vendor_delay": 3})
        parent = site.node("server")
        cards = [site.node(f"card-{number}", parent_node=parent) for number in (1, 2)]
        log = {"interface": "vendor", "step": "log_passthrough"}
        site.verb("server", "clean", clean_steps=[RESET, on_children(log)])
        second = site.get(f"/v1/nodes/{cards[1]}")["uuid"]
        site.await_that(lambda: site.get(f"/v1/nodes/{second}")["reservation"] is not None)
        site.kill()
        site.start()
        node = site.settle("server")
        assert node["provision_state"] == states.CLEANFAIL
        assert f"step vendor.log_passthrough on child node {second}" in node["last_error"]
        assert node["fault"] == "clean failure"
        assert [site.settle(card)["provision_state"] for card in cards] == [states.MANAGEABLE] * 2
        what = f"clean step vendor.log_passthrough of its parent node {parent}"
        assert site.events(cards[0]) == [f"{what} begins", f"{what} ended"]
        assert site.events(cards[1]) == [f"{what} begins"]
        site.call("DELETE", "/v1/nodes/server/maintenance")
        site.verb("server", "clean", clean_steps=[on_children(log)])
        assert site.settle("server")["provision_state"] == states.MANAGEABLE
    finally:
        site.stop()


def test_no_more_machines_are_at_it_than_the_operator_allows(tmp_path: Path) -> None:
    site = Site(tmp_path)
    try:
        site.start(conductor={"max_concurrent_clean": 1, "max_concurrent_deploy": 1})
        for name in ("one", "two"):
            site.node(name, states.AVAILABLE)
        wait = {"interface": "deploy", "step": "wait"}
        deployed = {"deploy_steps": [{**wait, "args": {}, "priority": 150}]}
        _one_at_a_time(site, "active", states.DEPLOYWAIT, "max_concurrent_deploy", deployed)
        for name in ("one", "two"):
            site.verb(name, "deleted")
            assert site.settle(name)["provision_state"] == states.AVAILABLE
            site.verb(name, "manage")
        _one_at_a_time(site, "clean", states.CLEANWAIT, "max_concurrent_clean", {"clean_steps": [wait]})
    finally:
        site.stop()


def _one_at_a_time(site: Site, verb: str, waits_in: str, option: str, arguments: dict[str, Any]) -> None:
    for name in ("one", "two"):
        site.verb(name, verb, **arguments)
        assert site.settle(name)["provision_state"] == waits_in
        if name == "one":
            assert option in site.verb("two", verb, 503, **arguments)
        site.verb(name, "abort")
        assert site.settle(name)["provision_state"] in states.FAILED
