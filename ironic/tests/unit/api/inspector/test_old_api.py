"""The route table of the inspector's API: every row is guarded by a policy of the bare metal API, or public."""

import pytest

from ironic.api import crud_notifications, policies
from ironic.api.error_responses import Silent
from ironic.api.inspector import inspector_versions
from ironic.api.inspector.old_api import InspectorApi
from ironic.api.routes import Route, Routes
from ironic.rpc.notifications import subjects

ROWS = [pytest.param(row, id=f"{row.method} {row.path}") for row in InspectorApi.rows]
KNOWN = {name for name, *_ in policies.RULES}
PUBLIC = {("GET", "/"), ("GET", "/v1"), ("POST", "/v1/continue")}


@pytest.mark.parametrize("row", ROWS)
def test_every_row_has_a_policy_or_is_public(row: Route) -> None:
    assert row.public == ((row.method, row.path) in PUBLIC)
    assert row.public or row.rule in KNOWN or f"{row.rule}_all" in KNOWN
    assert not row.handler_authorizes


@pytest.mark.parametrize("row", ROWS)
def test_no_row_depends_on_a_version(row: Route) -> None:
    assert row.since == 1


def test_the_table_is_free_of_contradictions() -> None:
    assert len(Routes(InspectorApi.rows).rows) == 16


def test_an_error_is_short_and_without_secrets() -> None:
    body = InspectorApi().fault(500, f"password=hunter2 {'x' * 5000}", "a traceback")
    assert b"hunter2" not in body and b"traceback" not in body
    assert len(body) < 1200


def test_a_refusal_without_a_body_stays_one() -> None:
    assert InspectorApi().refusal(Silent(405)) == b""


@pytest.mark.parametrize("minor", [inspector_versions.OLDEST, 6, inspector_versions.NEWEST])
def test_a_version_is_read_from_its_header(minor: int) -> None:
    environ = {"HTTP_X_OPENSTACK_IRONIC_INSPECTOR_API_VERSION": f"1.{minor}"}
    assert inspector_versions.negotiate(environ) == minor
    assert (inspector_versions.HEADER, f"1.{minor}") in InspectorApi().version_headers(environ, 115)


@pytest.mark.parametrize("row", ROWS)
def test_changes_of_rules_are_notified_as_those_of_the_bare_metal_api_are(row: Route) -> None:
    declared = crud_notifications.notification_of(row)
    changes_rules = row.path.startswith("/v1/rules") and row.method != "GET"
    assert (declared is not None) == changes_rules
    assert declared is None or declared.subject == subjects.of("rule")
