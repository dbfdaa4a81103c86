"""Every persona with a token of a real Keystone: what the access matrix says of each request that changes nothing."""

import pytest

from ironic.tests.functional.wire.access_world import SYMBOLS, Persona, Row, matrix, personas
from ironic.tests.scenario.access.cloud import Cloud


def harmless(who: Persona) -> list[Row]:
    """Return the requests that change nothing: all that read, and all that are refused."""
    return [row for row in matrix() if row.method == "GET" or isinstance(SYMBOLS[row.who[who.name]], int)]


def is_as_expected(status: int, symbol: str) -> bool:
    wanted = SYMBOLS[symbol]
    # What comes after the rules depends on the machine.
    return status == wanted if isinstance(wanted, int) else status < 500 and status not in (401, 403)


@pytest.mark.parametrize("who", personas().values(), ids=lambda who: who.name)
def test_a_real_token_opens_what_the_matrix_says(running: Cloud, who: Persona) -> None:
    token = running.token(who.name)
    own = running.names.get(who.scope, running.names["owners"])
    found = []
    for row in harmless(who):
        path, body = row.filled({**running.names, "own": own})
        answer = running.ask(token, row.method, path, body)
        if not is_as_expected(answer.status_code, row.who[who.name]):
            found.append(f"{row.label}: {answer.status_code} instead of {SYMBOLS[row.who[who.name]]}: {answer.text}")
    assert found == []
    assert len(harmless(who)) > 80


@pytest.mark.parametrize("who", personas().values(), ids=lambda who: who.name)
def test_a_real_token_changes_what_the_matrix_says(running: Cloud, who: Persona) -> None:
    token, change = running.token(who.name), [{"op": "add", "path": "/extra/a", "value": who.name}]
    (row,) = (row for row in matrix() if row.method == "PATCH" and row.path == "/v1/nodes/{node}" and row.body == EXTRA)
    answer = running.ask(token, "PATCH", f"/v1/nodes/{running.names['node']}", change)
    assert is_as_expected(answer.status_code, row.who[who.name]), answer.text
    is_changed = answer.status_code == 200
    operator = running.token("system-reader")
    shown = running.ask(operator, "GET", f"/v1/nodes/{running.names['node']}?fields=extra").json()
    assert (shown["extra"].get("a") == who.name) is is_changed


EXTRA = [{"op": "add", "path": "/extra/a", "value": 1}]


def test_no_token_and_a_wrong_one_open_nothing(running: Cloud) -> None:
    for token in ("", "wrong"):
        assert running.ask(token, "GET", "/v1/nodes").status_code == 401
    assert running.ask("", "GET", "/v1").status_code == 200
