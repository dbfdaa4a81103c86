"""The program `ironic-status`, run as operators run it."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa

from ironic.conf.default import OWN_RELEASES
from ironic.db import InterfaceRow, connect, schema
from ironic.db.schema_version import SCHEMA_VERSION
from ironic.tests.functional.db.test_takeover import change
from ironic.tests.reference_databases import restore

FAKE = InterfaceRow("fake-hardware", "power", "fake", True)
# Enough for the nodes of the records.
FAKES = "\n".join(
    ["enabled_hardware_types = fake-hardware", "enabled_deploy_interfaces = fake,direct"]
    + ["enabled_inspect_interfaces = no-inspect,agent", "enabled_network_interfaces = noop"]
    + [
        f"enabled_{kind}_interfaces = fake"
        for kind in ("bios", "boot", "console", "firmware", "management", "power", "raid", "rescue", "vendor")
    ]
)
REDFISH = InterfaceRow("fake-hardware", "power", "redfish", False)


def check(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the checks against the database in a directory."""
    path = directory / "ironic.conf"
    path.write_text(f"[DEFAULT]\n{FAKES}\n[database]\nconnection = {url(directory)}\n")
    # The library draws its table with a constant that prettytable has deprecated.
    warnings = ["-W", "error", "-W", "ignore:the 'ALL' constant is deprecated:DeprecationWarning"]
    program = [sys.executable, *warnings, "-m", "ironic.command.status", "--config-file", str(path)]
    return subprocess.run([*program, "upgrade", "check", *words], capture_output=True, text=True, timeout=60)


def url(directory: Path) -> str:
    return f"sqlite:///{directory}/ironic.sqlite"


def register(directory: Path, offered: dict[str, Sequence[InterfaceRow]]) -> None:
    store = connect(url(directory))
    for host, rows in offered.items():
        store.conductors.register(host, "", ["fake-hardware"], rows)
    store.close()


