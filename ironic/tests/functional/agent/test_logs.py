"""The logs of a ramdisk: when they are fetched, where they are kept, and that they never get in the way."""

import base64
import re
import stat
from collections.abc import Iterator

import pytest

from ironic.core.flows import states
from ironic.drivers.modules.agent import ramdisk_logs
from ironic.integrations import object_store
from ironic.tests.functional.agent.conftest import beat
from ironic.tests.swift_store import ACCOUNT, SwiftStore, swift_store
from ironic.tests.unit.drivers.machine import UUID, Machine

LOGS = {"system_logs": base64.b64encode(b"an archive").decode()}
NOOP = {"interface": "deploy", "step": "loopback_noop"}


def cleaned(bench, agent, end: str) -> str:
    """Clean a machine by one step with the given result; return the state afterwards."""
    uuid = bench.node("deploy", provision_state=states.MANAGEABLE, power_state="power off")
    bench.verb(uuid, "clean", clean_steps=[NOOP])
    beat(bench, agent, uuid)
    agent.end(end, error="no")
    return beat(bench, agent, uuid)[0]


@pytest.mark.parametrize("when, end, kept", [
    ("on_failure", "FAILED", 1), ("on_failure", "SUCCEEDED", 0),
    ("always", "FAILED", 1), ("always", "SUCCEEDED", 1),
    ("never", "FAILED", 0), ("never", "SUCCEEDED", 0),
])  # fmt: skip
def test_logs_are_kept_when_wanted(bench, agent, conf, tmp_path, when, end, kept):
    conf(agent__deploy_logs_collect=when)
    agent.results["log.collect_system_logs"] = LOGS
    cleaned(bench, agent, end)
    files = list((tmp_path / "logs").glob("*_cleaning_*.tar.gz"))
    assert len(files) == kept
    for file in files:
        assert file.read_bytes() == b"an archive"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("result", [None, {}, {"system_logs": 3}, {"system_logs": "no base64"}])
def test_logs_that_are_none_change_nothing(bench, agent, tmp_path, caplog, result):
    agent.results["log.collect_system_logs"] = result
    assert cleaned(bench, agent, "FAILED") == states.CLEANFAIL
    assert "logs could not be fetched" in caplog.text
    assert not list(tmp_path.glob("logs/*"))


def test_an_agent_that_has_no_logs_changes_nothing(bench, agent, caplog):
    agent.refusals["log.collect_system_logs"] = (500, "no journal")
    assert cleaned(bench, agent, "FAILED") == states.CLEANFAIL
    assert "no journal" in caplog.text


@pytest.fixture
def swift(conf) -> Iterator[SwiftStore]:
    """Return an object store that logs go to."""
    with swift_store() as running:
        conf(agent__deploy_logs_storage_backend="swift", agent__deploy_logs_swift_container="ramdisk logs")
        conf(swift__auth_type="none", swift__endpoint_override=running.url)
        yield running
    object_store.swift_container.cache_clear()


@pytest.mark.parametrize("days, seconds", [(30, "2592000"), (1, "86400"), (0, None)])
def test_logs_may_go_to_an_object_store(bench, agent, swift, conf, tmp_path, days, seconds):
    conf(agent__deploy_logs_swift_days_to_expire=days)
    agent.results["log.collect_system_logs"] = LOGS
    cleaned(bench, agent, "FAILED")
    ((path, content),) = swift.objects.items()
    assert path.startswith(f"{ACCOUNT}/ramdisk%20logs/")
    assert "_cleaning_" in path
    assert (content, swift.expiry[path]) == (b"an archive", seconds)
    assert not list(tmp_path.glob("logs/*"))


def test_an_object_store_in_trouble_changes_nothing(bench, agent, swift, caplog):
    swift.trouble = 503
    agent.results["log.collect_system_logs"] = LOGS
    assert cleaned(bench, agent, "FAILED") == states.CLEANFAIL
    assert "status 503" in caplog.text


def test_an_object_store_that_is_not_set_up_changes_nothing(bench, agent, conf, caplog):
    conf(agent__deploy_logs_storage_backend="swift", swift__auth_type="unheard-of")
    agent.results["log.collect_system_logs"] = LOGS
    assert cleaned(bench, agent, "FAILED") == states.CLEANFAIL
    assert "logs could not be fetched" in caplog.text


def test_logs_are_named_by_node_instance_and_work():
    node = Machine(instance_uuid="22222222-0000-4000-8000-000000000002")
    assert re.fullmatch(rf"{UUID}_{node.instance_uuid}_a_b_[\d-]{{19}}\.tar\.gz", ramdisk_logs._name(node, "a/b"))
