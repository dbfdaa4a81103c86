"""`ironic-dbsync`: create and upgrade the database schema, migrate data.

    ironic-dbsync [--config-file FILE] [create_schema | upgrade | version | stamp | online_data_migrations]
    ironic-dbsync [--config-file FILE] copy --to URL | backup FILE | restore FILE
    ironic-dbsync [--config-file FILE] [rehearse --to URL | return_to_reference | drop_reference_tables]

Without a command it upgrades, which also creates the schema of an empty database, and takes over a database of the
reference (doc/change-over.md). It waits for a database server that does not answer yet. Every failure is one sentence
on standard error and status 1; nothing is left half done where the database can roll back changes of tables (MySQL
can't). Online data migrations end with 0 when all is done, 1 when more is left than --max-count allowed, 2 when one
failed. The commands of the second line are in `dbsync_copies`, those of the third in `change_over`.
"""

import argparse
import logging
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from oslo_config import cfg
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from ironic.command import change_over, dbsync_copies, lifecycle, server_wait
from ironic.command.lifecycle import FAILED, WELL
from ironic.conf import CONF, config_files, database, prepare_command
from ironic.db import Store, engines, online_migrations, require_current, schema
from ironic.db.exclusive_use import UPGRADE_PATIENCE, locked
from ironic.db.online_migrations import OnlineMigration, Progress
from ironic.db.store import pool_options_from_conf

# Caused by the operator, the database or its server: the message is enough, without a traceback.
EXPLAINED = (*lifecycle.EXPLAINED, SQLAlchemyError)

# Exit statuses of online data migrations, beside WELL.
MORE_LEFT, MIGRATION_FAILED = 1, 2


def used() -> str:
    """Return which database a command has used, and by which configuration."""
    database_used = engines.shown(make_url(CONF.database.connection))
    return f"{database_used} (configuration: {config_files.sources(CONF)})"


def create_schema() -> int:
    """Create the schema in an empty database."""
    schema.create(CONF.database.connection, pool_options_from_conf())
    print(f"The schema of {used()} is created, at version {schema.head()}.")
    return WELL


def upgrade() -> int:
    """Upgrade the schema to this release, or to the version asked for."""
    # Without a command on the command line there are no such options.
    named = bool(CONF.command.name)
    url, revision = CONF.database.connection, CONF.command.revision if named else "head"
    if named and CONF.command.dry_run:
        if not change_over.plan(url):
            with change_over.engine(url) as engine, engine.connect() as connection:
                schema.refuse_unversioned(connection)
            print(f"The schema of {used()} is at version {version_of(url)}; an upgrade leads to {schema.head()}.")
        return WELL
    with change_over.engine(url) as engine, locked(engine, UPGRADE_PATIENCE, change_over.say):
        if not change_over.take_over(url, CONF.command.accept if named else []):
            schema.upgrade(url, revision, pool_options_from_conf())
    print(f"The schema of {used()} is at version {version_of(url)}.")
    return WELL


def rehearse() -> int:
    """Copy a database of the reference to an empty one, and take that over; of the first is only read."""
    if not change_over.rehearse(CONF.database.connection, dbsync_copies.target_url(), CONF.command.accept):
        raise ValueError(f"{used()} is no database of the reference, so there is nothing to rehearse")
    print("The rehearsal went well. Its database may be looked at by a service, and then dropped.")
    return WELL


def return_to_reference() -> int:
    """Go back to the tables of the reference that were kept, which loses what was written since."""
    change_over.go_back(CONF.database.connection, CONF.command.accept)
    return WELL


def drop_reference_tables() -> int:
    """Delete the tables of the reference that were kept: afterwards there is no way back."""
    change_over.drop(CONF.database.connection)
    print(f"The tables of the reference in {used()} are deleted.")
    return WELL


def version_of(url: str) -> str | None:
    """Return the version of the schema; of a database that is half taken over, the revision that it had."""
    return change_over.revision_under_way(url) or schema.current(url, pool_options_from_conf())


def downgrade() -> int:
    """Refuse: what newer releases have stored would be lost."""
    raise schema.NoWayBack(wanted="an earlier version")


def version() -> int:
    """Print the version of the schema, `None` for an empty database; deployment scripts compare with that word."""
    print(version_of(CONF.database.connection) or "None")
    return WELL