def test_all_is_well_with_a_new_database(tmp_path: Path) -> None:
    schema.create(url(tmp_path))
    done = check(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Result: Success") == 9
    # The library breaks lines within words.
    told = re.sub(r"[|\s]", "", done.stdout)
    assert f"{url(tmp_path)}(configuration:{tmp_path}/ironic.conf)isatschemaversion{SCHEMA_VERSION}" in told


@pytest.mark.demand("S34")
def test_conductors_that_differ_are_one_row_and_a_warning(tmp_path: Path) -> None:
    schema.create(url(tmp_path))
    register(tmp_path, {"c1": [FAKE, REDFISH], "c2": [FAKE]})
    done = check(tmp_path, "--json")
    assert (done.returncode, done.stderr) == (1, "")
    answer = json.loads(done.stdout)
    assert answer["name"] == "Upgrade Check Results"
    _, database, interfaces, *_ = answer["checks"]
    assert (database["result"], interfaces["check"], interfaces["result"]) == (0, "Interfaces of conductors", 1)
    assert "c1: fake, redfish; c2: fake" in interfaces["details"]
    register(tmp_path, {"c2": [FAKE, REDFISH]})
    agreed = check(tmp_path)
    assert agreed.returncode == 0
    assert "2 live conductors agree" in agreed.stdout


def test_addresses_that_a_project_may_have_chosen_are_a_warning(tmp_path: Path) -> None:
    schema.create(url(tmp_path))
    store = connect(url(tmp_path))
    info = {"redfish_address": "https://bmc.example.com"}
    node = store.nodes.create({"driver": "redfish", "owner": "p", "driver_info": info})
    store.close()
    done = check(tmp_path)
    assert done.returncode == 1
    assert node.uuid in done.stdout and "online_data_migrations" in done.stdout


def test_a_database_that_is_ahead_is_a_warning(tmp_path: Path) -> None:
    schema.create(url(tmp_path))
    store = connect(url(tmp_path))
    with store.writing() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = 'r9998'"))
    store.close()
    done = check(tmp_path)
    assert done.returncode == 1
    assert "r9998" in done.stdout


def test_what_can_not_be_asked_at_all_has_a_status_of_its_own(tmp_path: Path) -> None:
    program = [
        sys.executable,
        "-m",
        "ironic.command.status",
        "--config-file",
        str(tmp_path / "none"),
        "upgrade",
        "check",
    ]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert done.returncode == 255
    assert done.stderr.startswith("ironic-status: ")


def test_long_details_stay_within_the_frame(tmp_path: Path) -> None:
    schema.create(url(tmp_path))
    hosts = [f"conductor-{number}.metal.example" for number in range(8)]
    register(tmp_path, {host: [FAKE, REDFISH] if host == hosts[0] else [FAKE] for host in hosts})
    done = check(tmp_path)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert {len(line) for line in lines} == {len(lines[0])}
    assert len(lines[0]) < 80
    assert sum("Details: " in line for line in lines) == 9
    assert all(any(host in line for line in lines) for host in hosts)


def test_a_file_that_is_not_there_is_said_and_not_made(tmp_path: Path) -> None:
    done = check(tmp_path)
    assert done.returncode == 255
    assert done.stderr.startswith(f"ironic-status: there is no file {tmp_path}/ironic.sqlite: see whether ")
    assert [each.name for each in tmp_path.iterdir()] == ["ironic.conf"]


def test_an_empty_database_is_to_be_upgraded_and_is_no_failure(tmp_path: Path) -> None:
    # A deployment tool's job checks, and upgrades only if that ends with 0 or 1.
    (tmp_path / "ironic.sqlite").touch()
    done = check(tmp_path, "--json")
    assert (done.returncode, done.stderr) == (1, "")
    _, tables, interfaces, addresses, *_ = json.loads(done.stdout)["checks"]
    assert (tables["result"], interfaces["result"], addresses["result"]) == (1, 0, 0)
    assert "run `ironic-dbsync upgrade`" in tables["details"]
    assert interfaces["details"] == "This is checked once the tables are those of this release."


def test_an_address_that_is_none_is_told_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "ironic.conf"
    path.write_text("[database]\nconnection = nonsense\n")
    program = [sys.executable, "-m", "ironic.command.status", "--config-file", str(path), "upgrade", "check"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (255, "")
    assert done.stderr.startswith("ironic-status: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("pinned", [False, True])
def test_the_pin_of_this_release_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinned: bool) -> None:
    schema.create(url(tmp_path))
    if pinned:
        monkeypatch.setenv("OS_DEFAULT__PIN_RELEASE_VERSION", f"{OWN_RELEASES[0]}.0")
    *_, pin = json.loads(check(tmp_path, "--json").stdout)["checks"]
    assert (pin["check"], pin["result"]) == ("Release for a pin", 0)
    assert f"[DEFAULT]pin_release_version = {OWN_RELEASES[-1]}" in pin["details"]
    assert (f"pinned to those of release {OWN_RELEASES[0]}." in pin["details"]) == pinned


def test_a_database_of_the_reference_that_can_be_kept_is_no_failure(tmp_path: Path) -> None:
    """Installers run this before the upgrade, and go on up to status 1."""
    restore(url(tmp_path), "39.0.0")
    change(url(tmp_path), "UPDATE nodes SET provision_state = 'active' WHERE provision_state = 'deploying'")
    change(url(tmp_path), "UPDATE nodes SET target_power_state = NULL, reservation = NULL")
    change(url(tmp_path), "CREATE VIEW site_report AS SELECT uuid FROM nodes")
    before = (tmp_path / "ironic.sqlite").read_bytes()
    done = check(tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    said = re.sub(r"[|\s]+", " ", done.stdout)
    assert "takes it over" in said and "view site_report: refer to tables" in said
    assert (tmp_path / "ironic.sqlite").read_bytes() == before


def test_what_the_reference_has_and_cannot_be_kept_is_a_failure_with_the_remedy(tmp_path: Path) -> None:
    restore(url(tmp_path), "39.0.0")
    done = check(tmp_path, "--json")
    assert done.returncode == 2
    first, *others = json.loads(done.stdout)["checks"]
    assert (first["check"], first["result"]) == ("Database of the reference", 2)
    assert "--accept work" in first["details"]
    assert {other["result"] for other in others} == {0}
