"""The stock command line and the SDK show the text of every answer that asks them to come again: 503 and 429."""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import bcrypt
import openstack
import pytest
import requests
from openstack import exceptions

from ironic.api.rate_limit import Guesses
from ironic.api.request_body import BodyMemory
from ironic.api.request_limits import RequestLimits
from ironic.api.settings import ApiSettings
from ironic.command.http_server import ApiServer, ServerSettings
from ironic.core.errors import TemporaryFailure, all_errors
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service
from ironic.tests.scenario.clients.sdk import QUIET
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.command_line import Baremetal, CommandFailed

pytestmark = QUIET

NODE = "11111111-0000-4000-8000-000000000001"
TEMPORARY = {name: cls for name, cls in all_errors().items() if issubclass(cls, TemporaryFailure)}


@contextmanager
def served(application: Any) -> Iterator[str]:
    """Serve an application with the service's own HTTP server and give its URL."""
    server = ApiServer(application, ServerSettings(("127.0.0.1", 0)))
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


@contextmanager
def sdk(url: str, **login: Any) -> Iterator[Any]:
    """Connect with an SDK that does not repeat what failed, which would only take longer."""
    cloud = openstack.connect(
        endpoint=url,
        load_envvars=False,
        load_yaml_config=False,
        baremetal_status_code_retries=0,
        **(login or {"auth_type": "none"}),
    )
    try:
        yield cloud.baremetal
    finally:
        cloud.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = services.start(tmp_path_factory.mktemp("service"))
    assert running.call("POST", "/v1/nodes", body={"driver": "fake-hardware", "uuid": NODE}).status == 201
    yield running
    running.close()


@pytest.fixture(scope="module")
def url(service: Service) -> Iterator[str]:
    with served(service.app) as url:
        yield url


@pytest.mark.parametrize("name", sorted(TEMPORARY))
def test_the_text_of_every_error_that_passes_reaches_the_user(service: Service, url: str, name: str) -> None:
    error = TEMPORARY[name]()
    service.conductor.answers["change_node_power_state"] = error
    said = " ".join(str(error).split())
    with pytest.raises(CommandFailed) as failed:
        Shell(url)("node", "power", "on", NODE)
    assert said in " ".join(str(failed.value).split())
    with sdk(url) as baremetal, pytest.raises(exceptions.HttpException) as refused:
        baremetal.set_node_power_state(NODE, "power on")
    assert (refused.value.status_code, said in str(refused.value)) == (503, True)


def test_the_program_itself_shows_it_after_its_own_repetitions(service: Service, url: str) -> None:
    service.conductor.answers["change_node_power_state"] = TEMPORARY["NoFreeConductorWorker"](host="one")
    with pytest.raises(CommandFailed, match="Conductor one has no free worker"):
        Baremetal(url)("--max-retries", "1", "--retry-interval", "1", "node", "power", "on", NODE)


PER_ADDRESS = 6


@contextmanager
def limited_by_address(directory: Path, _conf: Any) -> Iterator[tuple[Any, dict[str, str]]]:
    running = services.start(directory, ApiSettings(request_limits=RequestLimits(per_address=PER_ADDRESS)))
    yield running.app, {}
    running.close()


def begin(service: Service, **headers: str) -> None:
    """Send the request that uses up a limit, from the address of the clients."""
    service.send(services.environ_of("GET", "/v1/nodes", b"") | {"REMOTE_ADDR": "127.0.0.1"} | headers)


@contextmanager
def limited_by_password(directory: Path, _conf: Any) -> Iterator[tuple[Any, dict[str, str]]]:
    users = directory / "users"
    users.write_text(f"user:{bcrypt.hashpw(b'right', bcrypt.gensalt(4)).decode()}\n")
    settings = ApiSettings(auth_strategy="http_basic", user_file=str(users), guesses=Guesses(1))
    running = services.start(directory, settings)
    begin(running, HTTP_AUTHORIZATION=f"Basic {b64encode(b'user:wrong').decode()}")
    yield running.app, {"OS_AUTH_TYPE": "http_basic", "OS_USERNAME": "user", "OS_PASSWORD": "wrong"}
    running.close()


@contextmanager
def limited_by_user(directory: Path, conf: Any) -> Iterator[tuple[Any, dict[str, str]]]:
    with keystone.playing() as identity:
        running = keystone.service(directory, identity, conf, request_limits=RequestLimits(per_caller=1))
        assert keystone.ask(running, "owner-admin", "GET", "/v1/nodes").status == 200
        yield running.app, {"OS_AUTH_TYPE": "admin_token", "OS_TOKEN": "owner-admin"}
        running.close()


