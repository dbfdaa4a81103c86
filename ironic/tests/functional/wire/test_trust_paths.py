"""Files and ports of a conductor's host are not for projects to name.

They must neither read a file, nor find out which there are, nor take a port that another server may want again.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.functional.wire.service import Response, Service

PATH = f"/v1/nodes/{OWNED}"


@pytest.fixture
def service(tmp_path: Path, conf: Callable[..., None]) -> Iterator[Service]:
    with keystone.playing() as url:
        running = keystone.service(tmp_path, url, conf)
        yield running
        running.close()


def put(service: Service, token: str, key: str, value: object) -> Response:
    return ask(service, token, "PATCH", PATH, [{"op": "add", "path": f"/driver_info/{key}", "value": value}])


@pytest.mark.parametrize("token", ["owner-member", "owner-admin", "owner-service"])
@pytest.mark.parametrize("key", ["redfish_verify_ca", "agent_verify_ca", "acme_ca_file"])
def test_a_project_says_yes_or_no_and_names_no_file(service: Service, token: str, key: str) -> None:
    answers = [put(service, token, key, path) for path in ("/etc/passwd", "/no/such/file", "/dev/ptmx")]
    assert {answer.status for answer in answers} == {400}
    assert len({answer.body for answer in answers}) == 1
    whole = [{"op": "add", "path": "/driver_info", "value": {key: "/etc/passwd"}}]
    assert ask(service, token, "PATCH", PATH, whole).status == 400
    assert put(service, token, key, "True").status == 200


def test_a_project_names_none_in_a_new_node_either(service: Service) -> None:
    new = {"driver": "fake-hardware", "driver_info": {"redfish_verify_ca": "/etc/passwd"}}
    assert ask(service, "owner-admin", "POST", "/v1/nodes", new).status == 400


@pytest.mark.parametrize("key", ["ipmi_terminal_port", "acme_console_port"])
def test_a_project_chooses_no_port_for_a_console(service: Service, key: str) -> None:
    for port in (6388, "22"):
        assert put(service, "owner-admin", key, port).status == 400
    new = {"driver": "fake-hardware", "driver_info": {key: 6388}}
    assert ask(service, "owner-admin", "POST", "/v1/nodes", new).status == 400
    assert put(service, "system-admin", key, 10007).status == 200
    assert put(service, "owner-member", "ipmi_username", "admin").status == 200
    assert service.store.nodes.get(OWNED).driver_info[key] == 10007


@pytest.mark.parametrize("protocol", ["CIFS", "smb"])
def test_a_project_has_no_login_to_a_share_sent_to_its_bmc(service: Service, protocol: str) -> None:
    assert put(service, "owner-admin", "vmedia_transport_protocol", protocol).status == 400
    new = {"driver": "fake-hardware", "driver_info": {"vmedia_transport_protocol": protocol}}
    assert ask(service, "owner-admin", "POST", "/v1/nodes", new).status == 400
    assert put(service, "owner-admin", "vmedia_transport_protocol", "NFS").status == 200
    assert put(service, "system-admin", "vmedia_transport_protocol", protocol).status == 200
    for key in ("redfish_address", "redfish_verify_ca", "redfish_system_id"):
        assert put(service, "owner-admin", key, "false").status == 400
    whole = [{"op": "add", "path": "/driver_info", "value": {"vmedia_transport_protocol": protocol}}]
    assert ask(service, "owner-admin", "PATCH", PATH, whole).status == 200
    whole[0]["value"] = {"vmedia_transport_protocol": protocol, "redfish_address": "https://192.0.2.66"}
    assert ask(service, "owner-admin", "PATCH", PATH, whole).status == 400
    assert put(service, "owner-admin", "deploy_kernel", "http://192.0.2.9/kernel").status == 200
    assert put(service, "owner-admin", "vmedia_transport_protocol", "HTTP").status == 200


def test_who_stands_above_the_projects_names_files_and_projects_leave_them(service: Service) -> None:
    assert put(service, "system-admin", "redfish_verify_ca", "/etc/ssl/ca.pem").status == 200
    assert put(service, "owner-member", "redfish_username", "admin").status == 200
    info = service.store.nodes.get(OWNED).driver_info
    assert info["redfish_verify_ca"] == "/etc/ssl/ca.pem"
