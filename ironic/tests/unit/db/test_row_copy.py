"""The copy of rows between tables: batches, what is converted on the way, going on after an end, the comparison."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ironic.db import engines, row_copy
from ironic.db.row_comparison import Compared, Digest, compare
from ironic.db.row_copy import PROGRESS, Row, TableCopy, Values

_old, _new = sa.MetaData(), sa.MetaData()
OWNERS = sa.Table("old_owners", _old, sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.Text()))
TAGS = sa.Table(
    "old_tags",
    _old,
    sa.Column("owner_id", sa.Integer, primary_key=True),
    sa.Column("tag", sa.String(9), primary_key=True),
)
NEW_OWNERS = sa.Table(
    "owners",
    _new,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(20)),
    sa.Column("kind", sa.String(9), server_default="plain"),
)
NEW_TAGS = sa.Table(
    "tags",
    _new,
    sa.Column("owner_id", sa.ForeignKey("owners.id"), primary_key=True),
    sa.Column("tag", sa.String(9), primary_key=True),
)


def halves(row: Values) -> list[Values]:
    """Leave out the tags that begin with x, and split those with a comma."""
    tag = str(row["tag"])
    return [] if tag.startswith("x") else [{**row, "tag": each} for each in tag.split(",")]


TABLES = [TableCopy(OWNERS, NEW_OWNERS), TableCopy(TAGS, NEW_TAGS, halves)]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Return a database with old and new tables, and have batches of three rows."""
    monkeypatch.setattr(row_copy, "_MOST_ROWS", 3)
    made = engines.create(f"sqlite:///{tmp_path}/one.sqlite", engines.PoolOptions())
    for tables in (_old, _new, PROGRESS.metadata):
        tables.create_all(made)
    with made.begin() as connection:
        connection.execute(sa.insert(OWNERS), [{"id": number, "name": f"é{number}"} for number in range(1, 9)])
        tags = [{"owner_id": owner, "tag": tag} for owner in (1, 2, 3) for tag in ("a", "b,c", "xx")]
        connection.execute(sa.insert(TAGS), tags)
    yield made
    made.dispose()


def copied(engine: Engine, most: int | None = None) -> list[tuple[str, int]]:
    """Copy, leave it after so many steps, and return the progress."""
    with row_copy.snapshot(engine) as source:
        steps = row_copy.copy_rows(source, engine, TABLES)
        return [(step.table, step.copied) for _, step in zip(range(most or 1000), steps, strict=False)]


def compared(engine: Engine) -> list[Compared]:
    with row_copy.snapshot(engine) as source, engine.connect() as target:
        return list(compare(source, target, TABLES))


def rows(engine: Engine, table: sa.Table) -> list[tuple[object, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.select(table).order_by(*table.primary_key.columns))]


def test_rows_arrive_as_they_are_converted(engine: Engine) -> None:
    copied(engine)
    assert rows(engine, NEW_OWNERS) == [(number, f"é{number}", "plain") for number in range(1, 9)]
    assert rows(engine, NEW_TAGS) == [(owner, tag) for owner in (1, 2, 3) for tag in ("a", "b", "c")]
    assert compared(engine) == [Compared("owners", 8), Compared("tags", 9)]


@pytest.mark.parametrize("steps", range(1, 8))
def test_a_copy_that_has_ended_early_goes_on_behind_its_last_batch(engine: Engine, steps: int) -> None:
    first = copied(engine, steps)
    assert len(first) == steps
    again = copied(engine)
    assert not set(first) & {step for step in again if step not in (("owners", 8), ("tags", 9))}
    assert [each.differences for each in compared(engine)] == [0, 0]
    assert copied(engine) == [("owners", 8), ("tags", 9)]


