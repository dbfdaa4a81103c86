"""`ironic-dbsync`: makes the database's schema and keeps it up to date.

    ironic-dbsync [--config-file FILE] [create_schema | upgrade | version | stamp]

Without a command it upgrades, which also makes the schema of an empty database. Every mishap is one sentence on
standard error and status 1; nothing is done by half where the database can roll back changes of tables (MySQL can't).
"""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any

from oslo_config import cfg
from oslo_db.exception import DBError
from sqlalchemy.exc import SQLAlchemyError

from ironic.conf import CONF, prepare
from ironic.core.errors import IronicError
from ironic.db import schema
from ironic.db.store import pool_options_from_conf

EXPLAINED = (IronicError, OSError, ValueError, cfg.Error, DBError, SQLAlchemyError)


def create_schema() -> None:
    """Make the schema in an empty database."""
    schema.create(CONF.database.connection, pool_options_from_conf())
    print(f"The schema is made, at version {schema.head()}.")


def upgrade() -> None:
    """Bring the schema up to date, or to the version asked for."""
    schema.upgrade(CONF.database.connection, _revision(), pool_options_from_conf())
    print(f"The schema is at version {schema.current(CONF.database.connection, pool_options_from_conf())}.")


def version() -> None:
    """Print the version the schema is at."""
    print(schema.current(CONF.database.connection, pool_options_from_conf()) or "none")


def stamp() -> None:
    """Note a version without changing the schema."""
    schema.stamp(CONF.database.connection, _revision(), pool_options_from_conf())
    print(f"The schema is noted to be at version {_revision()}.")


COMMANDS: dict[str, Callable[[], None]] = {
    "create_schema": create_schema,
    "upgrade": upgrade,
    "version": version,
    "stamp": stamp,
}
WITH_REVISION = ("upgrade", "stamp")


def _add_commands(parsers: Any) -> None:
    parsers.required = False
    for name, act in COMMANDS.items():
        parser: argparse.ArgumentParser = parsers.add_parser(name, help=act.__doc__)
        if name in WITH_REVISION:
            parser.add_argument("--revision", default="head", help="The version; the newest one by default.")


def _revision() -> str:
    return CONF.command.revision if CONF.command.name else "head"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    CONF.register_cli_opt(cfg.SubCommandOpt("command", title="commands", handler=_add_commands))
    try:
        prepare(sys.argv[1:] if argv is None else argv)
        logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells what it is about to do, we what was done
        COMMANDS[CONF.command.name or "upgrade"]()
    except EXPLAINED as fault:
        print(f"ironic-dbsync: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
