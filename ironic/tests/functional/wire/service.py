"""The API in this process: the real application on a real SQLite file, and a conductor that only notes."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ironic.api import version_negotiation
from ironic.api.app import BARE_METAL, build_app
from ironic.api.served_api import ServedApi
from ironic.api.settings import ApiSettings
from ironic.db import Store
from ironic.db.tables import metadata
from ironic.rpc.client import ConductorClients
from ironic.rpc.hash_ring import HashRingManager
from ironic.rpc.in_process import InProcess
from ironic.tests.databases import sqlite_store
from ironic.tests.functional.wire.recording_conductor import HOST, SERVED, RecordingConductor, interface_rows

BASE = "http://wire.test:6385"
VERSION_HEADER = "X-OpenStack-Ironic-API-Version"
NEWEST = version_negotiation.TEXTS[version_negotiation.MAXIMUM]

_EVERYTHING = {
    table.name: f"SELECT * FROM {table.name}" for table in metadata.sorted_tables if table.name != "rejected_callbacks"
}


@dataclass
class Response:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Service:
    """The application with all it stands on."""

    store: Store
    conductor: Any
    hash_ring: HashRingManager
    app: Any
    settings: ApiSettings = field(default_factory=ApiSettings)

    def call(
        self,
        method: str,
        path: str,
        *,
        version: str | None = NEWEST,
        body: Any = None,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send one request."""
        content = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        environ = environ_of(method, path, content)
        if version is not None:
            environ["HTTP_X_OPENSTACK_IRONIC_API_VERSION"] = version
        for name, value in (headers or {}).items():
            key = name.upper().replace("-", "_")
            environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
        return self.send(environ)

    def send(self, environ: dict[str, Any]) -> Response:
        """Send a request as WSGI has it."""
        seen: list[Any] = []

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
            seen[:] = [status, headers]

        chunks = b"".join(self.app(environ, start))
        return Response(int(seen[0].split()[0]), dict(seen[1]), chunks)

    def contents(self) -> dict[str, list[Any]]:
        """Return everything that is stored, as it is stored, but for what is noted about refusals."""
        with self.store.reading() as connection:
            return {name: list(connection.exec_driver_sql(query)) for name, query in _EVERYTHING.items()}

    def close(self) -> None:
        self.store.close()


def environ_of(method: str, path: str, content: bytes) -> dict[str, Any]:
    path, _, query = path.partition("?")
    return {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_LENGTH": str(len(content)),
        "CONTENT_TYPE": "application/json",
        "HTTP_HOST": "wire.test:6385",
        "SERVER_NAME": "wire.test",
        "SERVER_PORT": "6385",
        "SCRIPT_NAME": "",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(content),
    }


def start(
    directory: Path,
    settings: ApiSettings | None = None,
    conf: Any = None,
    host: str = HOST,
    served: ServedApi = BARE_METAL,
) -> Service:
    """Return a running service with an empty database and one conductor."""
    store = sqlite_store(directory)
    store.conductors.register(host, "", list(SERVED), interface_rows())
    hash_ring = HashRingManager(store, heartbeat_timeout=3600)
    transport, conductor = InProcess(), RecordingConductor()
    transport.register(host, conductor)
    # Waiting for a locked node is another test's matter.
    chosen = settings or ApiSettings(node_locked_attempts=1)
    app = build_app(store, ConductorClients(transport, hash_ring), hash_ring, chosen, conf, served)
    return Service(store, conductor, hash_ring, app, chosen)
