import inspect

import pytest

from ironic.rpc.rpc_api import CALLS, ConductorAPI, call, calls_of


def test_every_method_of_a_conductor_is_a_call():
    methods = {name for name, _ in inspect.getmembers(ConductorAPI, inspect.isfunction) if not name.startswith("_")}
    assert methods == set(CALLS)


def test_every_call_begins_with_the_context():
    assert {list(known.signature.parameters)[1] for known in CALLS.values()} == {"context"}


def test_terms_of_a_call_are_those_declared():
    class Talk:
        @call(timeout=3, wait=False)
        def tell(self, context, what): ...

        def no_call(self): ...

    known = calls_of(Talk)
    assert {name: (found.timeout, found.wait) for name, found in known.items()} == {"tell": (3, False)}


def test_arguments_get_their_names():
    named = CALLS["change_node_power_state"].arguments("n1", "power on", timeout=5)
    assert named == {"node_id": "n1", "target": "power on", "timeout": 5}


@pytest.mark.parametrize("args, kwargs", [((), {}), (("n1", "on", 3, 4), {}), (("n1", "on"), {"speed": 9})])
def test_arguments_that_do_not_fit_are_refused(args, kwargs):
    with pytest.raises(TypeError):
        CALLS["change_node_power_state"].arguments(*args, **kwargs)
