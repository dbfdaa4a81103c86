"""The commands of doc/access.md, run one after another by an administrator of the whole site."""

import os
import subprocess

from ironic.tests.repository import ROOT, tool
from ironic.tests.scenario.access.cloud import Cloud

PATIENCE = 600


def commands() -> list[str]:
    lines = (ROOT / "doc" / "access.md").read_text().splitlines()
    return [line.strip() for line in lines if line.startswith("    openstack ")]


def test_its_commands_give_the_roles_that_it_describes(running: Cloud) -> None:
    keystone = tool("keystone_server")
    administrator = keystone.Persona("admin", "admin", "system")
    ours = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    path = f"{keystone.HOME}/bin:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", "\n".join(commands())],
        env={**ours, **administrator.variables(running.keystone.url), "PATH": path, "PYTHONWARNINGS": "ignore"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr

    def names_seen_by(user: str, scope: str) -> set[str | None]:
        token = running.keystone.token(keystone.Persona(user, "", scope), password=f"{user}-password")
        answer = running.ask(token, "GET", "/v1/nodes")
        assert answer.status_code == 200, answer.text
        return {node["name"] for node in answer.json()["nodes"]}

    assert names_seen_by("tenant", "metal") == {"shelf-1"}
    assert {"shelf-1", "the-free"} <= names_seen_by("operator", "system")
    assert {"shelf-1", "the-free"} <= names_seen_by("nova", "service")
