"""Logging: oslo.log with levels that keep verbose libraries quiet.

Options are registered before the command line is read, handlers are built afterwards. Secrets are masked in every line
before any handler writes it, because errors of drivers and libraries quote URLs and arguments. They quote texts of
machines too, which must not write into the terminal of who reads a log.
"""

import logging
import os
import sys
from collections.abc import Mapping
from typing import Final

from oslo_config import cfg
from oslo_log import log

from ironic.core.secrets import masked_text

# All but the tabulator and the end of a line.
_CONTROLS: Final = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), " ")
# Halves of characters, which no file takes: the line would be lost.
_HALVES: Final = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")

# The umask for new log files: no write access for the group, no access for others.
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
    """Register the options of oslo.log with our levels."""
    log.register_options(conf)
    log.set_defaults(default_log_levels=LEVELS)


def set_up(conf: cfg.ConfigOpts) -> None:
    """Build the handlers according to the options; a new log file is not readable by others."""
    before = os.umask(PRIVATE)
    try:
        log.setup(conf, "ironic")
    finally:
        os.umask(before)
    for handler in logging.getLogger().handlers:
        # Where no option names a place oslo.log takes standard output, where scripts read the answers of commands.
        if isinstance(handler, logging.StreamHandler) and handler.stream is sys.stdout:
            handler.setStream(sys.stderr)
        if not isinstance(handler.formatter, _Harmless):
            # Colours are controls.
            replaced = _HALVES if conf.log_color else _CONTROLS | _HALVES
            handler.setFormatter(_Harmless(handler.formatter or logging.Formatter(), replaced))


class _Harmless(logging.Formatter):
    """Mask secrets in the output of another formatter, and replace characters; tracebacks included."""

    def __init__(self, inner: logging.Formatter, replaced: Mapping[int, str]) -> None:
        super().__init__()
        self._inner, self._replaced = inner, replaced

    def format(self, record: logging.LogRecord) -> str:
        """Return the masked text of a record."""
        return masked_text(self._inner.format(record)).translate(self._replaced)
