"""No project's calls take all threads of an API while they wait, and the site alone may have all."""

from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

from ironic.core.context import RequestContext
from ironic.core.errors.call_errors import ProjectsCallsWait
from ironic.rpc.client import ConductorClients
from ironic.rpc.waiting_calls import WaitingCalls

A, B = RequestContext(project_id="a"), RequestContext(project_id="b")
SITE, RAMDISK = RequestContext(), RequestContext(is_public_api=True)
PLACES = 12


def wait_all(calls: WaitingCalls, context: RequestContext, begun: ExitStack) -> int:
    """Begin as many calls of a caller as may wait; return their number."""
    for number in range(PLACES * 2):
        try:
            begun.enter_context(calls.one_of(context))
        except ProjectsCallsWait:
            return number
    return PLACES * 2


def test_one_project_leaves_a_third_to_others():
    calls = WaitingCalls(PLACES, 66)
    with ExitStack() as begun:
        assert wait_all(calls, A, begun) == 8
        assert wait_all(calls, B, begun) == 3
        assert wait_all(calls, SITE, begun) == 1
        assert wait_all(calls, RAMDISK, begun) == 1
        assert calls.taken == 13
    assert calls.taken == 0
    with ExitStack() as begun:
        assert wait_all(calls, B, begun) == 8


def test_the_first_call_of_a_project_is_never_refused():
    calls = WaitingCalls(1, 66)
    with calls.one_of(SITE), calls.one_of(A), calls.one_of(B), pytest.raises(ProjectsCallsWait), calls.one_of(B):
        pass


def test_the_site_has_all_where_no_project_calls():
    calls = WaitingCalls(PLACES, 66)
    with ExitStack() as begun:
        begun.enter_context(calls.one_of(RAMDISK))
        assert wait_all(calls, SITE, begun) == PLACES * 2
    with calls.one_of(A):
        pass
    with ExitStack() as begun:
        assert wait_all(calls, SITE, begun) == 8


def test_the_site_has_all_again_an_hour_after_the_last_call_of_a_project():
    seconds = [100.0]
    calls = WaitingCalls(PLACES, 66, lambda: seconds[0])
    with calls.one_of(A):
        pass
    for later, number in ((3599, 8), (1, PLACES * 2)):
        seconds[0] += later
        with ExitStack() as begun:
            assert wait_all(calls, SITE, begun) == number


def test_the_refusal_names_the_option_and_when_to_ask_again():
    calls = WaitingCalls(1, 66)
    with calls.one_of(A), pytest.raises(ProjectsCallsWait, match=r"waiting_percentage_per_project") as raised:
        calls.one_of(A).__enter__()
    assert (raised.value.status, raised.value.retry_after) == (503, 5)


def test_a_call_counts_until_its_transport_returns_or_fails():
    class Transport:
        def send(self, host, context, call, arguments):
            taken.append(clients.waiting.taken)
            if host == "c2":
                raise RuntimeError

    taken: list[int] = []
    ring: Any = SimpleNamespace()
    clients = ConductorClients(Transport(), ring, WaitingCalls(PLACES, 66))
    clients.at("c1").get_boot_device(A, "n1")
    with pytest.raises(RuntimeError):
        clients.at("c2").get_boot_device(A, "n1")
    assert (taken, clients.waiting.taken) == ([1, 1], 0)
