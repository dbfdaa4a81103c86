"""The application around the handlers: what it promises whatever happens inside."""

import http.client
import io
import json
import logging
import threading
import wsgiref.simple_server
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pecan.core
import pytest
from oslo_log import formatters

from ironic.api.answers import Answer
from ironic.api.app import Api, build_app
from ironic.api.middleware import Middleware
from ironic.api.policy import NoauthPolicy
from ironic.api.request import Request, Services
from ironic.api.routes import Route
from ironic.api.served_api import BareMetalApi
from ironic.api.settings import ApiSettings
from ironic.conf import logging_setup
from ironic.integrations.metrics import METRICS
from ironic.rpc.client import ConductorClients
from ironic.rpc.in_process import InProcess
from ironic.tests.conftest import Setter
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service


def clients(service: Service) -> ConductorClients:
    """Return clients of conductors of which none is there."""
    return ConductorClients(InProcess(), service.hash_ring)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path)
    yield running
    running.close()


@pytest.mark.parametrize(
    "name", ["find_controller", "invoke_controller", "determine_hooks", "_handle_empty_response_body", "handle_hooks"]
)
def test_what_we_override_in_pecan_is_still_there(name: str) -> None:
    assert callable(getattr(pecan.core.ExplicitPecan, name))


def boom(request: Request) -> Answer:
    raise ZeroDivisionError("the password is hunter2")


@pytest.mark.parametrize("debug", [False, True])
def test_the_unexpected_is_a_plain_500_and_a_line_in_the_log(
    service: Service, caplog: pytest.LogCaptureFixture, debug: bool
) -> None:
    settings = ApiSettings(debug_tracebacks=debug)
    inner = Api(
        BareMetalApi([Route("GET", "/v1/boom", boom)]),
        Services(service.store, clients(service), service.hash_ring, settings, NoauthPolicy()),
    )
    service.app = Middleware(inner, settings, BareMetalApi([]))
    with caplog.at_level(logging.ERROR):
        response = service.call("GET", "/v1/boom")
    inside = json.loads(response.json["error_message"])
    assert response.status == 500
    assert inside["faultcode"] == "Server"
    assert "hunter2" not in inside["faultstring"]
    assert ("ZeroDivisionError" in (inside["debuginfo"] or "")) is debug
    assert "GET /v1/boom failed" in caplog.text
    assert len([name for name in response.headers if "Ironic-API" in name]) == 3


