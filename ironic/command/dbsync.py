"""`ironic-dbsync`: makes the database's schema and keeps it up to date.

    ironic-dbsync [--config-file FILE] [create_schema | upgrade | version | stamp | online_data_migrations]

Without a command it upgrades, which also makes the schema of an empty database. A database that is not there yet is
waited for. Every mishap is one sentence on standard error and status 1; nothing is done by half where the database can
roll back changes of tables (MySQL can't). Online data migrations end with 0 when all is done, 1 when more is left than
--max-count allowed, 2 when one failed.
"""

import argparse
import logging
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from oslo_config import cfg
from oslo_db.exception import DBError
from sqlalchemy.exc import SQLAlchemyError

from ironic.command import waiting
from ironic.conf import CONF, prepare
from ironic.core.errors import IronicError
from ironic.db import Store, online_migrations, require_current, schema
from ironic.db import engine as engines
from ironic.db.online_migrations import OnlineMigration, Progress
from ironic.db.store import pool_options_from_conf

EXPLAINED = (IronicError, OSError, ValueError, cfg.Error, DBError, SQLAlchemyError)


DONE, FAILED = 0, 1
MORE_LEFT, MIGRATION_FAILED = 1, 2


def create_schema() -> int:
    """Make the schema in an empty database."""
    schema.create(CONF.database.connection, pool_options_from_conf())
    print(f"The schema is made, at version {schema.head()}.")
    return DONE


def upgrade() -> int:
    """Bring the schema up to date, or to the version asked for."""
    schema.upgrade(CONF.database.connection, _revision(), pool_options_from_conf())
    print(f"The schema is at version {schema.current(CONF.database.connection, pool_options_from_conf())}.")
    return DONE


def downgrade() -> int:
    """Refused: what newer releases have stored would be lost."""
    raise schema.NoWayBack(wanted="an earlier version")


def version() -> int:
    """Print the version the schema is at."""
    print(schema.current(CONF.database.connection, pool_options_from_conf()) or "none")
    return DONE


def stamp() -> int:
    """Note a version without changing the schema."""
    schema.stamp(CONF.database.connection, _revision(), pool_options_from_conf())
    print(f"The schema is noted to be at version {_revision()}.")
    return DONE


def online_data_migrations() -> int:
    """Move data to the form of this release while services run; all of them must be of this release by then."""
    store = Store.from_conf()
    require_current(store)
    return move_data(store, online_migrations.MIGRATIONS, CONF.command.max_count)


def move_data(store: Store, migrations: Sequence[OnlineMigration], most: int | None) -> int:
    """Do the migrations, telling how far they are, and return the status they end with."""
    last: dict[str, Progress] = {}
    for progress in online_migrations.run(store, migrations, most=most):
        last[progress.name] = progress
        print(f"{progress.name}: {progress.moved} rows moved, {progress.left} left")
    faults = [f"{each.name} failed: {each.fault}" for each in last.values() if each.fault]
    for fault in faults:
        print(f"ironic-dbsync: {fault}", file=sys.stderr)
    left = sum(each.left for each in last.values())
    print("All data are in the form of this release." if not left and not faults else f"{left} rows are left.")
    return MIGRATION_FAILED if faults else MORE_LEFT if left else DONE


COMMANDS: dict[str, Callable[[], int]] = {
    "create_schema": create_schema,
    "upgrade": upgrade,
    "downgrade": downgrade,
    "version": version,
    "stamp": stamp,
    "online_data_migrations": online_data_migrations,
}
WITH_REVISION = ("upgrade", "stamp", "downgrade")
WITHOUT_DATABASE = ("downgrade",)


def _add_commands(parsers: Any) -> None:
    parsers.required = False
    for name, act in COMMANDS.items():
        parser: argparse.ArgumentParser = parsers.add_parser(name, help=act.__doc__)
        if name in WITH_REVISION:
            parser.add_argument("--revision", default="head", help="The version; the newest one by default.")
        if name == "online_data_migrations":
            parser.add_argument("--max-count", type=_positive, metavar="ROWS", help="Move no more rows than this.")


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("at least one row has to be moved")
    return number


def _await_database() -> None:
    engine = engines.create(CONF.database.connection, pool_options_from_conf())
    try:
        waiting.for_database(engine, CONF, _pause)
    finally:
        engine.dispose()


def _pause(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def _revision() -> str:
    return CONF.command.revision if CONF.command.name else "head"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    CONF.register_cli_opt(cfg.SubCommandOpt("command", title="commands", handler=_add_commands))
    try:
        prepare(sys.argv[1:] if argv is None else argv)
        logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells what it is about to do, we what was done
        command = CONF.command.name or "upgrade"
        if command not in WITHOUT_DATABASE:
            _await_database()
        return COMMANDS[command]()
    except EXPLAINED as fault:
        print(f"ironic-dbsync: {fault}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
