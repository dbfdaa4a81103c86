"""Logging: oslo.log with the levels that keep chatty libraries quiet.

Registering is separate from setting up, because oslo.log's command line options must exist before the command line
is read, and handlers can be built only afterwards. Secrets are taken out of every line on its way to any handler:
errors of drivers and libraries quote URLs and arguments.
"""

import logging
import os
from typing import Final

from oslo_config import cfg
from oslo_log import log

from ironic.core.secrets import masked_text

# File mode bits that a new log does not have: writing for the group, everything for others.
PRIVATE: Final = 0o027

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
    """Build the handlers that the options ask for; a log file that they make is not readable for all."""
    before = os.umask(PRIVATE)
    try:
        log.setup(conf, "ironic")
    finally:
        os.umask(before)
    for handler in logging.getLogger().handlers:
        if not isinstance(handler.formatter, _WithoutSecrets):
            handler.setFormatter(_WithoutSecrets(handler.formatter or logging.Formatter()))


class _WithoutSecrets(logging.Formatter):
    """What another formatter makes of a record, traceback and all, without the secrets in it."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, or lines, of a record."""
        return masked_text(self._inner.format(record))
