"""No token of a project names a file of the service's hosts, in whatever request and spelling."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from ironic.api.app import BARE_METAL, Api
from ironic.api.policy import KeystonePolicy
from ironic.api.request import Services
from ironic.core.context import RequestContext
from ironic.rpc.client import ConductorClients
from ironic.rpc.in_process import InProcess
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Response
from ironic.tests.reference_rules import configuration
from ironic.tests.unit.api.resources.rows import add_node

FILE = "file:///var/lib/ironic/ironic.sqlite"
MEMBER, ADMIN = ("member", "reader"), ("admin", "manager", "member", "reader")


class House:
    """A service with rules, and one node that project p owns and project l leases."""

    def __init__(self, running: services.Service, api: Api) -> None:
        self._service, self._api = running, api
        self.node = add_node(running, owner="p", lessee="l", provision_state="active")

    def ask(self, who: RequestContext, method: str, path: str, body: Any = None) -> Response:
        def app(environ: dict[str, Any], start: Any) -> Any:
            return self._api(environ | {"ironic.context": who}, start)

        return dataclasses.replace(self._service, app=app).call(method, path, body=body)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    directory = tmp_path_factory.mktemp("house")
    running, conf = services.start(directory), configuration(directory)
    transport = InProcess()
    transport.register(services.HOST, running.conductor)
    conductors = ConductorClients(transport, running.hash_ring)
    rooms = Services(running.store, conductors, running.hash_ring, running.settings, KeystonePolicy.from_conf(conf))
    yield House(running, Api(BARE_METAL, rooms))
    running.close()


def of_project(project: str, roles: tuple[str, ...]) -> RequestContext:
    return RequestContext(user_id="u", project_id=project, roles=roles)


def patch(path: str, value: Any) -> list[dict[str, Any]]:
    return [{"op": "add", "path": path, "value": value}]


STEP = {"interface": "deploy", "step": "x", "args": {"url": FILE}}
REQUESTS: list[tuple[str, str, Any]] = [
    *(
        ("PATCH", "/v1/nodes/{}", patch(f"/instance_info/{name}", FILE))
        for name in (
            "kernel",
            "ramdisk",
            "image_source",
            "boot_iso",
            "configdrive",
            "image_checksum",
            "image_os_hash_value",
        )
    ),
    *(("PATCH", "/v1/nodes/{}", patch(f"/driver_info/{name}", FILE)) for name in ("deploy_kernel", "rescue_ramdisk")),
    ("PATCH", "/v1/nodes/{}", patch("/instance_info", {"deep": [{"kernel": FILE}]})),
    ("PATCH", "/v1/nodes/{}", patch("/extra/x", FILE)),
    (
        "PATCH",
        "/v1/nodes/{}",
        [{"op": "replace", "path": "/instance_info", "value": {"kernel": " \tFILE:/etc/passwd"}}],
    ),
    ("POST", "/v1/nodes", {"driver": "fake-hardware", "driver_info": {"deploy_kernel": "fi\tle:///x"}}),
    ("POST", "/v1/nodes", {"driver": "fake-hardware", "instance_info": {"kernel": FILE}}),
    ("PUT", "/v1/nodes/{}/states/provision", {"target": "rebuild", "configdrive": FILE}),
    ("PUT", "/v1/nodes/{}/states/provision", {"target": "rebuild", "deploy_steps": [{**STEP, "priority": 10}]}),
    ("PUT", "/v1/nodes/{}/states/provision", {"target": "service", "service_steps": [STEP]}),
    ("PUT", "/v1/nodes/{}/states/provision", {"target": "clean", "clean_steps": [STEP]}),
    ("POST", "/v1/nodes/{}/vmedia", {"device_type": "cdrom", "image_url": FILE}),
    ("POST", "/v1/nodes/{}/vendor_passthru?method=x", {"url": FILE}),
    ("POST", "/v1/nodes/{}/vendor_passthru?method=x&url=file:///etc/passwd", {}),
    ("POST", "/v1/runbooks", {"name": "CUSTOM_X", "steps": [{**STEP, "order": 1}]}),
    ("POST", "/v1/allocations", {"resource_class": "x", "extra": {"a": FILE}}),
]


@pytest.mark.parametrize("who", [of_project("l", MEMBER), of_project("p", ADMIN), of_project("l", ADMIN)])
@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: f"{one[0]} {one[1]}")
def test_a_project_names_no_file(house: House, who: RequestContext, request_: tuple[str, str, Any]) -> None:
    method, path, body = request_
    before = house.ask(of_project("p", ADMIN), "GET", f"/v1/nodes/{house.node.uuid}").json
    answer = house.ask(who, method, path.format(house.node.uuid), body)
    assert answer.status == 403, answer.body
    assert house.ask(of_project("p", ADMIN), "GET", f"/v1/nodes/{house.node.uuid}").json == before


def test_a_project_hears_why(house: House) -> None:
    answer = house.ask(of_project("p", ADMIN), *REQUESTS[0][:1], f"/v1/nodes/{house.node.uuid}", REQUESTS[0][2])
    assert "administrators of the whole site" in str(answer.body)


def test_an_administrator_of_the_site_may_name_one(house: House) -> None:
    who = RequestContext(user_id="u", system_scope="all", roles=ADMIN)
    answer = house.ask(who, "PATCH", f"/v1/nodes/{house.node.uuid}", patch("/driver_info/deploy_kernel", FILE))
    assert answer.status == 200, answer.body
    # What an administrator has set stays when the owner changes something else.
    answer = house.ask(of_project("p", ADMIN), "PATCH", f"/v1/nodes/{house.node.uuid}", patch("/extra/a", "b"))
    assert answer.status == 200, answer.body
