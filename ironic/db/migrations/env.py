"""The entry point of Alembic; it uses the connection that `ironic.db.schema` passes."""

from alembic import context

from ironic.db.schema_version import VERSION_TABLE
from ironic.db.tables import metadata


def run() -> None:
    """Run the migrations in the caller's transaction; SQLite can alter a table only by copying it."""
    connection = context.config.attributes["connection"]
    context.configure(
        connection=connection,
        target_metadata=metadata,
        version_table=VERSION_TABLE,
        render_as_batch=connection.dialect.name == "sqlite",
    )
    with context.begin_transaction():
        context.run_migrations()


run()
