"""Every command for rules, and the library's calls."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import ironic_inspector_client
import pytest
import yaml

from ironic.tests.live_service import PROGRAMS
from ironic.tests.scenario.clients.exercises import exercises
from ironic.tests.scenario.command_line import PATIENCE, CommandFailed
from ironic.tests.scenario.old_clients.command_line import Openstack
from ironic.tests.scenario.old_clients.inspected_site import Site

UUID = "44444444-0000-4000-8000-000000000001"
RULES: list[dict[str, Any]] = [
    {
        "uuid": UUID,
        "description": "much memory",
        "conditions": [{"field": "memory_mb", "op": "ge", "value": 4096}],
        "actions": [{"action": "set-capability", "name": "much-memory", "value": "wow"}],
    },
    {
        "description": "no memory",
        "conditions": [{"field": "memory_mb", "op": "is-empty"}],
        "actions": [{"action": "fail", "message": "There is no memory."}],
    },
]
RULE = ("baremetal", "introspection", "rule")


@exercises("baremetal introspection rule import", "baremetal introspection rule list")
@pytest.mark.parametrize("write", [json.dumps, yaml.safe_dump])
def test_rules_are_imported_from_files(site: Site, openstack: Openstack, tmp_path: Path, write: Any) -> None:
    (tmp_path / "rules").write_text(write(RULES))
    imported = openstack.json(*RULE, "import", str(tmp_path / "rules"))
    assert [row["Description"] for row in imported] == ["much memory", "no memory"]
    assert openstack.json(*RULE, "list") == imported
    assert imported[0]["UUID"] == UUID
    stored = site.call("GET", "inspection_rules").json()["inspection_rules"]
    assert {one["uuid"] for one in stored} == {row["UUID"] for row in imported}


@exercises(
    "baremetal introspection rule show",
    "baremetal introspection rule delete",
    "baremetal introspection rule purge",
)
def test_rules_are_shown_and_deleted(site: Site, openstack: Openstack, client: Any) -> None:
    made = [client.rules.from_json(rule)["uuid"] for rule in RULES]
    shown = openstack.json(*RULE, "show", UUID)
    assert shown["description"] == "much memory"
    assert shown["actions"] == RULES[0]["actions"]
    openstack(*RULE, "delete", UUID)
    assert [rule["uuid"] for rule in client.rules.get_all()] == made[1:]
    openstack(*RULE, "purge")
    assert client.rules.get_all() == []


@exercises("baremetal introspection rule import", "baremetal introspection start")
def test_an_imported_rule_runs(site: Site, openstack: Openstack, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text(json.dumps(RULES))
    openstack(*RULE, "import", str(tmp_path / "rules"))
    site.machine()
    openstack("baremetal", "introspection", "start", "one")
    site.wait_for("one", "inspect wait")
    site.post()
    assert site.wait_for("one", "manageable")["properties"]["capabilities"] == "much-memory:wow"


def test_a_rule_that_is_refused_names_the_place(site: Site, openstack: Openstack, tmp_path: Path) -> None:
    (tmp_path / "rule").write_text(json.dumps({**RULES[0], "actions": [{"action": "explode"}]}))
    with pytest.raises(CommandFailed, match=r"actions\[0\]"):
        openstack(*RULE, "import", str(tmp_path / "rule"))


def test_rules_are_read_from_the_service_to_be_converted(site: Site, client: Any, tmp_path: Path) -> None:
    for rule in RULES:
        client.rules.from_json(rule)
    converted = tmp_path / "new.json"
    words = ["convert-rules", "--service", site.old_url, "--output", str(converted)]
    done = subprocess.run(
        [PROGRAMS / "ironic-inventory", *words],
        env={**os.environ, "OS_AUTH_TYPE": "none"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    for rule in json.loads(converted.read_text()):
        rule.pop("uuid", None)
        made = site.call("POST", "inspection_rules", rule)
        assert made.status_code == 201, made.text


def test_the_library_has_the_same_calls(client: Any) -> None:
    rule = RULES[0]
    made = client.rules.create(rule["conditions"], rule["actions"], uuid=UUID, description="by a script")
    assert client.rules.get(UUID) == made
    assert made["description"] == "by a script"
    client.rules.delete(UUID)
    with pytest.raises(ironic_inspector_client.ClientError) as caught:
        client.rules.get(UUID)
    assert caught.value.response.status_code == 404
    client.rules.create(rule["conditions"], rule["actions"])
    client.rules.delete_all()
    assert client.rules.get_all() == []
