"""Taking over what the old inspector has stored, by the program."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ironic.db import Store, schema
from ironic.inspection.inspector_import import Importer, ImportRefused, uuid_in
from ironic.tests.conftest import Setter
from ironic.tests.databases import url_for_programs
from ironic.tests.swift_store import SwiftStore
from ironic.tests.unit.inspection.lab import MAC, inventory, new_node, recorded, stored_found

DUMP = {
    "inventory": inventory(MAC),
    "root_disk": {"name": "/dev/sda"},
    "all_interfaces": {"eth0": {"mac": MAC, "ip": "192.0.2.10"}},
    "ipmi_address": "192.0.2.100",
    "logs": "H4sI",
    "error": None,
}


def kept(dump: dict[str, Any]) -> tuple[Any, Any]:
    return dump["inventory"], {key: value for key, value in dump.items() if key not in ("inventory", "logs")}


@pytest.fixture
def command(store: Store, tmp_path: Path) -> list[str]:
    config, url = tmp_path / "ironic.conf", url_for_programs(store)
    schema.stamp(url, "head")
    config.write_text(f"[database]\nconnection = {url}\n")
    return [sys.executable, "-m", "ironic.command.inventory", "--config-file", str(config), "import"]


def run(command: list[str], *more: str | Path) -> tuple[int, str]:
    ended = subprocess.run([*command, *map(str, more)], capture_output=True, text=True, timeout=60)
    assert "Traceback" not in ended.stderr
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.demand("S112")
def test_the_program_takes_dumps_and_says_why_not(store: Store, tmp_path: Path, command: list[str]) -> None:
    first, second, has_one, named = (new_node(store, name=name) for name in ("a", "b", "c", "d"))
    store.inventories.put(has_one.id, {"old": 1}, {})
    machine = recorded("dell-like")
    files = {
        f"{first.uuid}.json": DUMP,
        f"inspector_data-{second.uuid}": machine,
        f"{has_one.uuid}.json": DUMP,
        "nobody.json": DUMP,
        "99999999-0000-4000-8000-000000000099.json": DUMP,
        f"{named.uuid}.json": {"data": 1},
        f"{named.uuid}.list": [1],
    }
    for name, document in files.items():
        (tmp_path / name).write_text(json.dumps(document))
    (tmp_path / f"{named.uuid}.bad").write_text("{")
    paths = [tmp_path / name for name in (*files, f"{named.uuid}.bad", f"{named.uuid}.gone")]
    status, told = run(command, *paths)
    assert status == 1
    assert "2 of 9 dumps were imported into sqlite:///" in told
    assert f"(configuration: {tmp_path}/ironic.conf)." in told
    for reason in (
        "has an inventory already", "holds no UUID", "99999999-0000-4000-8000-000000000099", "no object 'inventory'",
        "is no JSON", "can't be read: No such file",
    ):  # fmt: skip
        assert reason in told
    assert stored_found(store, first) == kept(DUMP)
    assert stored_found(store, second) == kept(machine)
    assert stored_found(store, has_one) == ({"old": 1}, {})
    assert stored_found(store, named) is None
    assert run(command, "--replace", tmp_path / f"{has_one.uuid}.json")[0] == 0
    assert run(command, "--node", "d", tmp_path / "nobody.json")[0] == 0
    assert stored_found(store, has_one) == stored_found(store, named) == kept(DUMP)


@pytest.mark.parametrize("arguments", [["--node", "a", "x", "y"], []])
def test_the_program_refuses_what_makes_no_sense(command: list[str], arguments: list[str]) -> None:
    status, told = run(command, *arguments)
    assert status != 0
    assert "single file" in told or "FILE" in told


@pytest.mark.demand("S109")
def test_the_program_lists_discovered_nodes(store: Store, command: list[str]) -> None:
    enrolled, found = new_node(store, name="enrolled"), new_node(store, auto_discovered=True)
    listing = [*command[:-1], "nodes"]
    status, table = run(listing, "--auto-discovered")
    heading, *lines = table.splitlines()
    assert (status, heading.split()[:3], len(lines)) == (0, ["uuid", "name", "driver"], 1)
    assert lines[0].split()[:2] == [found.uuid, "-"]
    assert [line.split()[0] for line in run(listing)[1].splitlines()[1:]] == [enrolled.uuid, found.uuid]
    (row,) = json.loads(run(listing, "--auto-discovered", "--json")[1])
    assert (row["uuid"], row["name"], row["auto_discovered"]) == (found.uuid, None, True)


@pytest.mark.demand("S112")
def test_dumps_go_where_inventories_go(store: Store, swift: SwiftStore, tmp_path: Path) -> None:
    node = new_node(store)
    path = tmp_path / f"{node.uuid}.json"
    path.write_text(json.dumps(DUMP))
    assert Importer(store).take(path) == node.uuid
    assert [json.loads(data) for _, data in sorted(swift.objects.items())] == list(kept(DUMP))
    with pytest.raises(ImportRefused, match="already"):
        Importer(store).take(path)


def test_what_is_too_large_is_refused_and_nothing_stored(store: Store, conf: Setter, tmp_path: Path) -> None:
    conf(inventory__size_limit=1)
    node = new_node(store)
    path = tmp_path / f"{node.uuid}.json"
    for size, reason in ((1500, "more than the 1 KiB"), (5000, "more than 2 KiB")):
        path.write_text(json.dumps(DUMP | {"x": "y" * size}))
        with pytest.raises(Exception, match=reason):
            Importer(store).take(path)
    assert stored_found(store, node) is None


def test_it_needs_a_place(store: Store, conf: Setter) -> None:
    conf(inventory__data_backend="none")
    with pytest.raises(ImportRefused, match="data_backend is 'none'"):
        Importer(store)


@pytest.mark.parametrize(
    "name", ["x.json", "8dd7a6c5-9c2a-4bbf-8a3f-1b1c1d1e1f10-8dd7a6c5-9c2a-4bbf-8a3f-1b1c1d1e1f11"]
)
def test_it_guesses_no_node(name: str) -> None:
    with pytest.raises(ImportRefused, match="--node"):
        uuid_in(Path(name))
