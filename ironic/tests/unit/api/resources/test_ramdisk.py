"""What the three endpoints for ramdisks promise beyond single exchanges."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ironic.api.rate_limit import TokenBuckets
from ironic.api.settings import ApiSettings, RamdiskSettings
from ironic.conf import CONF
from ironic.core import permit
from ironic.core.flows import states
from ironic.core.hardware_interfaces import InterfaceRow
from ironic.core.permit import LANE, MustMove
from ironic.db import NodeRecord
from ironic.inspection.rules import RuleBook, load_built_in
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire.service import Response, Service, environ_of
from ironic.tests.unit.api.resources.rows import add_node, add_port
from ironic.tests.unit.inspection.lab import post

MAC, OTHER_MAC, STRANGE_MAC = "52:54:00:0a:00:01", "52:54:00:0a:00:02", "52:54:00:0a:00:03"
NOBODY = "99999999-0000-4000-8000-000000000099"


def add_waiting(service: Service, mac: str = MAC, state: str = states.INSPECTWAIT, **columns: Any) -> NodeRecord:
    node = add_node(service, provision_state=state, **columns)
    add_port(service, node, mac)
    return node


def look_up(service: Service, mac: str = MAC, version: str = "1.115") -> Response:
    return service.call("GET", f"/v1/lookup?addresses={mac}", version=version)


def go_on(service: Service, *macs: str, query: str = "", version: str = "1.115", **inventory: Any) -> Response:
    body = {"inventory": {"interfaces": [{"mac_address": mac} for mac in macs], **inventory}}
    return service.call("POST", f"/v1/continue_inspection{query}", body=body, version=version)


def beat(service: Service, node: NodeRecord, token: str, url: str = "https://192.0.2.1:9999") -> int:
    body = {"callback_url": url, "agent_version": "9", "agent_token": token}
    return service.call("POST", f"/v1/heartbeat/{node.uuid}", body=body).status


def stored_token(service: Service, node: NodeRecord) -> Any:
    return service.store.nodes.get(node.uuid).driver_internal_info.get("agent_secret_token")


def test_the_token_that_is_given_out_is_the_one_that_opens_heartbeats(service: Service) -> None:
    node = add_waiting(service, state=states.CLEANWAIT)
    token = look_up(service).json["config"]["agent_token"]
    assert stored_token(service, node) == token
    assert len(token) >= 43
    assert beat(service, node, token) == 202
    assert [beat(service, node, wrong) for wrong in (token[:-1], token + "x", token.upper(), "")] == [400] * 4
    assert len(service.conductor.asked) == 1


def test_a_token_is_given_out_once(service: Service) -> None:
    node = add_waiting(service, state=states.DEPLOYING)
    token = look_up(service).json["config"]["agent_token"]
    for answer in (look_up(service), service.call("GET", f"/v1/nodes/{node.uuid}")):
        assert token.encode() not in answer.body
    assert stored_token(service, node) == token


def test_of_ramdisks_that_come_together_one_gets_the_token(service: Service) -> None:
    node = add_waiting(service, state=states.DEPLOYING)
    told: list[str] = []
    start = threading.Barrier(4)

    def ask() -> None:
        start.wait()
        told.append(look_up(service).json["config"]["agent_token"])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told)[:3] == ["******"] * 3
    assert stored_token(service, node) in told


def test_a_report_replaces_no_token_that_was_given_out(service: Service) -> None:
    node = add_waiting(service, driver_internal_info={"agent_secret_token": "earlier"})
    assert go_on(service, MAC).json["config"]["agent_token"] == "******"
    assert beat(service, node, "earlier") == 202


@pytest.mark.parametrize("state", sorted(states.ALL))
def test_look_ups_find_nodes_that_wait_for_a_ramdisk(service: Service, state: str) -> None:
    add_waiting(service, state=state)
    assert look_up(service).status == (200 if state in states.LOOKUP_ALLOWED else 404)


@pytest.mark.parametrize(
    "state, status",
    [
        (states.ENROLL, 200),
        (states.MANAGEABLE, 200),
        (states.AVAILABLE, 200),
        (states.SERVICING, 200),
        (states.SERVICEHOLD, 200),
        (states.ACTIVE, 404),
        (states.CLEANFAIL, 404),
    ],
)
def test_with_fast_track_a_ramdisk_may_run_earlier(start: Callable[..., Service], state: str, status: int) -> None:
    service = start(ramdisk=RamdiskSettings(fast_track=True))
    add_waiting(service, state=state)
    assert look_up(service).status == status


@pytest.mark.parametrize("own, default, status", [("true", False, 200), ("false", True, 404)])
def test_a_node_says_for_itself_whether_its_ramdisk_stays(
    start: Callable[..., Service], own: str, default: bool, status: int
) -> None:
    service = start(ramdisk=RamdiskSettings(fast_track=default))
    add_waiting(service, state=states.MANAGEABLE, driver_info={"fast_track": own})
    assert look_up(service).status == status


def test_a_ramdisk_that_stayed_and_fell_silent_makes_room_for_another(start: Callable[..., Service]) -> None:
    service = start(ramdisk=RamdiskSettings(fast_track=True, fast_track_timeout=300))
    node = add_waiting(
        service,
        state=states.MANAGEABLE,
        driver_internal_info={
            "agent_secret_token": "earlier",
            "agent_url": "https://192.0.2.7:9999",
            "agent_last_heartbeat": "2001-01-01T00:00:00",
        },
    )
    token = look_up(service).json["config"]["agent_token"]
    assert token not in ("earlier", "******")
    assert beat(service, node, "earlier") == 400
    assert beat(service, node, token) == 202
    assert look_up(service).json["config"]["agent_token"] == "******"  # it has been heard of now


def test_an_unrestricted_look_up_finds_nodes_in_every_state(start: Callable[..., Service]) -> None:
    service = start(restrict_lookup=False)
    add_waiting(service, state=states.ACTIVE)
    assert look_up(service).status == 200


def test_a_look_up_takes_no_more_addresses_than_a_machine_can_have(service: Service) -> None:
    add_waiting(service, state=states.DEPLOYING)
    many = ",".join(f"52:54:00:ff:{number // 256:02x}:{number % 256:02x}" for number in range(1023))
    assert look_up(service, f"{many},{MAC}").status == 200
    assert look_up(service, f"{many},{MAC},{OTHER_MAC}").status == 400


@pytest.mark.demand("S76")
def test_look_ups_that_fail_are_answered_by_the_same_bytes(service: Service) -> None:
    add_waiting(service, MAC, states.DEPLOYING)
    add_waiting(service, OTHER_MAC, states.ACTIVE)
    add_waiting(service, STRANGE_MAC, states.DEPLOYING)
    answers = [
        look_up(service, "52:54:00:0a:00:99"),
        look_up(service, OTHER_MAC),
        look_up(service, f"{MAC},{STRANGE_MAC}"),
        service.call("GET", f"/v1/lookup?node_uuid={NOBODY}"),
    ]
    assert {answer.status for answer in answers} == {404}
    assert len({answer.body for answer in answers}) == 1


@pytest.mark.demand("S76")
def test_callbacks_that_fail_are_answered_by_the_same_bytes(service: Service) -> None:
    one, active = add_waiting(service, MAC), add_waiting(service, OTHER_MAC, states.ACTIVE)
    add_waiting(service, STRANGE_MAC)
    service.store.nodes.set_bmc_addresses(one.id, ["192.0.2.1"])
    answers = [
        go_on(service, "52:54:00:0a:00:99"),
        go_on(service, OTHER_MAC),
        go_on(service, MAC, STRANGE_MAC),
        go_on(service, STRANGE_MAC, bmc_address="192.0.2.1"),
        go_on(service, MAC, query=f"?node_uuid={NOBODY}"),
        go_on(service, MAC, query=f"?node_uuid={active.uuid}"),
    ]
    assert {answer.status for answer in answers} == {404}
    assert len({answer.body for answer in answers}) == 1
    assert service.conductor.asked == []


@pytest.mark.demand("S72", "S75")
def test_data_of_a_waiting_node_are_taken(service: Service) -> None:
    node = add_waiting(service)
    assert go_on(service, MAC, query=f"?node_uuid={node.uuid}").status == 200
    assert service.conductor.asked == [
        ["continue_inspection", node.uuid, {"interfaces": [{"mac_address": MAC}]}, {}],
    ]


@pytest.mark.demand("S74")
@pytest.mark.parametrize(
    "version, keys", [("1.1", {"uuid"}), ("1.84", {"node", "config"}), ("1.115", {"node", "config"})]
)
def test_the_answer_to_data_depends_on_the_version(service: Service, version: str, keys: set[str]) -> None:
    add_waiting(service)
    answer = go_on(service, MAC, version=version)
    assert (answer.status, answer.json.keys()) == (200, keys)
    assert [go_on(service, MAC, version=between).status for between in ("1.2", "1.83")] == [404, 404]


@pytest.mark.demand("S115")
def test_a_rule_of_the_early_phase_keeps_data_out_like_a_failed_match(
    start: Callable[..., Service], tmp_path: Path
) -> None:
    condition = {"op": "eq", "args": ["{inventory[hostname]}", "bad"]}
    rule = {"phase": "early", "conditions": [condition], "actions": [{"op": "fail", "args": ["out"]}]}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump([rule]))
    service = start(rule_book=RuleBook(load_built_in(str(tmp_path / "rules.yaml"))))
    add_waiting(service)
    refused, unknown = go_on(service, MAC, hostname="bad"), go_on(service, "52:54:00:0a:00:99")
    assert (refused.status, refused.body) == (404, unknown.body)
    assert go_on(service, MAC, hostname="good").status == 200


CALL = {"op": "api-call", "args": {"url": "http://127.0.0.1:1/", "timeout": 1, "retries": 0}}


def post_in(service: Service, lane: str, content: bytes = b"") -> Response:
    sent = environ_of("POST", "/v1/continue_inspection", content)
    return service.send(sent | {LANE: lane, "HTTP_X_OPENSTACK_IRONIC_API_VERSION": "1.115"})


@pytest.mark.parametrize("phase", ["preprocess", "main"])
def test_a_report_whose_early_rules_call_no_service_is_answered_where_it_arrives(service: Service, phase: str) -> None:
    add_waiting(service)
    post(service.store, phase="early")
    post(service.store, phase=phase, actions=[CALL])
    content = json.dumps({"inventory": {"interfaces": [{"mac_address": MAC}]}}).encode()
    assert post_in(service, permit.QUICK, content).status == 200


def test_a_report_moves_before_its_body_is_read_when_an_early_rule_calls_a_service(
    start: Callable[..., Service],
) -> None:
    service = start(report_limit=TokenBuckets(1))
    post(service.store, phase="early", actions=[CALL])
    with pytest.raises(MustMove):
        post_in(service, permit.QUICK, b"no JSON")
    # It was admitted where it arrived, and is not counted a second time.
    assert post_in(service, permit.SLOW, b"no JSON").status == 400
    assert post_in(service, permit.QUICK, b"no JSON").status == 503


def test_a_report_moves_when_a_conductor_may_hand_it_on(service: Service) -> None:
    row = InterfaceRow("fake-hardware", "inspect", "of a third party", default=False, facts="hands_reports_on")
    service.store.conductors.register("other", "", ["fake-hardware"], [row])
    service.hash_ring.reset()
    with pytest.raises(MustMove):
        post_in(service, permit.QUICK, b"no JSON")
    assert post_in(service, permit.SLOW, b"no JSON").status == 400


def test_a_report_that_finds_no_thread_is_to_come_again(service: Service) -> None:
    answer = post_in(service, permit.FULL)
    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")


def test_under_other_servers_few_reports_wait_for_services(start: Callable[..., Service]) -> None:
    service = start(report_slots=threading.Semaphore(0))
    assert go_on(service, MAC).status == 404
    post(service.store, phase="early", actions=[CALL])
    assert go_on(service, MAC).status == 503


@pytest.mark.parametrize(
    "method, path",
    [
        ("GET", f"/v1/lookup?addresses={MAC}"),
        ("POST", f"/v1/heartbeat/{NOBODY}"),
        ("POST", "/v1/heartbeat"),
        ("POST", "/v1/continue_inspection"),
    ],
)
def test_they_can_be_switched_off(start: Callable[..., Service], method: str, path: str) -> None:
    service = start(enable_ramdisk_endpoints=False)
    assert service.call(method, path, body={}).status == 403


def test_plain_http_is_for_those_who_allow_it(start: Callable[..., Service]) -> None:
    service = start(ramdisk=RamdiskSettings(require_tls=False))
    node = add_node(service, driver_internal_info={"agent_secret_token": "t"})
    assert beat(service, node, "t", "http://[2001:db8::1]:9999/") == 202


def test_data_may_be_larger_than_other_bodies_and_have_a_bound(start: Callable[..., Service]) -> None:
    service = start(max_body=100, max_body_inspection=1000)
    add_waiting(service)
    assert go_on(service, MAC, padding="x" * 500).status == 200
    assert go_on(service, MAC, padding="x" * 1000).status == 413


class TestStatements:
    def count(self, service: Service, send: Callable[[], Any], *statements: int) -> None:
        # What is known of the conductors is looked up once in a while, not per request.
        service.hash_ring.served()
        with counting_statements(service.store) as sent:
            send()
        assert (sent.selects, sent.writes, sent.commits) == statements

    def test_a_first_look_up(self, service: Service) -> None:
        add_waiting(service, state=states.DEPLOYING)
        self.count(service, lambda: look_up(service), 3, 1, 1)

    def test_a_later_look_up(self, service: Service) -> None:
        add_waiting(service, state=states.DEPLOYING, driver_internal_info={"agent_secret_token": "t"})
        self.count(service, lambda: look_up(service), 2, 0, 0)

    def test_a_heartbeat(self, service: Service) -> None:
        node = add_node(service, driver_internal_info={"agent_secret_token": "t"})
        self.count(service, lambda: beat(service, node, "t"), 1, 0, 0)

    def test_data(self, service: Service) -> None:
        add_waiting(service)
        self.count(service, lambda: go_on(service, MAC, bmc_address="192.0.2.9"), 5, 1, 1)


def test_what_ramdisks_are_told_comes_from_the_options(conf: Callable[..., None]) -> None:
    assert ApiSettings.from_conf(CONF).ramdisk == RamdiskSettings()
    conf(
        agent__allow_md5_checksum=False,
        agent__require_tls=False,
        agent__tls_minimum_version="1.2",
        conductor__permitted_image_formats=["raw"],
        agent_containers__runner="docker",
        metrics__agent_backend="statsd",
        metrics_statsd__agent_statsd_port=8000,
        deploy__fast_track=True,
    )
    settings = ApiSettings.from_conf(CONF).ramdisk
    told = settings.document(300)
    assert (settings.require_tls, settings.fast_track) == (False, True)
    assert (told["agent_md5_checksum_enable"], told["tls_min_version"]) == (False, "1.2")
    assert told["permitted_image_formats"] == ["raw"]
    assert told["agent_containers"]["runner"] == "docker"
    assert told["metrics"]["backend"] == "statsd"
    assert told["metrics_statsd"] == {"statsd_host": "localhost", "statsd_port": 8000}


@pytest.mark.demand("S114")
def test_built_in_rules_are_read_once(conf: Callable[..., None], tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump([{"actions": [{"op": "fail", "args": ["x"]}]}]))
    conf(inspection_rules__built_in=str(file))
    first = ApiSettings.from_conf(CONF).rule_book
    file.write_text("[]")
    assert ApiSettings.from_conf(CONF).rule_book.built_in == first.built_in
    assert len(first.built_in) == 1
