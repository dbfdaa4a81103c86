"""Requests to the API of the standalone inspector, as its clients send them."""

from collections.abc import Mapping
from typing import Any

from ironic.tests.functional.wire.service import Response, Service

HEADER = "X-OpenStack-Ironic-Inspector-API-Version"
NODE = "11111111-0000-4000-8000-000000000001"
NAME = "first"
MAC = "52:54:00:00:00:01"
MISSING = "99999999-0000-4000-8000-000000000099"


def ask(
    service: Service,
    method: str,
    path: str,
    body: Any = None,
    *,
    version: str | None = "1.18",
    raw: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Send one request; version None sends no header."""
    sent = {} if version is None else {HEADER: version}
    return service.call(method, path, version=None, body=body, raw=raw, headers={**sent, **(headers or {})})


def refused(response: Response, status: int) -> str:
    """Check that a request was refused in the old shape; return the reason."""
    assert response.status == status, response.body
    assert response.json.keys() == {"error"}
    assert response.json["error"].keys() == {"message"}
    reason: str = response.json["error"]["message"]
    assert reason
    return reason


def set_node(service: Service, **values: Any) -> None:
    """Write columns of the node."""
    node = service.store.nodes.get(NODE)
    for name, value in values.items():
        setattr(node, name, value)
    service.store.nodes.save(node)
