"""The guard of one login at a BMC: it stops all conductors from trying credentials that the BMC refuses.

The count is in the database (`ironic.db.bmc_logins`). Every attempt to log in is made within `attempt`, which reserves
it before. The guard knows the login only by its digest.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

from ironic.conf import CONF
from ironic.db.bmc_logins import BmcLogins, Turn, login_of

T = TypeVar("T")

# Others who try the same login at this moment know soon whether it is accepted.
_PAUSE: Final = 0.5
LONGEST_WAIT: Final = 60.0


class LoginBarred(Exception):
    """The BMC has refused the login too often, so it is not tried; the text is for users."""


class LoginRefused(Exception):
    """Raised within `LoginGuard.attempt` when the BMC refuses the login."""


class LoginUnanswered(Exception):
    """Raised within `LoginGuard.attempt` when the answer of the BMC says nothing about the login."""


class LoginGuard:
    """The guard of the credentials of one user at one address."""

    def __init__(self, logins: BmcLogins, address: str, username: str, password: str | None) -> None:
        self._logins, self._address = logins, address
        self._login = login_of(address, username, password)

    def check(self) -> None:
        """Raise LoginBarred when the login was refused too often."""
        if (refused := self._logins.refused(self._login)) >= CONF.bmc.refused_logins:
            raise _barred(refused)

    @contextmanager
    def attempt(self, seconds: float = LONGEST_WAIT) -> Iterator[None]:
        """Make one attempt to log in within the block: LoginRefused means refused, no error means accepted.

        While another process tries the same login, it waits for the outcome, at most so many seconds.
        """
        self._reserve(min(seconds, LONGEST_WAIT))
        try:
            yield
        except LoginRefused:
            self._logins.refuse(self._login)
            raise
        except BaseException:
            self._logins.give_back(self._login)
            raise
        else:
            self._logins.accept(self._login)

    def _reserve(self, seconds: float) -> None:
        clock = self._logins.transactions.clock
        until = clock.monotonic() + seconds
        while True:
            limit = CONF.bmc.refused_logins
            turn = self._logins.reserve(self._login, self._address, limit)
            if turn is Turn.GRANTED:
                return
            if turn is Turn.REFUSED:
                raise _barred(limit)
            if clock.monotonic() > until or not clock.sleep(_PAUSE):
                raise LoginBarred("others try this login at it and have no answer yet; try again later")


class RepeatedLogin:
    """A login that goes with every request; it is tried under its guard until the BMC has accepted it.

    The caller sends one request at a time while the login is not proven.
    """

    def __init__(self, guard: LoginGuard) -> None:
        self._guard = guard
        # Whether the BMC has accepted it the last time.
        self.is_proven = False

    def doubt(self) -> None:
        """Try it under its guard the next time."""
        self.is_proven = False

    def check(self) -> None:
        """Raise LoginBarred when the login was refused too often."""
        if not self.is_proven:
            self._guard.check()

    def send(self, exchange: Callable[[], T], accepts: Callable[[T], bool | None], seconds: float = LONGEST_WAIT) -> T:
        """Return the answer of ``exchange``, also one that refuses the login.

        ``accepts`` judges the answer, None where it says nothing about the login; an error that ``exchange`` raises
        says nothing either. While another process tries the same login, it waits for the outcome, at most so many
        seconds. Raise LoginBarred like `check`.
        """
        if self.is_proven:
            answer = exchange()
            if accepts(answer) is False:
                self.is_proven = False
                # It counts, although it was not reserved.
                with suppress(LoginRefused), self._guard.attempt(seconds):
                    raise LoginRefused
            return answer
        with suppress(LoginRefused, LoginUnanswered), self._guard.attempt(seconds):
            answer = exchange()
            verdict = accepts(answer)
            if verdict is None:
                raise LoginUnanswered
            if not verdict:
                raise LoginRefused
            self.is_proven = True
        return answer


def guard_of(store: Any, address: str, username: str, password: str | None) -> LoginGuard:
    """Return the guard of a login; ``store`` is that of a task."""
    return LoginGuard(store.bmc_logins, address, username, password)


def _barred(refused: int) -> LoginBarred:
    return LoginBarred(
        f"wrong password or user name: it refused this login {refused} times, so it is not tried again; change the "
        "address, the user name or the password in driver_info; if the account was repaired, write its password again"
    )
