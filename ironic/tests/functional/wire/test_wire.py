"""Plays the exchanges of the YAML files beside this one.

A file is a list of cases. Each starts with an empty service holding the nodes of ``FIXTURES``; ``given`` changes
columns of the first node before anything is sent, ``items`` (by repository) what else is known of it. A step has its
method as a key (``GET: /v1/nodes``), and:

    version (the newest; none sends no header), headers, body or raw_body      what is sent
    status, shape (fault, abort, raw, text, silent), json (a part), absent (keys), body_is (text), header (a part)
                                                                           what must come back
    node (columns of the first node afterwards), asked (calls the conductor got), capture      what must have happened
    answers (per call: a value, or {error: Class, facts})      what the conductor is to say

Whatever is refused (400 and up) must leave the database as it was and the conductor in peace, and no answer may show
the word that stands for a password here. Those three hold for every step without being written down,
and so does the OpenAPI document: no answer may have a status or a shape that it does not have.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ironic.api import version_negotiation
from ironic.core.errors import all_errors
from ironic.tests.functional.wire import described
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import NEWEST, Response, Service

HERE = Path(__file__).parent
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
PASSWORD = "hunter2"

FIXTURES = {
    "U": "11111111-0000-4000-8000-000000000001",
    "N": "first",
    "U2": "11111111-0000-4000-8000-000000000002",
    "N2": "second",
    "P": "22222222-0000-4000-8000-000000000001",
    "M": "52:54:00:00:00:01",
    "A": "99999999-0000-4000-8000-000000000099",
    "M2": "52:54:00:00:00:99",
    "SECRET": PASSWORD,
    "HOST": "wire-conductor",
    "X248": "X" * 248,
    "X249": "X" * 249,
    "BASE": services.BASE,
    "NEWEST": NEWEST,
    "BEYOND": version_negotiation.text(version_negotiation.MAXIMUM + 1),
    "DEEP": '{"driver":' + "[" * 40 + "]" * 40 + "}",
    "VERY_DEEP": "[" * 20000,
    "LARGE": '{"driver":"' + "x" * (1024 * 1024) + '"}',
}

CASES = [
    pytest.param(case, id=f"{path.stem}: {case['name']}")
    for path in sorted(HERE.glob("*.yaml"))
    for case in yaml.safe_load(path.read_text())
]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path)
    yield running
    running.close()


@pytest.mark.parametrize("case", CASES)
def test_exchange(service: Service, case: dict[str, Any]) -> None:
    words = dict(FIXTURES)
    _prepare(service, case)
    for step in case.get("steps", [case]):
        _play(service, _filled(step, words), words)


def _prepare(service: Service, case: dict[str, Any]) -> None:
    common = {"driver": "fake-hardware", "conductor_group": "", "provision_state": "enroll"}
    interfaces = {f"{kind}_interface": names[0] for kind, names in services.SERVED["fake-hardware"].items()}
    named = {"uuid": FIXTURES["U"], "name": FIXTURES["N"]}
    first = service.store.nodes.create(common | interfaces | named | case.get("given", {}))
    service.store.nodes.create(common | interfaces | {"uuid": FIXTURES["U2"], "name": FIXTURES["N2"]})
    service.store.ports.create({"uuid": FIXTURES["P"], "address": FIXTURES["M"], "node_id": first.id})
    for name, items in case.get("items", {}).items():
        getattr(service.store, name).sync(first.id, items)


def _filled(value: Any, words: dict[str, str]) -> Any:
    """Put fixtures and captured values in place of their names in braces."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda found: words.get(found[1], found[0]), value)
    if isinstance(value, dict):
        return {_filled(key, words): _filled(inner, words) for key, inner in value.items()}
    return [_filled(inner, words) for inner in value] if isinstance(value, list) else value


def _play(service: Service, step: dict[str, Any], words: dict[str, str]) -> None:
    method = next(word for word in METHODS if word in step)
    service.conductor.answers = {name: _answer(value) for name, value in step.get("answers", {}).items()}
    service.conductor.asked.clear()
    before = service.contents()
    version = step.get("version", NEWEST)
    response = service.call(
        method,
        step[method],
        version=None if version == "none" else version,
        body=step.get("body"),
        raw=step["raw_body"].encode() if "raw_body" in step else None,
        headers=step.get("headers"),
    )
    _check(response, step)
    spoken = response.headers.get(services.VERSION_HEADER)
    if spoken is not None and response.headers.get("Content-Type", "application/json") == "application/json":
        body = response.json if response.body else None
        described.check(method, step[method], int(spoken.removeprefix("1.")), response.status, body)
    if response.status >= 400:
        assert service.contents() == before, "a refused request has changed the database"
    assert service.conductor.asked == step.get("asked", []), "the conductor was asked something else"
    _check_node(service, step.get("node", {}))
    for name, key in step.get("capture", {}).items():
        words[name] = response.json[key]


def _answer(value: Any) -> Any:
    if not isinstance(value, dict) or "error" not in value:
        return value
    return all_errors()[value["error"]](**value.get("facts", {}))


def _check(response: Response, step: dict[str, Any]) -> None:
    assert response.status == step["status"], response.body[:2000]
    assert PASSWORD.encode() not in response.body, "a secret came back"
    assert response.headers["openstack-request-id"] == response.headers["x-openstack-request-id"]
    _check_shape(response, step.get("shape"))
    if "json" in step:
        assert _has(response.json, step["json"]), response.json
    for key in step.get("absent", []):
        assert key not in response.json
    if "body_is" in step:
        assert response.body.decode() == step["body_is"]
    for name, value in step.get("header", {}).items():
        assert response.headers.get(name) == value, (name, response.headers.get(name))


def _check_shape(response: Response, shape: str | None) -> None:
    version_headers = [name for name in response.headers if "API" in name and "Ironic" in name]
    if response.status < 400:
        assert shape is None
    elif shape == "fault":
        inner = json.loads(response.json["error_message"])
        expected = "Client" if response.status < 500 else "Server"
        assert inner.keys() == {"faultcode", "faultstring", "debuginfo"}
        assert inner["faultcode"] == expected
        assert inner["faultstring"]
        assert len(version_headers) == 3 or response.status == 406
    elif shape == "abort":
        inner = json.loads(response.json["error_message"])
        assert inner.keys() == {"code", "title", "description"}
        assert inner["code"] == response.status
        assert not version_headers or response.status == 406
    elif shape == "raw":
        assert response.json.keys() == {"faultcode", "faultstring"}
        assert not version_headers
    elif shape == "text":
        assert isinstance(response.json["error_message"], str)
        assert not version_headers
    else:
        assert shape == "silent", "an error needs its shape said"
        assert response.body == b""
        assert not version_headers


def _has(found: Any, part: Any) -> bool:
    """Return whether a document has this part; lists must be alike in length."""
    if isinstance(part, dict):
        return isinstance(found, dict) and all(key in found and _has(found[key], part[key]) for key in part)
    if isinstance(part, list):
        return isinstance(found, list) and len(found) == len(part) and all(map(_has, found, part))
    return bool(found == part and type(found) is type(part))


def _check_node(service: Service, columns: dict[str, Any]) -> None:
    if columns:
        record = service.store.nodes.get(FIXTURES["U"])
        assert {name: getattr(record, name) for name in columns} == columns
