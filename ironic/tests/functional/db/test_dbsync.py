"""The program `ironic-dbsync`, run as operators run it."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ironic.db import connect, schema
from ironic.db.schema_version import SCHEMA_VERSION
from ironic.tests.databases import empty_database
from ironic.tests.functional.db.test_takeover import change, killed_at
from ironic.tests.reference_databases import restore


def dbsync(directory: Path, url: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program against a database."""
    path = directory / "ironic.conf"
    path.write_text(f"[database]\nconnection = {url}\n")
    program = [sys.executable, "-W", "error", "-m", "ironic.command.dbsync", "--config-file", str(path), *words]
    return subprocess.run(program, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("words", [["create_schema"], ["upgrade"], ["upgrade", "--revision", SCHEMA_VERSION], []])
def test_it_makes_the_schema_of_an_empty_database(tmp_path: Path, words: list[str]) -> None:
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    done = dbsync(tmp_path, url, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert SCHEMA_VERSION in done.stdout
    assert f"The schema of {url} (configuration: {tmp_path}/ironic.conf) is" in done.stdout
    store = connect(url)
    store.nodes.create({"driver": "fake-hardware"})
    store.close()


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_it_works_on_servers(tmp_path: Path, kind: str) -> None:
    with empty_database(kind, tmp_path) as url:
        assert dbsync(tmp_path, url, "create_schema").returncode == 0
        assert dbsync(tmp_path, url).returncode == 0
        assert dbsync(tmp_path, url, "version").stdout == f"{SCHEMA_VERSION}\n"


def test_it_tells_and_notes_versions(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    assert dbsync(tmp_path, url, "version").stdout == "None\n"
    done = dbsync(tmp_path, f"{url}\n[deploy]\nimage_server_password = x", "version")
    assert (done.stdout, "Every user of this host can read" in done.stderr) == ("None\n", True)
    (tmp_path / "ironic.sqlite").touch()
    assert dbsync(tmp_path, url, "version").stdout == "None\n"
    assert dbsync(tmp_path, url, "stamp").returncode == 0
    assert schema.current(url) == SCHEMA_VERSION


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["create_schema"], "has tables already"),
        (["upgrade", "--revision", "r9999"], "no schema version r9999"),
        (["stamp", "--revision", "r9999"], "no schema version r9999"),
        (["downgrade"], "can't go back"),
        (["downgrade", "--revision", "r0001"], "Restore a backup"),
    ],
)
def test_a_mishap_is_one_sentence_and_status_1(tmp_path: Path, words: list[str], said: str) -> None:
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    schema.create(url)
    done = dbsync(tmp_path, url, *words)
    assert done.returncode == 1
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_server_that_does_not_answer_is_said(tmp_path: Path) -> None:
    done = dbsync(tmp_path, "sqlite:////nowhere/at/all.sqlite", "upgrade")
    assert done.returncode == 1
    assert "/nowhere/at/all.sqlite" in done.stderr


