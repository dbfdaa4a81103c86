"""The tools of oslo.config and oslo.policy find the options and rules of the service by its entry points."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ironic.api import policies
from ironic.conf import BORROWED, OPTIONS
from ironic.conf.library_options import LIBRARIES
from ironic.tests.repository import ROOT

BIN = Path(sys.executable).parent


def generated(tool: str, namespace: str, tmp_path: Path) -> str:
    path = tmp_path / "generated"
    command: list[str | Path] = [BIN / tool, "--namespace", namespace, "--output-file", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return path.read_text()


GENERATOR = ROOT / "etc" / "ironic" / "ironic-config-generator.conf"


def sample(tmp_path: Path, *arguments: str) -> str:
    path = tmp_path / "sample"
    command: list[str | Path] = [
        BIN / "oslo-config-generator",
        "--config-file",
        GENERATOR,
        "--output-file",
        path,
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return path.read_text()


def test_a_sample_file_has_every_option(tmp_path: Path) -> None:
    sections = dict(re.findall(r"(?ms)^\[(\w+)\]$(.*?)(?=^\[|\Z)", sample(tmp_path)))
    for group, options in (*OPTIONS.items(), *BORROWED.items()):
        for option in options:
            assert re.search(rf"(?m)^#{option.dest} =", sections[group]), option.dest
    for group, name in (
        ("keystone_authtoken", "auth_url"),
        ("swift", "password"),
        ("oslo_messaging_rabbit", "ssl"),
        ("oslo_policy", "policy_file"),
        ("DEFAULT", "transport_url"),
        ("DEFAULT", "log_file"),
        ("audit_middleware_notifications", "driver"),
        ("cors", "allowed_origin"),
    ):
        assert re.search(rf"(?m)^#{name} =", sections[group]), name


def test_a_sample_file_has_the_options_of_every_library_in_use(tmp_path: Path) -> None:
    named = re.findall(r"(?m)^namespace = (.+)$", GENERATOR.read_text())
    assert set(named) == {"ironic", *LIBRARIES} - {"oslo.config"}


def test_a_file_can_be_compared_with_the_options_that_there_are(tmp_path: Path) -> None:
    for kind in ("json", "yaml"):
        known, mine = tmp_path / f"known.{kind}", tmp_path / "mine.conf"
        known.write_text(sample(tmp_path, "--format", kind))
        mine.write_text("[database]\nconnection = sqlite://\nmysql_engine = x\n[keystone_authtoken]\nusername = x\n")
        command: list[str | Path] = [BIN / "oslo-config-validator", "--opt-data", known, "--input-file", mine]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.stderr.splitlines()[-1].endswith("database/mysql_engine is not part of the sample config")
        assert done.stderr.count("not part of") == done.returncode == 1


@pytest.mark.parametrize(
    ("tool", "namespace"), [("oslopolicy-sample-generator", "ironic.api"), ("oslopolicy-policy-generator", "ironic")]
)
def test_policy_files_have_every_rule(tool: str, namespace: str, tmp_path: Path) -> None:
    text = generated(tool, namespace, tmp_path)
    assert all(f'"{rule.name}": ' in text for rule in policies.defaults())


def test_a_sample_policy_file_names_the_request_that_each_rule_guards(tmp_path: Path) -> None:
    text = generated("oslopolicy-sample-generator", "ironic.api", tmp_path)
    assert (
        "# Node: update, driver info.\n# PATCH  /v1/nodes/{node_ident}\n# Intended scope(s): system, project\n" in text
    )
    assert all(line.startswith("#") or not line for line in text.splitlines())


ACCESS = {
    "token": {
        "methods": ["password"],
        "user": {"id": "u", "name": "u", "domain": {"id": "default", "name": "Default"}},
        "project": {"id": "p", "name": "p", "domain": {"id": "default", "name": "Default"}},
        "roles": [{"id": "1", "name": "reader"}, {"id": "2", "name": "member"}],
    }
}


def test_the_tools_for_an_operators_policy_file_know_the_rules(tmp_path: Path) -> None:
    file, configuration, access, target = (tmp_path / name for name in ("policy.yaml", "conf", "access", "target"))
    configuration.write_text(f"[oslo_policy]\npolicy_file = {file}\n")
    access.write_text(json.dumps(ACCESS))
    target.write_text('{"node.owner": "p"}')

    def run(tool: str, *arguments: object) -> tuple[int, str]:
        command = [str(BIN / f"oslopolicy-{tool}"), "--config-file", str(configuration), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout

    file.write_text(
        '"baremetal:node:vif:list": "role:reader"\n"baremetal:node:delete": "role:admin and system_scope:all"\n'
    )
    assert run("validator", "--namespace", "ironic") == (0, "")
    status, redundant = run("list-redundant", "--namespace", "ironic")
    assert (status, redundant.strip()) == (0, '"baremetal:node:delete": "role:admin and system_scope:all"')
    whole = tmp_path / "all.yaml"
    assert run("policy-generator", "--namespace", "ironic", "--output-file", whole)[0] == 0
    asked = ("--policy", whole, "--access", access, "--target", target, "--rule")
    for rule in ("baremetal:node:vif:list", "baremetal:node:get"):
        assert run("checker", *asked, rule) == (0, f"passed: {rule}\n")
    assert run("checker", *asked, "baremetal:node:delete") == (0, "failed: baremetal:node:delete\n")
    fresh = tmp_path / "new.yaml"
    assert run("policy-upgrade", "--namespace", "ironic.api", "--policy", file, "--output-file", fresh)[0] == 0
    assert "baremetal:node:vif:list: role:reader" in fresh.read_text()
    file.write_text('"baremetal:nod:delete": "role:member"\n')
    assert run("validator", "--namespace", "ironic")[0] == 1
