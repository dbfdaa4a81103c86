"""Who asks survives the way to a conductor."""

import json

import pytest

from ironic.core.context import RequestContext, global_request_id, log_values, logged, service_context


def test_it_crosses_the_bus_unchanged():
    context = RequestContext(user_id="kim", project_id="lab", system_scope="all", roles=("reader", "member"))
    there = json.loads(json.dumps(context.to_dict()))
    assert RequestContext.from_dict(there) == context


def test_it_leaves_out_what_a_later_release_adds():
    assert RequestContext.from_dict({"request_id": "req-1", "mood": "good"}) == RequestContext(request_id="req-1")


def test_it_gives_every_request_a_name_of_its_own():
    first, second = RequestContext(), service_context()
    assert first.request_id.startswith("req-")
    assert first.request_id != second.request_id
    assert second.user_id is None


GLOBAL = "req-6f2b0c1e-93ad-4a57-8e11-0c9b7d5f3a42"


def test_the_log_names_the_id_of_the_caller_on_both_sides_of_the_bus():
    context = RequestContext(global_request_id=GLOBAL)
    there = RequestContext.from_dict(json.loads(json.dumps(context.to_dict())))
    with logged(there):
        assert (log_values() or {})["global_request_id"] == GLOBAL
    with logged(RequestContext()):
        assert (log_values() or {})["global_request_id"] == "-"


@pytest.mark.parametrize(
    "given", [GLOBAL[4:], f"{GLOBAL}\n", f"{GLOBAL} x", "req-1", "", None, f"req-{'٣' * 8}{GLOBAL[12:]}"]
)
def test_other_texts_are_no_id_of_a_caller(given):
    assert global_request_id(GLOBAL) == GLOBAL
    assert global_request_id(given) is None
