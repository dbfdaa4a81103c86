"""Kinds of condition a named filter can be.

A filter is called with its value, or with a parameter that stands for any text or number: see `db.listing`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql.elements import ColumnElement

Filter = Callable[[Any], ColumnElement[bool]]


def equals(column: sa.Column[object]) -> Filter:
    """Match one value; None matches NULL."""
    return lambda value: column.is_(None) if value is None else column == value


def any_of(column: sa.Column[object]) -> Filter:
    """Match the value, or any of several; None matches NULL, no values match nothing."""
    return lambda values: column == values if _is_one(values) else column.in_(list(values))


def none_of(column: sa.Column[object]) -> Filter:
    """Match rows that have neither the value nor any of several."""
    return lambda values: column != values if _is_one(values) else column.not_in(list(values))


def given(column: sa.Column[object]) -> Filter:
    """Match rows that have a value, or those that have none."""
    return lambda yes: column.is_not(None) if yes else column.is_(None)


@dataclass(frozen=True, eq=False)
class Contains:
    """Match text that contains the words, in either case; % and _ stand for themselves. Needs the words to say so."""

    column: sa.Column[Any]

    def __call__(self, words: str) -> ColumnElement[bool]:
        """Return the condition."""
        return self.column.icontains(words, autoescape=True)


def before(column: sa.Column[object]) -> Filter:
    """Match moments before the given one."""
    return lambda moment: column < moment


def _is_one(values: object) -> bool:
    return values is None or isinstance(values, str | int | sa.BindParameter)
