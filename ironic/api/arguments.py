"""What a row of the route table takes: parameters of the query, and a body.

A row declares its arguments once. They are read and checked before the handler runs, in this order: unknown ones, those
that are missing, the form of each (`type`), its version (`since`), its value (`exact`); the description of the API is
read off the same declarations. The handler gets the values by name; an optional one that was not given is left out, so
the default of the handler's parameter counts. All tables are made when a module is loaded, none by a request.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol

from ironic.api import input
from ironic.api.errors import unacceptable
from ironic.api.request import Request
from ironic.api.schema import OPEN, Schema
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.model.fields import Resource
from ironic.core.values import Array, ValueType

Early = Callable[[str, int], Exception]


def unknown(name: str, since: int) -> Exception:
    """Build the error for an argument that older versions answer like one that does not exist."""
    return InvalidParameterValue(err=f"Unknown: {name}.")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an action, or one parameter of a query."""

    name: str
    # Its form, which every version checks.
    type: ValueType
    required: bool = False
    # First version that takes it, and the error for callers of older ones, given name and version.
    since: int = 1
    early: Early = unacceptable
    # What exactly it has to be in the versions that take it, where its form is checked before these are looked at.
    exact: ValueType | None = None
    # First versions of words that came later than the argument.
    words: Mapping[str, int] = field(default_factory=dict)
    # Whether the handler judges version and value, or that it is missing: clients know another refusal to come first.
    late: bool = False
    missed_late: bool = False

    def judge(self, value: Any, minor: int) -> object:
        """Return the value as it is to be stored, or refuse what this version does not know or take."""
        if self.since > minor:
            raise self.early(self.name, self.since)
        if (since := self.words.get(value, 1) if self.words else 1) > minor:
            raise self.early(f"{self.name} '{value}'", since)
        return value if self.exact is None else input.checked(self.name, self.exact, value)


class Reader(Protocol):
    """Reads a part of requests, perhaps the query."""

    @property
    def reads_query(self) -> bool:
        """Tell whether it reads it."""

    def read(self, request: Request) -> dict[str, object]:
        """Return parameters of the handler by name, or refuse the request."""


class Form(Reader, Protocol):
    """One of the five things that are done with every resource; see `forms`."""

    @property
    def resource(self) -> type[Resource]:
        """What it is done with."""

    @property
    def ok(self) -> int:
        """The status of success."""


class Arguments:
    """Some arguments by name."""

    reads_query = False

    def __init__(self, *declared: Argument) -> None:
        self.declared = declared
        self._types = {one.name: one.type for one in declared}
        self._required = tuple(one.name for one in declared if one.required and not one.missed_late)
        self._unknown_early = any(one.early is unknown for one in declared)
        self._judged = {
            one.name: one
            for one in declared
            if not one.late and (one.exact or one.words or (one.since > 1 and one.early is not unknown))
        }

    def types(self, minor: int) -> Mapping[str, ValueType]:
        """Return the forms of what a version knows."""
        if not self._unknown_early:
            return self._types
        return {one.name: one.type for one in self.declared if one.early is not unknown or one.since <= minor}

    def of(self, given: Mapping[str, Any], minor: int) -> dict[str, Any]:
        """Return the arguments of an object, checked; null counts as not given."""
        types = self.types(minor)
        input.refuse_unknown(given, types)
        present = {name: value for name, value in given.items() if value is not None}
        return self.judged(input.check(types, self.complete(present)), minor)

    def complete(self, given: dict[str, object]) -> dict[str, Any]:
        """Return what is given, or refuse that something required is missing."""
        for name in self._required:
            if name not in given:
                raise MissingParameterValue(err=f"{name} is required.")
        return given

    def judged(self, given: dict[str, object], minor: int) -> dict[str, Any]:
        """Return arguments of the right form, judged by version and value."""
        if self._judged:
            judged = [name for name in given if name in self._judged]
            for name in judged:
                if self._judged[name].since > minor:
                    raise self._judged[name].early(name, self._judged[name].since)
            for name in judged:
                given[name] = self._judged[name].judge(given[name], minor)
        return given


class Query(Arguments):
    """Parameters of a query and no others."""

    reads_query = True

    def read(self, request: Request) -> dict[str, object]:
        """Read them."""
        pairs = request.query()
        if not pairs and not self._required:
            return {}
        given = input.query(pairs, self.types(request.minor))
        return self.judged(self.complete(given), request.minor)


class Body(Arguments):
    """An object with these keys and no others."""

    def read(self, request: Request) -> dict[str, object]:
        """Read them."""
        return self.of(input.require_object(request.json()), request.minor)


class BodyOrQuery(Arguments):
    """The same, each of which may stand in the query instead, as clients of actions know it."""

    reads_query = True

    def read(self, request: Request) -> dict[str, object]:
        """Read them."""
        return self.of(request.arguments(), request.minor)


class Whole(Arguments):
    """An object as a whole: the handler gets it as one parameter, with the known keys in it checked.

    Keys that a version does not know yet are keys like any other.
    """

    def __init__(self, name: str, *known: Argument) -> None:
        super().__init__(*known)
        self.name = name

    def read(self, request: Request) -> dict[str, object]:
        """Read it."""
        whole = input.require_object(request.json())
        for one in self.declared:
            if one.since <= request.minor and whole.get(one.name) is not None:
                whole[one.name] = input.checked(one.name, one.type, whole[one.name])
        self.complete({name: value for name, value in whole.items() if value is not None})
        return {self.name: whole}


@dataclass(frozen=True, slots=True)
class Parsed:
    """Whatever the body holds; its schema is described, and judged by the handler."""

    name: str
    schema: Schema = field(default_factory=lambda: OPEN)
    reads_query: ClassVar[bool] = False

    def read(self, request: Request) -> dict[str, object]:
        """Read it."""
        return {self.name: request.json()}


class NoBody:
    """Nothing: the path says it all, and a body would be overlooked."""

    reads_query = False

    def read(self, request: Request) -> dict[str, object]:
        """Refuse a body."""
        if request.json():
            raise InvalidParameterValue(err="The path says it all; there must not be a request body.")
        return {}


class Objects(Array):
    """A list of objects with the same arguments, of which there is one at least."""

    name = "objects"

    def __init__(self, each: Arguments) -> None:
        self.each = each

    def validate(self, value: Any) -> Any:
        """Check every object."""
        if not super().validate(value):
            raise ValueError("must not be empty")
        if not all(isinstance(one, dict) for one in value):
            raise ValueError("must be a list of objects")
        return [self.each.of(one, _NEWEST) for one in value]


_NEWEST: Final = 10**6


def reader(query: "tuple[Argument, ...] | None", *others: "Reader | None") -> Callable[[Request], dict[str, object]]:
    """Return what reads a request: the query first, unless it belongs to another part or is not looked at."""
    parts: list[Reader] = [one for one in others if one is not None]
    if query is not None and not any(part.reads_query for part in parts):
        parts.insert(0, Query(*query))
    match parts:
        case []:
            return _nothing
        case [one]:
            return one.read
        case [one, other]:
            return lambda request: one.read(request) | other.read(request)
    raise ValueError("A row takes a body or the form of a resource, not both.")


def _nothing(request: Request) -> dict[str, object]:
    return {}
