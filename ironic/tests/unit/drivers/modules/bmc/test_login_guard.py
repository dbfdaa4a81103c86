"""The guard of a login: what it says to those who may not try."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from ironic.conf import CONF
from ironic.core.clock import CLOCK
from ironic.drivers.modules.bmc.login_guard import LoginBarred, LoginGuard
from ironic.tests.unit.drivers.machine import OwnStore

LOGIN = ("https://192.0.2.1", "operator", "secret")


@pytest.fixture
def guard() -> Iterator[LoginGuard]:
    """Return the guard of a login that others are trying."""
    with ExitStack() as others:
        logins = OwnStore().bmc_logins
        for _ in range(CONF.bmc.refused_logins):
            others.enter_context(LoginGuard(logins, *LOGIN).attempt(0))
        yield LoginGuard(logins, *LOGIN)


def test_a_login_that_others_wait_for_is_not_said_to_be_refused(guard: LoginGuard) -> None:
    with pytest.raises(LoginBarred, match="others try this login.*try again later"), guard.attempt(0):
        pytest.fail("it was tried")


def test_a_service_that_stops_does_not_wait_for_others(guard: LoginGuard) -> None:
    CLOCK.interrupt()
    try:
        with pytest.raises(LoginBarred, match="others try this login"), guard.attempt():
            pytest.fail("it was tried")
    finally:
        CLOCK.allow()