def stamp() -> int:
    """Record a version without changing the schema."""
    with change_over.engine(CONF.database.connection) as engine:
        if found := change_over.revision(engine):
            raise ValueError(
                f"{used()} is one of the reference, at revision {found}: `ironic-dbsync upgrade` takes it over"
            )
    schema.stamp(CONF.database.connection, CONF.command.revision, pool_options_from_conf())
    print(f"The schema of {used()} is recorded to be at version {CONF.command.revision}.")
    return WELL


def online_data_migrations() -> int:
    """Migrate data to this release while services run; all services must run this release before."""
    store = Store.from_conf()
    require_current(store)
    return migrate_data(store, online_migrations.MIGRATIONS, CONF.command.max_count)


def migrate_data(store: Store, migrations: Sequence[OnlineMigration], most: int | None) -> int:
    """Run the migrations, print their progress, and return the exit status; ``most`` limits the rows."""
    last: dict[str, Progress] = {}
    for progress in online_migrations.run(store, migrations, most=most):
        last[progress.name] = progress
        print(f"{progress.name}: {progress.moved} rows migrated, {progress.left} left")
    faults = [f"{each.name} failed: {each.fault}" for each in last.values() if each.fault]
    for fault in faults:
        print(f"ironic-dbsync: {fault}", file=sys.stderr)
    left = sum(each.left for each in last.values())
    print("All data are migrated." if not left and not faults else f"{left} rows are left.")
    return MIGRATION_FAILED if faults else MORE_LEFT if left else WELL


COMMANDS: dict[str, Callable[[], int]] = {
    "create_schema": create_schema,
    "upgrade": upgrade,
    "downgrade": downgrade,
    "version": version,
    "stamp": stamp,
    "online_data_migrations": online_data_migrations,
    "rehearse": rehearse,
    "return_to_reference": return_to_reference,
    "drop_reference_tables": drop_reference_tables,
    "copy": dbsync_copies.copy,
    "backup": dbsync_copies.backup,
    "restore": dbsync_copies.restore,
}
WITH_REVISION = ("upgrade", "stamp", "downgrade")
# The others would make an empty SQLite file where a mistyped one is named.
MAKE_FILE = ("create_schema", "upgrade")
# A file that is to be restored may stand in the place of a damaged database.
WITHOUT_DATABASE = ("downgrade", "restore")
LOSING = {
    "upgrade": change_over.ACCEPTED,
    "rehearse": change_over.ACCEPTED,
    "return_to_reference": (change_over.WRITTEN,),
}


def _add_commands(parsers: Any) -> None:
    parsers.required = False
    for name, act in COMMANDS.items():
        parser: argparse.ArgumentParser = parsers.add_parser(name, help=act.__doc__)
        dbsync_copies.add_arguments(name, parser)
        if name in WITH_REVISION:
            parser.add_argument("--revision", default="head", help="The version; the newest one by default.")
        if name == "online_data_migrations":
            parser.add_argument("--max-count", type=_row_count, metavar="ROWS", help="Migrate no more rows than this.")
        if name == "upgrade":
            parser.add_argument("--dry-run", action="store_true", help="Say what would be done, and write nothing.")
        if name in LOSING:
            words = LOSING[name]
            parser.add_argument("--accept", action="append", default=[], choices=words, help="What may be lost.")
        if name == "rehearse":
            parser.add_argument(
                "--to",
                required=True,
                metavar="URL",
                help="An empty database, as in [database]connection; - reads it from standard input.",
            )


def _row_count(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("at least one row has to be migrated")
    return number


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    CONF.register_cli_opt(cfg.SubCommandOpt("command", title="commands", handler=_add_commands))
    try:
        prepare_command(sys.argv[1:] if argv is None else argv)
        logging.getLogger("alembic").setLevel(logging.WARNING)  # it logs each step before it is done
        command = CONF.command.name or "upgrade"
        if command not in WITHOUT_DATABASE:
            database.check_place(CONF)
            if command not in MAKE_FILE or (command == "upgrade" and CONF.command.name and CONF.command.dry_run):
                try:
                    database.check_is_there(CONF)
                except FileNotFoundError as absent:
                    if command != "version":
                        raise
                    # The word by which deployment scripts know that they have to create the schema.
                    print(f"ironic-dbsync: {absent}", file=sys.stderr)
                    print("None")
                    return WELL
            engine = engines.create(CONF.database.connection, pool_options_from_conf())
            try:
                server_wait.for_database(engine, CONF, threading.Event().wait)
            finally:
                engine.dispose()
        return COMMANDS[command]()
    except EXPLAINED as fault:
        print(f"ironic-dbsync: {config_files.in_words(fault)}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
