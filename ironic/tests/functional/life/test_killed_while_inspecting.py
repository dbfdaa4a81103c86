"""One of two conductors is killed while a standalone inspector inspects its nodes; the other ends what was begun."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.core.flows import states
from ironic.tests.functional.inspection.scripted_inspector import NODE, ScriptedInspector, scripted_inspector
from ironic.tests.live_service import Options
from ironic.tests.site import BOTH, HEADERS, Site, eventually, site, until

INTERFACES = {"enabled_inspect_interfaces": "inspector", "default_inspect_interface": "inspector"}


@pytest.fixture
def inspector() -> Iterator[ScriptedInspector]:
    with scripted_inspector() as running:
        yield running


@pytest.fixture
def running(inspector: ScriptedInspector, tmp_path: Path, carrier: str) -> Iterator[Site]:
    options: Options = {
        "DEFAULT": {**INTERFACES, **({"rpc_response_timeout": 5} if carrier == "oslo" else {})},
        "inspector": {
            "endpoint_override": inspector.url,
            "status_check_period": 1,
            "require_managed_boot": False,
            "timeout": 60,
        },
        "service_catalog": {"endpoint_override": "http://127.0.0.1:9"},
    }
    with ExitStack() as stack:
        made = stack.enter_context(site(tmp_path, options=options, carrier=carrier))
        stack.callback(inspector.is_over.set)
        eventually(made.alive, {"one", "two"})
        yield made


def report(running: Site, number: int, uuid: str) -> requests.Response:
    """Post the report of a node's ramdisk."""
    interface = {"name": "eth0", "mac_address": mac_of(number), "has_carrier": True}
    body = {"inventory": {"interfaces": [interface], "cpu": {}, "memory": {}}, NODE: uuid}
    url = f"{running.url}/v1/continue_inspection?node_uuid={uuid}"
    return requests.post(url, json=body, headers=HEADERS, timeout=60)


def mac_of(number: int) -> str:
    return f"52:54:00:00:07:0{number}"


@BOTH
@pytest.mark.demand("S111")
def test_the_other_finishes_and_no_report_is_lost(running: Site, inspector: ScriptedInspector) -> None:
    nodes = [node["uuid"] for node in running.nodes_of("two", 3)]
    reported, on_its_way, starting = nodes
    for number, uuid in enumerate(nodes):
        running.provision(uuid, "manage", states.MANAGEABLE)
        port: Any = {"node_uuid": uuid, "address": mac_of(number)}
        assert running.ask("POST", "/v1/ports", port).status_code == 201
    for uuid in (reported, on_its_way):
        running.provision(uuid, "inspect", states.INSPECTWAIT)
    inspector.reported = "processing"
    assert report(running, 0, reported).status_code == 200

    # It is killed before it knows whether the inspector has begun, and has the report; the inspector has neither.
    inspector.hanging.update((on_its_way, starting))
    inspector.reported = "waiting"
    running.put(f"/v1/nodes/{starting}/states/provision", {"target": "inspect"})
    answers: list[int] = []
    poster = threading.Thread(target=lambda: answers.append(report(running, 1, on_its_way).status_code))
    poster.start()
    until(lambda: inspector.of(starting))
    until(lambda: len(inspector.of("continue")) == 2)
    running.kill("two")
    poster.join()
    assert answers == [503]
    inspector.hanging.clear()
    inspector.reported = "processing"

    def state_of(uuid: str) -> str:
        return str(running.node(uuid)["provision_state"])

    eventually(lambda: state_of(starting), states.INSPECTFAIL)
    assert "stopped giving signs of life" in running.node(starting)["last_error"]
    until(lambda: report(running, 1, on_its_way).status_code == 200)
    assert state_of(reported) == states.INSPECTWAIT
    inspector.states |= {reported: "finished", on_its_way: "finished"}
    eventually(lambda: {state_of(reported), state_of(on_its_way)}, {states.MANAGEABLE})
    for uuid in (reported, on_its_way):
        assert running.node(uuid)["last_error"] is None
        assert running.get(f"/v1/nodes/{uuid}/inventory").json()["plugin_data"][NODE] == uuid
