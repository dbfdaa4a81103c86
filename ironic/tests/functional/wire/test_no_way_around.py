"""Random requests by every kind of caller: no 5xx, nothing of a node that the caller may not see, and no secret.

Every identifier, name and text of the foreign node is marked, so that it is found wherever it turns up; every field
that may hold a secret holds one. Answers, logs, notifications and the history are searched.
"""

import itertools
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.rpc.rpc_api import CALLS
from ironic.tests.functional.wire import every_route, keystone
from ironic.tests.functional.wire.keystone import FOREIGN, OWNED, TOKENS
from ironic.tests.functional.wire.service import Response, Service
from ironic.tests.listening import listening
from ironic.tests.random_requests import Drawn, RandomRequests

CANARY = "hunter2canary"
SECRETS: dict[str, Any] = {
    "driver_info": {"redfish_password": CANARY, "snmp_community": CANARY, "url": f"https://a:{CANARY}@192.0.2.9/"},
    "instance_info": {"image_url": f"https://u:{CANARY}@192.0.2.9/x?temp_url_sig={CANARY}", "user_data": CANARY},
    "driver_internal_info": {"agent_secret_token": CANARY, "rescue_password": CANARY},
    "deploy_step": {"interface": "bios", "step": "x", "args": {"password": CANARY}},
    "last_error": f"https://u:{CANARY}@192.0.2.9/ can't be read",
}
# What a lessee does not see of the own node, although it is no secret.
MASKED = "lurking"
# Marks of what belongs to the foreign node: parts of UUIDs, names and addresses that nothing else has.
MARKS = ("f0f0f0f0-", "alien", "52:54:00:f0:")
ALIENS = [f"f0f0f0f0-0000-4000-8000-00000000000{number}" for number in range(8)]
PORT, GROUP, CONNECTOR, TARGET, ALLOCATION, RUNBOOK, NODE, CHASSIS = ALIENS
MINE = "0f0f0f0f-0000-4000-8000-000000000001"
# What callers know or guess: their own node and the names of the foreign one.
NAMES = {
    "node": (OWNED, "owned", NODE, "alien", every_route.THERE["node"][:-1] + "9"),
    "port": (MINE, PORT),
    "portgroup": (MINE, GROUP, "alien-group"),
    "allocation": (ALLOCATION, "alien-allocation"),
    "runbook": (RUNBOOK, "CUSTOM_ALIEN"),
    "connector": CONNECTOR,
    "target": TARGET,
    "chassis": CHASSIS,
    "driver": "fake-hardware",
    "hostname": "wire-conductor",
    "indicator": "led@system",
    "trait": "CUSTOM_A",
}
# What queries and bodies name.
TOLD = (OWNED, "owned", NODE, PORT, GROUP, MINE, "52:54:00:f0:00:01", "52:54:00:00:00:01", "owners", "aliens")
# Callers who see every node.
SYSTEM = {name for name, (_, project) in TOKENS.items() if project is None}
LESSEES = {name for name, (_, project) in TOKENS.items() if project == "lessees"}
ROUNDS = 3


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    """Have a service with two nodes that have one of everything: one of a known project, and a foreign one."""
    running = keystone.service(tmp_path, identity, conf)
    fill(running)
    yield running
    running.close()


