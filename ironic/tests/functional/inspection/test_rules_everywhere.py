"""Rules are made ready once by each process and kept until they change, whichever process changes them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.databases import url_for_programs
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.unit.inspection.lab import MAC, inventory

RULE = {"description": "first", "actions": [{"op": "set-attribute", "args": ["/extra/by", "first"]}]}


class Conductor:
    """Another process that reads the rules."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def runs(self) -> tuple[list[str], int]:
        """Return the rules it would run and how many it has compiled so far."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["rules"], answer["compiled"]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Whole]:
    with whole(tmp_path) as made:
        yield made


@pytest.fixture
def conductors(running: Whole) -> Iterator[list[Conductor]]:
    url = url_for_programs(running.store)
    program = [sys.executable, "-m", "ironic.tests.functional.inspection.rule_reader", url]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            for _ in range(2)
        ]
        yield [Conductor(process) for process in processes]
        for process in processes:
            assert process.stdin
            process.stdin.close()


def change(running: Whole, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    answer = running.api.call(method, f"/v1/inspection_rules{path}", body=body)
    assert answer.status == status, answer.body
    return answer.json if answer.body else None


def test_every_conductor_compiles_a_rule_once_and_sees_each_change(running: Whole, conductors: list[Conductor]) -> None:
    uuid = change(running, "POST", "", RULE, 201)["uuid"]
    for compiled in (1, 1, 1):
        assert [one.runs() for one in conductors] == [(["first"], compiled)] * 2
    change(running, "PATCH", f"/{uuid}", [{"op": "replace", "path": "/description", "value": "changed"}])
    assert [one.runs() for one in conductors] == [(["changed"], 2)] * 2
    change(running, "POST", "", RULE | {"description": "second", "priority": 7}, 201)
    assert [one.runs() for one in conductors] == [(["second", "changed"], 3)] * 2
    change(running, "DELETE", f"/{uuid}", status=204)
    assert [one.runs() for one in conductors] == [(["second"], 3)] * 2
    change(running, "DELETE", "", status=204)
    assert [one.runs() for one in conductors] == [([], 3)] * 2


def test_the_next_inspection_goes_by_the_changed_rule(running: Whole) -> None:
    uuid = change(running, "POST", "", RULE, 201)["uuid"]
    for number, expected in enumerate(("first", "second")):
        mac = f"52:54:00:00:00:0{number}"
        node = running.node(mac)
        running.post({"inventory": inventory(mac)})
        assert running.bench.row(node).extra == {"by": expected}
        action = {"op": "set-attribute", "args": ["/extra/by", "second"]}
        change(running, "PATCH", f"/{uuid}", [{"op": "replace", "path": "/actions", "value": [action]}])
    shown = change(running, "GET", f"/{uuid}")
    assert (shown["hits"]["evaluated"], shown["hits"]["matched"], shown["hits"]["failed"]) == (2, 2, 0)


def test_a_rule_of_one_phase_is_not_read_for_another(running: Whole) -> None:
    for phase in ("early", "preprocess", "main"):
        body = {"phase": phase, "actions": [{"op": "set-plugin-data", "args": [f"by_{phase}", "{inventory[cpu]}"]}]}
        change(running, "POST", "", body, 201)
    uuid = running.node(MAC)
    running.post({"inventory": inventory(MAC)})
    found = running.api.call("GET", f"/v1/nodes/{uuid}/inventory").json["plugin_data"]
    assert {"by_early", "by_preprocess", "by_main"} <= found.keys()
    told = running.api.call("GET", f"/v1/nodes/{uuid}/inspection_rules").json["rules"]
    assert [one["applies"] for one in told] == [True] * 3
