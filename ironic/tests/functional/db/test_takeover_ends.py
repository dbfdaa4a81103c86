"""Text and times that a driver does not read, rows written meanwhile, a deletion that was ended."""

import os
import signal

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from ironic.command import change_over
from ironic.db import takeover
from ironic.db.takeover import Loss, Settings, TakeOver
from ironic.tests.functional.db.test_takeover import NEWEST, change, engine_of, file, found_in, one, quiet, take_over
from ironic.tests.reference_databases import restore

__all__ = ["file"]

ALL = Settings(accepted=tuple(Loss))


def test_text_that_is_no_utf_8_is_said_of_its_row(file: str) -> None:
    change(file, "UPDATE nodes SET description = CAST(x'e4f6' AS TEXT) WHERE id = 1")
    assert any(place.endswith(".description") for place in found_in(file).lost[Loss.TEXT])


def test_a_row_whose_name_is_no_utf_8_can_be_printed(file: str) -> None:
    change(file, "UPDATE nodes SET uuid = CAST(x'e4f6' AS TEXT), description = CAST(x'e4f6' AS TEXT) WHERE id = 1")
    found = found_in(file)
    assert "\n".join([*found.report(), *found.lost[Loss.TEXT]]).encode()
    with pytest.raises(takeover.LossNotAccepted) as refused:
        take_over(file)
    assert str(refused.value).encode()


def test_a_time_that_is_a_number_is_said_of_its_table(file: str) -> None:
    change(file, "UPDATE nodes SET provision_updated_at = 1700000000 WHERE id = 1")
    with pytest.raises(takeover.NeedsRepair, match="nodes .*provision_updated_at is 1700000000, which is no time"):
        take_over(file, ALL)


@pytest.mark.parametrize("empty", ["mariadb"], indirect=True)
def test_a_deletion_that_was_killed_is_no_way_back(empty: str) -> None:
    restore(empty, NEWEST)
    take_over(empty)
    child = os.fork()
    if not child:
        dropped: list[str] = []

        def count(_connection: object, _cursor: object, text: str, *_rest: object) -> None:
            dropped.extend([text] * ("DROP TABLE" in text))
            if len(dropped) == 10:
                os.kill(os.getpid(), signal.SIGKILL)

        sa.event.listen(Engine, "before_cursor_execute", count)
        with engine_of(empty) as engine:
            TakeOver(engine, quiet).drop()
        os._exit(1)
    os.waitpid(child, 0)
    with engine_of(empty) as engine:
        with pytest.raises(takeover.NothingAside):
            TakeOver(engine, quiet).go_back(["written"])
        TakeOver(engine, quiet).drop()
        assert not [name for name in sa.inspect(engine).get_table_names() if name.startswith("reference_")]


def test_what_is_lost_of_rows_that_were_written_meanwhile_is_said(file: str) -> None:
    """Its service still ran when this one had looked at all rows."""

    def write(text: str) -> None:
        if text.startswith("Step 'moving'"):
            change(file, "UPDATE nodes SET extra = '{\"a\": NaN}' WHERE id = 1")

    with engine_of(file) as engine:
        with engine.connect() as connection:
            found = takeover.recognise(connection)
        assert found is not None
        begun = TakeOver(engine, write)
        begun.begin(found, Settings(accepted=(Loss.WORK,)))
        with pytest.raises(takeover.LostMeanwhile, match="numbers.*return_to_reference"):
            begun.run()
        TakeOver(engine, quiet).go_back([])
    assert one(file, "SELECT extra FROM nodes WHERE id = 1") == '{"a": NaN}'


@pytest.mark.parametrize("empty", ["postgresql"], indirect=True)
def test_views_of_a_site_are_said_before_they_go_with_the_tables(
    empty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    restore(empty, NEWEST)
    change(empty, "CREATE VIEW site_report AS SELECT uuid FROM nodes")
    assert change_over.plan(empty)
    assert "view site_report: refer to tables of the reference" in capsys.readouterr().out
