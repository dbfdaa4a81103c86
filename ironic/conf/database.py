"""Options of [database]: those of oslo.db, with SQLite under the state path as the default, and three of our own."""

from oslo_config import cfg
from oslo_db import options as oslo_db

OPTIONS = [
    cfg.StrOpt("mysql_engine", default="InnoDB", help="Storage engine of new tables in MySQL and MariaDB."),
    cfg.BoolOpt(
        "sqlite_retries",
        default=True,
        help="Wait for another process that writes to the same SQLite file instead of failing at once.",
    ),
    cfg.IntOpt("sqlite_max_wait_for_retry", default=10, help="Seconds that such a wait may take."),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register oslo.db's options with our default, and ours.

    The default is set on the library's option itself: one set on `conf` is forgotten when a test resets that.
    """
    cfg.set_defaults(oslo_db.database_opts, connection="sqlite:///$state_path/ironic.sqlite")
    conf.register_opts(oslo_db.database_opts, group="database")
    conf.register_opts(OPTIONS, group="database")
