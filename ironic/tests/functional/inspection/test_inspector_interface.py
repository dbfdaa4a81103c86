"""Inspect interface `inspector` with real conductor, boot and inventory, and an inspector that may be out of order."""

import base64
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1 import loading

from ironic.conf import CONF
from ironic.core.errors import NodeLocked
from ironic.core.errors.call_errors import ReportNotTaken
from ironic.core.flows import states
from ironic.drivers.modules.inspector.standalone import InspectorInspect
from ironic.inspection.pxe_filter import HostsDir, PxeFilter
from ironic.tests.conftest import Setter
from ironic.tests.functional.inspection.scripted_inspector import NODE, ScriptedInspector, scripted_inspector
from ironic.tests.functional.inspection.test_failures import failure, overdue
from ironic.tests.functional.inspection.whole import URL, Preparing, Whole, whole
from ironic.tests.functional.wire.service import Response
from ironic.tests.unit.inspection.lab import MAC, inventory

pytestmark = pytest.mark.demand("S111")


@pytest.fixture
def inspector() -> Iterator[ScriptedInspector]:
    with scripted_inspector() as running:
        yield running


@pytest.fixture
def service(tmp_path: Path, inspector: ScriptedInspector) -> Iterator[Whole]:
    Preparing.parameters = {}
    options: dict[str, Any] = {
        "enabled_inspect_interfaces": ["agent", "inspector", "fake"],
        "inspector__endpoint_override": inspector.url,
        "inspector__timeout": 1,
    }
    with whole(tmp_path, **options) as running:
        yield running


def begin(service: Whole, boot: str = "scripted") -> str:
    """Create a node and inspect it until it waits for its ramdisk; return its UUID."""
    values = {"boot_interface": boot, "power_state": states.POWER_ON}
    uuid = service.node(MAC, state=states.MANAGEABLE, **values)
    service.store.nodes.update(uuid, {"inspect_interface": "inspector"})
    started = service.api.call("PUT", f"/v1/nodes/{uuid}/states/provision", body={"target": "inspect"})
    assert started.status == 202, started.body
    return uuid


def report(service: Whole, uuid: str) -> Response:
    """Post a report as the ramdisk does that was booted last."""
    _, _, query = Preparing.parameters.get("ipa-inspection-callback-url", "").partition("?")
    posted = {"inventory": inventory(MAC), NODE: uuid, "extra": [1]}
    return service.post(posted, query=f"?{query}" if query else "")


def look(service: Whole) -> None:
    """Look at what is due a minute later."""
    service.bench.look(60)


def test_this_service_boots_the_machine_where_it_can(service: Whole, inspector: ScriptedInspector) -> None:
    uuid = begin(service)
    assert service.state(uuid) == states.INSPECTWAIT
    (started,) = inspector.asked
    assert (started.method, started.path) == ("POST", f"/v1/introspection/{uuid}?manage_boot=0")
    assert Preparing.parameters["ipa-inspection-callback-url"].startswith(f"{URL}/v1/continue_inspection?boot_token=")
    look(service)
    assert service.state(uuid) == states.INSPECTWAIT
    assert report(service, uuid).status == 200
    (handed,) = inspector.of("continue")
    assert handed.body == {"inventory": inventory(MAC), NODE: uuid, "extra": [1]}
    # Its end is noticed by asking.
    assert service.state(uuid) == states.INSPECTWAIT
    assert report(service, uuid).status == 200
    assert inspector.of("continue") == [handed]
    look(service)
    assert (service.state(uuid), service.error(uuid)) == (states.MANAGEABLE, None)
    stored = service.api.call("GET", f"/v1/nodes/{uuid}/inventory").json
    assert (stored["inventory"], stored["plugin_data"]["extra"]) == (inventory(MAC), [1])
    node = service.bench.row(uuid)
    assert node.power_state == states.POWER_OFF
    assert not [key for key in node.driver_internal_info if "inspect" in key]


def test_the_inspector_boots_the_machine_where_this_service_can_not(
    service: Whole, inspector: ScriptedInspector, conf: Setter
) -> None:
    conf(inspector__require_managed_boot=False)
    uuid = begin(service, boot="fake")
    assert inspector.asked[0].path.endswith("?manage_boot=1")
    assert Preparing.parameters == {}
    assert service.bench.row(uuid).power_state == states.POWER_ON
    assert report(service, uuid).status == 200
    look(service)
    assert service.state(uuid) == states.MANAGEABLE
    assert service.bench.row(uuid).power_state == states.POWER_ON


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_report_that_the_inspector_does_not_take_now_is_posted_again(
    service: Whole, inspector: ScriptedInspector, is_silent: bool
) -> None:
    uuid = begin(service)
    if is_silent:
        inspector.hanging.add(uuid)
        inspector.reported = "waiting"
    else:
        inspector.instead["continue"] = (500, b"oops")
    answer = report(service, uuid)
    assert (answer.status, "Post it again" in answer.body.decode()) == (503, True)
    assert service.state(uuid) == states.INSPECTWAIT
    inspector.hanging.clear()
    inspector.instead.clear()
    inspector.reported = "finished"
    assert report(service, uuid).status == 200
    look(service)
    assert (service.state(uuid), service.error(uuid)) == (states.MANAGEABLE, None)


