import pytest

from ironic.api import answers
from ironic.api.answers import Answer
from ironic.api.error_responses import Abort, Refused, Silent
from ironic.api.request import Request
from ironic.api.resources import ROUTES
from ironic.api.routes import FAULT, Route, Routes
from ironic.core.errors import InvalidParameterValue


def handler(request: Request, *values: str) -> Answer:
    return answers.document(values)


TABLE = Routes(
    [
        Route("*", "/", handler),
        Route("GET", "/v1", handler),
        Route("GET", "/v1/nodes", handler),
        Route("GET", "/v1/nodes/detail", handler),
        Route("GET", "/v1/nodes/detail/*", handler),
        Route("GET", "/v1/nodes/{node}", handler),
        Route("PUT", "/v1/nodes/{node}", handler),
        Route("GET", "/v1/nodes/{node}/states", handler),
        Route("GET", "/v1/nodes/{node}/bios/{setting}", handler),
        Route("PUT", "/v1/nodes/{node}/states/power", handler),
        Route("GET", "/v1/nodes/{node}/*", handler),
        Route("GET", "/v1/drivers/{driver}/properties", handler),
    ]
)


@pytest.mark.parametrize(
    ("method", "path", "found", "values"),
    [
        ("GET", "", "/", ()),
        ("DELETE", "/", "/", ()),
        ("GET", "/v1", "/v1", ()),
        ("GET", "/v1/", "/v1", ()),
        ("GET", "/v1/nodes", "/v1/nodes", ()),
        ("GET", "/nodes", "/v1/nodes", ()),
        ("GET", "/v1/nodes/", "/v1/nodes", ()),
        ("GET", "/v1/nodes/n", "/v1/nodes/{node}", ("n",)),
        ("PUT", "/v1/nodes/n", "/v1/nodes/{node}", ("n",)),
        ("GET", "/v1/nodes/detail", "/v1/nodes/detail", ()),
        ("GET", "/v1/nodes/detail/x", "/v1/nodes/detail/*", ("/v1/nodes/detail/x",)),
        ("GET", "/v1/nodes/n/states", "/v1/nodes/{node}/states", ("n",)),
        ("PUT", "/nodes/n/states/power/", "/v1/nodes/{node}/states/power", ("n",)),
        ("GET", "/v1/nodes/n/zzz", "/v1/nodes/{node}/*", ("n", "/v1/nodes/n/zzz")),
        ("GET", "/v1/nodes/n/zzz/yyy/x", "/v1/nodes/{node}/*", ("n", "/v1/nodes/n/zzz/yyy/x")),
        ("GET", "/v1/nodes/n/bios/s/x", "/v1/nodes/{node}/*", ("n", "/v1/nodes/n/bios/s/x")),
        ("GET", "/v1/nodes/n/states/x", "/v1/nodes/{node}/*", ("n", "/v1/nodes/n/states/x")),
        ("GET", "/v1/drivers/a b/properties", "/v1/drivers/{driver}/properties", ("a b",)),
    ],
)
def test_it_finds_the_row_and_the_values(method: str, path: str, found: str, values: tuple[str, ...]) -> None:
    route, got = TABLE.find(method, path)
    assert (route.path, got) == (found, values)


@pytest.mark.parametrize(
    "path", ["/nope", "/v1/nope", "/v2/nodes", "/v1/v1", "/v1//nodes", "/v1/v1/", "//", "/v1/drivers", "/v1/drivers/d"]
)
def test_an_unknown_path_is_404(path: str) -> None:
    with pytest.raises(Abort) as refusal:
        TABLE.find("GET", path)
    assert refusal.value.status == 404


def test_an_unknown_method_is_405_and_says_what_is_allowed() -> None:
    with pytest.raises(Abort) as refusal:
        TABLE.find("POST", "/v1/nodes/n")
    assert (refusal.value.status, refusal.value.text) == (405, "Allowed here: GET, PUT.")
    assert TABLE.allowed("/v1/nodes/n", 1) == "GET, PUT"
    assert TABLE.allowed("/v1/nope", 1) == ""


def test_head_is_refused_in_silence() -> None:
    with pytest.raises(Silent) as refusal:
        TABLE.find("HEAD", "/v1/nodes")
    assert (refusal.value.status, refusal.value.body()) == (405, b"")


@pytest.mark.parametrize(("path", "status"), [("/v1/nodes/a b", 400), ("/v1/nodes/ä", 400), ("/v1/nodes/traits", 404)])
def test_a_malformed_name_never_reaches_a_handler(path: str, status: int) -> None:
    with pytest.raises(Abort) as refusal:
        TABLE.find("GET", path)
    assert refusal.value.status == status


def test_a_malformed_name_is_refused_where_the_method_and_the_version_are_there() -> None:
    table = Routes([Route("GET", "/v1/chassis/{chassis}", handler, since=5), Route("GET", "/v1/ports", handler)])
    assert table.find("GET", "/v1/chassis/c", 4)[1] == ("c",)
    for method, path in (("GET", "/v1/chassis/c"), ("GET", "/v1/chassis/c/zzz")):
        with pytest.raises(InvalidParameterValue):
            table.find(method, path, 5)
    with pytest.raises(Abort) as refusal:
        table.find("PUT", "/v1/chassis/c", 5)
    assert refusal.value.status == 405


def test_two_rows_for_one_thing_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="twice"):
        Routes([Route("GET", "/v1/nodes", handler), Route("GET", "/v1/nodes", handler)])
    with pytest.raises(ValueError, match="same position"):
        Routes([Route("GET", "/v1/nodes/{node}", handler), Route("PUT", "/v1/nodes/{port}", handler)])


def test_what_older_callers_get_is_in_the_row() -> None:
    assert isinstance(Route("GET", "/x", handler, since=5).too_new(), Abort)
    error = Route("GET", "/x", handler, since=5, below=406, shape=FAULT).too_new()
    assert isinstance(error, Refused)
    assert error.status == 406


def test_the_table_of_the_service_is_sound_and_every_rule_of_it_has_a_default() -> None:
    from ironic.api.policies import RULES

    known = {name for name, *_ in RULES}
    guarded = [(route.rule, route.path) for route in Routes(ROUTES).rows if route.rule]
    assert {rule for rule, _ in guarded} <= known
    # Lists below one thing are judged by it, the others need the right to all of it.
    lists = {f"{rule}_all" for rule, path in guarded if rule.endswith(":list") and "{" not in path}
    assert lists <= known
