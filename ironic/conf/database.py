"""Options of [database]: those of oslo.db that this service reads, with SQLite as the default, and two own ones."""

import os
import pwd
import shlex
import sys
from typing import Final

from oslo_config import cfg
from oslo_db import options as oslo_db
from sqlalchemy.engine import make_url

UNUSED: Final = "slave_connection"
# Other options of oslo.db have no effect here, so they are not registered and the start warns of them.
_OSLO_DB: Final = frozenset(
    {
        "connection",
        "connection_debug",
        "connection_parameters",
        "connection_recycle_time",
        "max_overflow",
        "max_pool_size",
        "max_retries",
        "mysql_sql_mode",
        "mysql_wsrep_sync_wait",
        "pool_timeout",
        "retry_interval",
    }
)

DATABASE_OPTIONS = [
    cfg.BoolOpt(
        "sqlite_retries",
        default=True,
        help="Wait while another process writes to the same SQLite file, instead of failing at once.",
    ),
    cfg.IntOpt(
        "sqlite_max_wait_for_retry",
        min=0,
        default=10,
        help="Maximum number of seconds to wait for another process that writes to the SQLite file.",
    ),
]


OPTIONS = {"database": DATABASE_OPTIONS}

# The default is set on the option itself, because one set on `CONF` is lost when a test resets it.
cfg.set_defaults(oslo_db.database_opts, connection="sqlite:///$state_path/ironic.sqlite")
BORROWED = {"database": [option for option in oslo_db.database_opts if option.dest in _OSLO_DB]}


def check_place(conf: cfg.ConfigOpts) -> None:
    """Raise ValueError for an SQLite file that would be created in the installed package, where no data belong."""
    url = make_url(conf.database.connection)
    path = url.database or ""
    is_file = url.get_backend_name() == "sqlite" and os.path.isabs(path) and not os.path.exists(path)
    package = os.path.realpath(conf.pybasedir)
    if is_file and os.path.commonpath((os.path.realpath(path), package)) == package:
        raise ValueError(
            f"no database is named, and {path} would be created within the installed package. Name a configuration "
            "file with --config-file, or set [database]connection or [DEFAULT]state_path"
        )


def check_is_there(conf: cfg.ConfigOpts) -> None:
    """Raise FileNotFoundError for an SQLite file that is not there; a command that only reads would make it."""
    url = make_url(conf.database.connection)
    path = url.database or ""
    # SQLite has no file for these names, or reads another name from them.
    is_file = url.get_backend_name() == "sqlite" and path and path != ":memory:" and not path.startswith("file:")
    if is_file and not os.path.exists(path):
        raise FileNotFoundError(
            f"there is no file {path}: see whether [database]connection names the right one. Nothing was written; "
            "`ironic-dbsync upgrade` makes a new one"
        )


def check_user(conf: cfg.ConfigOpts) -> None:
    """Raise ValueError for root where the SQLite file is another user's, who could not use what root makes there."""
    check_owner(conf.database.connection)


def check_owner(connection: str) -> None:
    """Raise ValueError, as `check_user` does, for the URL of any database."""
    url = make_url(connection)
    path = url.database or ""
    if os.geteuid() or url.get_backend_name() != "sqlite" or not os.path.isabs(path):
        return
    found = path
    while not os.path.exists(found):
        found = os.path.dirname(found)
    if owner := os.stat(found).st_uid:
        try:
            name = pwd.getpwuid(owner).pw_name
        except KeyError:
            name = f"#{owner}"
        raise ValueError(
            f"{found} belongs to user {name}, which could not use what root writes there. Run this as that user: "
            f"runuser -u {shlex.quote(name)} -- {' '.join(map(shlex.quote, sys.argv))}"
        )


def register(conf: cfg.ConfigOpts) -> None:
    """Register an option that is never connected to, but protected as an address of this service."""
    (found,) = (option for option in oslo_db.database_opts if option.dest == UNUSED)
    conf.register_opt(found, group="database")
