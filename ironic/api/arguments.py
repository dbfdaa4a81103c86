"""Check the input of requests: bodies, query parameters and the fields of resources, by their declared types.

A row of the route table declares its arguments once. They are checked before the handler runs, in this order: unknown
arguments, missing arguments, the form of each (`type`), its version (`since`), its value (`exact`). The OpenAPI
document is derived from the same declarations. The handler gets the values by name; an optional argument that was not
given is left out, so that the default of the handler's parameter applies. Null is not the same as "not given".

A key that exists but is newer than the version of the request is a 406, an unknown one a 400. Every value is checked by
a WSME user type; types are declared when a module is loaded and none is made per request, because WSME's registry never
forgets a class.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol

import orjson
import wsme.types

from ironic.api.error_responses import unacceptable
from ironic.api.json_schema import OPEN, Schema
from ironic.api.request import Request, printable
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.model.fields import REQUIRED, Field, Resource
from ironic.core.secrets import secret_updates
from ironic.core.values.value_types import Array, ValueType, Words


def check_types(types: Mapping[str, ValueType], given: Mapping[str, object]) -> dict[str, Any]:
    """Return values by name as their types store them; raises InvalidParameterValue. Every name has a type."""
    return {name: checked(name, types[name], value) for name, value in given.items()}


def refuse_unknown(given: Iterable[str], known: Container[str]) -> None:
    """Raise InvalidParameterValue for names that are not known."""
    if unknown := [name for name in given if name not in known]:
        raise InvalidParameterValue(err=f"Unknown: {_listed(unknown)}.")


def checked(name: str, kind: ValueType, value: object) -> object:
    """Return a value as its type stores it; raises InvalidParameterValue."""
    try:
        return wsme.types.validate_value(kind, value)
    except (ValueError, TypeError) as error:
        raise InvalidParameterValue(err=f"{name} {error}.") from None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(printable(str(name)) for name in sorted(names))


def require_object(raw: object) -> dict[str, object]:
    """Return a body that is a JSON object; raises InvalidParameterValue for any other."""
    if not isinstance(raw, dict):
        raise InvalidParameterValue(err="The request body has to be a JSON object.")
    return raw


def checked_create(resource: type[Resource], raw: object, minor: int, largest: int = 0) -> dict[str, object]:
    """Return the checked values of a body that creates a resource: only what was given, null replaced by its meaning.

    ``largest`` is the greatest size of a field in bytes, as `check_sizes` takes it.

    Null in a field that is newer than the version is ignored; any other value there is a 406.
    """
    given = require_object(raw)
    known = resource.writable("create")
    if unknown := given.keys() - known.keys():
        raise InvalidParameterValue(err=f"Not settable in a new {resource.singular}: {_listed(unknown)}.")
    values = {}
    for name, value in given.items():
        if known[name].since <= minor:
            values[name] = value
        elif value is not None:
            raise unacceptable(f"Field {name}", known[name].since)
    for name, one in known.items():
        if one.empty is REQUIRED and values.get(name) is None:
            raise MissingParameterValue(err=f"{name} is required.")
    checked_values = checked_fields(known, values, minor)
    check_sizes(known, checked_values, {}, largest)
    for name, value in checked_values.items():
        if (mask := known[name].mask) is not None:
            checked_values[name] = secret_updates.restored_secrets(value, None, mask)
    return checked_values


def checked_fields(known: Mapping[str, Field], values: Mapping[str, object], minor: int) -> dict[str, Any]:
    """Return checked values of fields; null becomes the field's empty value, or is refused if not nullable."""
    present = {name: value for name, value in values.items() if value is not None}
    stored = check_types({name: known[name].type.at(minor) for name in present}, present)
    for name in values:
        if name not in stored:
            if not known[name].nullable:
                raise InvalidParameterValue(err=f"{name} must not be null.")
            stored[name] = known[name].empty
    return {name: stored[name] for name in values}


