"""What people read when an inspection fails: which hook or rule and what it saw, or what was waited for."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.conductor.flows.wait_ends import ON_TIMEOUT
from ironic.conductor.timeouts import Timeouts
from ironic.core.flows import states
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, inventory, post


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Whole]:
    with whole(tmp_path, inspector__hooks="ramdisk-error,architecture,validate-interfaces,ports,root-device") as made:
        yield made


def failure(running: Whole, uuid: str) -> str:
    assert running.state(uuid) == states.INSPECTFAIL
    error = running.error(uuid)
    assert error is not None
    assert running.bench.history(uuid)[-1] == ("ERROR", "introspection", error)
    return error


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ({"error": "no disk answers"}, "hook ramdisk-error: the ramdisk reported: no disk answers"),
        ({"inventory": {"cpu": {}}}, "hook architecture: the inventory has no CPU architecture"),
        ({"inventory": {"interfaces": [{"name": "lo", "mac_address": MAC}]}}, "hook validate-interfaces: none of the"),
        ({"inventory": {"disks": [{"name": "/dev/sda", "size": 1}]}}, "hook root-device: no disk fits the root device"),
    ],
)
def test_a_failure_names_the_hook_and_what_it_saw(running: Whole, report: dict[str, Any], expected: str) -> None:
    uuid = running.node(MAC, properties={"root_device": {"size": "> 100"}})
    running.post({"inventory": inventory(MAC) | report.get("inventory", {}), "error": report.get("error")})
    assert expected in failure(running, uuid)


def test_a_failure_names_the_rule_and_what_it_saw(running: Whole) -> None:
    rule = post(running.store, actions=[{"op": "fail", "args": ["{inventory[cpu][count]} cores are too few"]}])
    uuid = running.node(MAC)
    running.post({"inventory": inventory(MAC, disks=[])})
    error = failure(running, uuid)
    assert rule in error
    assert "8 cores are too few" in error


def test_the_rule_that_failed_can_be_tried_on_what_the_machine_has_reported(running: Whole) -> None:
    rule = post(running.store, actions=[{"op": "fail", "args": ["{node.name} has {inventory[cpu][count]} cores"]}])
    uuid = running.node(MAC, name="small")
    running.post({"inventory": inventory(MAC, disks=[])})
    shown = running.api.call("GET", f"/v1/nodes/{uuid}/inventory")
    assert shown.status == 404
    assert b"no inventory of an inspection that succeeded" in shown.body
    for hooks in (False, True):
        tried = running.api.call("POST", "/v1/inspection_rules/evaluate", body={"node": uuid, "hooks": hooks}).json
        assert [one["error"] for one in tried["rules"]] == ["phase main, actions[0]: small has 8 cores"]
        assert "of the inspection that failed" in tried["notes"][0]
    running.store.rules.delete(rule)
    running.store.nodes.update(uuid, {"provision_state": states.INSPECTWAIT})
    running.post({"inventory": inventory(MAC, disks=[])})
    assert running.api.call("GET", f"/v1/nodes/{uuid}/inventory").json["inventory"]["cpu"]["count"] == 8
    assert "notes" not in running.api.call("POST", "/v1/inspection_rules/evaluate", body={"node": uuid}).json


def overdue(running: Whole, uuid: str) -> None:
    """Let the wait of a node time out, and run the periodic check."""
    hour = datetime.timedelta(hours=1)
    running.store.nodes.update(uuid, {"inspection_started_at": running.store.clock.now() - hour})
    Timeouts(running.bench.tasks, running.api.hash_ring, ON_TIMEOUT)()


def test_a_wait_that_is_over_names_what_was_heard_last_and_what_was_to_come(running: Whole) -> None:
    uuid = running.node(MAC, power_state=states.POWER_ON)
    overdue(running, uuid)
    error = failure(running, uuid)
    assert "Timed out after 1800 seconds in state 'inspect wait'" in error
    assert "Last milestone: none (recorded power state: power on)" in error
    assert "the inspection data of the ramdisk" in error
    assert "refused" not in error


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"inventory": inventory(MAC, OTHER_MAC)}, True),
        ({"inventory": inventory("52:54:00:00:00:77")}, False),
    ],
)
def test_it_tells_of_data_that_were_refused_meanwhile(running: Whole, sent: dict[str, Any], expected: bool) -> None:
    running.node(OTHER_MAC, state=states.ACTIVE)
    uuid = running.node(MAC)
    assert running.post(sent).status == 404
    overdue(running, uuid)
    error = failure(running, uuid)
    assert ("Data with its addresses were refused at" in error) is expected
