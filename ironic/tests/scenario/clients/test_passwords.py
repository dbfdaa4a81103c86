"""The clients with a name and a password for each request, as small sites and Metal3 have it."""

from collections.abc import Iterator
from pathlib import Path

import bcrypt
import openstack
import pytest
import requests
from openstack import exceptions

from ironic.tests.live_service import Options, Service, all_in_one, free_port, write_options
from ironic.tests.repository import tool
from ironic.tests.scenario.clients.sdk import QUIET
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.command_line import CommandFailed

pytestmark = QUIET

LOGIN = ("operator", "s3cret")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run a service that knows one user."""
    directory, port = tmp_path_factory.mktemp("passwords"), free_port()
    users = directory / "htpasswd"
    users.write_text(f"{LOGIN[0]}:{bcrypt.hashpw(LOGIN[1].encode(), bcrypt.gensalt(rounds=4)).decode()}\n")
    options: Options = {"DEFAULT": {"auth_strategy": "http_basic", "http_basic_auth_user_file": users, "debug": True}}
    files = [tool("run").configure(directory / "service", port), write_options(directory / "more.conf", options)]
    with all_in_one(files, directory / "service" / "ironic.log", port) as running:
        yield running
    assert LOGIN[1] not in running.log


def test_the_command_line(service: Service, tmp_path: Path) -> None:
    baremetal = Shell(service.url, LOGIN)
    baremetal("node", "create", "--driver", "fake-hardware", "--name", "machine")
    assert [row["name"] for row in baremetal.rows("node", "list")] == ["machine"]
    baremetal("node", "delete", "machine")
    for wrong in (None, ("operator", "wrong"), ("nobody", "s3cret")):
        with pytest.raises(CommandFailed, match="401"):
            Shell(service.url, wrong)("node", "list")


def test_the_sdk(service: Service) -> None:
    def connected(password: str) -> openstack.connection.Connection:
        return openstack.connect(
            auth_type="http_basic", auth={"endpoint": service.url, "username": LOGIN[0], "password": password},
            load_envvars=False, load_yaml_config=False,
        )  # fmt: skip

    with connected(LOGIN[1]) as cloud:
        assert list(cloud.baremetal.nodes()) == []
    with connected("wrong") as cloud, pytest.raises(exceptions.HttpException, match="401"):
        list(cloud.baremetal.nodes())


def test_metal3(service: Service) -> None:
    # It asks for the versions before it says who it is.
    assert requests.get(f"{service.url}/v1", timeout=30).status_code == 200
    headers = {"X-OpenStack-Ironic-API-Version": "1.95"}
    answer = requests.get(f"{service.url}/v1/drivers", headers=headers, auth=LOGIN, timeout=30)
    assert "fake-hardware" in [driver["name"] for driver in answer.json()["drivers"]]
    assert requests.get(f"{service.url}/v1/drivers", headers=headers, timeout=30).status_code == 401
