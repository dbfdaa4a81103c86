"""A world for tests of access: things of every owner, and the requests of `access-matrix.yaml` filled with them."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ironic.db import Store
from ironic.tests.functional.wire.recording_conductor import HOST
from ironic.tests.repository import ROOT

DATA = ROOT / "ironic" / "tests" / "data"
SYMBOLS = {"+": "allowed", "-": 403, ".": 404, "!": 400}
UNKNOWN = "99999999-0000-4000-8000-00000000dead"
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})


class Persona(NamedTuple):
    """A caller: the role and what the token is for."""

    name: str
    role: str
    scope: str

    @property
    def project(self) -> str | None:
        return None if self.scope in ("system", "domain") else self.scope


@cache
def personas() -> dict[str, Persona]:
    read = yaml.safe_load((DATA / "personas.yaml").read_text())
    return {name: Persona(name, **each) for name, each in read["personas"].items()}


class Row(NamedTuple):
    """A request, and a symbol for each persona."""

    method: str
    path: str
    body: Any
    then: int | None
    who: Mapping[str, str]

    @property
    def label(self) -> str:
        """A name for the test of the row."""
        return f"{self.method} {self.path} {'' if self.body is None else self.body}"[:120]

    def filled(self, names: Mapping[str, str]) -> tuple[str, Any]:
        """Return path and body with the names of a world."""
        return fill(self.path, names), fill(self.body, names)


@cache
def matrix() -> tuple[Row, ...]:
    """Return the rows of the file."""
    return tuple(_rows(yaml.safe_load((DATA / "access-matrix.yaml").read_text())))


def _rows(groups: Any) -> Iterator[Row]:
    for group in groups:
        letters = group["who"].replace(" ", "")
        who = dict(zip(personas(), letters, strict=True))
        for each in group["requests"]:
            if isinstance(each, str):
                method, path = each.split(" ", 1)
                each = {method: path}
            (method,) = METHODS & each.keys()
            yield Row(method, each[method], each.get("body"), each.get("then"), who)


def fill(value: Any, names: Mapping[str, str]) -> Any:
    """Return a value with every name in braces replaced."""
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, dict):
        return {key: fill(inner, names) for key, inner in value.items()}
    return [fill(inner, names) for inner in value] if isinstance(value, list) else value


def furnish(store: Store, projects: Mapping[str, str], driver: Mapping[str, str]) -> dict[str, str]:
    """Store one of everything; return the names. ``projects`` are IDs by name, ``driver`` the interfaces of nodes."""
    names = {"unknown": UNKNOWN, "hostname": HOST, **projects}
    chassis = [store.chassis.create({"uuid": _uuid(1, number)}) for number in range(2)]
    names |= {"chassis": chassis[0].uuid, "empty_chassis": chassis[1].uuid}
    common = {**driver, "driver": "fake-hardware", "power_state": "power off", "chassis_id": chassis[0].id}
    leased = {"owner": projects["owners"], "lessee": projects["lessees"]}
    nodes: dict[str, dict[str, Any]] = {
        "node": {"provision_state": "manageable", **leased},
        "free": {"provision_state": "manageable"},
        "other": {"provision_state": "manageable", "owner": projects["strangers"]},
        # With an allocation; what may be served.
        "leased": {"provision_state": "active", "maintenance": True, **leased},
        "active": {"provision_state": "active", "instance_uuid": None, "resource_class": "x", **leased},
        # With nothing that would be in the way of its end.
        "bare": {"provision_state": "enroll", **leased},
    }
    for number, (name, values) in enumerate(nodes.items()):
        row = store.nodes.create(common | {"uuid": _uuid(2, number), "name": f"the-{name}"} | values)
        names[name] = row.uuid
        if name in ("node", "free", "other"):
            suffix = "" if name == "node" else f"_{name}"
            names |= {f"{kind}{suffix}": uuid for kind, uuid in _parts(store, row.id, number).items()}
    _allocations(store, projects, names)
    _step_lists(store, projects, names)
    action = {"op": "set-attribute", "args": {"path": "/extra/a", "value": "1"}}
    names["rule"] = store.rules.create({"uuid": _uuid(9, 0), "actions": [action], "conditions": []}).uuid
    return names


def _uuid(kind: int, number: int) -> str:
    return f"{kind}{number:07}-0000-4000-8000-000000000000"


def _parts(store: Store, node: int, number: int) -> dict[str, str]:
    """Give a node one part of each kind; return their UUIDs."""
    groups = [
        store.portgroups.create({"uuid": _uuid(4, 10 * number + each), "node_id": node, "name": f"g-{number}-{each}"})
        for each in range(2)
    ]
    port = {"uuid": _uuid(3, number), "node_id": node, "portgroup_id": groups[0].id}
    store.ports.create(port | {"address": f"52:54:00:00:00:0{number}"})
    connector = {"uuid": _uuid(5, number), "node_id": node, "type": "iqn", "connector_id": str(number)}
    store.volume_connectors.create(connector)
    target = {"uuid": _uuid(6, number), "node_id": node, "volume_type": "iscsi", "volume_id": str(number)}
    store.volume_targets.create(target | {"boot_index": 0, "properties": {"a": 1}})
    store.traits.replace(node, ["CUSTOM_A"])
    store.bios_settings.put(node, [{"name": "virtualization", "value": "on"}])
    store.inventories.put(node, {"cpu": {}}, {})
    store.history.add(node, event="e", event_type="t", severity="INFO", conductor="c")
    for put in (store.rule_runs.put_early, store.rule_runs.put_later):
        put(node, json.dumps({"rules": [], "changes": {"node": [], "ports": {}, "plugin_data": []}}))
    ((entry,),) = store.history.rows(("uuid",), filters={"node_id": node})
    parts = {"port": _uuid(3, number), "portgroup": groups[0].uuid, "empty_portgroup": groups[1].uuid}
    return parts | {"connector": _uuid(5, number), "target": _uuid(6, number), "entry": entry}


def _allocations(store: Store, projects: Mapping[str, str], names: dict[str, str]) -> None:
    leased = store.nodes.get(names["leased"])
    for number, whose in enumerate(("owners", "lessees", "unowned")):
        is_bound = whose == "lessees"
        row = store.allocations.create(
            {
                "uuid": _uuid(7, number),
                "owner": projects.get(whose),
                "resource_class": "x",
                "state": "active" if is_bound else "error",
                "node_id": leased.id if is_bound else None,
            }
        )
        names[f"{whose}_allocation"] = row.uuid
        if is_bound:
            leased.allocation_id, leased.instance_uuid = row.id, row.uuid
            leased.save()


def _step_lists(store: Store, projects: Mapping[str, str], names: dict[str, str]) -> None:
    step = {"interface": "bios", "step": "factory_reset"}
    for number, whose in enumerate(("owners", "lessees", "strangers", "public", "private")):
        values = {"uuid": _uuid(8, number), "name": f"CUSTOM_{whose.upper()}", "owner": projects.get(whose)}
        row = store.runbooks.create_with(values | {"public": whose == "public"}, [{**step, "order": 1}])
        store.runbooks.traits.replace(row.id, ["CUSTOM_A"])
        names[f"{whose}_runbook"] = row.uuid
    template = {"uuid": _uuid(8, 9), "name": "CUSTOM_T"}
    names["template"] = store.deploy_templates.create_with(template, [{**step, "priority": 1}]).uuid


class Snapshot:
    """The content of an SQLite file, to put it back after a test has changed some."""

    def __init__(self, file: Path) -> None:
        self._copy, self._file = sqlite3.connect(":memory:"), sqlite3.connect(file)
        self._file.backup(self._copy)
        self._seen = self._version()

    def is_unchanged(self) -> bool:
        """Return whether no other connection has written since the content was last as it should be."""
        return self._version() == self._seen

    def _version(self) -> int:
        version: int = self._file.execute("PRAGMA data_version").fetchone()[0]
        return version

    def restore(self) -> None:
        self._copy.backup(self._file)
        self._seen = self._version()

    def close(self) -> None:
        self._copy.close()
        self._file.close()
