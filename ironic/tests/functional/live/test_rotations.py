"""Secrets, access rules and options are replaced while clients send requests: none is lost, none stays as it was."""

import os
import signal
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import bcrypt
import pytest
import requests

from ironic.tests.functional.live.test_rights import configured
from ironic.tests.functional.wire import keystone
from ironic.tests.live_service import Service, all_in_one, all_in_one_below, free_port
from ironic.tests.redfish_bmc import write_certificate

PATIENCE = 60
CLIENTS = 4


def replace(path: Path, text: str) -> None:
    """Replace a file as tools do that rotate secrets: at once, by a file of another name."""
    new = path.with_suffix(".new")
    new.write_text(text)
    os.replace(new, path)


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Clients:
    """Clients that list nodes again and again, each time by a new connection, and note what came back.

    ``login`` makes arguments of a request from a password or a token.
    """

    def __init__(self, url: str, password: str, login: Callable[[str], dict[str, Any]]) -> None:
        self.password, self.answers, self.faults = password, list[int](), list[Exception]()
        self._url, self._login, self._ended = url, login, threading.Event()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._work) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            for thread in threads:
                thread.join()

    def ask(self, password: str) -> int:
        """Return the status of one request."""
        login = self._login(password)
        return requests.get(f"{self._url}/v1/nodes", verify=False, timeout=PATIENCE, **login).status_code

    def go_on(self) -> None:
        """Wait until each client has had several answers."""
        wanted = len(self.answers) + 2 * CLIENTS
        until(lambda: len(self.answers) > wanted)

    def _work(self) -> None:
        while not self._ended.is_set():
            try:
                password = self.password
                status = self.ask(password)
                # The password was replaced while the request was on its way.
                if status == 401 and password != self.password:
                    continue
                self.answers.append(status)
            except requests.RequestException as error:
                self.faults.append(error)


def hashed(password: str) -> str:
    return f"ann:{bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()}\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Service, Path]]:
    certificate, key = write_certificate(tmp_path)
    users = tmp_path / "htpasswd"
    users.write_text(hashed("first"))
    users.chmod(0o600)
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "auth_strategy": "http_basic",
            "http_basic_auth_user_file": users,
            "state_path": tmp_path,
            "enabled_hardware_types": "fake-hardware",
            **{f"enabled_{kind}_interfaces": "fake" for kind in ("deploy", "boot", "management", "power")},
        },
        "api": {"enable_ssl_api": True, "cert_file": certificate, "key_file": key},
        "conductor": {"periodic_max_workers": 8},
    }
    with all_in_one_below(tmp_path, options) as service:
        yield service, users


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_what_is_rotated_under_load_is_used_at_once_and_no_request_is_lost(
    site: tuple[Service, Path], tmp_path: Path
) -> None:
    service, users = site
    url = f"https://127.0.0.1:{service.port}"
    clients = Clients(url, "first", lambda password: {"auth": ("ann", password)})

    def shown() -> str:
        return ssl.get_server_certificate(("127.0.0.1", service.port or 0), timeout=PATIENCE)

    with ExitStack() as stack:
        stack.enter_context(clients.at_work())
        clients.go_on()
        old = shown()
        write_certificate(tmp_path)
        service.signal(signal.SIGHUP)
        until(lambda: shown() != old)
        clients.go_on()

        replace(users, hashed("first") + hashed("second").replace("ann", "bob"))
        clients.go_on()
        replace(users, hashed("second"))
        clients.password = "second"
        until(lambda: clients.ask("first") == 401)
        assert clients.ask("second") == 200
        clients.go_on()

        path = tmp_path / "ironic.conf"
        text = path.read_text()
        replace(path, text.replace("[DEFAULT]", "[DEFAULT]\ndebug = true", 1).replace("workers = 8", "workers = 9"))
        service.signal(signal.SIGHUP)
        until(lambda: "Option DEFAULT.debug changed" in service.log)
        clients.go_on()
    assert not clients.faults
    assert set(clients.answers) == {200}
    # What needs a restart says so: the old value does not stay in silence.
    assert "Ignoring change to immutable option conductor.periodic_max_workers" in service.log


def test_access_rules_are_replaced_under_load_and_hold_from_the_next_request_on(tmp_path: Path) -> None:
    port, rules, rule = free_port(), tmp_path / "policy.yaml", "baremetal:node:list"
    wide, narrow = (f'"{rule}": "{check}"\n' for check in ("role:member or role:reader", "role:member"))
    with keystone.playing() as url:
        configuration = configured(tmp_path, url, port)
        rules.write_text(wide)
        clients = Clients(
            f"http://127.0.0.1:{port}", "owner-member", lambda token: {"headers": {"X-Auth-Token": token}}
        )
        with all_in_one([configuration], tmp_path / "log", port) as service, clients.at_work():
            for text, status in [(narrow, 403), (wide, 200)] * 5:
                clients.go_on()
                replace(rules, text)
                assert clients.ask("owner-reader") == status
            # A mistake of the operator changes nothing, and is said.
            replace(rules, f'"{rule}": "role:member or (("\n')
            assert clients.ask("owner-reader") == 200
            clients.go_on()
            assert "The access rules read before stay in force" in service.log
            replace(rules, narrow)
            assert clients.ask("owner-reader") == 403
    assert not clients.faults
    assert set(clients.answers) == {200}
