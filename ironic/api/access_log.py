"""The access log: one line per request, whatever became of it.

    2026-11-22 17:01:18,575 192.0.2.7 user project "GET /v1/nodes?limit=2" 200 0.004 req-...

Client address, user and project (``-`` where unknown), request, status, seconds until the answer was ready, request id.
Values of secret names in a query are replaced, characters that could start a line of their own are percent-encoded.
"""

import logging
import os
import re
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote_plus

from oslo_config import cfg

from ironic.api import proxies
from ironic.core.context import RequestContext
from ironic.core.secrets import REPLACEMENT, is_secret_parameter

LOG = logging.getLogger(__name__)

FILE_NAME: Final = "access.log"
NONE: Final = "none"

_PLAIN: Final = re.compile(r"[!#-\[\]-~]*")
_SAFE: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"\\')
_PAIR: Final = re.compile(r"([^&=]+)=([^&]+)")
_LONGEST: Final = 2000


def open_from(conf: cfg.ConfigOpts) -> None:
    """Write to the file that [api]access_log_file names; without one, to where the service itself logs."""
    path = _path(conf)
    for handler in LOG.handlers[:]:
        LOG.removeHandler(handler)
        handler.close()
    LOG.propagate = path is None
    LOG.disabled = conf.api.access_log_file == NONE
    if path is not None and not LOG.disabled:
        # The file is private from its first byte on.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640))
        handler = WatchedFileHandler(path, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)


def _path(conf: cfg.ConfigOpts) -> Path | None:
    if conf.api.access_log_file:
        return Path(conf.api.access_log_file)
    if conf.log_dir:
        return Path(conf.log_dir, FILE_NAME)
    return Path(conf.log_file).with_name(FILE_NAME) if conf.log_file else None


def write(environ: dict[str, Any], context: RequestContext, status: str, seconds: float, *, trusts_proxy: bool) -> None:
    """Write the line of one request."""
    if not LOG.isEnabledFor(logging.INFO):
        return
    query = environ.get("QUERY_STRING", "")
    path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    line = (
        f"{_printable(proxies.client_address(environ, trusted=trusts_proxy))} {_printable(context.user_id)} "
        f'{_printable(context.project_id)} "{_printable(environ["REQUEST_METHOD"])} '
        f'{_printable(path)}{"?" + _printable(_masked(query)) if query else ""}" '
        f"{status[:3]} {seconds:.3f} {context.request_id}"
    )
    # A record made here costs a third of one that looks for its caller.
    LOG.handle(logging.LogRecord(LOG.name, logging.INFO, __file__, 0, line, None, None))


def _masked(query: str) -> str:
    return _PAIR.sub(_shown_pair, query[:_LONGEST])


def _shown_pair(pair: re.Match[str]) -> str:
    return f"{pair[1]}={REPLACEMENT}" if is_secret_parameter(unquote_plus(pair[1])) else pair[0]


def _printable(text: str | None) -> str:
    """Return a text that can't end its field or its line."""
    if not text:
        return "-"
    text = text[:_LONGEST]
    return text if _PLAIN.fullmatch(text) else quote(text.encode("utf-8", "replace"), safe=_SAFE)
