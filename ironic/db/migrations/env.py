"""Where Alembic learns what to work on: the connection that `ironic.db.schema` hands in."""

from alembic import context

from ironic.db.tables import metadata


def run() -> None:
    """Run the steps in the caller's transaction; SQLite can only alter a table by copying it."""
    connection = context.config.attributes["connection"]
    context.configure(
        connection=connection,
        target_metadata=metadata,
        render_as_batch=connection.dialect.name == "sqlite",
    )
    with context.begin_transaction():
        context.run_migrations()


run()
