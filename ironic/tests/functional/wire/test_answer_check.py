"""[api]response_validation: an answer in another form than described is logged, or replaced by an error."""

import builtins
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ironic.api import answers
from ironic.api.answers import Answer
from ironic.api.request import Request
from ironic.api.resources import ROUTES
from ironic.api.served_api import BareMetalApi
from ironic.api.settings import ApiSettings
from ironic.tests.functional.wire import service as wire
from ironic.tests.functional.wire.service import Service


def wrong(_request: Request, *_arguments: Any, **_more: Any) -> Answer:
    """Answer in a form that is not described."""
    return answers.document({"uuid": 5, "extra": "hunter2"})


# The real table, with a defect in one row.
DEFECT = BareMetalApi(
    tuple(
        replace(row, handler=wrong) if (row.method, row.path) == ("GET", "/v1/nodes/{node}") else row for row in ROUTES
    )
)


@pytest.fixture(params=["ignore", "warn", "error"])
def mode(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def service(tmp_path: Path, mode: str) -> Iterator[Service]:
    running = wire.start(tmp_path, ApiSettings(response_validation=mode), served=DEFECT)
    yield running
    running.close()


def test_answers_as_described_are_sent(service: Service, mode: str, caplog: pytest.LogCaptureFixture) -> None:
    made = service.call("POST", "/v1/nodes", body={"driver": "fake-hardware", "name": "n1"})
    assert made.status == 201
    for path in ("/", "/v1", "/v1/nodes", "/v1/nodes/detail", "/v1/conductors", "/v1/drivers", "/v1/openapi.json"):
        for version in ("1.1", wire.NEWEST):
            assert service.call("GET", path, version=version).status in (200, 404)
    assert service.call("PATCH", "/v1/nodes/n1", body=[{"op": "add", "path": "/extra/a", "value": 1}]).status == 200
    assert service.call("GET", "/v1/nodes/none/states").status == 404
    assert service.call("DELETE", "/v1/nodes/n1").status == 204
    assert not [one for one in caplog.messages if "not as described" in one]


def test_an_answer_in_another_form_is_said_without_its_values(
    service: Service, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert service.call("POST", "/v1/nodes", body={"driver": "fake-hardware", "name": "n1"}).status == 201
    with caplog.at_level(logging.ERROR):
        answer = service.call("GET", "/v1/nodes/n1")
    assert answer.status == (500 if mode == "error" else 200)
    said = [one for one in caplog.messages if "not as described" in one]
    assert len(said) == (mode != "ignore")
    if said:
        assert "GET /v1/nodes/{node}" in said[0] and "$.uuid breaks type" in said[0]
        assert "hunter2" not in said[0]
    assert (b"[api]response_validation" in answer.body) == (mode == "error")


def test_a_start_without_the_module_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *others: Any) -> Any:
        if name == "jsonschema":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return usual(name, *others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ValueError, match=r"^\[api\]response_validation = warn needs Python module jsonschema: pip "):
        wire.start(tmp_path, ApiSettings(response_validation="warn"))
