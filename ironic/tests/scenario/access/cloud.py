"""A service that trusts a real Keystone, with the world and the personas of the access matrix."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from ironic import db
from ironic.core.hardware_interfaces import KINDS
from ironic.tests.functional.wire import access_world
from ironic.tests.functional.wire.recording_conductor import HOST
from ironic.tests.live_service import Service, all_in_one, create_database, free_port, write_options
from ironic.tests.repository import tool

INTERFACES = {kind: "noop" if kind in ("network", "storage") else "fake" for kind in KINDS}


# Options of [keystone_authtoken] that samples for the reference have, beside those of Keystone.trust.
SAMPLES = {
    "auth_version": "v3",
    "delay_auth_decision": False,
    "enforce_token_bind": "permissive",
    "http_connect_timeout": 20,
    "http_request_max_retries": 1,
    "include_service_catalog": True,
    "insecure": False,
    "interface": "internal",
    "memcache_security_strategy": "None",
    "memcache_pool_socket_timeout": 3,
    "region_name": "RegionOne",
    "service_token_roles": "service",
    "service_token_roles_required": True,
    "service_type": "baremetal",
    "token_cache_time": 300,
}


@dataclass(frozen=True)
class Cloud:
    """The running programs, and the names of the world's things."""

    keystone: Any
    service: Service
    names: Mapping[str, str]

    def token(self, name: str) -> str:
        """Return a new token of a persona."""
        token: str = self.keystone.token(tool("keystone_server").personas()[name])
        return token

    def ask(self, token: str, method: str, path: str, body: Any = None, **headers: str) -> requests.Response:
        """Send a request with a token."""
        version = {"X-OpenStack-Ironic-API-Version": "1.115", "X-Auth-Token": token}
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return requests.request(method, f"{self.service.url}{path}", json=body, headers=version | more, timeout=60)


@contextmanager
def cloud(directory: Path) -> Iterator[Cloud]:
    """Run both."""
    port = free_port()
    (directory / "keystone").mkdir()
    url = f"http://127.0.0.1:{port}"
    with tool("keystone_server").serving(directory / "keystone", baremetal=url) as keystone:
        database = f"sqlite:///{directory}/service.sqlite"
        configuration = write_options(
            directory / "ironic.conf",
            {
                "DEFAULT": {
                    "auth_strategy": "keystone",
                    "rbac_service_role_elevated_access": True,
                    "rpc_transport": "none",
                    "host": HOST,
                    "state_path": directory,
                    "log_file": directory / "log",
                    "enabled_hardware_types": "fake-hardware",
                    **{f"enabled_{kind}_interfaces": name for kind, name in INTERFACES.items()},
                },
                "api": {"host_ip": "127.0.0.1", "port": port},
                "database": {"connection": database},
                "keystone_authtoken": keystone.trust() | SAMPLES,
            },
        )
        create_database(configuration)
        projects = keystone.administrator().ids("projects")
        store = db.connect(database)
        try:
            fields = {f"{kind}_interface": name for kind, name in INTERFACES.items()}
            names = access_world.furnish(store, projects, fields)
        finally:
            store.close()
        with all_in_one([configuration], directory / "log", port) as running:
            yield Cloud(keystone, running, names)
