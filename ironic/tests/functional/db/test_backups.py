"""A backup is whole or is not there; a restore leaves all rows of before or all of the backup, on every database."""

import multiprocessing
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from ironic.core.hardware_interfaces import InterfaceRow
from ironic.db import backup, connect, engines, row_copy, schema
from ironic.db.backup import BackupExists, BackupOnDatabase, BackupUnusable
from ironic.db.exclusive_use import DatabaseInUse
from ironic.db.row_copy import Copied
from ironic.db.tables import metadata
from ironic.tests.databases import database_with_tables
from ironic.tests.filled_database import fill, stored
from ironic.tests.functional.db.test_dbsync import dbsync
from ironic.tests.suites.db.samples import node

KINDS = ("sqlite", "mariadb", "postgresql")
MADE_AT = datetime(2026, 1, 2, 3, 4, 5)


@pytest.fixture(params=KINDS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Return a database with rows in every table, of each kind."""
    with database_with_tables(request.param, tmp_path) as url:
        made = engines.create(url, engines.PoolOptions())
        fill(made, {"nodes": 9})
        yield made
        made.dispose()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Engine]:
    """Return an SQLite file with rows in every table."""
    with database_with_tables("sqlite", tmp_path) as url:
        made = engines.create(url, engines.PoolOptions())
        fill(made, {"nodes": 9})
        yield made
        made.dispose()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "one.backup"


def saved(engine: Engine, path: Path, *, overwrite: bool = False) -> Path:
    """Write a backup and return its file."""
    list(backup.write(engine, str(path), MADE_AT, "1.2.3", overwrite=overwrite))
    return path


def url_of(engine: Engine) -> str:
    engine.dispose()
    return engine.url.render_as_string(hide_password=False)


def change(engine: Engine) -> None:
    """Change, add and remove rows."""
    store = connect(url_of(engine))
    store.nodes.delete(1)
    store.nodes.update(2, {"name": "changed"})
    for _ in range(3):
        store.traits.replace(node(store).id, ["CUSTOM_LATER"])
    store.close()


def test_a_backup_has_every_row_and_restoring_it_leaves_no_other(engine: Engine, path: Path, tmp_path: Path) -> None:
    before = list(stored(engine))
    done = dbsync(tmp_path, url_of(engine), "backup", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "has all" in done.stdout
    change(engine)
    done = dbsync(tmp_path, url_of(engine), "restore", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "is whole." in done.stdout and "and no other ones." in done.stdout
    assert list(stored(engine)) == before
    store = connect(url_of(engine))
    assert node(store).id > 9
    store.close()


def test_a_backup_of_one_kind_is_restored_into_an_empty_database_of_another(
    engine: Engine, path: Path, empty: str, tmp_path: Path
) -> None:
    saved(engine, path)
    done = dbsync(tmp_path, empty, "restore", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    other = engines.create(empty, engines.PoolOptions())
    assert list(stored(other)) == list(stored(engine))
    other.dispose()
    assert schema.current(empty) == schema.head()


def test_it_is_for_its_owner_only_and_nothing_is_beside_it(file: Engine, path: Path) -> None:
    before = os.umask(0)
    try:
        saved(file, path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir() if each.name.startswith("one")] == ["one.backup"]


def test_a_file_that_exists_is_left_unless_it_may_be_replaced(file: Engine, path: Path) -> None:
    path.write_text("precious")
    with pytest.raises(BackupExists, match="was left as it is. Name another file, or add --overwrite"):
        saved(file, path)
    assert path.read_text() == "precious"
    saved(file, path, overwrite=True)
    with backup.opened(str(path)) as found:
        assert found.facts["release"] == "1.2.3"


@pytest.mark.parametrize("name", ["{}", "link", "hard", "{}-wal", "link-shm", "way/../{}"])
def test_the_database_itself_is_not_replaced(file: Engine, tmp_path: Path, name: str) -> None:
    database = Path(file.url.database or "")
    os.symlink(database, tmp_path / "link")
    os.symlink(f"{database}-shm", tmp_path / "link-shm")
    os.link(database, tmp_path / "hard")
    (tmp_path / "way").mkdir()
    before = list(stored(file))
    done = dbsync(tmp_path, url_of(file), "backup", "--overwrite", str(tmp_path / name.format(database.name)))
    assert done.returncode == 1
    assert "is a file of the database itself" in done.stderr
    assert list(stored(file)) == before


def test_a_database_in_the_place_of_the_part_is_left(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ironic.part"
    schema.create(url)
    made = engines.create(url, engines.PoolOptions())
    with pytest.raises(BackupOnDatabase, match=f"{tmp_path}/ironic.part is a file of the database itself, {url}"):
        saved(made, tmp_path / "ironic")
    made.dispose()
    assert schema.current(url) == schema.head()


def test_a_file_that_came_meanwhile_is_left(file: Engine, path: Path) -> None:
    steps = backup.write(file, str(path), MADE_AT, "1.2.3")
    next(steps)
    path.write_text("precious")
    with pytest.raises(BackupExists):
        list(steps)
    assert path.read_text() == "precious"
    assert not Path(f"{path}.part").exists()


def test_of_two_backups_into_one_file_the_second_is_refused(file: Engine, path: Path) -> None:
    steps = backup.write(file, str(path), MADE_AT, "1.2.3")
    next(steps)
    with pytest.raises(BlockingIOError, match="another backup is being written to .*one.backup.part"):
        saved(file, path)
    list(steps)
    with backup.opened(str(path)):
        pass


def test_a_link_at_the_name_of_the_part_is_not_followed(file: Engine, path: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    os.symlink(tmp_path / "victim", f"{path}.part")
    with pytest.raises(OSError, match="symbolic link"):
        saved(file, path)
    assert (tmp_path / "victim").read_text() == "precious"


def test_it_is_of_one_moment_although_others_write(engine: Engine, path: Path) -> None:
    before = list(stored(engine))
    steps = backup.write(engine, str(path), MADE_AT, "1.2.3")
    next(steps)
    store = connect(engine.url.render_as_string(hide_password=False))
    store.traits.replace(node(store).id, ["CUSTOM_LATER"])
    store.nodes.delete(9)
    store.close()
    list(steps)
    with backup.opened(str(path)) as found:
        assert found.tables == {name: len(rows) for name, rows in before}


def in_child(act: Callable[[], object], *engines_used: Engine) -> int | None:
    """Run a function in a process of its own and return its exit status; connections belong to one process."""
    for each in engines_used:
        each.dispose()

    def child() -> None:
        act()
        os._exit(0)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    return process.exitcode


def die_before(engine: type[Engine] | Engine, statement: int) -> None:
    """Kill this process before a statement."""
    done = count(1)

    def look(*_: object) -> None:
        if next(done) == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    sa.event.listen(engine, "before_cursor_execute", look)


def test_a_killed_backup_leaves_none_and_the_next_one_takes_its_place(file: Engine, path: Path) -> None:
    for statement in (1, 2, 40, 90, 120):

        def act(statement: int = statement) -> None:
            die_before(Engine, statement)
            saved(file, path)

        assert in_child(act, file) == -signal.SIGKILL
        assert not path.exists() and Path(f"{path}.part").exists()
    assert stat.S_IMODE(Path(f"{path}.part").stat().st_mode) == 0o600
    saved(file, path)
    assert not Path(f"{path}.part").exists()


def test_a_killed_restore_leaves_the_old_or_the_new(
    engine: Engine, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_copy, "_MOST_ROWS", 4)
    new = list(stored(engine))
    saved(engine, path)
    change(engine)
    old = list(stored(engine))
    assert old != new
    seen = []
    for statement in (3, 30, 60, 100, 160, 220, 1000):

        def act(statement: int = statement) -> None:
            with backup.opened(str(path)) as found:
                die_before(Engine, statement)
                list(backup.replace(found, engine))

        status = in_child(act, engine)
        rows = list(stored(engine))
        assert rows == (old if status else new)
        store = connect(engine.url.render_as_string(hide_password=False))
        made = node(store)
        store.nodes.delete(made.id)
        store.close()
        seen.append(status)
    assert seen[0] == -signal.SIGKILL and seen[-1] == 0


def test_a_part_that_is_the_same_file_as_a_backup_does_not_harm_it(file: Engine, path: Path) -> None:
    saved(file, path)
    # As after a kill between giving the name and removing the other one.
    os.link(path, f"{path}.part")
    whole = path.read_bytes()
    next(backup.write(file, str(path), MADE_AT, "1.2.3", overwrite=True))
    assert path.read_bytes() == whole
    saved(file, path, overwrite=True)
    assert not Path(f"{path}.part").exists()


def test_of_a_damaged_file_nothing_is_restored(file: Engine, path: Path) -> None:
    saved(file, path)
    whole, before = path.read_bytes(), list(stored(file))
    refused = 0
    for place in [0, 17, 18, 60, 100, 105, *range(1000, len(whole), max(1, len(whole) // 40))]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        file.dispose()
        try:
            with backup.opened(str(path)) as found:
                list(backup.replace(found, file))
        except BackupUnusable as error:
            assert str(error).endswith("Nothing was changed.")
            refused += 1
        # What is not refused was a byte without a meaning.
        assert list(stored(file)) == before
    assert refused > 15
    for end in (0, 10, 4096, len(whole) // 2, len(whole) - 4096):
        path.write_bytes(whole[:end])
        with pytest.raises(BackupUnusable), backup.opened(str(path)):
            pass


def altered(path: Path, statement: str) -> None:
    changed = sqlite3.connect(path)
    changed.execute(statement)
    changed.commit()
    changed.close()


def test_a_row_that_was_changed_or_removed_is_noticed(file: Engine, path: Path, tmp_path: Path) -> None:
    saved(file, path)
    for statement in (
        "UPDATE nodes SET name = 'other' WHERE id = 2",
        "DELETE FROM node_traits WHERE node_id = 3",
        "DROP TABLE chassis",
        "UPDATE backup_tables SET rows = 5 WHERE name = 'nodes'",
        "DELETE FROM backup_tables WHERE name = 'ports'",
        "UPDATE backup_facts SET value = 'r0001' WHERE name = 'schema'",
        "DELETE FROM backup_facts WHERE name = 'format'",
    ):
        shutil.copy(path, tmp_path / "other.backup")
        altered(tmp_path / "other.backup", statement)
        with pytest.raises(BackupUnusable, match="is damaged"), backup.opened(str(tmp_path / "other.backup")):
            pass


def test_foreign_and_newer_files_are_refused(
    file: Engine, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text("no backup\n" * 1000)
    altered(tmp_path / "foreign", "CREATE TABLE other (id)")
    own = file.url.database or ""
    for name, said in (
        ("text", "is no backup of this service"),
        ("foreign", "is no backup of this service. Nothing"),
        (own, "it looks like a database of a service, which `ironic-dbsync copy` takes"),
        (".", "is no regular file"),
    ):
        with pytest.raises(BackupUnusable, match=said), backup.opened(str(tmp_path / name)):
            pass
    with monkeypatch.context() as patch:
        patch.setattr(backup, "SCHEMA_VERSION", "r9999")
        saved(file, path)
    said = "release 1.2.3, with schema version r9999, which is newer"
    with pytest.raises(BackupUnusable, match=said), backup.opened(str(path)):
        pass


def test_a_backup_of_an_older_release_is_taken(
    file: Engine, path: Path, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = sa.MetaData()
    for table in metadata.sorted_tables:
        if table.name != "refused_reports":
            table.to_metadata(older)
    older.tables["inspection_rules"]._columns.remove(older.tables["inspection_rules"].c.dialect)
    with monkeypatch.context() as patch:
        patch.setattr(backup, "SCHEMA_VERSION", "r0001")
        patch.setattr(backup, "metadata", older)
        saved(file, path)
    done = dbsync(path.parent, empty, "restore", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    other = connect(empty)
    with other.engine.connect() as connection:
        assert {row.dialect for row in connection.execute(sa.select(metadata.tables["inspection_rules"]))} == {"ironic"}
    assert other.nodes.count() == 9
    other.close()


def test_a_living_conductor_keeps_a_restore_and_a_copy_away(engine: Engine, path: Path, tmp_path: Path) -> None:
    saved(engine, path)
    store = connect(url_of(engine))
    store.conductors.register("c-living", "", ["redfish"], [InterfaceRow("redfish", "power", "redfish", True)])
    store.close()
    before = list(stored(engine))
    for words in (["restore", str(path)], ["copy", "--to", f"sqlite:///{tmp_path}/there.sqlite"]):
        done = dbsync(tmp_path, url_of(engine), *words)
        assert done.returncode == 1
        assert "by their heartbeats these conductors are alive: c-living; of killed ones wait 60 s" in done.stderr
    assert list(stored(engine)) == before


def test_a_process_that_has_the_database_open_keeps_a_restore_away(engine: Engine, path: Path, tmp_path: Path) -> None:
    saved(engine, path)
    change(engine)
    before = list(stored(engine))
    opening = f"from ironic.db import connect\ns = connect({url_of(engine)!r})\ns.nodes.count()"
    program = f"{opening}\nprint(1, flush=True)\ninput()"
    other = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None and other.stdin is not None
    assert other.stdout.readline() == b"1\n"
    done = dbsync(tmp_path, url_of(engine), "restore", str(path))
    assert done.returncode == 1
    who = f"process {other.pid} has the file open" if engine.dialect.name == "sqlite" else "has 1 connections besides"
    assert who in done.stderr and "Nothing was changed. Stop all services" in done.stderr
    if engine.dialect.name == "sqlite":
        # Also one that has come after the command has looked.
        with pytest.raises(DatabaseInUse), backup.opened(str(path)) as found:
            list(backup.replace(found, engine))
        # A copy looks in the same way, on each kind of database.
        done = dbsync(tmp_path, url_of(engine), "copy", "--to", f"sqlite:///{tmp_path}/there.sqlite")
        assert done.returncode == 0 and "Warning: " in done.stderr and "is not copied" in done.stderr
    assert list(stored(engine)) == before
    other.stdin.write(b"\n")
    other.stdin.close()
    other.stdout.close()
    assert other.wait() == 0


def crashed(file: Engine) -> None:
    """Leave a write-ahead log beside the file, as a killed service does."""

    def act() -> None:
        store = connect(file.url.render_as_string(hide_password=False))
        store.nodes.update(4, {"name": "in-the-log"})
        os.kill(os.getpid(), signal.SIGKILL)

    in_child(act, file)
    assert Path(f"{file.url.database}-wal").stat().st_size > 0


def test_what_a_killed_service_has_left_in_the_log_is_in_a_backup(file: Engine, path: Path, tmp_path: Path) -> None:
    crashed(file)
    shutil.copy(file.url.database or "", tmp_path / "plain.sqlite")
    assert dbsync(tmp_path, url_of(file), "backup", str(path)).returncode == 0
    for name, expected in (("one.backup", "in-the-log"), ("plain.sqlite", None)):
        found = sqlite3.connect(tmp_path / name)
        assert (found.execute("SELECT name FROM nodes WHERE id = 4").fetchone()[0] == "in-the-log") == bool(expected)
        found.close()


@pytest.mark.parametrize("main", ["there", "gone", "damaged"])
def test_what_a_killed_service_has_left_beside_the_file_does_not_get_into_a_restored_one(
    file: Engine, path: Path, tmp_path: Path, main: str
) -> None:
    saved(file, path)
    before = list(stored(file))
    crashed(file)
    database = Path(file.url.database or "")
    if main == "gone":
        database.unlink()
    elif main == "damaged":
        database.write_bytes(b"damaged " * 5000)
        done = dbsync(tmp_path, url_of(file), "restore", str(path))
        assert done.returncode == 1
        assert "is damaged (file is not a database)" in done.stderr and "Move the file away" in done.stderr
        assert database.read_bytes() == b"damaged " * 5000
        for end in ("", "-wal", "-shm"):
            Path(f"{database}{end}").unlink(missing_ok=True)
    done = dbsync(tmp_path, url_of(file), "restore", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert list(stored(file)) == before


def test_a_database_of_another_schema_is_upgraded_first(path: Path, tmp_path: Path, file: Engine) -> None:
    saved(file, path)
    other = f"sqlite:///{tmp_path}/other.sqlite"
    schema.upgrade(other, "r0002")
    for words in (["backup", f"{path}.2"], ["restore", str(path)], ["copy", "--to", f"sqlite:///{tmp_path}/there"]):
        done = dbsync(tmp_path, other, *words)
        assert done.returncode == 1 and "run `ironic-dbsync upgrade`" in done.stderr
    assert not (tmp_path / "there").exists() or not (tmp_path / "there").stat().st_size


def test_progress_is_said_table_by_table(file: Engine, path: Path) -> None:
    steps = list(backup.write(file, str(path), MADE_AT, "1.2.3"))
    assert Copied("nodes", 9, True) in steps
    assert {step.table for step in steps} == set(metadata.tables)
