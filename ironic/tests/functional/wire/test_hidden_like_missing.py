"""Each request of the access matrix, for what its caller may not see, and for what is not there: no difference.

Compared are status, body and headers, and what takes time: statements and decisions of rules.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire import access_world, keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.access_world import Row, fill, matrix
from ironic.tests.functional.wire.service import Response, Service

PROJECTS = {name: name for name in ("owners", "lessees", "strangers")}
# Names of the world in requests -> what is hidden from all but strangers, by UUID and by name.
NODE = ("{other}", "the-other")
HIDDEN = {
    **dict.fromkeys(("node", "free", "other", "leased", "active", "bare"), NODE),
    "port": ("{port_other}",),
    **dict.fromkeys(("portgroup", "empty_portgroup"), ("{empty_portgroup_other}", "g-2-1")),
    "connector": ("{connector_other}",),
    "target": ("{target_other}",),
    **dict.fromkeys(("owners_allocation", "lessees_allocation"), ("{unowned_allocation}",)),
    **{f"{whose}_runbook": ("{strangers_runbook}", "CUSTOM_STRANGERS") for whose in ("owners", "lessees", "private")},
}


class Case(NamedTuple):
    """A request, with `{}` for the hidden thing and for the missing one."""

    row: Row
    hidden: str

    @property
    def missing(self) -> str:
        return access_world.UNKNOWN if self.hidden.startswith("{") else f"{self.hidden[:-1]}Z"


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for row in matrix():
        for name in sorted(set(re.findall(r"\{(\w+)\}", f"{row.path} {row.body}")) & HIDDEN.keys()):
            blank = row._replace(path=fill(row.path, {name: "{}"}), body=fill(row.body, {name: "{}"}))
            for hidden in HIDDEN[name]:
                found.setdefault(f"{blank.label} {hidden}", Case(blank, hidden))
    return found


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory, identity: str, module_conf: Callable[..., None]
) -> Iterator[tuple[Service, dict[str, str]]]:
    running = keystone.empty_service(tmp_path_factory.mktemp("world"), identity, module_conf)
    interfaces = {f"{kind}_interface": names[0] for kind, names in services.SERVED["fake-hardware"].items()}
    yield running, access_world.furnish(running.store, PROJECTS, interfaces)
    running.close()


@pytest.mark.parametrize("who", ["owner-admin", "owner-service", "lessee-manager", "domain-admin"])
@pytest.mark.parametrize("case", cases().values(), ids=cases())
def test_what_is_hidden_is_like_what_is_missing(
    world: tuple[Service, dict[str, str]], monkeypatch: pytest.MonkeyPatch, case: Case, who: str
) -> None:
    service, names = world
    hidden = fill(case.hidden, names)
    there, done = observed(service, monkeypatch, who, filled(case.row, hidden, names))
    gone, done_in_vain = observed(service, monkeypatch, who, filled(case.row, case.missing, names))
    assert there.status >= 400 or case.row.method == "GET"
    assert described(there) == described(gone, case.missing, hidden)
    assert done == done_in_vain


def filled(row: Row, name: str, names: dict[str, str]) -> tuple[str, str, Any]:
    def put(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: put(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [put(inner) for inner in value]
        return value.replace("{}", name) if isinstance(value, str) else value

    path, body = row._replace(path=put(row.path), body=put(row.body)).filled(names | {"own": "owners"})
    return row.method, path, body


def observed(
    service: Service, monkeypatch: pytest.MonkeyPatch, who: str, request: tuple[str, str, Any]
) -> tuple[Response, Any]:
    """Return the answer to a request, and what was done for it."""
    with monkeypatch.context() as patched, counting_statements(service.store) as statements:
        decided = keystone.evaluated(patched)
        answer = keystone.ask(service, who, *request)
    # One row is looked up by either key at the same cost.
    texts = [re.sub(r"WHERE (\w+)\.\w+ = \?", r"WHERE \1", text) for text in statements.texts]
    return answer, (sorted(decided), texts)


def described(answer: Response, missing: str = "-", hidden: str = "-") -> tuple[int, str, str]:
    """Return an answer, with the name that the caller has sent in place of another one."""
    headers = {name: value for name, value in answer.headers.items() if "request-id" not in name.lower()}
    return answer.status, answer.body.decode().replace(missing, hidden), str(headers).replace(missing, hidden)


def test_every_kind_of_name_is_tried() -> None:
    tried = {case.hidden for case in cases().values()}
    assert tried == {name for names in HIDDEN.values() for name in names}
    assert len(cases()) > 200