def fill(service: Service) -> None:
    store = service.store
    store.nodes.delete(FOREIGN)
    owned = store.nodes.get(OWNED)
    chassis = store.chassis.create({"uuid": CHASSIS, "description": "alien rack"})
    alien = store.nodes.create(
        {f"{kind}_interface": getattr(owned, f"{kind}_interface") for kind in ("power", "management", "vendor", "raid")}
        | {"uuid": NODE, "name": "alien", "driver": "fake-hardware", "provision_state": "manageable"}
        | {"owner": "aliens", "description": "alien", "chassis_id": chassis.id, "shard": "alien-shard"}
        | {"resource_class": "alien-class", "instance_name": "alien-instance"}
        | SECRETS
    )
    for name, value in SECRETS.items():
        setattr(owned, name, value)
    owned.driver_info = {**SECRETS["driver_info"], "redfish_address": f"https://{MASKED}.example.org"}
    owned.last_error = owned.maintenance_reason = f"{MASKED} {SECRETS['last_error']}"
    owned.maintenance, owned.fault = True, "clean failure"
    owned.save()
    for node, ids in ((alien, ALIENS), (owned, [MINE] * 2)):
        mark = "f0" if node is alien else "00"
        name = "alien-group" if node is alien else "group"
        group = store.portgroups.create({"node_id": node.id, "uuid": ids[1], "name": name})
        store.ports.create(
            {"node_id": node.id, "uuid": ids[0], "address": f"52:54:00:{mark}:00:01", "portgroup_id": group.id}
        )
        store.bios_settings.put(node.id, [{"name": "AdminPassword", "value": CANARY}])
        store.history.add(node.id, event=f"https://u:{CANARY}@h/", event_type="t", severity="ERROR", conductor="c")
    store.volume_connectors.create({"node_id": alien.id, "uuid": CONNECTOR, "type": "iqn", "connector_id": "alien"})
    target = {"volume_type": "iscsi", "volume_id": "alien", "boot_index": 0, "properties": {"auth_password": CANARY}}
    store.volume_targets.create({"node_id": alien.id, "uuid": TARGET, **target})
    store.allocations.create(
        {"uuid": ALLOCATION, "name": "alien-allocation", "owner": "aliens", "resource_class": "x", "state": "error"}
    )
    steps = [{"interface": "bios", "step": "alien", "order": 1, "args": {"password": CANARY}}]
    store.runbooks.create_with({"uuid": RUNBOOK, "name": "CUSTOM_ALIEN", "owner": "aliens"}, steps)
    defaults = {name: every_route.default_of(call.signature.return_annotation) for name, call in CALLS.items()}
    service.conductor.answers = defaults | dict.fromkeys(
        ("call_vendor_method", "call_driver_vendor_method"), {"async": True, "result": None}
    )
    failed = f"https://{MASKED}.example.org can't be reached"
    refusal = InvalidParameterValue(err=failed)
    service.conductor.answers |= {
        "get_virtual_media": refusal,
        "change_node_power_state": refusal,
        "validate_interfaces": {"power": {"result": False, "reason": failed}},
    }


def send(service: Service, token: str, drawn: Drawn) -> Response:
    return service.call(drawn.method, drawn.path, raw=drawn.body or b"", headers={"X-Auth-Token": token})


def drawn_for(token: str) -> list[Drawn]:
    requests = RandomRequests(115, sorted(TOKENS).index(token), NAMES, skip="openapi|^DELETE .*/nodes/{", told=TOLD)
    return list(itertools.islice(iter(requests), ROUNDS * len(requests)))


@pytest.mark.parametrize("token", sorted(TOKENS))
def test_no_request_reveals_what_it_should_not(service: Service, caplog: pytest.LogCaptureFixture, token: str) -> None:
    statuses: set[int] = set()
    # What the caller has written may be shown to the caller.
    written = ""
    with listening() as listener, caplog.at_level(logging.DEBUG, "ironic"):
        for drawn in drawn_for(token):
            answer = send(service, token, drawn)
            statuses.add(answer.status)
            what = f"{drawn.method} {drawn.path} {(drawn.body or b'')[:500]!r} -> {answer.status} {answer.body[:500]!r}"
            assert answer.status < 500, what
            seen = answer.body.decode() + str(answer.headers)
            assert CANARY not in seen, what
            assert MASKED not in seen or token not in LESSEES, what
            if token not in SYSTEM:
                said = f"{unquote(drawn.path)} {(drawn.body or b'').decode()}"
                written += said if drawn.method != "GET" and answer.status < 300 else ""
                assert not [mark for mark in MARKS if mark in seen and mark not in said + written], what
        assert CANARY not in caplog.text
        assert CANARY not in str(listener.__dict__)
    assert CANARY not in str(service.contents()["node_history"]).replace(f"https://u:{CANARY}@h/", "")
    assert 404 in statuses or 403 in statuses
    if token == "system-admin":
        assert {200, 201, 204} <= statuses
