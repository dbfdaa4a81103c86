"""The clients in a cloud: they log in, find the service in the catalog, and get what their roles allow."""

from collections.abc import Iterator
from typing import Any

import openstack
import pytest
from openstack import exceptions
from openstack.connection import Connection

from ironic.tests.live_service import Options, Service, all_in_one, free_port, write_options
from ironic.tests.repository import tool
from ironic.tests.scenario.clients.identity import ISSUER, keystone
from ironic.tests.scenario.clients.sdk import QUIET
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.command_line import CommandFailed

pytestmark = QUIET


class CloudShell(Shell):
    """The command line of a user who logs in."""

    def __init__(self, auth_url: str, name: str, **scope: str) -> None:
        super().__init__("")
        self.variables = {"OS_AUTH_URL": auth_url, "OS_USERNAME": name, "OS_PASSWORD": name}
        self.variables |= {"OS_USER_DOMAIN_ID": "default", "OS_IDENTITY_API_VERSION": "3"}
        self.variables |= {f"OS_{key.upper()}": value for key, value in scope.items()}

    def environment(self) -> dict[str, str]:
        ours = {name: value for name, value in super().environment().items() if not name.startswith("OS_")}
        return {**ours, "OS_AUTH_TYPE": "password", **self.variables}


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a service that trusts a Keystone; gives the address of the latter."""
    directory, port = tmp_path_factory.mktemp("keystone"), free_port()
    with keystone(f"http://127.0.0.1:{port}") as url:
        files = [tool("run").configure(directory / "service", port), write_options(directory / "c.conf", options(url))]
        with all_in_one(files, directory / "service" / "ironic.log", port) as running:
            yield url
    check(running)


def options(url: str) -> Options:
    trust = {"www_authenticate_uri": url, "auth_type": "admin_token", "endpoint": f"{url}/v3", "token": ISSUER}
    ours = {"auth_strategy": "keystone", "debug": True, "rbac_service_role_elevated_access": True}
    return {"DEFAULT": ours, "keystone_authtoken": trust}


def check(service: Service) -> None:
    assert "Traceback" not in service.log


@pytest.fixture
def operator(identity: str) -> Iterator[CloudShell]:
    """Log in as who may do everything; leave nothing behind."""
    shell = CloudShell(identity, "operator", system_scope="all")
    yield shell
    for row in shell.rows("node", "list"):
        shell("node", "delete", row["uuid"])


def tenant(identity: str, project: str = "p1") -> CloudShell:
    return CloudShell(identity, "tenant", project_name=project, project_domain_id="default")


def test_everybody_gets_what_the_roles_allow(identity: str, operator: CloudShell) -> None:
    for name in ("mine", "yours"):
        operator("node", "create", "--driver", "fake-hardware", "--name", name)
    operator("node", "set", "mine", "--owner", "p1")
    assert {row["name"] for row in operator.rows("node", "list")} == {"mine", "yours"}
    assert [row["name"] for row in tenant(identity).rows("node", "list")] == ["mine"]
    assert tenant(identity, "p2").rows("node", "list") == []
    tenant(identity)("node", "set", "mine", "--extra", "a=1")
    with pytest.raises(CommandFailed, match="HTTP 403"):
        tenant(identity)("node", "delete", "mine")
    with pytest.raises(CommandFailed, match="HTTP 404"):
        tenant(identity)("node", "show", "yours")
    auditor = CloudShell(identity, "auditor", system_scope="all")
    assert len(auditor.rows("node", "list")) == 2
    with pytest.raises(CommandFailed, match="HTTP 403"):
        auditor("node", "create", "--driver", "fake-hardware")
    with pytest.raises(CommandFailed, match="401"):
        CloudShell(identity, "nobody", system_scope="all")("node", "list")


def connected(identity: str, name: str, **scope: Any) -> Connection:
    auth = {"auth_url": identity, "username": name, "password": name, "user_domain_id": "default", **scope}
    return openstack.connect(auth_type="password", auth=auth, load_envvars=False, load_yaml_config=False)


def test_nova_logs_in_as_a_service(identity: str, operator: CloudShell) -> None:
    operator("node", "create", "--driver", "fake-hardware", "--name", "machine")
    operator("node", "manage", "machine", "--wait", "60")
    with connected(identity, "nova", project_name="service", project_domain_id="default") as cloud:
        (node,) = cloud.baremetal.nodes(fields=["uuid", "provision_state", "instance_uuid", "resource_class"])
        cloud.baremetal.update_node(node.id, instance_id="11111111-2222-4333-8444-555555555555")
        assert next(iter(cloud.baremetal.nodes(associated=True))).id == node.id
        cloud.baremetal.patch_node(node.id, [{"op": "remove", "path": "/instance_uuid"}])
    with connected(identity, "auditor", system_scope="all") as cloud, pytest.raises(exceptions.ForbiddenException):
        cloud.baremetal.update_node(node.id, retry_on_conflict=False, extra={"a": 1})
