"""API and conductor in this process, joined as in the all-in-one service; machines are inspected through the agent.

Workers do their work at once, so what a ramdisk's post sets in motion has ended when the post is answered.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ironic.api.app import build_app
from ironic.api.inspector.old_api import InspectorApi
from ironic.api.settings import ApiSettings
from ironic.conf import CONF
from ironic.core.flows import states
from ironic.core.hardware_interfaces import KINDS
from ironic.drivers.composition import extensions
from ironic.drivers.composition.composed_drivers import Composition
from ironic.drivers.modules.fake import FakeBoot
from ironic.rpc.client import ConductorClients
from ironic.rpc.hash_ring import HashRingManager
from ironic.rpc.in_process import InProcess
from ironic.tests.databases import sqlite_store
from ironic.tests.functional.wire.service import Response, Service, environ_of
from ironic.tests.unit.conductor.flows import bench as benches

URL = "http://192.0.2.1:6385"


class Preparing(FakeBoot):
    """A boot interface that can boot the inspection ramdisk; `parameters` are those of the last one."""

    parameters: dict[str, Any] = {}  # one for all nodes is what tests look at

    def validate_inspection(self, task: Any) -> None:
        pass

    def prepare_ramdisk(self, task: Any, ramdisk_params: Any) -> None:
        Preparing.parameters = dict(ramdisk_params)


class Whole:
    """The service with one conductor."""

    def __init__(self, directory: Path, settings: ApiSettings | None = None) -> None:
        found = {group: dict(points) for group, points in extensions.installed().items()}
        script = benches.Script()
        found[extensions.interfaces_group("boot")]["scripted"] = benches.Loaded(Preparing)
        found[extensions.interfaces_group("vendor")]["scripted"] = benches.Loaded(benches.scripted_vendor(script))
        store = sqlite_store(directory)
        self.bench = benches.Bench(store, Composition.load(CONF, found), script)
        rows = self.bench.composition.interface_rows()
        store.conductors.register(benches.HOST, "", ["fake-hardware"], rows)
        hash_ring = HashRingManager(store, heartbeat_timeout=3600)
        transport = InProcess()
        transport.register(benches.HOST, self.bench.endpoint)
        # A test sends more reports in a minute than a rack of machines.
        settings = settings or replace(ApiSettings.from_conf(CONF), report_limit=None)
        clients = ConductorClients(transport, hash_ring)
        app = build_app(store, clients, hash_ring, settings)
        self.api = Service(store, self.bench.endpoint, hash_ring, app, settings)
        # The API of the standalone inspector, on the same nodes.
        old = build_app(store, clients, hash_ring, settings, served=InspectorApi())
        self.inspector = Service(store, self.bench.endpoint, hash_ring, old, settings)
        self.store = store

    def node(self, *macs: str, state: str = states.INSPECTWAIT, **values: Any) -> str:
        """Store a node with ports, one that waits for its ramdisk unless said otherwise; return its UUID."""
        uuid = self.bench.node("boot", inspect_interface="agent", provision_state=state, **values)
        for mac in macs:
            self.store.ports.create({"node_id": self.store.nodes.get(uuid).id, "address": mac})
        return uuid

    def post(
        self, report: Any, *, query: str = "", version: str | None = "1.84", source: str = "192.0.2.7"
    ) -> Response:
        """Post what a ramdisk found."""
        sent = environ_of("POST", f"/v1/continue_inspection{query}", json.dumps(report).encode())
        sent["REMOTE_ADDR"] = source
        if version is not None:
            sent["HTTP_X_OPENSTACK_IRONIC_API_VERSION"] = version
        return self.api.send(sent)

    def state(self, uuid: str) -> str:
        return self.bench.state(uuid)[0]

    def error(self, uuid: str) -> str | None:
        return self.bench.row(uuid).last_error


_OPTIONS: dict[str, Any] = {
    "enabled_hardware_types": ["fake-hardware"],
    **{f"enabled_{kind}_interfaces": ["fake"] for kind in KINDS},
    "enabled_boot_interfaces": ["fake", "scripted"],
    "enabled_vendor_interfaces": ["fake", "scripted"],
    "enabled_inspect_interfaces": ["agent", "fake"],
    "enabled_network_interfaces": ["noop"],
    "enabled_storage_interfaces": ["noop"],
    "default_inspect_interface": "agent",
    "service_catalog__endpoint_override": URL,
    "conductor__node_locked_retry_attempts": 1,
    "auth_strategy": "noauth",
}


@contextmanager
def _set(options: dict[str, Any]) -> Iterator[None]:
    names = [(name, group or None) for group, _, name in (key.rpartition("__") for key in options)]
    for (name, group), value in zip(names, options.values(), strict=True):
        CONF.set_override(name, value, group)
    try:
        yield
    finally:
        for name, group in reversed(names):
            CONF.clear_override(name, group)


@contextmanager
def whole(directory: Path, settings: ApiSettings | None = None, **options: Any) -> Iterator[Whole]:
    """Run one until the block ends; ``options`` as the fixture `conf` takes them."""
    with _set(_OPTIONS | options):
        running = Whole(directory, settings)
        try:
            yield running
        finally:
            running.store.close()
