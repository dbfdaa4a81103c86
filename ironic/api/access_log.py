"""The access log: one line per request, whatever its result.

    2026-11-22 17:01:18,575 192.0.2.7 user project "GET /v1/nodes?limit=2" 200 0.004 req-...

These are the client's address, user and project (``-`` where unknown), the request, the status, the seconds until the
response was ready, and the request ID. Values of secret parameters in the query are masked; characters that could start
a new line or field are percent-encoded. Every request pays for its line, so it is kept cheap.
"""

import logging
import os
import re
import time
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote_plus
from wsgiref.types import WSGIEnvironment

from oslo_config import cfg

from ironic.api import rate_limit
from ironic.conf.logging_setup import LONGEST_LINE, shortened
from ironic.core.context import RequestContext
from ironic.core.secrets.masking import REPLACEMENT, is_secret_parameter

LOG = logging.getLogger(__name__)

FILE_NAME: Final = "access.log"
NONE: Final = "none"

_PLAIN: Final = re.compile(r"[!#-\[\]-~]*")
_SAFE: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"\\')
_LONGEST: Final = 2000


class _Line(logging.Formatter):
    """Puts the time before a line, which is as short as those of other logs; a second is written once for its lines."""

    _second, _written = 0, ""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        if (second := int(record.created)) != self._second:
            self._second, self._written = second, time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))
        return shortened(f"{self._written},{int(record.msecs):03} {record.msg}", LONGEST_LINE)


def open_file(conf: cfg.ConfigOpts) -> None:
    """Open the access log: [api]access_log_file, a file in the log directory, or else the log of the service."""
    path = None
    if conf.api.access_log_file:
        path = Path(conf.api.access_log_file)
    elif conf.log_dir:
        path = Path(conf.log_dir, FILE_NAME)
    elif conf.log_file:
        path = Path(conf.log_file).with_name(FILE_NAME)
    for handler in LOG.handlers[:]:
        LOG.removeHandler(handler)
        handler.close()
    LOG.propagate = path is None
    LOG.disabled = conf.api.access_log_file == NONE
    if path is not None and not LOG.disabled:
        # Created first, so that the file is never readable by others.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640))
        handler = WatchedFileHandler(path, encoding="utf-8")
        handler.setFormatter(_Line())
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)


def write(
    environ: WSGIEnvironment, context: RequestContext, status: str, seconds: float, *, trusts_proxy: bool
) -> None:
    """Write the line of one request."""
    if not LOG.isEnabledFor(logging.INFO):
        return
    query = masked_query(environ.get("QUERY_STRING", ""))
    path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    line = (
        f"{_printable(rate_limit.client_address(environ, trusted=trusts_proxy))} {_printable(context.user_id)} "
        f'{_printable(context.project_id)} "{_printable(environ["REQUEST_METHOD"])} '
        f'{_printable(path)}{"?" + _printable(query) if query else ""}" '
        f"{status[:3]} {seconds:.3f} {context.request_id}"
    )
    # A record made here costs a third of one for which logging looks up the calling function.
    LOG.handle(logging.LogRecord(LOG.name, logging.INFO, "", 0, line, None, None))


def masked_query(query: str) -> str:
    """Return a query, cut where it is very long, with the values of secret parameters masked."""
    return "&".join(map(_masked_pair, query[:_LONGEST].split("&")))


def _masked_pair(pair: str) -> str:
    name, _, value = pair.lstrip("=").partition("=")
    return f"{name}={REPLACEMENT}" if value and is_secret_parameter(unquote_plus(name)) else pair


def _printable(text: str | None) -> str:
    """Return a text without characters that could end its field or its line."""
    if not text:
        return "-"
    text = text[:_LONGEST]
    return text if _PLAIN.fullmatch(text) else quote(text.encode("utf-8", "replace"), safe=_SAFE)
