"""Secrets in the arguments of steps stay with their step and its addresses, and masks are no secrets."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.secrets.masking import REPLACEMENT
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.functional.wire.service import Service

ARGS = {"settings": [{"component": "bios", "url": "https://firmware.example.com/b"}], "password": "old"}
UPDATE = {"interface": "firmware", "step": "update", "args": ARGS, "order": 1}
EVIL = "https://192.0.2.1/b"
URL = "/steps/0/args/settings/0/url"


@pytest.fixture
def service(tmp_path: Path, conf: Callable[..., None]) -> Iterator[Service]:
    with keystone.playing() as url:
        running = keystone.service(tmp_path, url, conf)
        yield running
        running.close()


def moved(*more: dict[str, Any], path: str = URL) -> list[dict[str, Any]]:
    return [{"op": "replace", "path": path, "value": EVIL}, *more]


def secret(value: str) -> dict[str, Any]:
    return {"op": "replace", "path": "/steps/0/args/password", "value": value}


@pytest.mark.parametrize(
    ("token", "changes", "status"),
    [
        ("owner-manager", moved(), 400),
        ("owner-manager", moved(secret(REPLACEMENT)), 400),
        ("owner-manager", [{"op": "replace", "path": "/steps/0/step", "value": "other"}], 400),
        (
            "owner-manager",
            [
                {"op": "add", "path": "/steps/0", "value": UPDATE | {"step": "x", "args": {"password": "mine"}}},
                {"op": "remove", "path": "/steps/0"},
                *moved(),
            ],
            400,
        ),
        ("owner-manager", moved(secret("new")), 200),
        ("owner-manager", [{"op": "replace", "path": "/steps/0/order", "value": 3}], 200),
        ("system-admin", moved(), 200),
    ],
)
def test_a_runbook_sends_no_stored_secret_elsewhere(
    service: Service, token: str, changes: list[dict[str, Any]], status: int
) -> None:
    book = service.store.runbooks.create_with({"name": "r", "owner": "owners"}, [UPDATE])
    answer = ask(service, token, "PATCH", f"/v1/runbooks/{book.uuid}", changes)
    assert answer.status == status, answer.body
    if status == 400:
        assert b"old" not in answer.body
        assert service.store.runbooks.steps.of([book.id])[book.id][0]["args"] == ARGS


@pytest.mark.parametrize(("verb", "name"), [("clean", "clean_steps"), ("service", "service_steps")])
def test_a_masked_secret_is_no_argument_of_a_requested_step(service: Service, verb: str, name: str) -> None:
    """A client that copies the steps of a runbook which it has read would write asterisks to the machine."""
    service.store.nodes.update(OWNED, {"provision_state": "active" if verb == "service" else "manageable"})
    step = {"interface": "firmware", "step": "update", "args": ARGS | {"password": REPLACEMENT}}
    path = f"/v1/nodes/{OWNED}/states/provision"
    answer = ask(service, "owner-admin", "PUT", path, {"target": verb, name: [step]})
    assert answer.status == 400 and b"asterisks" in answer.body
    assert ask(service, "owner-admin", "PUT", path, {"target": verb, name: [step | {"args": ARGS}]}).status == 202


def test_a_masked_secret_is_no_argument_of_a_deploy_step(service: Service) -> None:
    service.store.nodes.update(OWNED, {"provision_state": "available"})
    step = {"interface": "firmware", "step": "update", "priority": 5, "args": {"password": REPLACEMENT}}
    path = f"/v1/nodes/{OWNED}/states/provision"
    answer = ask(service, "owner-admin", "PUT", path, {"target": "active", "deploy_steps": [step]})
    assert answer.status == 400 and b"asterisks" in answer.body
