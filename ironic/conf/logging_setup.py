"""Logging: oslo.log with the levels that keep chatty libraries quiet.

Registering is separate from setting up, because oslo.log's command line options must exist before the command line
is read, and handlers can be built only afterwards.
"""

from oslo_config import cfg
from oslo_log import log

LEVELS = [
    "amqp=WARNING",
    "amqplib=WARNING",
    "qpid.messaging=INFO",
    "oslo.messaging=INFO",
    "oslo_messaging=INFO",
    "stevedore=INFO",
    "iso8601=WARNING",
    "requests=WARNING",
    "urllib3.connectionpool=WARNING",
    "keystonemiddleware.auth_token=INFO",
    "keystoneauth.session=INFO",
    "openstack=WARNING",
    "oslo_policy=WARNING",
    "oslo_concurrency.lockutils=WARNING",
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register oslo.log's options with our levels."""
    log.register_options(conf)
    log.set_defaults(default_log_levels=LEVELS)


def set_up(conf: cfg.ConfigOpts) -> None:
    """Build the handlers that the options ask for."""
    log.setup(conf, "ironic")
