"""Arguments of requests as rows of the route table declare them: what is refused, in which order, what handlers get."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

from ironic.api import arguments
from ironic.api.answers import NO_CONTENT
from ironic.api.arguments import Argument, Arguments, Body, EmptyBody, Objects, OpenBody, Query, UncheckedBody, unknown
from ironic.api.crud import Create, Delete, List, One, Patch
from ironic.api.openapi.schemas import given
from ironic.api.request import Request
from ironic.api.resources import ROUTES
from ironic.api.routes import Refusing, Route
from ironic.core.context import RequestContext
from ironic.core.errors import InvalidParameterValue, IronicError, MissingParameterValue, NotAcceptable
from ironic.core.model.node import Chassis
from ironic.core.values.value_types import Bool, Enum, Integer, Text, Words
from ironic.tests.functional.wire.service import environ_of

COLOUR = Argument("colour", Text(), exact=Enum("red", "green", "blue"), words={"blue": 20})
SIZE = Argument("size", Integer(1, 9, digits=True), since=10)
NAME = Argument("name", Text(), required=True)
MOOD = Argument("mood", Text(), since=30, too_new=unknown)
ALL = Arguments(NAME, COLOUR, SIZE, MOOD)


@pytest.mark.parametrize(
    ("sent", "minor", "got"),
    [
        ({"name": "a"}, 1, {"name": "a"}),
        # Null counts as not given, and what was not given is left out.
        ({"name": "a", "colour": None, "size": None}, 1, {"name": "a"}),
        ({"name": "a", "size": "7"}, 10, {"name": "a", "size": 7}),
        ({"name": "a", "colour": "green"}, 1, {"name": "a", "colour": "green"}),
        ({"name": "a", "colour": "blue"}, 20, {"name": "a", "colour": "blue"}),
        ({"name": "a", "mood": "fine"}, 30, {"name": "a", "mood": "fine"}),
    ],
)
def test_a_handler_gets_what_was_given(sent: dict[str, Any], minor: int, got: dict[str, Any]) -> None:
    assert ALL.read_object(sent, minor) == got


@pytest.mark.parametrize(
    ("sent", "minor", "error", "text"),
    [
        # The order of the checks: unknown, missing, form, version, value.
        ({"nme": "a", "size": "x"}, 1, InvalidParameterValue, "nme"),
        ({"size": "x"}, 1, MissingParameterValue, "name"),
        ({"name": None}, 1, MissingParameterValue, "name"),
        ({"name": "a", "size": "x"}, 1, InvalidParameterValue, "size"),
        ({"name": "a", "colour": "pink", "size": 7}, 9, NotAcceptable, "size"),
        ({"name": "a", "colour": "pink", "size": 7}, 10, InvalidParameterValue, "colour"),
        ({"name": "a", "colour": "blue"}, 19, NotAcceptable, "blue"),
        # As if it did not exist, even as null.
        ({"name": "a", "mood": None}, 29, InvalidParameterValue, "mood"),
        ({"mood": "fine"}, 29, InvalidParameterValue, "mood"),
    ],
)
def test_a_request_is_refused_for_the_first_thing_that_is_wrong(
    sent: dict[str, Any], minor: int, error: type[IronicError], text: str
) -> None:
    with pytest.raises(error, match=text):
        ALL.read_object(sent, minor)


def test_a_late_argument_is_judged_by_the_handler_alone() -> None:
    late = Argument("colour", Text(5), since=10, exact=Enum("red", "blue"), words={"blue": 20}, handler_checks=True)
    taken = Arguments(late, Argument("token", Text(), required=True, handler_requires=True))
    assert taken.read_object({"colour": "pink"}, 1) == {"colour": "pink"}
    with pytest.raises(InvalidParameterValue, match="longer"):
        taken.read_object({"colour": "purple"}, 1)
    for value, minor, error in (
        ("red", 9, NotAcceptable),
        ("blue", 19, NotAcceptable),
        ("pink", 20, InvalidParameterValue),
    ):
        with pytest.raises(error):
            late.check_value(value, minor)
    assert (late.check_value("red", 10), late.check_value("blue", 20)) == ("red", "blue")


def test_an_error_of_its_own_is_raised_for_older_versions() -> None:
    own = Argument("size", Integer(), since=10, too_new=lambda name, since: LookupError(f"{name} {since}"))
    with pytest.raises(LookupError, match="size 10"):
        Arguments(own).read_object({"size": 1}, 9)


def asked(query: str, minor: int = 115) -> Request:
    services: Any = None
    return Request(environ_of("GET", f"/v1/x?{query}", b""), minor, RequestContext(), services)


def test_a_query_takes_its_parameters_and_no_others() -> None:
    query = Query(NAME, Argument("some", Words()), Argument("flag", Bool(), since=45))
    assert query.read(asked("name=a&some=b,c&some=d&flag=yes")) == {"name": "a", "some": ["b", "c", "d"], "flag": True}
    for text, minor, error in (
        ("", 115, MissingParameterValue),
        ("name=a&name=b", 115, InvalidParameterValue),
        ("name=a&nme=b", 115, InvalidParameterValue),
        ("name=a&flag=maybe", 44, InvalidParameterValue),
        ("name=a&flag=yes", 44, NotAcceptable),
    ):
        with pytest.raises(error):
            query.read(asked(text, minor))
    assert Query().read(asked("")) == {}


def test_a_list_of_objects_has_one_at_least_and_each_is_checked() -> None:
    several = Objects(Arguments(NAME, SIZE))
    assert several.validate([{"name": "a", "size": None}, {"name": "b", "size": 2}]) == [
        {"name": "a"},
        {"name": "b", "size": 2},
    ]
    wrongs: list[Any] = [[], ["a"], {}, None]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="must"):
            several.validate(wrong)
    with pytest.raises(MissingParameterValue):
        several.validate([{"name": "a"}, {"size": 1}])
    said = given(several)
    assert (said["minItems"], said["items"]["required"], said["items"]["additionalProperties"]) == (1, ["name"], False)


def test_a_row_that_takes_two_bodies_is_no_row() -> None:
    with pytest.raises(ValueError, match="not both"):
        Route("PUT", "/v1/x", lambda request: NO_CONTENT, body=Body(NAME), of=Create(Chassis))


def test_nobody_looks_at_what_is_sent_to_a_row_that_only_refuses() -> None:
    assert arguments.reader(None, None)(asked("a=1")) == {}
    row = Route("GET", "/v1/x", Refusing(lambda: InvalidParameterValue(err="no")))
    assert row.read(asked("a=1")) == {}
    with pytest.raises(InvalidParameterValue, match="a"):
        Route("GET", "/v1/x", lambda request: NO_CONTENT, ok=200).read(asked("a=1"))


SERVED = [row for row in ROUTES if not isinstance(row.handler, Refusing)]
FORMS = {List: {"page"}, One: {"view"}, Create: {"values"}, Patch: {"changes"}, Delete: set[str]()}


def taken(row: Route) -> Iterator[tuple[str, bool]]:
    """Return what a row reads, by name, and whether it is always there."""
    match row.body:
        case OpenBody(name=name) | UncheckedBody(name=name):
            yield name, True
        case EmptyBody() | None:
            pass
        case Arguments():
            yield from ((one.name, one.required and not one.handler_requires) for one in row.body.declared)
    yield from ((one.name, one.required) for one in row.query or ())
    if row.of is not None:
        yield from ((name, True) for name in FORMS[type(row.of)])


@pytest.mark.parametrize("row", SERVED, ids=lambda row: f"{row.method} {row.path}")
def test_a_handler_takes_what_its_row_reads(row: Route) -> None:
    head = inspect.signature(row.handler)
    names = re.findall(r"\{(\w+)\}", row.path)
    learnt = {row.precheck_as: None} if row.precheck_as else {}
    assert fits(head, "request", *names, **dict(taken(row)), **learnt)
    # What may be missing has a default.
    assert fits(head, "request", *names, **{name: True for name, is_there in taken(row) if is_there}, **learnt)


def fits(head: inspect.Signature, *args: object, **named: object) -> bool:
    """Return whether a handler can be called with these arguments."""
    try:
        head.bind(*args, **named)
    except TypeError:
        return False
    return True
