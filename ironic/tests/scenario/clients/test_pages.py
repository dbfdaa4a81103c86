"""The commands of the pages are run here, one by one, and do what the pages say."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ironic.tests.live_service import PROGRAMS
from ironic.tests.repository import ROOT, tool
from ironic.tests.scenario.clients.lab import Lab
from ironic.tests.scenario.clients.shell import Shell

PAGE = ROOT / "doc" / "clients.md"
ADDRESS = "http://127.0.0.1:6385"


def typed(page: Path) -> list[str]:
    """Return the commands of the client that stand in the indented blocks of a page."""
    text = page.read_text().replace("\\\n", "")
    return re.findall(r"^    (baremetal .+)$", text, re.MULTILINE)


def run(baremetal: Shell, command: str) -> str:
    """Run a line as a terminal would, with the commands within."""
    inner = re.sub(r"\$\(baremetal ([^)]+)\)", lambda found: baremetal(*shlex.split(found[1])).strip(), command)
    return baremetal(*shlex.split(inner, comments=True)[1:])


def block(language: str) -> str:
    """Return the only fenced block of a language on the page."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_commands_for_clients(lab: Lab, baremetal: Shell) -> None:
    commands = typed(PAGE)
    assert len(commands) >= 15
    printed = {command: run(baremetal, command) for command in commands}
    assert "fake-hardware" in printed["baremetal driver list"]
    assert "deploy" in printed["baremetal node history list shelf-1"]
    assert lab.shown("nodes")["nodes"] == lab.shown("allocations")["allocations"] == []


def test_the_commands_for_newcomers(lab: Lab, baremetal: Shell) -> None:
    places = {"https://<address of the BMC>": lab.bmc.address, "<user>": "u", "<password>": "p"}
    for command in typed(ROOT / "README.md"):
        for place, filled in places.items():
            command = command.replace(place, filled)
        run(baremetal, command)
    first, real = lab.shown("nodes/first"), lab.shown("nodes/real")
    assert (first["provision_state"], real["power_interface"]) == ("active", "redfish")


@pytest.mark.parametrize("name", ["virtual-media", "network-boot"])
def test_the_commands_of_a_tutorial_lead_to_the_states_that_it_shows(
    lab: Lab, baremetal: Shell, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `make lab-tutorials` has the real machine; here it is a simulated one, so what it finds of itself is another.
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "lab"))
    tutorials = tool("lab/tutorials")
    real = r" --boot-interface \S+ +--inspect-interface agent --bios-interface no-bios|--driver-info \S+"
    states = 0
    for typed in tutorials.commands(ROOT / "doc" / f"tutorial-{name}.md"):
        if typed.command.startswith("export "):
            continue
        assert typed.printed or " node set " in typed.command, f"the page does not show what {typed.command} prints"
        printed = run(baremetal, re.sub(real, "", typed.command).replace("--driver redfish", "--driver fake-hardware"))
        if "provision_state" in typed.command:
            (state,) = re.findall(r"^\| provision_state +\| (.+?) +\|$", "\n".join(typed.printed), re.MULTILINE)
            assert re.search(rf"provision_state +\| {state} ", printed), printed
            states += 1
    assert (states, state) == (6, "available")
    run(baremetal, "baremetal node delete first")


def test_the_script(lab: Lab, tmp_path: Path) -> None:
    code = block("python").replace(ADDRESS, lab.url)
    done = process([sys.executable, "-c", code], tmp_path)
    assert (done.returncode, done.stdout) == (0, "active\n"), done.stderr
    assert lab.shown("nodes")["nodes"] == []


def test_the_file(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "clouds.yaml").write_text(block("yaml").replace(ADDRESS, lab.url))
    done = process([PROGRAMS / "baremetal", "--os-cloud", "metal", "driver", "list"], tmp_path)
    assert (done.returncode, "fake-hardware" in done.stdout) == (0, True), done.stderr


def process(command: Sequence[str | Path], directory: Path) -> "subprocess.CompletedProcess[str]":
    """Run a program in a directory, without settings of another cloud in its environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=120)


def test_the_commands_for_those_who_come_from_elsewhere(lab: Lab, baremetal: Shell) -> None:
    page = (ROOT / "doc" / "coming-from-openstack.md").read_text().replace("\\\n", "")
    show, ports, maintain, *enrol = re.findall(r"^ {7}(baremetal .+)$", page, re.MULTILINE)
    for command in enrol:
        run(baremetal, command)
    assert lab.shown("nodes/moved")["provision_state"] == "active"
    seen = [run(baremetal, command.replace("NODE", "moved")) for command in (show, ports, maintain)]
    assert "image.raw" in seen[0] and "52:54:00:12:34:99" in seen[1]
    assert lab.shown("nodes/moved")["maintenance"] is True


def test_the_commands_for_machines_that_are_retired_or_repaired(lab: Lab, baremetal: Shell) -> None:
    commands = typed(ROOT / "doc" / "replacing.md")
    assert len(commands) == 14
    lab.enroll("old", "active")
    for name, state in (("broken", "active"), ("repaired", "manageable")):
        node = lab.enroll(name, state)
        baremetal("port", "create", "52:54:00:12:34:a" + str(len(name)), "--node", node)
    for command in commands:
        printed = run(baremetal, command)
        if "--retired --fields" in command:
            assert "lease ends in May" in printed
        if "undeploy" in command:
            lab.wait_for("old", provision_state="manageable")
    assert [node["name"] for node in lab.shown("nodes")["nodes"]] == ["repaired"]
    assert lab.shown("nodes/repaired")["provision_state"] == "manageable"
    assert [port["address"] for port in lab.shown("ports")["ports"]] == ["52:54:00:12:34:aa"]


def test_a_table_of_machines_becomes_nodes(lab: Lab, baremetal: Shell, tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "doc" / "redfish.md").read_text(), re.MULTILINE | re.DOTALL)
    table = "name,address,username,password,mac\nrack2-01,https://bmc-1.example.com,ironic,a b,52:54:00:12:34:51\n"
    table += "rack2-02,https://bmc-2.example.com,ironic,c,\n"
    done = subprocess.run([sys.executable, "-c", code], input=table, capture_output=True, text=True, check=True)
    (tmp_path / "nodes.json").write_text(done.stdout)
    baremetal("create", str(tmp_path / "nodes.json"))
    nodes = lab.shown("nodes?fields=name,driver_info&sort_key=name")["nodes"]
    assert [(node["name"], node["driver_info"]["redfish_address"]) for node in nodes] == [
        ("rack2-01", "https://bmc-1.example.com"),
        ("rack2-02", "https://bmc-2.example.com"),
    ]
    assert [port["address"] for port in lab.shown("ports")["ports"]] == ["52:54:00:12:34:51"]
