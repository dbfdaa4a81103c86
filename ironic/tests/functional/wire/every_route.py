"""Rows of the route table with something that is there in each path, and a service that has all of it."""

import re
from pathlib import Path
from typing import Any, get_origin

from ironic.api.resources import ROUTES
from ironic.api.routes import Route
from ironic.rpc.rpc_api import CALLS
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

THERE = {
    "node": "11111111-0000-4000-8000-000000000001",
    "agent_node": "11111111-0000-4000-8000-000000000001",
    "chassis": "22222222-0000-4000-8000-000000000001",
    "port": "33333333-0000-4000-8000-000000000001",
    "portgroup": "44444444-0000-4000-8000-000000000001",
    "driver": "fake-hardware",
    "hostname": services.HOST,
    "indicator": "led@system",
    "trait": "CUSTOM_A",
}

ROWS = [route for route in ROUTES if route.method != "*"]


def label(route: Route) -> str:
    return f"{route.method} {route.path}"


def path(route: Route, **others: str) -> str:
    """Return the path with something that is there in place of each name."""
    names = THERE | others
    return re.sub(r"\{(\w+)\}", lambda found: names.get(found[1], "99999999-0000-4000-8000-00000000dead"), route.path)


def default_of(annotation: Any) -> Any:
    kind = get_origin(annotation) or annotation
    return kind() if kind in (dict, list, str) else None


def start(directory: Path) -> Service:
    """Return a running service with everything that paths name; conductors say yes to whatever they are asked."""
    running = services.start(directory)
    common = {f"{kind}_interface": names[0] for kind, names in services.SERVED["fake-hardware"].items()}
    chassis = running.store.chassis.create({"uuid": THERE["chassis"]})
    node = running.store.nodes.create(
        common
        | {"uuid": THERE["node"], "driver": "fake-hardware", "provision_state": "enroll", "chassis_id": chassis.id}
    )
    running.store.ports.create({"uuid": THERE["port"], "node_id": node.id, "address": "52:54:00:00:00:01"})
    running.store.portgroups.create({"uuid": THERE["portgroup"], "node_id": node.id})
    running.conductor.answers = {name: default_of(call.signature.return_annotation) for name, call in CALLS.items()}
    for name in ("call_vendor_method", "call_driver_vendor_method"):
        running.conductor.answers[name] = {"async": True, "result": None}
    return running