@pytest.mark.demand("S105")
def test_the_pxe_filter_serves_the_machine_while_it_is_inspected(service: Whole, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.d"
    hosts.mkdir()
    running = PxeFilter(service.store, HostsDir(str(hosts)))
    uuid = begin(service)
    running.sync()
    assert (hosts / MAC).read_text() == f"{MAC}\n"
    report(service, uuid)
    look(service)
    assert running.follow().changes[MAC] == f"{MAC},ignore\n"


def test_a_report_whose_answer_was_lost_fails_no_inspection(service: Whole, inspector: ScriptedInspector) -> None:
    uuid = begin(service)
    inspector.instead["continue"] = (404, b'{"error": {"message": "Could not find a node"}}')
    inspector.states[uuid] = "processing"
    assert report(service, uuid).status == 200
    assert service.state(uuid) == states.INSPECTWAIT
    inspector.states[uuid] = "finished"
    look(service)
    assert (service.state(uuid), service.error(uuid)) == (states.MANAGEABLE, None)


def test_a_refused_report_ends_the_inspection(service: Whole, inspector: ScriptedInspector) -> None:
    uuid = begin(service)
    inspector.instead["continue"] = (400, b'{"error": {"message": "the disks are gone"}}')
    assert report(service, uuid).status == 200
    assert "can't take the report of the ramdisk: it answers with status 400: the disks are gone" in failure(
        service, uuid
    )


@pytest.mark.parametrize(
    "answer", [(200, b"<html>"), (200, b"[]"), (404, b""), (503, b"{}"), (200, b'{"finished": 1}')]
)
def test_garbage_for_a_state_ends_nothing(
    service: Whole, inspector: ScriptedInspector, answer: tuple[int, bytes]
) -> None:
    uuid = begin(service)
    report(service, uuid)
    inspector.instead[uuid] = answer
    look(service)
    assert service.state(uuid) == states.INSPECTWAIT
    del inspector.instead[uuid]
    look(service)
    assert service.state(uuid) == states.MANAGEABLE


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((200, b'{"inventory": 7}'), "the data of the standalone inspector have no inventory"),
        ((200, b"\xff"), "give the data: its answer is no JSON object"),
        ((500, b""), "give the data: it answers with status 500"),
    ],
)
def test_garbage_for_data_fails_the_inspection(
    service: Whole, inspector: ScriptedInspector, answer: tuple[int, bytes], reason: str
) -> None:
    uuid = begin(service)
    report(service, uuid)
    inspector.instead["data"] = answer
    look(service)
    assert reason in failure(service, uuid)
    assert service.bench.row(uuid).power_state == states.POWER_OFF


@pytest.mark.parametrize("answer", [(500, b""), (400, b'{"error": {"message": "no ports"}}')])
def test_a_start_that_fails_boots_nothing(
    service: Whole, inspector: ScriptedInspector, answer: tuple[int, bytes]
) -> None:
    uuid = service.node(MAC, state=states.MANAGEABLE, boot_interface="scripted")
    inspector.instead[uuid] = answer
    service.store.nodes.update(uuid, {"inspect_interface": "inspector"})
    service.api.call("PUT", f"/v1/nodes/{uuid}/states/provision", body={"target": "inspect"})
    assert "standalone inspector can't start the introspection" in failure(service, uuid)
    assert Preparing.parameters == {}


@pytest.mark.parametrize("has_report", [False, True])
def test_a_wait_ends_by_its_time_out(service: Whole, inspector: ScriptedInspector, has_report: bool) -> None:
    uuid = begin(service)
    inspector.reported = "processing"
    if has_report:
        report(service, uuid)
    overdue(service, uuid)
    assert "Timed out" in failure(service, uuid)
    # With the report the inspector's own wait has ended, see `abort`.
    assert len(inspector.of("abort")) == (0 if has_report else 1)
    inspector.states[uuid] = "finished"
    look(service)
    assert service.state(uuid) == states.INSPECTFAIL


def test_a_node_has_one_report_under_way_and_the_process_a_few(inspector: ScriptedInspector, conf: Setter) -> None:
    conf(inspector__endpoint_override=inspector.url, inspector__timeout=20)
    interface = InspectorInspect()
    nodes = [f"11111111-0000-4000-8000-00000000000{number}" for number in range(9)]
    inspector.hanging.update(nodes)
    inspector.states = dict.fromkeys(nodes, "waiting")

    def hand_on(uuid: str) -> None:
        interface.hand_report_on(uuid, {}, {NODE: uuid})

    threads = [threading.Thread(target=hand_on, args=(uuid,)) for uuid in nodes[:8]]
    for thread in threads:
        thread.start()
    try:
        _until(lambda: len(inspector.of("continue")) == 8)
        with pytest.raises(NodeLocked):
            hand_on(nodes[0])
        with pytest.raises(ReportNotTaken):
            hand_on(nodes[8])
    finally:
        inspector.is_over.set()
        for thread in threads:
            thread.join()
    hand_on(nodes[8])
    assert len(inspector.of("continue")) == 9


def _until(holds: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(500):
        if holds():
            return
        waiting.wait(0.02)
    raise AssertionError("it does not hold after ten seconds")


def test_a_name_and_a_password_are_sent(service: Whole, inspector: ScriptedInspector, conf: Setter) -> None:
    CONF.register_opts(loading.get_auth_plugin_conf_options("http_basic"), "inspector")
    conf(inspector__auth_type="http_basic", inspector__username="ironic", inspector__password="s3cret")
    uuid = begin(service)
    assert report(service, uuid).status == 200
    look(service)
    assert service.state(uuid) == states.MANAGEABLE
    expected = "Basic " + base64.b64encode(b"ironic:s3cret").decode()
    assert {one.authorization for one in inspector.asked} == {expected}
