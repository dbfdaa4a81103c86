"""The commands of `ironic-dbsync` for whole databases: copy one to another place, back it up, restore a backup.

    ironic-dbsync copy --to URL
    ironic-dbsync backup [--overwrite] FILE
    ironic-dbsync restore FILE

Each may be killed at any point and run again. A copy goes on where it was; a backup has its name only when it is
complete; a restore leaves all rows of before or all of the backup.
"""

import argparse
import os
import sqlite3
import sys
from collections.abc import Iterator

from oslo_db.exception import DBError
from sqlalchemy.exc import SQLAlchemyError

from ironic.command.change_over import say
from ironic.command.lifecycle import WELL
from ironic.conf import CONF, database
from ironic.conf.release import release
from ironic.core.values.value_types import utc_now
from ironic.db import Store, engines, exclusive_use, transfer
from ironic.db import backup as backups
from ironic.db.copy_progress import said
from ironic.db.row_comparison import Compared
from ironic.db.row_copy import Copied
from ironic.db.schema_version import require_same
from ironic.db.store import pool_options_from_conf


def add_arguments(name: str, parser: argparse.ArgumentParser) -> None:
    """Add the arguments of one of these commands."""
    if name == "copy":
        parser.add_argument(
            "--to",
            required=True,
            metavar="URL",
            help="The empty database, as in [database]connection; - reads it from standard input, so that no other "
            "user of the host sees its password.",
        )
    if name == "backup":
        parser.add_argument("--overwrite", action="store_true", help="Replace the file if it exists.")
    if name in ("backup", "restore"):
        parser.add_argument("file", metavar="FILE", help="The file of the backup.")


def copy() -> int:
    """Copy the database to an empty one of any kind, and compare all rows. Stop the services before."""
    url = target_url()
    database.check_owner(url)
    store = Store.from_conf()
    target = engines.create(url, pool_options_from_conf())
    try:
        if who := exclusive_use.others(store.engine):
            print(f"Warning: {who}. What is written to the database from now on is not copied.", file=sys.stderr)
        require_same(store)
        refuse_living(store)
        origin = transfer.Origin.of(store.engine)
        here, there = origin.name, engines.shown(target.url)
        if here == there:
            raise ValueError(f"{there} is the database itself: name another one")
        remedy = f"run `ironic-dbsync copy` from {here} again, or empty it."
        for _ in said(transfer.transfer(origin, target, "copy", remedy), say):
            pass
    finally:
        store.close()
        target.dispose()
    print(f"All rows of {here} are in {there} and were compared.")
    print("Now set [database]connection to it everywhere and start the services.")
    return WELL


def target_url() -> str:
    """Return the URL that `--to` names; - is read from standard input, which no other user of the host sees."""
    return sys.stdin.readline().strip() if CONF.command.to == "-" else str(CONF.command.to)


def backup() -> int:
    """Write a consistent backup of the database into a file, also while services run."""
    path = os.path.abspath(CONF.command.file)
    store = Store.from_conf()
    try:
        require_same(store)
        steps = backups.write(store.engine, path, utc_now(), release(), overwrite=CONF.command.overwrite)
        rows = sum(step.copied for step in said(steps, say) if isinstance(step, Copied) and step.is_complete)
    finally:
        store.close()
    print(f"{path} has all {rows} rows of {engines.shown(store.engine.url)}.")
    return WELL


def restore() -> int:
    """Put the rows of a backup in the place of all rows of the database. Stop the services before."""
    path = os.path.abspath(CONF.command.file)
    database.check_place(CONF)
    with backups.opened(path) as found:
        print("The backup of {source} of {made_at} UTC, by release {release}, is whole.".format_map(found.facts))
        store = Store.from_conf()
        shown = engines.shown(store.engine.url)
        try:
            if who := exclusive_use.others(store.engine):
                raise exclusive_use.DatabaseInUse(database=shown, who=who)
            if transfer.is_filled(store.engine):
                require_same(store)
                refuse_living(store)
                store.close()
                steps: Iterator[Copied | Compared] = backups.replace(found, store.engine)
            else:
                remedy = f"run `ironic-dbsync restore {path}` again, or empty it."
                steps = transfer.transfer(found.origin, store.engine, "restore", remedy)
            for _ in said(steps, say):
                pass
        except (SQLAlchemyError, DBError, sqlite3.Error) as error:
            if reason := backups.damage(error):
                raise backups.TargetDamaged(database=shown, reason=reason) from None
            raise
        finally:
            store.close()
    print(f"{shown} has the {found.rows} rows of {path}, and no other ones.")
    return WELL


def refuse_living(store: Store) -> None:
    """Raise DatabaseInUse if a conductor lives by its heartbeat."""
    seconds = CONF.conductor.heartbeat_timeout
    if alive := [one.hostname for one in store.conductors.alive(seconds)]:
        who = f"by their heartbeats these conductors are alive: {', '.join(alive)}; of killed ones wait {seconds} s"
        raise exclusive_use.DatabaseInUse(database=engines.shown(store.engine.url), who=who)
