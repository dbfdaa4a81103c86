"""Middleware of other packages sees requests before the API does, and may answer or change them."""

import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ironic.api import other_middleware
from ironic.api.settings import ApiSettings
from ironic.conf import CONF
from ironic.core.permit import PERMIT, MustWait
from ironic.tests.conftest import Setter
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.out_of_tree import lay_out

HERE = __name__
Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class NoRudeNames:
    """Refuses chassis whose description is rude, and completes those without one, as understack does for groups."""

    def __init__(self, app: Application) -> None:
        self._app = app

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "POST":
            return self._app(environ, start_response)
        body = json.loads(environ["wsgi.input"].read())
        if "rude" in body.get("description", ""):
            answer = json.dumps({"error_message": "mind your words"}).encode()
            start_response("400 Bad Request", [("Content-Type", "application/json")])
            return [answer]
        content = json.dumps({"description": "none", **body}).encode()
        environ["wsgi.input"], environ["CONTENT_LENGTH"] = io.BytesIO(content), str(len(content))
        return self._app(environ, start_response)


def marked(mark: str) -> Callable[[Application], Application]:
    """Return middleware that adds its mark to a header of the answer."""

    def wrap(app: Application) -> Application:
        def call(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
                return start_response(status, [*headers, ("X-Marks", mark)], *rest)

            return app(environ, start)

        return call

    return wrap


inner, outer = marked("inner"), marked("outer")


def no_application(app: Application) -> None:
    """Return nothing to call."""


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Install middleware by an entry point, and return its name and the places of two others."""
    module = tmp_path / "polite_names.py"
    module.write_text(f"from {HERE} import NoRudeNames as Polite\n")
    lay_out(tmp_path / "installed", module, "[ironic.api.middleware]\npolite = polite_names:Polite\n")
    monkeypatch.syspath_prepend(str(tmp_path / "installed"))
    return ["polite", f"{HERE}:inner", f"{HERE}:outer"]


def test_it_answers_itself_or_changes_what_the_api_gets(tmp_path: Path, names: list[str]) -> None:
    running = services.start(tmp_path, ApiSettings(middleware=tuple(names)))
    refused = running.call("POST", "/v1/chassis", body={"description": "rude"})
    assert (refused.status, refused.json) == (400, {"error_message": "mind your words"})
    assert running.call("GET", "/v1/chassis").json["chassis"] == []
    made = running.call("POST", "/v1/chassis", body={})
    assert (made.status, made.json["description"]) == (201, "none")
    assert made.headers["openstack-request-id"]
    running.close()


def test_the_last_name_is_outermost(tmp_path: Path, names: list[str]) -> None:
    # Each adds its mark on the way back.
    seen: list[tuple[str, str]] = []

    def inmost(_environ: Any, start: Any) -> list[bytes]:
        start("200 OK", [])
        return [b""]

    app: Any = other_middleware.wrap(inmost, names[1:])
    app({}, lambda status, headers, *rest: seen.extend(headers))
    assert seen == [("X-Marks", "inner"), ("X-Marks", "outer")]


def test_it_stands_before_authentication_and_within_the_health_check(
    tmp_path: Path, identity: str, conf: Setter, names: list[str]
) -> None:
    running = keystone.service(tmp_path, identity, conf, middleware=tuple(names[1:2]), healthcheck=True)
    assert running.call("GET", f"/v1/nodes/{OWNED}").status == 401
    assert running.call("GET", f"/v1/nodes/{OWNED}").headers["X-Marks"] == "inner"
    assert ask(running, "owner-admin", "GET", f"/v1/nodes/{OWNED}").status == 200
    assert "X-Marks" not in running.call("GET", "/healthcheck").headers
    running.close()


def test_the_thread_that_must_not_wait_leaves_it_to_another(names: list[str]) -> None:
    app: Any = other_middleware.wrap(lambda environ, start: [b""], names)
    with PERMIT.nonblocking(), pytest.raises(MustWait):
        app({"REQUEST_METHOD": "GET"}, lambda *answer: None)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("impolite", "there is no entry point of this name; there are polite"),
        (f"{HERE}:nothing", "has no attribute 'nothing'"),
        ("no_such_module:x", "No module named"),
        (f"{HERE}:no_application", "it returns no application"),
    ],
)
def test_a_name_that_leads_nowhere_stops_the_start(names: list[str], name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r"\[api\]middleware") as fault:
        other_middleware.wrap(lambda environ, start: [b""], [name])
    assert name in str(fault.value) and reason in str(fault.value)


def test_the_option_is_for_the_bare_metal_api_alone(conf: Setter, names: list[str]) -> None:
    conf(api__middleware=names)
    settings = ApiSettings.from_conf(CONF)
    assert (settings.middleware, settings.for_inspector(CONF).middleware) == (tuple(names), ())
