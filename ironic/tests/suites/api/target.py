"""The API as a hostile client meets it, with an eye on what comes of each request."""

import json
import sqlite3
from typing import Any
from urllib.parse import unquote_to_bytes

from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire.service import BASE, NEWEST, Response, Service, environ_of

VERSION = NEWEST


class Target:
    """A running service; what is sent to it is percent-encoded where a client would encode it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._watch = sqlite3.connect(str(service.store.engine.url.database))

    def statements(self, path: str) -> tuple[int, int, int]:
        """Count the SELECT, writing and COMMIT statements of reading a page."""
        with counting_statements(self._service.store) as seen:
            answer = self.send("GET", path)
        assert answer.status == 200, answer.body
        return seen.selects, seen.writes, seen.commits

    def take_away(self, repository: str, uuid: str) -> None:
        """Delete something as a conductor does it."""
        getattr(self._service.store, repository).delete(uuid)

    def close(self) -> None:
        """Stop watching."""
        self._watch.close()

    def send(self, method: str, path: str, raw: bytes = b"") -> Response:
        """Send a request."""
        place, _, query = path.partition("?")
        environ = environ_of(method, place, raw)
        # A query stays as the client wrote it; the path comes decoded from the server.
        environ |= {"PATH_INFO": unquote_to_bytes(place).decode("latin-1"), "QUERY_STRING": query}
        return self._service.send(environ | {"HTTP_X_OPENSTACK_IRONIC_API_VERSION": VERSION})

    def survives(self, method: str, path: str, raw: bytes = b"") -> Response:
        """Send a request that may be refused; what is refused changes nothing and asks no conductor."""
        before = self._stored()
        self._service.conductor.asked.clear()
        answer = self.send(method, path, raw)
        exchange = f"{method} {path[:200]} {raw[:300]!r}: {answer.status} {answer.body[:300]!r}"
        assert answer.status < 500, exchange
        if answer.status >= 400:
            assert self._stored() == before, f"stored although refused: {exchange}"
            assert self._service.conductor.asked == [], f"asked although refused: {exchange}"
            if method != "HEAD":
                _check_error(answer, exchange)
        elif answer.body:
            json.loads(answer.body)
        return answer

    def refuses(self, method: str, path: str, raw: bytes = b"", *statuses: int) -> None:
        """Send a request that has to be refused."""
        answer = self.survives(method, path, raw)
        assert answer.status in (statuses or range(400, 500)), (
            f"{method} {path[:200]} {raw[:300]!r}: {answer.status} {answer.body[:300]!r}"
        )

    def _stored(self) -> Any:
        # A number that changes with every commit of another connection.
        return self._watch.execute("PRAGMA data_version").fetchone()


def place(answer: Response) -> str:
    """Return the path that an answer says something is at."""
    return answer.headers["Location"].removeprefix(BASE)


def _check_error(answer: Response, exchange: str) -> None:
    outer: dict[str, Any] = json.loads(answer.body)
    inner = json.loads(outer["error_message"]) if "error_message" in outer else outer
    text = inner.get("faultstring") or inner.get("description")
    assert text, f"nothing said: {exchange}"
    assert len(text) < 2_000, f"too much said: {exchange}"