def check_sizes(
    known: Mapping[str, Field], values: Mapping[str, object], before: Mapping[str, object], largest: int
) -> None:
    """Raise InvalidParameterValue for a new value of more bytes than ``largest`` (0: no limit).

    ``before`` has the present values: one that is larger, from an earlier release or a higher limit, may shrink.
    """
    if not largest:
        return
    for name, value in values.items():
        exempt = known[name].exempt_key
        counted, present = _counted(value, exempt), _counted(before.get(name), exempt)
        if known[name].is_limited and (size := _size(counted)) > largest and size >= _size(present):
            if exempt and counted == present:
                continue
            what = f"{name} without {exempt}" if exempt else name
            raise InvalidParameterValue(
                err=f"{what} has {size} bytes as JSON, more than the {largest} that [api]largest_json_field allows."
            )


def _counted(value: object, exempt: str | None) -> object:
    """Return what of a value counts: all but one key."""
    if exempt is None or not isinstance(value, Mapping):
        return value
    return {key: one for key, one in value.items() if key != exempt}


def _size(value: object) -> int:
    """Return the bytes of a value as JSON; 0 for one that has no such form, which is refused when it is stored."""
    try:
        return len(orjson.dumps(value))
    except TypeError:
        return 0


def checked_query(pairs: Iterable[tuple[str, str]], types: Mapping[str, ValueType]) -> dict[str, Any]:
    """Return query parameters by name; a repeated one is refused unless it is a list."""
    given: dict[str, str] = {}
    for name, value in pairs:
        if name not in types:
            raise InvalidParameterValue(err=f"Unknown query parameter: {printable(name)}.")
        if name in given and not isinstance(types[name], Words):
            raise InvalidParameterValue(err=f"Query parameter {name} is given twice.")
        given[name] = f"{given[name]},{value}" if name in given else value
    return check_types(types, given)


# Builds the error for an argument that is newer than the request, from its name and its first version.
TooNew = Callable[[str, int], Exception]


def unknown(name: str, since: int) -> Exception:
    """Return the error for an argument that older versions answer like one that does not exist."""
    return InvalidParameterValue(err=f"Unknown: {name}.")


@dataclass(frozen=True, slots=True)
class Argument:
    """One key of a body, or one parameter of a query."""

    name: str
    # Its form, which every version checks.
    type: ValueType
    required: bool = False
    # First version that takes it, and the error for older ones.
    since: int = 1
    too_new: TooNew = unacceptable
    # The exact type in the versions that take it, where the form is checked before the version.
    exact: ValueType | None = None
    # First versions of words of an enumeration that are newer than the argument.
    words: Mapping[str, int] = field(default_factory=dict)
    # The handler checks version and value, or that it is missing, because another refusal has to come first.
    handler_checks: bool = False
    handler_requires: bool = False

    def check_value(self, value: Any, minor: int) -> object:
        """Return the value as it is stored; raises an error if the version does not take the argument or the value."""
        if self.since > minor:
            raise self.too_new(self.name, self.since)
        if (since := self.words.get(value, 1) if self.words else 1) > minor:
            raise self.too_new(f"{self.name} '{value}'", since)
        return value if self.exact is None else checked(self.name, self.exact, value)


class Reader(Protocol):
    """Reads the body of requests, the query, or both."""

    @property
    def reads_query(self) -> bool:
        """Return whether it reads the query."""

    def read(self, request: Request) -> dict[str, object]:
        """Return parameters of the handler by name; raises an error for input that is refused."""


class Form(Reader, Protocol):
    """One of the five operations on a resource; see `ironic.api.crud`."""

    @property
    def resource(self) -> type[Resource]:
        """Return the resource."""

    @property
    def ok(self) -> int:
        """Return the status of success."""