def test_what_escapes_the_application_is_a_500_too(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    def broken(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        raise KeyError("x")

    service.app = Middleware(broken, ApiSettings(), BareMetalApi([]))
    response = service.call("GET", "/")
    assert (response.status, json.loads(response.json["error_message"])["faultcode"]) == (500, "Server")
    assert response.headers["openstack-request-id"] in caplog.text


def test_every_request_has_an_id_of_its_own(service: Service) -> None:
    ids = {service.call("GET", "/").headers["x-openstack-request-id"] for _ in range(3)}
    assert len(ids) == 3
    assert all(one.startswith("req-") for one in ids)


def quiet(request: Request) -> Answer:
    logging.getLogger("ironic.test").warning("here")
    return Answer(204)


@pytest.mark.parametrize("given", ["req-6f2b0c1e-93ad-4a57-8e11-0c9b7d5f3a42", "req-1", None])
def test_the_log_names_the_request_of_a_service_that_calls(service: Service, given: str | None) -> None:
    parts = Services(service.store, clients(service), service.hash_ring, ApiSettings(), NoauthPolicy())
    app = Middleware(Api(BareMetalApi([Route("GET", "/v1/quiet", quiet)]), parts), ApiSettings(), BareMetalApi([]))
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(logging_setup._Harmless(formatters.ContextFormatter(), {}))
    logging.getLogger("ironic.test").addHandler(handler)
    try:
        with wsgiref.simple_server.make_server("127.0.0.1", 0, app) as server:
            thread = threading.Thread(target=server.handle_request)
            thread.start()
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
            connection.request("GET", "/v1/quiet", headers={} if given is None else {"X-OpenStack-Request-ID": given})
            own = connection.getresponse().headers["X-OpenStack-Request-ID"]
            connection.close()
            thread.join()
    finally:
        logging.getLogger("ironic.test").removeHandler(handler)
    (line,) = lines.getvalue().splitlines()
    assert f"[{given if given and len(given) > 8 else '-'} {own} " in line


PROXY = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "public.example, inner", "X-Forwarded-Prefix": "/baremetal/"}


@pytest.mark.parametrize(
    ("settings", "base"),
    [
        (ApiSettings(), services.BASE),
        (ApiSettings(proxy_headers=True), "https://public.example/baremetal"),
        (ApiSettings(public_endpoint="https://fixed.example:1234"), "https://fixed.example:1234"),
        (ApiSettings(public_endpoint="https://odd/%41\"'é", proxy_headers=True), "https://odd/%41\"'é"),
    ],
)
def test_links_start_where_clients_can_reach_us(tmp_path: Path, settings: ApiSettings, base: str) -> None:
    service = services.start(tmp_path, settings)
    service.call("POST", "/v1/nodes", body={"driver": "fake-hardware"})
    node = service.call("GET", "/v1/nodes", headers=PROXY).json["nodes"][0]
    assert node["links"][0] == {"href": f"{base}/v1/nodes/{node['uuid']}", "rel": "self"}
    assert service.call("GET", "/v1", headers=PROXY).json["nodes"][1]["href"] == f"{base}/nodes/"
    service.close()


@pytest.mark.parametrize(("enabled", "status"), [(True, 200), (False, 404)])
def test_the_health_path_answers_when_it_is_switched_on(tmp_path: Path, enabled: bool, status: int) -> None:
    service = services.start(tmp_path, ApiSettings(healthcheck=enabled))
    assert service.call("GET", "/healthcheck").status == status
    service.close()


def test_an_unknown_way_of_authentication_refuses_the_start(service: Service) -> None:
    with pytest.raises(ValueError, match="trust is unknown"):
        build_app(service.store, None, service.hash_ring, ApiSettings(auth_strategy="trust"))  # type: ignore[arg-type]  # as above


def test_long_lists_come_in_chunks_and_are_whole(service: Service) -> None:
    base = {"driver": "fake-hardware", "provision_state": "enroll"}
    with service.store.writing():
        for number in range(250):
            service.store.nodes.create(base | {"name": f"n{number}"})
    response = service.call("GET", "/v1/nodes?fields=name")
    assert [node["name"] for node in response.json["nodes"]] == [f"n{number}" for number in range(250)]
    assert int(response.headers["Content-Length"]) == len(response.body)
    pages, path = [], "/v1/nodes?fields=name&limit=100"
    while path:
        page = service.call("GET", path).json
        pages.append(len(page["nodes"]))
        path = page.get("next", "").removeprefix(services.BASE)
    assert pages == [100, 100, 50]


def test_the_limit_of_a_page_can_be_configured(tmp_path: Path) -> None:
    service = services.start(tmp_path, ApiSettings(max_limit=2))
    for _ in range(3):
        service.call("POST", "/v1/nodes", body={"driver": "fake-hardware"})
    assert len(service.call("GET", "/v1/nodes").json["nodes"]) == 2
    assert len(service.call("GET", "/v1/nodes?limit=50").json["nodes"]) == 2
    service.close()


def test_the_class_of_new_nodes_can_be_configured(tmp_path: Path) -> None:
    service = services.start(tmp_path, ApiSettings(default_resource_class="gold"))
    body = {"driver": "fake-hardware"}
    assert service.call("POST", "/v1/nodes", body=body).json["resource_class"] == "gold"
    assert service.call("POST", "/v1/nodes", body=body | {"resource_class": "x"}).json["resource_class"] == "x"
    service.close()


def test_boot_modes_of_new_nodes_can_be_forbidden(tmp_path: Path) -> None:
    service = services.start(tmp_path, ApiSettings(disallowed_boot_modes=frozenset({"bios"})))
    body = {"driver": "fake-hardware"}
    assert service.call("POST", "/v1/nodes", body=body | {"boot_mode": "bios"}).status == 400
    assert service.call("POST", "/v1/nodes", body=body | {"boot_mode": "uefi"}).status == 201
    for name in ("properties", "instance_info"):
        for given, status in (
            ("a:b,boot_mode:bios", 400),
            ("boot_mode:BIOS", 400),
            ("boot_mode:uefi", 201),
            ("malformed", 201),
            (None, 201),
        ):
            answer = service.call("POST", "/v1/nodes", body=body | {name: {"capabilities": given}})
            assert answer.status == status, (name, given)
    answer = service.call("POST", "/v1/nodes", body=body | {"instance_info": {"capabilities": {"boot_mode": "bios"}}})
    assert answer.status == 400
    service.close()


def test_deleting_available_nodes_can_be_forbidden(tmp_path: Path) -> None:
    service = services.start(tmp_path, ApiSettings(allow_deleting_available_nodes=False))
    uuid = service.call("POST", "/v1/nodes", body={"driver": "fake-hardware"}, version="1.10").json["uuid"]
    assert service.call("DELETE", f"/v1/nodes/{uuid}").status == 409
    service.close()


@pytest.mark.demand("S71")
def test_an_inventory_comes_back_as_it_was_stored(service: Service) -> None:
    node = service.store.nodes.create({"driver": "fake-hardware", "name": "n", "provision_state": "enroll"})
    inventory, plugin_data = {"cpu": {"count": 4}, "disks": [{"name": "/dev/sda", "é": None}]}, {"a": [1.5]}
    service.store.inventories.put(node.id, inventory, plugin_data)
    response = service.call("GET", "/v1/nodes/n/inventory", version="1.81")
    assert response.json == {"inventory": inventory, "plugin_data": plugin_data}
    assert service.call("GET", "/v1/nodes/n/inventory", version="1.80").status == 404


def test_a_body_without_length_is_read_when_it_comes_in_chunks(service: Service) -> None:
    environ = services.environ_of("POST", "/v1/nodes", b'{"driver": "fake-hardware"}')
    del environ["CONTENT_LENGTH"]
    assert service.send(environ).status == 400
    environ = services.environ_of("POST", "/v1/nodes", b'{"driver": "fake-hardware"}')
    del environ["CONTENT_LENGTH"]
    assert service.send(environ | {"HTTP_TRANSFER_ENCODING": "chunked"}).status == 201


def test_a_body_that_comes_in_chunks_has_the_same_limit(service: Service) -> None:
    environ = services.environ_of("POST", "/v1/nodes", b'{"driver": "' + b"x" * 1024 * 1024 + b'"}')
    del environ["CONTENT_LENGTH"]
    assert service.send(environ | {"HTTP_TRANSFER_ENCODING": "chunked"}).status == 413


def test_provision_requests_may_be_larger(service: Service) -> None:
    service.store.nodes.create({"driver": "fake-hardware", "name": "n", "provision_state": "available"})
    drive = {"target": "active", "configdrive": "QUJD" * 512 * 1024}
    assert service.call("PUT", "/v1/nodes/n/states/provision", body=drive).status == 202
    assert service.call("PUT", "/v1/nodes/n/states/power", body=drive).status == 413


@pytest.mark.parametrize("path", [b"/v1/nodes/\xff\xfe", b"/v1/nodes/n\xc3\xa4m\xc3\xa9", b"/v1/\x00"])
def test_a_path_of_odd_bytes_leads_nowhere(service: Service, path: bytes) -> None:
    assert service.call("GET", path.decode("latin-1")).status in (400, 404)


def test_head_tells_the_length_of_what_get_would_answer(service: Service) -> None:
    head, get = service.call("HEAD", "/v1"), service.call("GET", "/v1")
    assert head.body == b""
    assert head.headers["Content-Length"] == str(len(get.body))


def test_errors_of_malformed_names_are_told_in_the_version_asked_for(service: Service) -> None:
    response = service.call("GET", "/v1/ports/a b", version="1.50")
    assert (response.status, response.headers[services.VERSION_HEADER]) == (400, "1.50")


@pytest.mark.demand("S57")
@pytest.mark.parametrize("state", ["cleaning", "clean wait"])
def test_while_a_node_is_cleaned_nothing_else_is_asked_of_it(service: Service, state: str) -> None:
    service.store.nodes.create({"driver": "fake-hardware", "name": "n", "provision_state": state})
    for target in ("power on", "power off", "rebooting"):
        assert service.call("PUT", "/v1/nodes/n/states/power", body={"target": target}).status == 400
    for verb in ("provide", "inspect", "active", "deleted", "adopt"):
        assert service.call("PUT", "/v1/nodes/n/states/provision", body={"target": verb}).status == 400
    assert service.conductor.asked == []


@pytest.mark.demand("S57")
def test_a_node_that_failed_cleaning_can_be_powered(service: Service) -> None:
    service.store.nodes.create({"driver": "fake-hardware", "name": "n", "provision_state": "clean failed"})
    assert service.call("PUT", "/v1/nodes/n/states/power", body={"target": "power off"}).status == 202
    assert service.conductor.asked[0][0] == "change_node_power_state"


@pytest.mark.demand("S69")
def test_discovered_nodes_can_be_listed(service: Service) -> None:
    for name, found in (("a", True), ("b", False)):
        service.store.nodes.create({"driver": "fake-hardware", "name": name, "auto_discovered": found})
    path = "/v1/nodes?auto_discovered={}&fields=name"
    assert service.call("GET", path.format("true"), version="1.84").json["nodes"][0]["name"] == "a"
    assert service.call("GET", path.format("false")).json["nodes"][0]["name"] == "b"
    assert service.call("GET", path.format("true"), version="1.83").status == 406


def test_a_node_knows_its_chassis(service: Service) -> None:
    chassis = service.store.chassis.create({"description": "rack"}).uuid
    created = service.call("POST", "/v1/nodes", body={"driver": "fake-hardware", "name": "n", "chassis_uuid": chassis})
    assert created.json["chassis_uuid"] == chassis
    patched = service.call("PATCH", "/v1/nodes/n", body=[{"op": "add", "path": "/extra/a", "value": 1}])
    assert patched.json["chassis_uuid"] == chassis
    assert service.call("GET", "/v1/nodes/n").json == patched.json
    assert len(service.call("GET", f"/v1/nodes?chassis_uuid={chassis}").json["nodes"]) == 1
    removed = service.call("PATCH", "/v1/nodes/n", body=[{"op": "remove", "path": "/chassis_uuid"}])
    assert removed.json["chassis_uuid"] is None
    assert service.call("GET", f"/v1/nodes?chassis_uuid={chassis}").json["nodes"] == []


def test_an_answer_is_measured_under_the_name_of_its_route(
    service: Service, conf: Setter, measure: Callable[[], None]
) -> None:
    assert service.call("GET", "/v1/nodes").status == 200
    conf(metrics__backend="collector")
    measure()
    made = service.call("POST", "/v1/nodes", body={"driver": "fake-hardware"}).json["uuid"]
    for path in ("/v1/nodes", f"/v1/nodes/{made}", f"/v1/nodes/{made}", "/v1/nodes/unknown", "/v1/no-such-path"):
        service.call("GET", path)
    counts = {name: entry["count"] for name, entry in METRICS.collected().items()}
    front = "ironic.api.NodesController"
    assert counts == {f"{front}.post": 1, f"{front}.get_all": 1, f"{front}.get_one": 2}
