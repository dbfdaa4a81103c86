"""What `ironic-dbsync` refuses, as it would harm a database, and what it does not ask for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ironic.db import schema
from ironic.tests.functional.db.test_dbsync import dbsync
from ironic.tests.functional.db.test_takeover import NEWEST, change
from ironic.tests.functional.db.test_upgrade_checks import check
from ironic.tests.reference_databases import recorded, restore


@pytest.mark.parametrize("name", ["ironic.sqlite", "link", "hard"])
def test_a_backup_does_not_replace_the_database(tmp_path: Path, name: str) -> None:
    path = tmp_path / "ironic.sqlite"
    schema.create(f"sqlite:///{path}")
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "hard").hardlink_to(path)
    done = dbsync(tmp_path, f"sqlite:///{path}", "backup", "--overwrite", str(tmp_path / name))
    assert done.returncode == 1
    assert "is a file of the database itself" in done.stderr
    assert dbsync(tmp_path, f"sqlite:///{path}", "version").stdout.startswith("r")


def test_a_database_of_the_reference_is_not_stamped(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    restore(url, NEWEST)
    done = dbsync(tmp_path, url, "stamp")
    assert done.returncode == 1
    assert "`ironic-dbsync upgrade` takes it over" in done.stderr
    assert schema.current(url) == recorded(NEWEST).revision
    change(url, "UPDATE alembic_version SET version_num = '0123456789ab'")
    assert "neither a version of this service nor" in dbsync(tmp_path, url, "stamp").stderr
    assert schema.current(url) == "0123456789ab"


def test_a_rehearsal_asks_before_it_copies_and_not_for_living_conductors(tmp_path: Path) -> None:
    url, scratch = f"sqlite:///{tmp_path}/ironic.sqlite", f"sqlite:///{tmp_path}/scratch.sqlite"
    restore(url, NEWEST)
    change(url, "UPDATE conductors SET online = 1, updated_at = '2999-01-01 00:00:00.000000'")
    done = dbsync(tmp_path, url, "rehearse", "--to", scratch)
    assert done.returncode == 1
    assert "--accept work." in done.stderr
    assert dbsync(tmp_path, url, "rehearse", "--to", scratch, "--accept", "work").returncode == 0


def test_a_rehearsal_reads_the_url_from_standard_input(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    restore(url, NEWEST)
    path = tmp_path / "ironic.conf"
    path.write_text(f"[database]\nconnection = {url}\n")
    program = [sys.executable, "-m", "ironic.command.dbsync", "--config-file", str(path)]
    words = ["rehearse", "--to", "-", "--accept", "work"]
    done = subprocess.run([*program, *words], input=f"sqlite:///{tmp_path}/scratch.sqlite\n", text=True, timeout=60)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        ["upgrade", "--dry-run"],
        ["stamp"],
        ["rehearse", "--to", "sqlite:////nowhere"],
        ["backup", "one.backup"],
        ["copy", "--to", "sqlite:////nowhere"],
        ["online_data_migrations"],
        ["return_to_reference"],
        ["drop_reference_tables"],
    ],
)
def test_a_file_that_is_not_there_is_said_and_not_made(tmp_path: Path, words: list[str]) -> None:
    done = dbsync(tmp_path, f"sqlite:///{tmp_path}/mistyped", *words)
    assert done.returncode == 1
    assert done.stderr.startswith(f"ironic-dbsync: there is no file {tmp_path}/mistyped: see whether ")
    assert [each.name for each in tmp_path.iterdir()] == ["ironic.conf"]


def test_the_version_of_a_file_that_is_not_there_is_none_and_it_is_not_made(tmp_path: Path) -> None:
    done = dbsync(tmp_path, f"sqlite:///{tmp_path}/mistyped", "version")
    assert (done.returncode, done.stdout) == (0, "None\n")
    assert f"there is no file {tmp_path}/mistyped" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["ironic.conf"]


@pytest.mark.parametrize("lost", ["DELETE FROM alembic_version", "DROP TABLE alembic_version"])
def test_tables_without_a_version_are_said_beforehand(tmp_path: Path, lost: str) -> None:
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    restore(url, NEWEST)
    change(url, lost)
    for words in (["upgrade"], ["upgrade", "--dry-run"]):
        done = dbsync(tmp_path, url, *words)
        assert done.returncode == 1
        assert "and no schema version, so it is not known" in done.stderr and done.stderr.count("\n") == 1
    checked = check(tmp_path, "--json")
    found = next(each for each in json.loads(checked.stdout)["checks"] if each["check"] == "Database of the reference")
    assert found["result"] == 2 and "and no schema version" in found["details"]


def test_two_versions_are_said_in_a_sentence(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    schema.create(url)
    change(url, "INSERT INTO alembic_version VALUES ('r0001')")
    for words in (["version"], ["upgrade"]):
        done = dbsync(tmp_path, url, *words)
        assert done.returncode == 1
        assert "and the versions r0001 and r" in done.stderr and done.stderr.count("\n") == 1
