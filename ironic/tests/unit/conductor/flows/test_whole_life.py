"""A node's whole life on the fake family, what it costs the database, and a conductor that is killed in a step."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ironic.conductor.takeover import RESTARTED, TakeOver
from ironic.core.flows import states
from ironic.tests.databases import counting_statements, sqlite_store
from ironic.tests.unit.conductor.flows.bench import HOST

LIFE = (
    ("manage", states.MANAGEABLE),
    ("provide", states.AVAILABLE),
    ("active", states.ACTIVE),
    ("deleted", states.AVAILABLE),
)


def test_it_brings_a_node_from_enrolment_to_use_and_back(bench):
    uuid = bench.node()
    for verb, state in (*LIFE, ("manage", states.MANAGEABLE), ("inspect", states.MANAGEABLE)):
        assert bench.verb(uuid, verb) == (state, None)
        node = bench.row(uuid)
        assert (node.reservation, node.last_error, node.maintenance, node.power_state) == (None, None, False, None)
        assert (node.clean_step, node.deploy_step, node.service_step) == ({}, {}, {})
    assert [event for _severity, _type, event in bench.history(uuid)] == [
        "clean step vendor.log_passthrough begins",
        "clean step vendor.log_passthrough ended",
        "deploy step deploy.deploy begins",
        "deploy step deploy.deploy ended",
        "clean step vendor.log_passthrough begins",
        "clean step vendor.log_passthrough ended",
    ]


def test_it_stays_within_the_budget_of_statements(bench):
    """The budget is 40, 30 and 20; what is held here is what there is, so that it does not creep up unseen."""
    uuid = bench.node()
    with counting_statements(bench.store) as seen:
        for verb, _state in LIFE:
            bench.endpoint.change_provision_state(bench.context, uuid, verb, {})
    assert bench.state(uuid) == (states.AVAILABLE, None)
    # One of the writes removes volume targets at tear-down.
    assert (seen.selects, seen.writes, seen.commits) == (7, 23, 16)


def test_it_inspects_with_three_writes(bench):
    bench.script.answers["inspect_hardware"] = states.INSPECTWAIT
    uuid = bench.node("inspect", provision_state=states.MANAGEABLE)
    bench.verb(uuid, "inspect")
    with counting_statements(bench.store) as seen:
        bench.endpoint.continue_inspection(bench.context, uuid, {}, {})
    assert (seen.selects, seen.writes, seen.commits) == (1, 3, 3)


VICTIM = """
import os, signal, sys
from pathlib import Path
from ironic.conf import CONF
from ironic.db import connect
from ironic.tests.unit.conductor.flows import bench as benches

def set_options(**values):
    for key, value in values.items():
        group, _, name = key.rpartition("__")
        CONF.set_override(name, value, group or None)

where, uuid, step = sys.argv[1:]
benches.enable_fakes(set_options)
script = benches.Script()
script.answers[step] = lambda task: os.kill(os.getpid(), signal.SIGKILL)
bench = benches.Bench(connect("sqlite:///" + where), benches.compose(CONF, script), script)
bench.verb(uuid, "provide")
"""


@pytest.mark.demand("S50")
@pytest.mark.parametrize("step, index", [("first", 0), ("third", 2)])
def test_it_has_stored_the_step_when_the_conductor_is_killed_in_it(tmp_path: Path, step: str, index: int):
    """kill -9 between save and run: the next process finds what was running, by whom, and what else was planned."""
    store = sqlite_store(tmp_path)
    uuid = killed_in(tmp_path, store, step)
    node = store.nodes.get(uuid)
    assert (node.provision_state, node.reservation) == (states.CLEANING, HOST)
    assert (node.clean_step["interface"], node.clean_step["step"]) == ("vendor", step)
    assert node.driver_internal_info["clean_step_index"] == index
    assert [each["step"] for each in node.driver_internal_info["clean_steps"]] == ["first", "second", "third"]
    store.close()


def killed_in(directory: Path, store, step: str) -> str:
    """Have a conductor of its own process clean a new node, and be killed in one of the steps."""
    values = {"driver": "fake-hardware", "provision_state": "manageable", "vendor_interface": "scripted"}
    uuid = store.nodes.create(values).uuid
    command = [sys.executable, "-c", VICTIM, str(directory / "ironic.sqlite"), uuid, step]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=False, env=os.environ)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    return uuid


def test_the_next_conductor_fails_the_node_with_a_reason_and_cleaning_can_begin_again(bench, hash_ring):
    uuid = bench.node("vendor", provision_state=states.CLEANING, clean_step={"interface": "vendor", "step": "second"})
    memory = {"clean_step_index": 1, "clean_step_child_node": "a-child"}
    bench.store.nodes.update(uuid, {"reservation": HOST, "driver_internal_info": memory})
    TakeOver(bench.tasks, hash_ring).own(RESTARTED)
    node = bench.row(uuid)
    assert (node.provision_state, node.fault, node.reservation) == (states.CLEANFAIL, "clean failure", None)
    assert "in step vendor.second on child node a-child" in node.last_error
    assert node.maintenance_reason == node.last_error
    assert (node.clean_step["step"], node.driver_internal_info) == ("second", memory)
    assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)
    assert bench.script.calls == ["first", "second", "third"]


def test_a_step_that_was_lost_is_shown_until_the_node_is_managed_again(bench, hash_ring):
    uuid = bench.node("vendor", provision_state=states.CLEANING, clean_step={"interface": "vendor", "step": "second"})
    bench.store.nodes.update(uuid, {"reservation": HOST})
    TakeOver(bench.tasks, hash_ring).own(RESTARTED)
    assert bench.verb(uuid, "manage") == (states.MANAGEABLE, None)
    assert bench.row(uuid).clean_step == {}


def test_a_step_of_another_operation_is_not_taken_for_the_one_that_was_lost(bench, hash_ring):
    stale = {"interface": "vendor", "step": "second"}
    uuid = bench.node(provision_state=states.UNRESCUING, service_step=stale, clean_step=stale)
    bench.store.nodes.update(uuid, {"reservation": HOST})
    TakeOver(bench.tasks, hash_ring).own(RESTARTED)
    assert "vendor.second" not in bench.row(uuid).last_error