class Arguments:
    """A set of arguments, by name."""

    reads_query = False

    def __init__(self, *declared: Argument) -> None:
        self.declared = declared
        self._types = {one.name: one.type for one in declared}
        self._required = tuple(one.name for one in declared if one.required and not one.handler_requires)
        self._has_unknown = any(one.too_new is unknown for one in declared)
        self._checked = {
            one.name: one
            for one in declared
            if not one.handler_checks and (one.exact or one.words or (one.since > 1 and one.too_new is not unknown))
        }

    def types(self, minor: int) -> Mapping[str, ValueType]:
        """Return the types of the arguments that a version knows."""
        if not self._has_unknown:
            return self._types
        return {one.name: one.type for one in self.declared if one.too_new is not unknown or one.since <= minor}

    def read_object(self, given: Mapping[str, Any], minor: int) -> dict[str, Any]:
        """Return the checked arguments of an object; null counts as not given."""
        types = self.types(minor)
        refuse_unknown(given, types)
        present = {name: value for name, value in given.items() if value is not None}
        self.require(present)
        return self.check_values(check_types(types, present), minor)

    def require(self, given: Container[str]) -> None:
        """Raise MissingParameterValue when a required argument is not given."""
        for name in self._required:
            if name not in given:
                raise MissingParameterValue(err=f"{name} is required.")

    def check_values(self, given: dict[str, object], minor: int) -> dict[str, Any]:
        """Return arguments of the right form after a check of their versions, then of their values."""
        if self._checked:
            names = [name for name in given if name in self._checked]
            for name in names:
                if self._checked[name].since > minor:
                    raise self._checked[name].too_new(name, self._checked[name].since)
            for name in names:
                given[name] = self._checked[name].check_value(given[name], minor)
        return given


class Query(Arguments):
    """The parameters of a query; others are refused."""

    reads_query = True

    def read(self, request: Request) -> dict[str, object]:
        """Return the parameters."""
        pairs = request.query()
        if not pairs and not self._required:
            return {}
        given = checked_query(pairs, self.types(request.minor))
        self.require(given)
        return self.check_values(given, request.minor)


class Body(Arguments):
    """A body that is an object with these keys; others are refused."""

    def read(self, request: Request) -> dict[str, object]:
        """Return the values of the keys."""
        return self.read_object(require_object(request.json()), request.minor)


class BodyOrQuery(Arguments):
    """A body that is an object with these keys, each of which may be sent in the query instead."""

    reads_query = True

    def read(self, request: Request) -> dict[str, object]:
        """Return the values of the keys."""
        return self.read_object(request.arguments(), request.minor)


class OpenBody(Arguments):
    """A body that is an object with any keys: the handler gets it as one parameter, with the known keys checked.

    A key that is newer than the version of the request is not checked.
    """

    def __init__(self, name: str, *known: Argument) -> None:
        super().__init__(*known)
        self.name = name

    def read(self, request: Request) -> dict[str, object]:
        """Return the object."""
        given = require_object(request.json())
        for one in self.declared:
            if one.since <= request.minor and given.get(one.name) is not None:
                given[one.name] = checked(one.name, one.type, given[one.name])
        self.require({name for name, value in given.items() if value is not None})
        return {self.name: given}


@dataclass(frozen=True, slots=True)
class UncheckedBody:
    """A body that the handler checks; ``schema`` describes it in the OpenAPI document."""

    name: str
    schema: Schema = field(default_factory=lambda: OPEN)
    reads_query: ClassVar[bool] = False

    def read(self, request: Request) -> dict[str, object]:
        """Return the parsed body."""
        return {self.name: request.json()}


class EmptyBody:
    """No body: the path says everything, and a body would be ignored."""

    reads_query = False

    def read(self, request: Request) -> dict[str, object]:
        """Raise InvalidParameterValue when there is a body."""
        if request.json():
            raise InvalidParameterValue(err="This request takes no body.")
        return {}


class Objects(Array):
    """The type of a list of one or more objects with the same arguments."""

    name = "objects"

    def __init__(self, each: Arguments) -> None:
        self.each = each

    def validate(self, value: Any) -> Any:
        """Check every object."""
        if not super().validate(value):
            raise ValueError("must not be empty")
        if not all(isinstance(one, dict) for one in value):
            raise ValueError("must be a list of objects")
        return [self.each.read_object(one, _NEWEST) for one in value]


_NEWEST: Final = 10**6


def reader(query: "tuple[Argument, ...] | None", *others: "Reader | None") -> Callable[[Request], dict[str, object]]:
    """Return the function that reads a request: the query first, then the body or the form of the resource.

    ``query`` None means that the query is ignored. It is not read here either when another part reads it.
    """
    parts: list[Reader] = [one for one in others if one is not None]
    if query is not None and not any(part.reads_query for part in parts):
        parts.insert(0, Query(*query))
    match parts:
        case []:
            return lambda request: {}
        case [one]:
            return one.read
        case [one, other]:
            return lambda request: one.read(request) | other.read(request)
    raise ValueError("A route takes a body or the form of a resource, not both.")
