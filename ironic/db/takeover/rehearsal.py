"""A copy of the reference's tables in another database, to try the take-over on."""

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ironic.core.errors import IronicError
from ironic.db import engines, row_copy
from ironic.db.row_copy import TableCopy
from ironic.db.takeover.source import THEIRS


class NotEmpty(IronicError):
    """The database for the rehearsal is in use."""

    text = "The database {database} has tables. A rehearsal needs an empty one, and leaves its tables there."


def copy_tables(source: Connection, target: Engine) -> None:
    """Copy the reference's tables as they are; raises NotEmpty. Of the source is only read."""
    with target.begin() as connection:
        if sa.inspect(connection).get_table_names():
            raise NotEmpty(database=engines.shown(target.url))
        found = sa.MetaData()
        present = set(sa.inspect(source).get_table_names())
        found.reflect(source, only=[name for name in THEIRS if name in present])
        if source.dialect.name != target.dialect.name:
            _make_portable(found)
        found.create_all(connection)
        for _ in row_copy.copy_at_once(source, connection, [TableCopy(table, table) for table in found.sorted_tables]):
            pass


def _make_portable(found: sa.MetaData) -> None:
    """Forget what one kind of server says about columns and another does not understand."""
    for table in found.tables.values():
        for column in table.c:
            column.type = column.type.as_generic()
            column.server_default = None
            if isinstance(column.type, sa.String | sa.Text):
                column.type.collation = None
