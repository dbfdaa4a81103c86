"""`ironic-api` alone in a process of its own, which trusts a Keystone: several in one directory share a database."""

from collections.abc import Mapping
from pathlib import Path

from ironic.tests.live_service import Options, Service, create_database, free_port, write_options
from ironic.tests.site import BROKER


def api_process(directory: Path, name: str, keystone_options: Mapping[str, object]) -> Service:
    """Start the program with options of [keystone_authtoken]; the caller stops it."""
    port, log = free_port(), directory / f"{name}.log"
    options: Options = {
        "DEFAULT": {
            "auth_strategy": "keystone",
            "rpc_transport": "oslo",
            "transport_url": BROKER,
            "control_exchange": f"tokens{port}",
            "host": name,
            "log_file": log,
        },
        "api": {"host_ip": "127.0.0.1", "port": port},
        "database": {"connection": f"sqlite:///{directory}/service.sqlite"},
        "keystone_authtoken": keystone_options,
    }
    configuration = write_options(directory / f"{name}.conf", options)
    create_database(configuration)
    return Service("ironic-api", [configuration], log, port)


def trust_in(keystone: str) -> dict[str, object]:
    """Return the options of [keystone_authtoken] for the Keystone at this URL."""
    trust = {"www_authenticate_uri": keystone, "auth_type": "admin_token", "endpoint": f"{keystone}/v3"}
    return {**trust, "token": "ours"}
