"""Rescue by an agent, from the verb to the end: networks, and what becomes of the password."""

import json
import logging

import pytest

from ironic.core.flows import states
from ironic.tests.functional.agent.conftest import NotingBoot, beat
from ironic.tests.unit.conductor.flows import bench as benches

PASSWORD = "open sesame, canary"


def rescuing(bench: benches.Bench) -> str:
    uuid = bench.node("boot", "power", "network", provision_state=states.ACTIVE, rescue_interface="agent",
                      power_state="power on")  # fmt: skip
    assert bench.verb(uuid, "rescue", rescue_password=PASSWORD)[0] == states.RESCUEWAIT
    return uuid


def test_it_rescues_and_comes_back(bench, secure_agent, done):
    uuid = rescuing(bench)
    assert done == ["set power off", "clean_up_instance", "disconnect tenant", "connect rescuing",
                    "prepare_ramdisk http://192.0.2.1:6385", "set power on"]  # fmt: skip
    done.clear()
    assert beat(bench, secure_agent, uuid)[0] == states.RESCUE
    name, params = secure_agent.received[0]
    assert (name, params["hashed"]) == ("rescue.finalize_rescue", True)
    assert params["rescue_password"].startswith("$5$")
    assert done == ["clean_up_ramdisk", "disconnect rescuing", "connect tenant"]
    assert not {"rescue_password", "hashed_rescue_password"} & bench.row(uuid).instance_info.keys()
    done.clear()
    assert bench.verb(uuid, "unrescue")[0] == states.ACTIVE
    assert done == ["set power off", "clean_up_ramdisk", "disconnect rescuing", "connect tenant", "prepare_instance",
                    "set power on"]  # fmt: skip


def test_a_rescue_whose_agent_refuses_the_password_fails(bench, agent, done, tmp_path):
    uuid = rescuing(bench)
    agent.refusals["rescue.finalize_rescue"] = (500, "no such user")
    agent.results["log.collect_system_logs"] = {"system_logs": "bG9ncw=="}
    assert beat(bench, agent, uuid)[0] == states.RESCUEFAIL
    node = bench.row(uuid)
    assert "no such user" in node.last_error
    assert node.last_error.count("Rescuing node") == 1
    assert "rescue_password" not in node.instance_info
    assert done[-3:] == ["set power off", "clean_up_ramdisk", "disconnect rescuing"]
    assert [path.read_bytes() for path in tmp_path.glob("logs/*_rescue_*")] == [b"logs"]


@pytest.mark.parametrize("verb", ["abort", "deleted"])
@pytest.mark.parametrize("is_rescued", [False, True])
def test_the_machine_is_off_before_its_ramdisk_loses_what_it_runs_from(
    bench, secure_agent, done, monkeypatch, verb, is_rescued
):
    monkeypatch.setattr(NotingBoot, "holds_ramdisk", True)
    uuid = rescuing(bench)
    done.clear()
    if is_rescued:
        assert beat(bench, secure_agent, uuid)[0] == states.RESCUE
        assert done == ["disconnect rescuing", "connect tenant"]
        verb = "deleted"
    bench.verb(uuid, verb)
    assert done.index("set power off") < done.index("clean_up_ramdisk")


@pytest.mark.parametrize("ending", ["rescue", "abort", "failure", "delete"])
def test_the_password_is_written_nowhere(bench, secure_agent, done, caplog, ending):
    caplog.set_level(logging.DEBUG)
    uuid = rescuing(bench)
    assert PASSWORD not in json.dumps(bench.row(uuid).as_dict(), default=str)
    if ending == "abort":
        bench.verb(uuid, "abort")
    elif ending == "delete":
        bench.verb(uuid, "deleted")
    else:
        if ending == "failure":
            secure_agent.refusals["rescue.finalize_rescue"] = (500, "no such user")
        beat(bench, secure_agent, uuid)
    node = json.dumps(bench.row(uuid).as_dict(), default=str)
    assert not any(secret in node for secret in (PASSWORD, "hashed_rescue_password", "$5$"))
    assert not any(secret in caplog.text for secret in (PASSWORD, "$5$"))
    assert PASSWORD not in str(bench.history(uuid))


def test_an_agent_that_takes_no_hash_gets_the_password_where_that_is_allowed(bench, secure_agent, conf, done):
    conf(conductor__require_rescue_password_hashed=False)
    taken = secure_agent.take
    secure_agent.take = lambda name, params: (
        (400, {"faultstring": "unexpected parameter"}) if "hashed" in params else taken(name, params)
    )
    uuid = rescuing(bench)
    assert beat(bench, secure_agent, uuid)[0] == states.RESCUE
    assert secure_agent.received == [("rescue.finalize_rescue", {"rescue_password": PASSWORD})]
    assert not {"rescue_password", "hashed_rescue_password"} & bench.row(uuid).instance_info.keys()
