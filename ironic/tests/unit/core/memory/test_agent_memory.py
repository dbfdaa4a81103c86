"""What a node remembers of its agent, and that no other module knows the keys."""

import ast
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from ironic.core.memory import agent_memory
from ironic.core.memory.agent_memory import HEARTBEAT, AgentMemory, KnownAgent
from ironic.tests.product_trees import product_trees

NOW = datetime(2026, 1, 1, 12, 0, 0)

BEAT = {
    "callback_url": "https://192.0.2.7:9999",
    "agent_version": "11.0",
    "agent_verify_ca": "-----BEGIN CERTIFICATE-----",
    "agent_status": "start",
    "agent_status_message": "<b>half</b> way",
}

# A row as the release before this one has written it, while an agent ran a step.
WRITTEN_BEFORE = {
    "agent_url": "https://192.0.2.7:9999",
    "agent_secret_token": "t0ken",
    "agent_looked_up_from": "192.0.2.7",
    "agent_verify_ca": "-----BEGIN CERTIFICATE-----",
    "agent_version": "11.0",
    "agent_status": "start",
    "agent_status_message": "half way",
    "agent_last_heartbeat": "2026-01-01T11:59:00.123456",
    "agent_cached_clean_steps": {"deploy": [{"step": "erase_devices", "interface": "deploy", "priority": 10}]},
    "agent_cached_clean_steps_refreshed": "2026-01-01T11:50:00.123456",
    "hardware_manager_version": {"generic": "1.1"},
}


def remembering(**info: Any) -> Any:
    return SimpleNamespace(
        now=lambda: NOW,
        driver_internal_info=info,
        set_driver_internal_info=info.__setitem__,
        del_driver_internal_info=lambda key: info.pop(key, None),
    )


def test_it_reads_what_the_release_before_has_written():
    agent = KnownAgent(WRITTEN_BEFORE)
    assert (agent.url, agent.token, agent.token_source) == ("https://192.0.2.7:9999", "t0ken", "192.0.2.7")
    assert (agent.certificate, agent.is_known) == ("-----BEGIN CERTIFICATE-----", True)
    assert agent.last_heartbeat == datetime(2026, 1, 1, 11, 59, 0, 123456)
    assert [step["step"] for step in agent.steps("clean")["deploy"]] == ["erase_devices"]
    assert agent.steps_refreshed_at("clean") == "2026-01-01T11:50:00.123456"
    assert (agent.versions, agent.steps("deploy")) == ({"generic": "1.1"}, {})


def test_it_writes_what_the_release_before_reads():
    node = remembering()
    agent = AgentMemory(node)
    agent.store_token("t0ken", "192.0.2.7")
    agent.record({**BEAT, "agent_status_message": "half way"})
    agent.store_steps(
        "clean", {"m": [{"step": "erase_devices", "interface": "deploy", "priority": 10}]}, {"generic": "1.1"}
    )
    times = {key: WRITTEN_BEFORE[key] for key in ("agent_last_heartbeat", "agent_cached_clean_steps_refreshed")}
    assert all(datetime.fromisoformat(node.driver_internal_info[key]) for key in times)
    assert node.driver_internal_info | times == WRITTEN_BEFORE


def test_a_heartbeat_that_leaves_something_out_does_not_forget_it():
    node = remembering(agent_version="11.0")
    AgentMemory(node).record({"callback_url": "https://192.0.2.7:9999", "agent_version": None})
    assert node.driver_internal_info["agent_version"] == "11.0"


def test_what_an_agent_says_to_people_is_made_fit_for_them():
    node = remembering()
    AgentMemory(node).record(BEAT)
    assert node.driver_internal_info["agent_status_message"] == "half way"
    assert set(BEAT) == set(HEARTBEAT)


@pytest.mark.parametrize(
    "heartbeat, fresh",
    [
        ("2026-01-01T11:59:59.5", True),
        ("2026-01-01T11:55:00", True),
        ("2026-01-01T11:54:59", False),
        ("2026-01-01T11:59:59+00:00", True),
        (None, False),
        ("yesterday", False),
    ],
)
def test_a_heartbeat_counts_for_a_while(heartbeat: Any, fresh: bool) -> None:
    assert KnownAgent({"agent_last_heartbeat": heartbeat}).has_recent_heartbeat(NOW, 300) is fresh


def test_an_operation_that_is_over_leaves_nothing_to_show():
    node = remembering(**WRITTEN_BEFORE, agent_secret_token_pregenerated=True)
    AgentMemory(node).forget()
    agent = KnownAgent(node.driver_internal_info)
    assert (agent.url, agent.token, agent.token_source, agent.certificate) == (None,) * 4
    assert "agent_secret_token_pregenerated" not in node.driver_internal_info


@pytest.mark.parametrize("pregenerated, token", [(True, "t0ken"), (False, None)])
def test_a_restart_leaves_the_token_that_is_in_the_image(pregenerated, token):
    node = remembering(**WRITTEN_BEFORE, agent_secret_token_pregenerated=pregenerated)
    AgentMemory(node).forget_on_restart()
    agent = KnownAgent(node.driver_internal_info)
    assert (agent.url, agent.token) == (None, token)


def test_a_token_whose_receiver_is_uncertain_has_no_source():
    node = remembering(agent_looked_up_from="192.0.2.7")
    AgentMemory(node).store_token("t0ken", None)
    assert KnownAgent(node.driver_internal_info).token_source is None


def test_a_silent_ramdisk_makes_room_for_another():
    node = remembering(**WRITTEN_BEFORE)
    AgentMemory(node).allow_new_lookup(NOW)
    agent = KnownAgent(node.driver_internal_info)
    assert (agent.url, agent.token, agent.last_heartbeat) == (None, None, NOW)


def test_no_other_module_spells_one_of_the_keys():
    own = product_trees()["core/memory/agent_memory.py"]
    keys = {key for key in texts_of(own) if key in WRITTEN_BEFORE or key.startswith(("agent_", "hardware_manager_"))}
    # Names of arguments of a heartbeat and of what an agent answers, which are keys here as well; and a key of
    # driver_info.
    public = {*HEARTBEAT, "hardware_manager_version"}
    assert len(keys - public) > 10
    spelled = {
        (place, text)
        for place, tree in product_trees().items()
        if not place.endswith("/agent_memory.py")
        for text in texts_of(tree)
        if text in keys - public or text.startswith("agent_cached_")
    }
    assert spelled == set()
    assert {"agent_url", "agent_secret_token", "agent_erase_devices_zeroize"} <= agent_memory.READ_BY_AGENTS


def texts_of(tree: ast.AST) -> set[str]:
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
