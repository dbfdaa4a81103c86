"""Whole lives of nodes with fake hardware: created, cleaned, deployed, put into maintenance, torn down and deleted."""

import random
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import requests

from ironic.tests.load import HEADERS

PATIENCE = 120.0
_FIELDS: Mapping[str, Any] = {
    "extra": {"a": 1},
    "properties": {"cpu_arch": "x86_64"},
    "driver_info": {"address": "192.0.2.1"},
    "instance_info": {"capabilities": {}},
    "resource_class": "large",
    "owner": "one",
    "lessee": "two",
    "description": "a machine",
    "automated_clean": True,
    "shard": "s",
    "network_data": {},
    "disable_power_off": False,
    "boot_interface": "fake",
    "deploy_interface": "fake",
}
_CLEANING = [{"interface": "bios", "step": "factory_reset"}]
_WAY = (
    ({"target": "manage"}, "manageable"),
    ({"target": "clean", "clean_steps": _CLEANING}, "manageable"),
    ({"target": "provide"}, "available"),
    ({"target": "active"}, "active"),
)


class Site:
    """Where they are lived."""

    def __init__(self, url: str, seed: int) -> None:
        self._url, self._random = url, random.Random(seed)

    def live(self, lives: int, at_once: int = 4) -> None:
        """Live so many lives, several at once."""
        with ThreadPoolExecutor(at_once) as users:
            for life in [users.submit(self._live) for _ in range(lives)]:
                life.result()

    def _live(self) -> None:
        with requests.Session() as session:
            session.headers.update(HEADERS)
            wanted = {name: value for name, value in _FIELDS.items() if self._random.random() < 0.5}
            path = f"/v1/nodes/{self._ask(session, 'POST', '/v1/nodes', {'driver': 'fake-hardware', **wanted})['uuid']}"
            for body, state in _WAY:
                self._ask(session, "PUT", f"{path}/states/provision", body)
                self._await(session, path, state)
            self._ask(session, "PUT", f"{path}/maintenance", {"reason": "why"} if self._random.random() < 0.5 else {})
            self._ask(session, "DELETE", f"{path}/maintenance")
            self._ask(session, "PUT", f"{path}/states/provision", {"target": "deleted"})
            self._await(session, path, "available")
            self._ask(session, "DELETE", path)

    def _ask(self, session: requests.Session, method: str, path: str, body: Any = None) -> Any:
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = session.request(method, f"{self._url}{path}", json=body, timeout=60)
            if answer.status_code < 300:
                return answer.json() if answer.content else None
            assert answer.status_code in (409, 503) and time.monotonic() < deadline, (path, body, answer.text)
            time.sleep(0.05)

    def _await(self, session: requests.Session, path: str, state: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            node = self._ask(session, "GET", f"{path}?fields=provision_state,reservation,last_error")
            if node["provision_state"] == state and node["reservation"] is None:
                return
            assert time.monotonic() < deadline and "fail" not in node["provision_state"], node
            time.sleep(0.02)
