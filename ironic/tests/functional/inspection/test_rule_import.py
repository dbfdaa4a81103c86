"""Rules of files, stored by the program: all of them or none, and twice as once."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ironic.db import Store, schema
from ironic.tests.databases import url_for_programs

ACTIONS = [{"op": "set-attribute", "args": {"path": "/extra/a", "value": "b"}}]
CONDITIONS = [{"op": "eq", "args": {"values": ["{inventory[cpu][count]}", 8]}}]
UUID = "9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10"
FIRST = {"uuid": UUID, "description": "first", "priority": 7, "actions": ACTIONS, "conditions": CONDITIONS}


@pytest.fixture
def run(store: Store, tmp_path: Path) -> Any:
    config, url = tmp_path / "ironic.conf", url_for_programs(store)
    schema.stamp(url, "head")
    config.write_text(f"[database]\nconnection = {url}\n")
    command = [sys.executable, "-m", "ironic.command.inventory", "--config-file", str(config), "import-rules"]

    def ask(*rules: Any, text: str | None = None) -> tuple[int, str]:
        (path := tmp_path / "rules").write_text(json.dumps(rules) if text is None else text)
        ended = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=120)
        assert "Traceback" not in ended.stderr
        return ended.returncode, ended.stdout + ended.stderr

    return ask


def stored(store: Store) -> list[tuple[Any, ...]]:
    return [(rule.uuid, rule.description, rule.priority, rule.sensitive, rule.actions) for rule in store.rules.find()]


@pytest.mark.demand("S161")
def test_rules_are_stored_and_a_second_import_changes_nothing(store: Store, run: Any) -> None:
    status, said = run(text=yaml.safe_dump({"rules": [FIRST, {"actions": ACTIONS, "sensitive": True}]}))
    assert (status, "2 created, 0 changed, 0 unchanged." in said) == (0, True)
    before = stored(store)
    assert before[0] == (UUID, "first", 7, False, ACTIONS)
    assert before[1][3] is True
    status, said = run(FIRST, {"actions": ACTIONS, "sensitive": True})
    assert (status, "0 created, 0 changed, 2 unchanged." in said, stored(store)) == (0, True, before)
    # As the API answers with them.
    answer = {"inspection_rules": [{**FIRST, "links": [], "created_at": "x"}], "next": None}
    assert "0 created, 0 changed, 1 unchanged." in run(text=json.dumps(answer))[1]
    status, said = run(FIRST | {"description": "new"})
    assert (status, f"rule 1: changed, UUID {UUID}" in said) == (0, True)
    assert stored(store) == [(UUID, "new", 7, False, ACTIONS), before[1]]


@pytest.mark.demand("S161")
@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({"actions": []}, "actions"),
        ({"actions": [{"op": "no-such", "args": {}}]}, "no-such"),
        ({"actions": ACTIONS, "priority": 10**6}, "priority"),
        ({"actions": ACTIONS, "odd": 1}, "odd"),
        ({"actions": [{"op": "set-attribute", "args": ["/owner", "{inventory[owner]}"]}]}, "can never work"),
        ({"actions": None, "sensitive": True}, "does not show"),
        ({"actions": ACTIONS, "dialect": "inspector"}, "convert-rules"),
        (FIRST, "is that of"),
        ([1], "an object"),
        (None, "an object"),
    ],
)
def test_one_bad_rule_keeps_all_out(store: Store, run: Any, bad: Any, why: str) -> None:
    status, said = run(FIRST, bad)
    assert (status, stored(store)) == (1, [])
    assert "rule 2: " in said
    assert why in said
    assert "No rule was stored" in said


@pytest.mark.demand("S161")
def test_a_stored_sensitive_rule_stays_sensitive(store: Store, run: Any) -> None:
    assert run(FIRST | {"sensitive": True})[0] == 0
    status, said = run({"actions": ACTIONS}, FIRST)
    assert (status, len(stored(store)), stored(store)[0][3]) == (1, 1, True)
    assert "can't be made insensitive" in said
    assert run(text="{")[0] == 1
