"""Sessions at a BMC, counted there: few places, and none is left behind."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ironic.core.errors.hardware_errors import RedfishError
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.wire.connection_cache import CONNECTIONS
from ironic.tests.functional.drivers.hostile_bmc import SESSIONS, SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.test_hostile_bmcs import hang_up
from ironic.tests.site import eventually
from ironic.tests.unit.drivers.machine import work_on

SECOND = "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b12"


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    """Run a BMC with sessions."""
    with hostile_bmc("first password") as bmc:
        yield bmc


@pytest.fixture(autouse=True)
def _logged_out() -> Iterator[None]:
    yield
    CONNECTIONS.log_out(5)


def look(bmc: HostileBmc, **changes: Any) -> None:
    """Have a node use its BMC."""
    RedfishPower().get_power_state(work_on(driver_info=bmc.driver_info(**changes)))


def test_many_operations_share_a_session(bmc: HostileBmc) -> None:
    for _ in range(5):
        look(bmc)
    assert (len(bmc.tokens), bmc.count("POST", SESSIONS)) == (1, 1)


def test_the_end_of_the_service_logs_out(bmc: HostileBmc) -> None:
    look(bmc)
    CONNECTIONS.log_out(30)
    assert bmc.tokens == []
    look(bmc)
    assert len(bmc.tokens) == 1, "and it can begin again"


def test_a_new_password_ends_the_old_session(bmc: HostileBmc) -> None:
    look(bmc)
    (old,) = bmc.tokens
    bmc.password = "second password"
    look(bmc)
    eventually(lambda: len(bmc.tokens) == 1 and old not in bmc.tokens, True)


def test_another_user_ends_the_old_session(bmc: HostileBmc) -> None:
    look(bmc)
    with pytest.raises(RedfishError):
        look(bmc, redfish_username="nobody")
    eventually(lambda: bmc.tokens == [], True)


def test_a_session_is_kept_while_another_node_uses_it(bmc: HostileBmc) -> None:
    look(bmc)
    RedfishPower().get_power_state(work_on(uuid=SECOND, driver_info=bmc.driver_info()))
    with hostile_bmc("first password") as other:
        look(other)
        assert len(bmc.tokens) == len(other.tokens) == 1
        CONNECTIONS.log_out(30)


@pytest.mark.parametrize("size", [0, 1])
def test_what_is_not_kept_is_logged_out(bmc: HostileBmc, conf: Callable[..., Any], size: int) -> None:
    conf(redfish__connection_cache_size=size)
    with hostile_bmc("first password") as other:
        for _ in range(3):
            for number, one in enumerate((bmc, other)):
                RedfishPower().get_power_state(work_on(uuid=f"node-{number}", driver_info=one.driver_info()))
        eventually(lambda: len(bmc.tokens) + len(other.tokens) <= size, True)


def test_the_end_of_the_service_logs_out_of_what_waits_for_that(bmc: HostileBmc, conf: Callable[..., Any]) -> None:
    """Two BMCs that do not answer take the threads that log out."""
    conf(redfish__connection_cache_size=0)
    go_on, stalled = threading.Event(), threading.Semaphore(0)

    def stall(handler: Handler) -> bool:
        if handler.command == "DELETE":
            stalled.release()
            go_on.wait(60)
        return handler.command == "DELETE"

    with hostile_bmc("first password") as one, hostile_bmc("first password") as two:
        try:
            one.misbehave = two.misbehave = stall
            for number, dead in enumerate((one, two)):
                RedfishPower().get_power_state(work_on(uuid=f"node-{number}", driver_info=dead.driver_info()))
                assert stalled.acquire(timeout=60)
            look(bmc)
            assert len(bmc.tokens) == 1
            CONNECTIONS.log_out(30)
            assert bmc.tokens == []
        finally:
            go_on.set()


def test_lost_connections_cost_no_session(bmc: HostileBmc) -> None:
    """Each time a connection breaks off, the session goes on; BMCs have few places for sessions."""
    look(bmc)

    def misbehave(handler: Handler) -> bool:
        if handler.path.rstrip("/") == SYSTEM:
            hang_up(handler)
            return True
        return False

    for _ in range(4):
        bmc.misbehave = misbehave
        with pytest.raises(RedfishError):
            look(bmc)
        bmc.misbehave = lambda handler: False
        look(bmc)
    assert (len(bmc.tokens), bmc.count("POST", SESSIONS)) == (1, 1)


def test_what_a_user_may_not_do_costs_no_session(bmc: HostileBmc) -> None:
    """Some BMCs answer 401 to a good session, which is then begun anew."""
    secure_boot = f"{SYSTEM}/SecureBoot"
    bmc.documents[SYSTEM]["SecureBoot"] = {"@odata.id": secure_boot}

    def misbehave(handler: Handler) -> bool:
        if handler.path.rstrip("/") == secure_boot:
            handler.answer(401, {})
            return True
        return False

    bmc.misbehave = misbehave
    for _ in range(4):
        with pytest.raises(RedfishError, match="refuses the login"):
            RedfishManagement().get_secure_boot_state(work_on(driver_info=bmc.driver_info()))
    eventually(lambda: bmc.tokens == [], True)


@pytest.mark.parametrize(
    "headers, body",
    [
        ({"Location": "https://bmc.example.com" + SESSIONS + "/token-1"}, {}),
        ({}, {"@odata.id": f"{SESSIONS}/token-1"}),
        ({"Location": "http://["}, {}),
        ({}, []),
    ],
)
def test_the_session_is_found_again(bmc: HostileBmc, headers: dict[str, str], body: Any) -> None:
    def misbehave(handler: Handler) -> bool:
        if handler.command != "POST":
            return False
        bmc.tokens.append("token-1")
        handler.answer(201, body, {"X-Auth-Token": "token-1", **headers})
        return True

    bmc.misbehave = misbehave
    look(bmc)
    CONNECTIONS.log_out(30)
    is_known = "[" not in headers.get("Location", "") and body != []
    assert bmc.tokens == ([] if is_known else ["token-1"])


def test_a_dead_bmc_does_not_delay_the_end(bmc: HostileBmc) -> None:
    look(bmc)
    go_on = threading.Event()
    bmc.misbehave = lambda handler: go_on.wait(60)
    try:
        began = time.monotonic()
        CONNECTIONS.log_out(0.5)
        assert time.monotonic() - began < 30
    finally:
        go_on.set()
