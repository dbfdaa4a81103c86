"""The guard of a login: what it says to those who may not try."""

from typing import Any

import pytest

from ironic.db.bmc_logins import Turn
from ironic.drivers import interruptible_wait
from ironic.drivers.modules.bmc.login_guard import LoginBarred, LoginGuard
from ironic.tests.unit.drivers.machine import Logins


class Tried(Logins):
    """A login that others are trying."""

    def reserve(self, login: str, address: str, limit: int) -> Turn:
        return Turn.LATER


def guard(logins: Any) -> LoginGuard:
    return LoginGuard(logins, "https://192.0.2.1", "operator", "secret")


def test_a_login_that_others_wait_for_is_not_said_to_be_refused() -> None:
    with pytest.raises(LoginBarred, match="others try this login.*try again later"), guard(Tried()).attempt(0):
        pytest.fail("it was tried")


def test_a_service_that_stops_does_not_wait_for_others() -> None:
    interruptible_wait.interrupt()
    try:
        with pytest.raises(LoginBarred, match="others try this login"), guard(Tried()).attempt():
            pytest.fail("it was tried")
    finally:
        interruptible_wait.allow()
