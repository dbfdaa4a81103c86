"""Polishing through everything that an operation may meet. Run by `test_fifth_flow.py`, in a process of its own."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ironic.api.app import build_app
from ironic.api.settings import ApiSettings
from ironic.conductor import utils
from ironic.conductor.flows.wait_ends import ON_TIMEOUT
from ironic.conductor.takeover import RESTARTED, TakeOver
from ironic.conductor.timeouts import Timeouts
from ironic.conf import CONF
from ironic.core.errors import IronicError
from ironic.core.flows import states
from ironic.core.model.node import Node
from ironic.drivers.composition import extensions
from ironic.drivers.composition.composed_drivers import Composition
from ironic.rpc.client import ConductorClients
from ironic.rpc.hash_ring import HashRingManager
from ironic.rpc.in_process import InProcess
from ironic.tests.databases import sqlite_store
from ironic.tests.fifth_flow import POLISH, POLISHFAIL, POLISHHOLD, POLISHING, POLISHWAIT
from ironic.tests.fifth_flow.polishing import polisher
from ironic.tests.functional.wire.service import Response, Service
from ironic.tests.unit.conductor.flows import bench as benches

WAX, SHINE = {"interface": "vendor", "step": "wax"}, {"interface": "vendor", "step": "shine"}
HOLD = {"interface": "power", "step": "hold"}


class House(benches.Bench):
    """API and conductor in this process."""

    api: Service
    hash_ring: HashRingManager

    def ask(self, uuid: str, target: str, version: str = "1.100", **body: Any) -> Response:
        path = f"/v1/nodes/{uuid}/states/provision"
        return self.api.call("PUT", path, version=version, body={"target": target, **body})

    def polished(self, *steps: dict[str, Any]) -> str:
        """Return a node whose polishing a user has begun with these steps."""
        uuid = self.node("vendor", provision_state=states.MANAGEABLE)
        assert self.ask(uuid, "polish", polish_steps=list(steps)).status == 202
        return uuid


@pytest.fixture
def house(tmp_path: Path, conf: Any) -> Iterator[House]:
    benches.enable_fakes(conf)
    conf(auth_strategy="noauth", conductor__node_locked_retry_attempts=1)
    found = {group: dict(points) for group, points in extensions.installed().items()}
    script = benches.Script()
    for kind, made in (("vendor", polisher(script)), ("deploy", benches.scripted_deploy(script))):
        found[extensions.interfaces_group(kind)]["scripted"] = benches.Loaded(made)
    for kind in ("inspect", "management", "power", "rescue"):
        conf(**{f"enabled_{kind}_interfaces": ["fake"]})
    store = sqlite_store(tmp_path)
    house = House(store, Composition.load(CONF, found), script)
    store.conductors.register(benches.HOST, "", ["fake-hardware"], house.composition.interface_rows())
    house.hash_ring, transport = HashRingManager(store, heartbeat_timeout=3600), InProcess()
    transport.register(benches.HOST, house.endpoint)
    settings = ApiSettings.from_conf(CONF)
    app = build_app(store, ConductorClients(transport, house.hash_ring), house.hash_ring, settings)
    house.api = Service(store, house.endpoint, house.hash_ring, app, settings)
    yield house
    store.close()


def test_it_runs_the_list_of_a_user(house):
    uuid = house.polished(SHINE, WAX)
    node = house.row(uuid)
    assert house.script.calls == ["shine", "wax"]
    assert house.state(uuid) == (states.MANAGEABLE, None)
    assert (node.extra, node.driver_internal_info, node.reservation) == ({"shines": True}, {}, None)


def test_its_steps_stand_in_the_history(house, conf):
    conf(conductor__record_step_flows_in_history=True)
    uuid = house.polished(WAX)
    assert house.history(uuid) == [
        ("INFO", "polishing", f"polish step vendor.wax {what}") for what in ("begins", "ended")
    ]


def test_it_waits_and_a_driver_brings_it_back(house):
    house.script.answers["wax"] = POLISHWAIT
    uuid = house.polished(WAX, SHINE)
    waiting = house.row(uuid)
    assert house.state(uuid) == (POLISHWAIT, states.MANAGEABLE)
    assert (waiting.driver_internal_info["polish_step"]["step"], waiting.reservation) == ("wax", None)
    with house.tasks.acquire(house.context, uuid, purpose="poll") as task:
        utils.notify_conductor_resume_clean(task)
    assert (house.script.calls, house.state(uuid)) == (["wax", "shine"], (states.MANAGEABLE, None))


def test_an_agent_may_be_heard_of_meanwhile(house):
    house.script.answers["wax"] = POLISHWAIT
    uuid = house.node("vendor", "deploy", provision_state=states.MANAGEABLE)
    house.ask(uuid, "polish", polish_steps=[WAX])
    house.beat(uuid)
    assert house.row(uuid).driver_internal_info["agent_url"]
    assert house.script.calls == ["wax", "heartbeat"]


def test_it_is_held_until_a_user_lets_go(house):
    uuid = house.polished(WAX, HOLD, SHINE)
    assert (house.state(uuid), house.script.calls) == ((POLISHHOLD, states.MANAGEABLE), ["wax"])
    assert house.ask(uuid, "unhold").status == 202
    assert (house.state(uuid), house.script.calls) == ((states.MANAGEABLE, None), ["wax", "shine"])


@pytest.mark.parametrize("steps, where", [([WAX, SHINE], "vendor.wax"), ([HOLD], "power.hold")])
def test_it_is_aborted(house, steps, where):
    house.script.answers["wax"] = POLISHWAIT
    uuid = house.polished(*steps)
    assert house.ask(uuid, "abort").status == 202
    node = house.row(uuid)
    assert house.state(uuid) == (POLISHFAIL, states.MANAGEABLE)
    assert node.last_error == f"The polish operation on node {uuid} was aborted by request in step {where}."
    assert (node.maintenance, node.extra) == (False, {"shines": False})


def test_it_is_aborted_when_the_step_ends_that_can_not_be_interrupted(house):
    house.script.answers["shine"] = POLISHWAIT
    uuid = house.polished(SHINE, WAX)
    house.ask(uuid, "abort")
    assert house.state(uuid)[0] == POLISHWAIT
    with house.tasks.acquire(house.context, uuid, purpose="poll") as task:
        utils.notify_conductor_resume_clean(task)
    assert (house.state(uuid)[0], house.script.calls) == (POLISHFAIL, ["shine"])


def test_it_fails_with_a_reason_and_may_be_asked_for_again(house):
    house.script.answers["wax"] = IronicError("no wax is left")
    uuid = house.polished(WAX)
    node = house.row(uuid)
    assert node.last_error == f"no wax is left. Polishing node {uuid} failed in step vendor.wax."
    assert (node.provision_state, node.maintenance, node.fault) == (POLISHFAIL, True, "polish failure")
    assert house.history(uuid)[-1] == ("ERROR", "polishing", node.last_error)
    house.script.reset()
    house.ask(uuid, "polish", polish_steps=[SHINE])
    assert house.state(uuid)[0] == states.MANAGEABLE


def test_a_wait_that_lasts_too_long_ends(house, conf):
    conf(conductor__polish_callback_timeout=60)
    house.script.answers["wax"] = POLISHWAIT
    uuid = house.polished(WAX)
    job = Timeouts(house.tasks, house.hash_ring, ON_TIMEOUT)
    job()
    assert house.state(uuid)[0] == POLISHWAIT
    house.store.nodes.update(uuid, {"provision_updated_at": house.store.clock.now() - timedelta(seconds=61)})
    job()
    node = house.row(uuid)
    assert (node.provision_state, node.fault) == (POLISHFAIL, "polish failure")
    assert "Timed out after 60 seconds in state 'polish wait'" in node.last_error
    assert "a heartbeat of the agent about step vendor.wax" in node.last_error


def test_another_conductor_ends_what_was_lost(house):
    def die(task: Any) -> None:
        assert house.state(task.node.uuid)[0] == POLISHING
        TakeOver(house.tasks, house.hash_ring).own(RESTARTED)

    house.script.answers["wax"] = die
    uuid = house.polished(WAX, SHINE)
    node = house.row(uuid)
    assert (node.provision_state, node.fault, node.reservation) == (POLISHFAIL, "polish failure", None)
    assert node.last_error == (
        f"The operation in state 'polishing' was lost in step vendor.wax: conductor {benches.HOST} was restarted. "
        "Check the machine and try again."
    )
    assert house.script.calls == ["wax"]


def test_the_api_knows_it(house):
    house.script.answers["wax"] = POLISHWAIT
    uuid = house.polished(WAX)
    listed = house.api.call("GET", "/v1/nodes?provision_state=polish%20wait", version="1.100").json["nodes"]
    assert [node["uuid"] for node in listed] == [uuid]
    other = house.node("vendor", provision_state=states.MANAGEABLE)
    assert house.ask(other, "polish").status == 400
    assert house.ask(other, "polish", version="1.89", polish_steps=[WAX]).status == 406
    assert house.ask(other, "polish", polish_steps=[{"interface": "vendor"}]).status == 400
    assert house.ask(other, "clean", polish_steps=[WAX]).status == 400
    assert house.ask(uuid, "polish", polish_steps=[WAX]).status == 400
    assert house.state(other) == (states.MANAGEABLE, None)


def test_its_stored_steps_hide_their_arguments():
    step = {**WAX, "args": {"key": "value"}}
    info = {"polish_steps": [step], "polish_step": step, "agent_url": "https://192.0.2.1"}
    (mask,) = (
        one
        for one in Node.table.fields["driver_internal_info"].trims
        if one.rule == "baremetal:node:set_provision_state"
    )
    hidden = mask.reduced(info)
    assert hidden["agent_url"] == info["agent_url"]
    assert hidden["polish_steps"] == [hidden["polish_step"]] and "value" not in str(hidden["polish_step"])


def test_it_counts_among_the_states():
    assert {POLISHING, POLISHWAIT, POLISHHOLD, POLISHFAIL} < states.ALL
    assert POLISHWAIT in states.WAITING and POLISHHOLD in states.HELD and POLISHFAIL in states.FAILED
    assert states.VERBS["polish"] == POLISH.name
