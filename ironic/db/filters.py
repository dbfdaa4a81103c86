"""Kinds of condition a named filter can be."""

from collections.abc import Callable, Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql.elements import ColumnElement

Filter = Callable[[Any], ColumnElement[bool]]


def equals(column: sa.Column[Any]) -> Filter:
    """Match one value; None matches NULL."""
    return lambda value: column.is_(None) if value is None else column == value


def any_of(column: sa.Column[Any]) -> Filter:
    """Match any of the values; no values match nothing."""
    return lambda values: column.in_(as_list(values))


def none_of(column: sa.Column[Any]) -> Filter:
    """Match rows with none of the values."""
    return lambda values: column.not_in(as_list(values))


def given(column: sa.Column[Any]) -> Filter:
    """Match rows that have a value, or those that have none."""
    return lambda yes: column.is_not(None) if yes else column.is_(None)


def contains(column: sa.Column[Any]) -> Filter:
    """Match text that contains the words, in either case; % and _ stand for themselves."""
    return lambda words: column.icontains(words, autoescape=True)


def before(column: sa.Column[Any]) -> Filter:
    """Match moments before the given one."""
    return lambda moment: column < moment


def as_list(values: Any) -> list[Any]:
    """Return a list of the value or values."""
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