def test_a_batch_that_fails_leaves_neither_rows_nor_its_place(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(sa.insert(NEW_OWNERS).values(id=5, name="other"))
    with pytest.raises(Exception, match="UNIQUE"):
        copied(engine)
    assert [row[0] for row in rows(engine, NEW_OWNERS)] == [1, 2, 3, 5]
    assert rows(engine, PROGRESS) == [("owners", "[3]", 3)]


def test_the_comparison_finds_every_kind_of_difference(engine: Engine) -> None:
    copied(engine)
    with engine.begin() as connection:
        connection.execute(sa.update(NEW_OWNERS).where(NEW_OWNERS.c.id == 4).values(name="other"))
        connection.execute(sa.insert(NEW_OWNERS), [{"id": 20, "name": "more"}, {"id": 21, "name": "more"}])
        connection.execute(sa.delete(NEW_TAGS).where(NEW_TAGS.c.tag == "b"))
    owners, tags = compared(engine)
    assert owners == Compared("owners", 8, differences=3, keys=[(4,)])
    assert tags == Compared("tags", 9, differences=3, keys=[(1, "b"), (2, "b"), (3, "b")])


def test_a_table_without_a_key_is_refused(engine: Engine) -> None:
    bare = sa.Table("loose", sa.MetaData(), sa.Column("name", sa.String(20)))
    with engine.connect() as connection, pytest.raises(ValueError, match="Table loose has no primary key"):
        list(row_copy.read(connection, bare))


def test_a_digest_depends_on_every_value_and_not_on_the_order() -> None:
    values: list[Row] = [(1, "a"), (2, None)]
    one, turned, other = Digest(), Digest(), Digest()
    one.add(values)
    turned.add(reversed(values))
    other.add([(1, "a"), (2, "")])
    assert one.rows == 2 and one.hexadecimal == turned.hexadecimal
    assert one.hexadecimal != other.hexadecimal


def test_a_large_row_never_comes_with_many_others(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_copy, "_MOST_BYTES", 40)
    with engine.begin() as connection:
        connection.execute(sa.update(OWNERS).where(OWNERS.c.id.between(5, 6)).values(name="ü" * 30))
    with engine.connect() as connection:
        batches = [[row[0] for row in batch] for batch in row_copy.read(connection, row_copy.bare(OWNERS))]
    assert batches == [[1, 2, 3], [4], [5], [6], [7, 8]]


def test_only_the_rows_that_are_wanted_are_read_and_compared(engine: Engine) -> None:
    tables = [TableCopy(OWNERS, NEW_OWNERS, only={"name": ["é2", "é7"]})]
    with row_copy.snapshot(engine) as source:
        list(row_copy.copy_rows(source, engine, tables))
    assert [row[0] for row in rows(engine, NEW_OWNERS)] == [2, 7]
    with row_copy.snapshot(engine) as source, engine.connect() as target:
        assert list(compare(source, target, tables)) == [Compared("owners", 2)]


def test_two_tables_may_go_into_one(engine: Engine) -> None:
    def owner(row: Values) -> list[Values]:
        return [{"id": 100 + int(str(row["owner_id"]))}] if row["tag"] == "a" else []

    tables = [TableCopy(OWNERS, NEW_OWNERS), TableCopy(TAGS, NEW_OWNERS, owner, called="owners of tags")]
    with row_copy.snapshot(engine) as source:
        list(row_copy.copy_rows(source, engine, tables))
    with row_copy.snapshot(engine) as source, engine.connect() as target:
        assert list(compare(source, target, tables)) == [Compared("owners", 8), Compared("owners", 3)]
    with engine.begin() as connection:
        connection.execute(sa.insert(NEW_OWNERS).values(id=55))
    with row_copy.snapshot(engine) as source, engine.connect() as target:
        assert [each.differences for each in compare(source, target, tables)] == [0, 1]


@pytest.mark.parametrize(("reading", "is_held"), [(row_copy.snapshot, 1), (row_copy.latest, 0)])
def test_a_reader_of_the_latest_rows_lets_the_log_of_sqlite_be_emptied(
    engine: Engine, reading: Callable[[Engine], AbstractContextManager[Connection]], is_held: int
) -> None:
    with reading(engine) as source:
        source.execute(sa.select(OWNERS)).all()
        with engine.begin() as connection:
            connection.execute(sa.update(OWNERS).values(name="new"))
        with closing(sqlite3.connect(engine.url.database or "", timeout=0)) as other:
            assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == is_held
        assert (source.execute(sa.select(OWNERS.c.name)).scalar() == "new") != is_held


def test_the_message_about_a_long_statement_is_short(engine: Engine) -> None:
    with engine.connect() as connection, pytest.raises(sa.exc.SQLAlchemyError, match="too many columns") as error:
        connection.exec_driver_sql(f"SELECT {'1, ' * 9000} none")
    assert len(str(error.value)) < 3000
