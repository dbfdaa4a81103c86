"""Asking a live service about its nodes, and for moves of theirs."""

import time
from typing import Any

import requests

from ironic.tests.live_service import Answering

PATIENCE = 60


def call(service: Answering, method: str, path: str, body: Any = None) -> requests.Response:
    """Send one request, with the newest version."""
    headers = {"X-OpenStack-Ironic-API-Version": "1.115"}
    return requests.request(method, f"{service.url}{path}", json=body, headers=headers, timeout=30)


def follow(service: Answering, uuid: str, wanted: str) -> dict[str, Any]:
    """Look at the node until it has come to a state; return the last look."""
    deadline = time.monotonic() + PATIENCE
    while True:
        node: dict[str, Any] = call(service, "GET", f"/v1/nodes/{uuid}").json()
        if node["provision_state"] == wanted and node["reservation"] is None:
            return node
        assert time.monotonic() < deadline, (node["provision_state"], node["last_error"])
        time.sleep(0.05)


def ask(service: Answering, uuid: str, target: str, **more: Any) -> requests.Response:
    """Ask for a move to another provision state."""
    return call(service, "PUT", f"/v1/nodes/{uuid}/states/provision", {"target": target, **more})
