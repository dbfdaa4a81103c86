"""Options of [database]: those of oslo.db that this service reads, with SQLite as the default, and two own ones."""

from typing import Final

from oslo_config import cfg
from oslo_db import options as oslo_db

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
        default=10,
        help="Maximum number of seconds to wait for another process that writes to the SQLite file.",
    ),
]


OPTIONS = {"database": DATABASE_OPTIONS}

# The default is set on the option itself, because one set on `CONF` is lost when a test resets it.
cfg.set_defaults(oslo_db.database_opts, connection="sqlite:///$state_path/ironic.sqlite")
BORROWED = {"database": [option for option in oslo_db.database_opts if option.dest in _OSLO_DB]}


def register(conf: cfg.ConfigOpts) -> None:
    """Register an option that is never connected to, but protected as an address of this service."""
    (found,) = (option for option in oslo_db.database_opts if option.dest == UNUSED)
    conf.register_opt(found, group="database")
