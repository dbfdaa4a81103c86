"""Who asks survives the way to a conductor."""

import json

from ironic.core.context import RequestContext, service_context


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
