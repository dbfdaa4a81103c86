"""How many requests an address and a caller may send, and have in progress."""

from typing import Any

import pytest

from ironic.api.error_responses import Refused
from ironic.api.request_limits import RequestLimits
from ironic.core.context import RequestContext

HERE, THERE = "192.0.2.1", "192.0.2.2"


def status(limits: RequestLimits, address: str) -> int:
    try:
        with limits.of_address(address):
            return 200
    except Refused as refusal:
        return refusal.status


def counted(limits: RequestLimits, context: RequestContext, environ: dict[str, Any] | None = None) -> int:
    try:
        limits.count_caller({} if environ is None else environ, context)
    except Refused as refusal:
        return refusal.status
    return 200


def test_without_limits_everything_passes() -> None:
    limits = RequestLimits()
    assert not limits.counts_addresses()
    assert {status(limits, HERE) for _ in range(1000)} == {200}
    assert {counted(limits, RequestContext(project_id="p")) for _ in range(1000)} == {200}


def test_an_address_has_so_many_requests_in_a_minute() -> None:
    limits = RequestLimits(per_address=3)
    assert [status(limits, HERE) for _ in range(5)] == [200] * 3 + [429] * 2
    assert status(limits, THERE) == 200


def test_an_address_has_so_many_requests_in_progress() -> None:
    limits = RequestLimits(at_once=2)
    with limits.of_address(HERE), limits.of_address(HERE):
        assert (status(limits, HERE), status(limits, THERE)) == (429, 200)
    assert status(limits, HERE) == 200


def test_a_failed_request_is_in_progress_no_more() -> None:
    limits = RequestLimits(at_once=1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), limits.of_address(HERE):
            raise ZeroDivisionError
    assert status(limits, HERE) == 200
    assert not limits._running


def test_a_refused_address_is_not_in_progress() -> None:
    limits = RequestLimits(per_address=1, at_once=1)
    assert [status(limits, HERE) for _ in range(3)] == [200, 429, 429]
    assert not limits._running


def test_the_users_of_a_project_share_its_limit_and_a_user_without_one_has_a_limit_alone() -> None:
    limits = RequestLimits(per_caller=2)
    of_project = [RequestContext(project_id="p", user_id=user) for user in ("a", "b", "c")]
    assert [counted(limits, one) for one in of_project] == [200, 200, 429]
    assert [counted(limits, RequestContext(user_id="a", system_scope="all")) for _ in range(3)] == [200, 200, 429]
    assert counted(limits, RequestContext(project_id="q")) == 200


def test_callers_without_credentials_are_not_counted() -> None:
    limits = RequestLimits(per_caller=1)
    assert {counted(limits, RequestContext(is_public_api=True, project_id="p")) for _ in range(3)} == {200}
    assert {counted(limits, RequestContext()) for _ in range(3)} == {200}


def test_a_request_that_is_begun_anew_counts_once() -> None:
    limits = RequestLimits(per_address=1, per_caller=1)
    context, environ = RequestContext(project_id="p"), dict[str, Any]()
    for _ in range(3):
        with limits.of_address(HERE):
            limits.count_caller(environ, context)
            limits.take_back(environ, HERE)
    assert (status(limits, HERE), counted(limits, context)) == (200, 200)
    assert (status(limits, HERE), counted(limits, context)) == (429, 429)


def test_the_refusal_names_the_caller_the_limit_and_the_wait() -> None:
    limits = RequestLimits(per_caller=20)
    context = RequestContext(project_id="p")
    for _ in range(20):
        limits.count_caller({}, context)
    with pytest.raises(Refused, match=r"The project p sends more than 20 requests per minute. Wait 3 s") as refused:
        limits.count_caller({}, context)
    assert refused.value.headers == [("Retry-After", "3")]
