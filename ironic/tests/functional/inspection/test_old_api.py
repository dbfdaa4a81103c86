"""An inspection by the API of the standalone inspector: real conductor, hooks and inventory; states of one node."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.flows import states
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.functional.wire.old_api.asking import ask, refused
from ironic.tests.functional.wire.service import Response

MAC = "52:54:00:00:00:01"
REPORT: dict[str, Any] = {
    "inventory": {
        "interfaces": [{"name": "eth0", "mac_address": MAC, "ipv4_address": "192.0.2.9", "has_carrier": True}],
        "cpu": {"architecture": "x86_64", "count": 4},
        "memory": {"physical_mb": 4096},
    },
    "data": [["disk", "sda", "size", "10"]],
    "logs": "aGVsbG8=",
}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Whole]:
    options: dict[str, Any] = {
        "inspector__hooks": "ramdisk-error,architecture,validate-interfaces,ports,extra-hardware,memory",
        "inspector__boot_token": False,
    }
    with whole(tmp_path, **options) as running:
        yield running


@pytest.fixture
def old(service: Whole) -> Callable[..., Response]:
    def call(method: str, path: str, body: Any = None) -> Response:
        return ask(service.inspector, method, f"/v1/{path}", body)

    return call


def scripted(service: Whole) -> str:
    return service.node(MAC, state=states.MANAGEABLE, boot_interface="scripted", power_state="power on")


def test_an_inspection_from_start_to_end(service: Whole, old: Callable[..., Response]) -> None:
    uuid = scripted(service)
    assert old("POST", f"introspection/{uuid}").status == 202
    assert service.state(uuid) == states.INSPECTWAIT
    waiting = old("GET", f"introspection/{uuid}").json
    assert (waiting["state"], waiting["finished"]) == ("waiting", False)
    assert old("POST", "continue", REPORT).json == {"uuid": uuid}
    ended = old("GET", f"introspection/{uuid}").json
    assert (ended["state"], ended["finished"], ended["error"]) == ("finished", True, None)
    assert ended["started_at"] == waiting["started_at"] < ended["finished_at"]
    assert service.state(uuid) == states.MANAGEABLE
    found = old("GET", f"introspection/{uuid}/data").json
    assert found["extra"] == {"disk": {"sda": {"size": 10}}}
    assert found["all_interfaces"]["eth0"]["mac"] == MAC
    assert "data" not in found
    unprocessed = old("GET", f"introspection/{uuid}/data/unprocessed").json
    assert unprocessed == {"inventory": REPORT["inventory"], "data": REPORT["data"]}


def test_data_are_processed_again_without_touching_the_machine(
    service: Whole, old: Callable[..., Response], conf: Callable[..., None]
) -> None:
    uuid = scripted(service)
    old("POST", f"introspection/{uuid}")
    old("POST", "continue", REPORT)
    node = service.bench.row(uuid)
    node.properties, node.power_state = {}, "power on"
    service.store.nodes.save(node)
    assert old("POST", f"introspection/{uuid}/data/unprocessed").status == 202
    again = service.bench.row(uuid)
    assert again.properties["memory_mb"] == 4096
    assert (again.provision_state, again.power_state, again.reservation) == (states.MANAGEABLE, "power on", None)
    status = old("GET", f"introspection/{uuid}").json
    assert (status["state"], status["error"]) == ("finished", None)
    # What was posted stays what was posted.
    assert old("GET", f"introspection/{uuid}/data/unprocessed").json["data"] == REPORT["data"]
    assert old("GET", f"introspection/{uuid}/data").json["extra"] == {"disk": {"sda": {"size": 10}}}


def test_new_data_take_the_place_of_the_old_ones(service: Whole, old: Callable[..., Response]) -> None:
    uuid = scripted(service)
    changed = {**REPORT, "inventory": {**REPORT["inventory"], "memory": {"physical_mb": 8192}}}
    assert old("POST", f"introspection/{uuid}/data/unprocessed", changed).status == 202
    assert service.bench.row(uuid).properties["memory_mb"] == 8192
    assert old("GET", f"introspection/{uuid}/data").json["inventory"]["memory"] == {"physical_mb": 8192}


def test_data_that_hooks_refuse_fail_the_inspection_and_are_not_stored(
    service: Whole, old: Callable[..., Response]
) -> None:
    uuid = scripted(service)
    bad = {"inventory": REPORT["inventory"], "error": "the disk is broken"}
    assert old("POST", f"introspection/{uuid}/data/unprocessed", bad).status == 202
    status = old("GET", f"introspection/{uuid}").json
    assert (status["state"], status["finished"]) == ("error", True)
    assert "the disk is broken" in status["error"]
    assert status["started_at"] and status["finished_at"]
    assert old("GET", f"introspection/{uuid}/data").status == 404
    # From there it may start again, or be given other data.
    assert old("POST", f"introspection/{uuid}/data/unprocessed", REPORT).status == 202
    assert old("GET", f"introspection/{uuid}").json["state"] == "finished"


def test_an_aborted_inspection_is_an_error_that_says_so(service: Whole, old: Callable[..., Response]) -> None:
    uuid = scripted(service)
    old("POST", f"introspection/{uuid}")
    assert old("POST", f"introspection/{uuid}/abort").status == 202
    assert service.state(uuid) == states.INSPECTFAIL
    status = old("GET", f"introspection/{uuid}").json
    assert (status["state"], status["finished"]) == ("error", True)
    assert "aborted" in status["error"]
    refused(old("POST", "continue", REPORT), 404)


@pytest.mark.parametrize("ends", ["by data", "by an abort"])
def test_a_machine_that_others_boot_is_left_alone(
    service: Whole, old: Callable[..., Response], conf: Callable[..., None], ends: str
) -> None:
    conf(inspector__require_managed_boot=False)
    uuid = scripted(service)
    before = service.bench.row(uuid)
    assert old("POST", f"introspection/{uuid}?manage_boot=0").status == 202
    assert service.state(uuid) == states.INSPECTWAIT
    if ends == "by data":
        assert old("POST", "continue", REPORT).status == 200
        assert service.state(uuid) == states.MANAGEABLE
    else:
        assert old("POST", f"introspection/{uuid}/abort").status == 202
        assert service.state(uuid) == states.INSPECTFAIL
    after = service.bench.row(uuid)
    assert after.power_state == before.power_state == "power on"
    assert (
        "inspector_manage_boot" not in after.driver_internal_info
        or not after.driver_internal_info["inspector_manage_boot"]
    )
    # The next one is the service's again.
    if ends == "by data":
        assert old("POST", f"introspection/{uuid}").status == 202
        assert service.bench.row(uuid).driver_internal_info["inspector_manage_boot"]


def test_where_the_service_boots_machines_it_does_not_leave_that_to_others(
    service: Whole, old: Callable[..., Response]
) -> None:
    uuid = scripted(service)
    assert "require_managed_boot" in refused(old("POST", f"introspection/{uuid}?manage_boot=0"), 400)
    assert service.state(uuid) == states.MANAGEABLE
    refused(old("GET", f"introspection/{uuid}"), 404)


def test_a_start_that_is_refused_leaves_the_last_introspection(service: Whole, old: Callable[..., Response]) -> None:
    uuid = scripted(service)
    old("POST", f"introspection/{uuid}")
    old("POST", "continue", REPORT)
    before = old("GET", f"introspection/{uuid}").json
    refused(old("POST", f"introspection/{uuid}?manage_boot=0"), 400)
    assert old("GET", f"introspection/{uuid}").json == before
    assert service.bench.row(uuid).reservation is None


def test_an_interface_that_can_not_repeat_refuses_at_once(service: Whole, old: Callable[..., Response]) -> None:
    uuid = service.bench.node("boot", inspect_interface="fake", provision_state=states.MANAGEABLE)
    assert "fake" in refused(old("POST", f"introspection/{uuid}/data/unprocessed", REPORT), 400)
    assert service.state(uuid) == states.MANAGEABLE


def test_both_apis_show_the_same(service: Whole, old: Callable[..., Response]) -> None:
    uuid = scripted(service)
    start = service.api.call("PUT", f"/v1/nodes/{uuid}/states/provision", body={"target": "inspect"})
    assert start.status == 202
    assert old("GET", f"introspection/{uuid}").json["state"] == "waiting"
    assert service.post(REPORT).status == 200
    assert old("GET", f"introspection/{uuid}").json["state"] == "finished"
    stored = service.api.call("GET", f"/v1/nodes/{uuid}/inventory").json
    assert stored["inventory"] == old("GET", f"introspection/{uuid}/data").json["inventory"]
    assert stored["plugin_data"].keys() == {"all_interfaces", "extra", "macs", "valid_interfaces"}


@pytest.mark.parametrize("starter", ["old", "present"])
@pytest.mark.parametrize("callback", ["old", "present"])
def test_both_addresses_for_reports_belong_to_one_inspection_whichever_api_began_it(
    service: Whole, old: Callable[..., Response], starter: str, callback: str
) -> None:
    uuid = scripted(service)
    if starter == "old":
        assert old("POST", f"introspection/{uuid}").status == 202
    else:
        service.api.call("PUT", f"/v1/nodes/{uuid}/states/provision", body={"target": "inspect"})
    posted = old("POST", "continue", REPORT) if callback == "old" else service.post(REPORT)
    assert posted.status == 200
    assert service.state(uuid) == states.MANAGEABLE
    assert service.api.call("GET", f"/v1/nodes/{uuid}/inventory").json["inventory"] == REPORT["inventory"]


MUCH_MEMORY = {
    "conditions": [{"field": "memory_mb", "op": "ge", "value": 4096}],
    "actions": [{"action": "set-capability", "name": "much-memory", "value": "wow"}],
}
NO_SECOND_CARD = {
    "description": "a benchmark",
    "conditions": [{"field": "all_interfaces.eth1", "op": "is-empty"}],
    "actions": [{"action": "fail", "message": "There is one network card only."}],
}


@pytest.mark.demand("S174", "S182")
def test_a_rule_that_was_posted_runs_and_is_taken_back(service: Whole, old: Callable[..., Response]) -> None:
    assert old("POST", "rules", MUCH_MEMORY).status == 201
    uuid = scripted(service)
    old("POST", f"introspection/{uuid}")
    assert old("POST", "continue", REPORT).status == 200
    assert service.bench.row(uuid).properties["capabilities"] == "much-memory:wow"
    less = {**REPORT, "inventory": {**REPORT["inventory"], "memory": {"physical_mb": 2048}}}
    assert old("POST", f"introspection/{uuid}/data/unprocessed", less).status == 202
    assert not service.bench.row(uuid).properties.get("capabilities")
    assert old("GET", f"introspection/{uuid}").json["error"] is None


@pytest.mark.demand("S188")
def test_a_rule_may_fail_an_inspection(service: Whole, old: Callable[..., Response]) -> None:
    made = old("POST", "rules", NO_SECOND_CARD).json["uuid"]
    uuid = scripted(service)
    assert old("POST", f"introspection/{uuid}/data/unprocessed", REPORT).status == 202
    status = old("GET", f"introspection/{uuid}").json
    assert (status["state"], status["finished"]) == ("error", True)
    assert "There is one network card only." in status["error"]
    assert old("DELETE", f"rules/{made}").status == 204
    assert old("POST", f"introspection/{uuid}/data/unprocessed", REPORT).status == 202
    assert old("GET", f"introspection/{uuid}").json["state"] == "finished"
