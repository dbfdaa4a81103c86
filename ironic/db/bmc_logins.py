"""Attempts to log in to BMCs, counted for all conductors together.

A BMC locks an account after a few refused logins. An attempt is therefore reserved before it is made: attempts under
way and refused ones together never exceed the limit. The first success deletes the row. A login is named by a digest of
address and credentials, so other credentials begin with a count of their own. Source:
doc/contract/drivers.md#refused-logins.
"""

import hashlib
from datetime import timedelta
from enum import Enum, auto
from typing import Any, Final

import sqlalchemy as sa
from oslo_db.exception import DBDuplicateEntry
from sqlalchemy.engine import Connection

from ironic.db.tables import bmc_logins
from ironic.db.transactions import Transactions, unit_of_work

# A conductor that died during an attempt leaves its reservation behind.
_LONGEST_ATTEMPT: Final = timedelta(minutes=10)
_LONGEST_ADDRESS: Final = 255
# Of the digest.
_ROUNDS: Final = 4096
_BLOCK: Final = 8
_MOST_LISTED: Final = 1000


class Turn(Enum):
    """Whether an attempt may be made."""

    GRANTED = auto()
    LATER = auto()
    """Others are trying; their result decides."""
    REFUSED = auto()
    """Too many attempts were refused."""


def login_of(address: str, username: str, password: str | None) -> str:
    """Return the name of a login: a digest that is slow to compute, so that it does not help to guess a password."""
    salt = f"{address}\n{username}".encode()
    return hashlib.scrypt((password or "").encode(), salt=salt, n=_ROUNDS, r=_BLOCK, p=1, dklen=32).hex()


class BmcLogins:
    """The logins that were refused or are being tried."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def refused(self, login: str) -> int:
        """Return how many attempts in a row were refused."""
        with self.transactions.reading() as connection:
            return connection.scalar(sa.select(bmc_logins.c.refused).where(bmc_logins.c.login == login)) or 0

    def refused_ones(self) -> list[tuple[str, str]]:
        """Return the login and the address of those that were refused, the latest first, a thousand at most."""
        c = bmc_logins.c
        query = sa.select(c.login, c.address).where(c.refused > 0).order_by(c.tried_at.desc()).limit(_MOST_LISTED)
        with self.transactions.reading() as connection:
            return [(row.login, row.address) for row in connection.execute(query)]

    @unit_of_work
    def reserve(self, connection: Connection, login: str, address: str, limit: int) -> Turn:
        """Reserve an attempt, if refused attempts and those under way are fewer than ``limit``."""
        c, now = bmc_logins.c, self.transactions.clock.now()
        is_free = c.refused + c.trying < limit
        is_forgotten = sa.and_(c.refused < limit, c.tried_at < now - _LONGEST_ATTEMPT)
        for condition, trying in ((is_free, c.trying + 1), (is_forgotten, 1)):
            if self._change(connection, login, condition, trying=trying, tried_at=now):
                return Turn.GRANTED
        refused = connection.scalar(sa.select(c.refused).where(c.login == login))
        if refused is not None:
            return Turn.REFUSED if refused >= limit else Turn.LATER
        row = {"login": login, "address": address[:_LONGEST_ADDRESS], "refused": 0, "trying": 1, "tried_at": now}
        try:
            with connection.begin_nested():
                connection.execute(sa.insert(bmc_logins).values(row))
        except DBDuplicateEntry:
            return Turn.LATER
        return Turn.GRANTED

    @unit_of_work
    def accept(self, connection: Connection, login: str) -> None:
        """Record that the BMC has accepted the login."""
        connection.execute(sa.delete(bmc_logins).where(bmc_logins.c.login == login))

    @unit_of_work
    def refuse(self, connection: Connection, login: str) -> None:
        """Record that the BMC has refused a reserved attempt."""
        c = bmc_logins.c
        self._change(connection, login, refused=c.refused + 1, trying=_one_less())

    @unit_of_work
    def give_back(self, connection: Connection, login: str) -> None:
        """Record that a reserved attempt ended without an answer to the login."""
        self._change(connection, login, trying=_one_less())

    def _change(
        self, connection: Connection, login: str, condition: sa.ColumnElement[bool] | None = None, **values: Any
    ) -> bool:
        change = sa.update(bmc_logins).where(bmc_logins.c.login == login).values(**values)
        return bool(connection.execute(change if condition is None else change.where(condition)).rowcount)


def _one_less() -> sa.ColumnElement[int]:
    trying = bmc_logins.c.trying
    return sa.case((trying > 0, trying - 1), else_=0)