def test_data_are_in_the_form_of_this_release(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    (tmp_path / "ironic.sqlite").touch()
    assert "run `ironic-dbsync upgrade`" in dbsync(tmp_path, url, "online_data_migrations").stderr
    schema.create(url)
    done = dbsync(tmp_path, url, "online_data_migrations", "--max-count", "10")
    assert (done.returncode, done.stderr) == (0, "")
    assert "All data are migrated" in done.stdout
    assert dbsync(tmp_path, url, "online_data_migrations", "--max-count", "0").returncode == 2


def test_a_database_that_is_not_there_yet_is_waited_for_as_long_as_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    url = f"mysql+pymysql://root@127.0.0.1:{port}/ironic\nmax_retries = 2\nretry_interval = 1"
    began = time.monotonic()
    done = dbsync(tmp_path, url, "upgrade")
    assert done.returncode == 1
    assert time.monotonic() - began > 2
    *logged, said = done.stderr.splitlines()
    assert "Waiting for the database" in logged[0]
    assert "refused" in said and done.stdout == ""


def test_a_command_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    done = dbsync(tmp_path, f"sqlite:///{tmp_path}/ironic.sqlite", "destroy")
    assert done.returncode == 2
    assert "create_schema" in done.stderr


def test_options_that_have_no_effect_are_the_matter_of_the_services(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ironic.sqlite\n[DEFAULT]\nodd_old_option = 1\n[neutron]\ncleaning_network = x"
    done = dbsync(tmp_path, url, "version")
    assert done.returncode == 0
    assert "no effect" not in done.stderr and "lost" not in done.stderr


def test_it_logs_to_the_terminal_and_leaves_no_file(tmp_path: Path) -> None:
    done = dbsync(tmp_path, f"sqlite:///{tmp_path}/ironic.sqlite\n[DEFAULT]\nlog_dir = {tmp_path}/log")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "log").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("exists", [False, True])
def test_root_makes_nothing_that_the_user_of_the_service_could_not_use(tmp_path: Path, exists: bool) -> None:
    state = tmp_path / "state"
    state.mkdir()
    if exists:
        (state / "ironic.sqlite").touch()
    for path in (state, *state.iterdir()):
        os.chown(path, 12345, 12345)
    done = dbsync(tmp_path, f"sqlite:///{state}/ironic.sqlite")
    assert done.returncode == 1
    assert "belongs to user #12345" in done.stderr and "runuser -u '#12345' -- " in done.stderr
    assert [path.stat().st_size for path in state.iterdir()] == [0] * exists


def test_a_database_of_the_reference_is_planned_rehearsed_taken_over_and_given_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    restore(url, "39.0.0")
    before = (tmp_path / "ironic.sqlite").read_bytes()
    planned = dbsync(tmp_path, url, "upgrade", "--dry-run")
    assert (planned.returncode, planned.stderr) == (0, "")
    assert "nodes: 19 rows" in planned.stdout and "--accept work" in planned.stdout
    refused = dbsync(tmp_path, url)
    assert refused.returncode == 1 and "Nothing was changed" in refused.stderr and "--accept work" in refused.stderr
    rehearsed = dbsync(tmp_path, url, "rehearse", "--to", f"sqlite:///{tmp_path}/scratch.sqlite", "--accept", "work")
    assert (rehearsed.returncode, rehearsed.stderr) == (0, "")
    assert (tmp_path / "ironic.sqlite").read_bytes() == before
    done = dbsync(tmp_path, url, "upgrade", "--accept", "work")
    assert (done.returncode, done.stderr) == (0, "")
    assert schema.current(url) == SCHEMA_VERSION
    assert dbsync(tmp_path, url).returncode == 0
    assert dbsync(tmp_path, url, "return_to_reference").returncode == 0
    assert schema.current(url) == "9fb44677ef15"
    assert "nothing to drop" in dbsync(tmp_path, url, "drop_reference_tables").stderr
    assert dbsync(tmp_path, url, "upgrade", "--accept", "work").returncode == 0
    assert dbsync(tmp_path, url, "drop_reference_tables").returncode == 0
    assert "nothing to go back to" in dbsync(tmp_path, url, "return_to_reference").stderr


def test_a_half_taken_database_is_named_as_what_it_was_and_not_stamped(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    restore(url, "39.0.0")
    assert killed_at(url, "commit", 3) is False
    assert dbsync(tmp_path, url, "version").stdout == "9fb44677ef15\n"
    stamped = dbsync(tmp_path, url, "stamp")
    assert stamped.returncode == 1 and "run `ironic-dbsync upgrade`" in stamped.stderr
    assert dbsync(tmp_path, url, "create_schema").returncode == 1
    assert dbsync(tmp_path, url).returncode == 0
    assert dbsync(tmp_path, url, "version").stdout == f"{SCHEMA_VERSION}\n"


def test_a_user_who_may_not_move_tables_aside_is_refused_before_anything_changes(tmp_path: Path) -> None:
    with empty_database("postgresql", tmp_path) as url:
        restore(url, "39.0.0")
        name = url.rpartition("/")[2]
        role = f"{name}_role"
        change(url, f"CREATE ROLE {role} LOGIN", f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}")
        try:
            done = dbsync(tmp_path, url.replace("postgres@", f"{role}@"), "upgrade", "--accept", "work")
            assert done.returncode == 1
            assert "Nothing was changed" in done.stderr and "GRANT CREATE ON DATABASE" in done.stderr
            assert dbsync(tmp_path, url, "version").stdout == "9fb44677ef15\n"
        finally:
            change(url, f"DROP OWNED BY {role}", f"DROP ROLE {role}")