@contextmanager
def without_keystone(directory: Path, conf: Any) -> Iterator[tuple[Any, dict[str, str]]]:
    with keystone.playing() as identity:
        running = keystone.service(directory, identity, conf)
    yield running.app, {"OS_AUTH_TYPE": "admin_token", "OS_TOKEN": "some-token"}
    running.close()


@contextmanager
def without_memory(directory: Path, _conf: Any) -> Iterator[tuple[Any, dict[str, str]]]:
    memory = BodyMemory(1, timeout=0)
    memory.take(1)
    running = services.start(directory, ApiSettings(body_memory=memory))
    yield running.app, {}
    running.close()


@contextmanager
def without_conductor(directory: Path, _conf: Any) -> Iterator[tuple[Any, dict[str, str]]]:
    running = services.start(directory)
    running.store.conductors.unregister(services.HOST)
    running.hash_ring.reset()
    yield running.app, {}
    running.close()


LIST, ALLOCATE = ("node", "list"), ("allocation", "create", "--resource-class", "x")
CREATE = ("node", "create", "--driver", "fake-hardware", "--description", "x" * 70_000)
# The situation -> what is answered, what the user typed and what is read then.
SITUATIONS = {
    limited_by_address: (429, LIST, f"sends more than {PER_ADDRESS} requests per minute"),
    limited_by_password: (429, LIST, "too many wrong passwords"),
    limited_by_user: (429, LIST, "sends more than 1 requests per minute"),
    without_keystone: (503, LIST, "Keystone does not answer"),
    without_memory: (503, CREATE, "Too many large requests"),
    without_conductor: (503, ALLOCATE, "conductor"),
}
REQUESTS = {LIST: ("GET", "/v1/nodes", None), ALLOCATE: ("POST", "/v1/allocations", {"resource_class": "x"})}
REQUESTS[CREATE] = ("POST", "/v1/nodes", {"driver": "fake-hardware", "description": "x" * 70_000})

SDK: dict[tuple[str, ...], Any] = {
    LIST: lambda baremetal: list(baremetal.nodes()),
    ALLOCATE: lambda baremetal: baremetal.create_allocation(resource_class="x"),
    CREATE: lambda baremetal: baremetal.create_node(driver="fake-hardware", description="x" * 70_000),
}


class Visitor(Shell):
    """The client with other credentials."""

    def __init__(self, url: str, login: dict[str, str]) -> None:
        super().__init__(url)
        self._credentials = login

    def environment(self) -> dict[str, str]:
        return super().environment() | self._credentials


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_what_is_answered_before_a_handler_reaches_the_user(situation: Any, tmp_path: Path, conf: Any) -> None:
    status, words, text = SITUATIONS[situation]
    with ExitStack() as stack:
        app, login = stack.enter_context(situation(tmp_path, conf))
        url = stack.enter_context(served(app))
        options = {"auth_type": login.get("OS_AUTH_TYPE", "none"), "username": "user", "password": "wrong"}
        # The SDK says of a document of versions that it did not get only that it did not get it.
        baremetal = stack.enter_context(sdk(url, **options, token=login.get("OS_TOKEN")))
        if situation is limited_by_address:
            for _ in range(PER_ADDRESS):
                requests.get(url, timeout=30)
        with pytest.raises(exceptions.HttpException) as refused:
            SDK[words](baremetal)
        assert (refused.value.status_code, text in str(refused.value)) == (status, True)
        with pytest.raises(CommandFailed) as failed:
            Visitor(url, login)(*words)
        assert text in " ".join(str(failed.value).split())
        # Any other client is told when to come again.
        method, path, body = REQUESTS[words]
        headers = {"X-OpenStack-Ironic-API-Version": "1.115", "X-Auth-Token": login.get("OS_TOKEN", "")}
        basic = ("user", "wrong") if "OS_PASSWORD" in login else None
        answer = requests.request(method, url + path, json=body, headers=headers, auth=basic, timeout=30)
        assert (answer.status_code, int(answer.headers["Retry-After"]) > 0) == (status, True)
        for agent in (
            "python-ironicclient",
            "nova-compute python-ironicclient/5",
            "Python-IronicClient",
        ):
            answer = requests.request(
                method, url + path, json=body, headers=headers | {"User-Agent": agent}, auth=basic, timeout=30
            )
            assert (answer.status_code, "Retry-After" in answer.headers) == (status, False)
