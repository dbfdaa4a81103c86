"""The WSGI middleware around the application, and the access log.

One layer gives every request an ID and a line in the access log, applies forwarding headers if that is enabled, refuses
requests that a page of another site makes a browser send, answers the health check if it is enabled, and turns an
exception that leaves the application into a plain 500. One layer instead of six costs an eighth of the time.

The access log has one line per request, whatever its result:

    2026-11-22 17:01:18,575 192.0.2.7 user project "GET /v1/nodes?limit=2" 200 0.004 req-...

These are the client's address, user and project (``-`` where unknown), the request, the status, the seconds until the
response was ready, and the request ID. Values of secret parameters in the query are masked; characters that could start
a new line or field are percent-encoded.
"""

import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote_plus

from oslo_config import cfg

from ironic.api import error_responses, rate_limit
from ironic.api.error_responses import Refused
from ironic.api.request import REQUEST
from ironic.api.routes import Routes
from ironic.api.served_api import ServedApi
from ironic.api.settings import ApiSettings
from ironic.core.context import RequestContext
from ironic.core.permit import PERMIT, MustWait
from ironic.core.secrets import REPLACEMENT, is_secret_parameter

LOG = logging.getLogger(__name__)


FILE_NAME: Final = "access.log"
NONE: Final = "none"

_PLAIN: Final = re.compile(r"[!#-\[\]-~]*")
_SAFE: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"\\')
_PAIR: Final = re.compile(r"([^&=]+)=([^&]+)")
_LONGEST: Final = 2000


def open_access_log(conf: cfg.ConfigOpts) -> None:
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
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)


def write_access_log(
    environ: dict[str, Any], context: RequestContext, status: str, seconds: float, *, trusts_proxy: bool
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
    LOG.handle(logging.LogRecord(LOG.name, logging.INFO, __file__, 0, line, None, None))


def masked_query(query: str) -> str:
    """Return a query, cut where it is very long, with the values of secret parameters masked."""
    return _PAIR.sub(_masked_pair, query[:_LONGEST])


def _masked_pair(pair: re.Match[str]) -> str:
    return f"{pair[1]}={REPLACEMENT}" if is_secret_parameter(unquote_plus(pair[1])) else pair[0]


def _printable(text: str | None) -> str:
    """Return a text without characters that could end its field or its line."""
    if not text:
        return "-"
    text = text[:_LONGEST]
    return text if _PLAIN.fullmatch(text) else quote(text.encode("utf-8", "replace"), safe=_SAFE)


# Keys whose values refer to the environment: the cycle, with a body in it, would stay until garbage is collected.
_REFER_BACK: Final = (REQUEST, "pecan.locals", "pecan.original_exception")

WSGI = Callable[[dict[str, Any], Any], Iterable[bytes]]
StartResponse = Callable[..., object]


class Middleware:
    """The middleware around the application."""

    def __init__(self, app: WSGI, settings: ApiSettings, served: ServedApi) -> None:
        """Take the application and the API that it serves."""
        self._app, self._settings, self._served = app, settings, served
        self._routes = Routes(served.rows)
        self._health: WSGI | None = None
        if settings.healthcheck:
            # Mounted by path: wrapped around another application the health check answers every path.
            from oslo_middleware.healthcheck import Healthcheck

            self._health = Healthcheck.app_factory({"detailed": "False"})

    def __call__(self, environ: dict[str, object], start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        refused = self._settings.origins.refusal(environ)
        if self._settings.proxy_headers:
            rate_limit.apply_proxy_headers(environ)
        if self._health is not None and environ.get("PATH_INFO") == "/healthcheck":
            return self._health(environ, start_response)
        began = time.monotonic()
        context = RequestContext()
        environ["ironic.context"] = context
        environ["openstack.request_id"] = context.request_id
        ids = [("openstack-request-id", context.request_id), ("x-openstack-request-id", context.request_id)]
        answered, is_over = "", True

        def start(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> object:
            nonlocal answered
            answered = status
            return start_response(status, headers + ids, exc_info)

        try:
            if refused is not None:
                return self._plain(start, 403, refused)
            return self._limited(environ, start)
        except MustWait:
            is_over = False
            raise
        except Refused as refusal:
            return self._plain(start, refusal.status, str(refusal), refusal.headers)
        except Exception:
            LOG.exception("Request %s failed outside its handler.", context.request_id)
            return self._plain(start, 500, error_responses.UNEXPECTED)
        finally:
            if is_over:
                seconds = time.monotonic() - began
                write_access_log(environ, context, answered, seconds, trusts_proxy=self._settings.proxy_headers)
            for name in _REFER_BACK:
                environ.pop(name, None)

    def _limited(self, environ: dict[str, Any], start: StartResponse) -> Iterable[bytes]:
        """Call the application unless the client's address exceeds a limit; raises Refused."""
        limits = self._settings.request_limits
        if not limits.counts_addresses or self._routes.is_public(environ):
            with PERMIT.computing():
                return self._app(environ, start)
        address = rate_limit.client_address(environ, trusted=self._settings.proxy_headers)
        with limits.of_address(address), PERMIT.computing():
            try:
                return self._app(environ, start)
            except MustWait:
                limits.take_back(environ, address)
                raise

    def _plain(
        self, start: StartResponse, status: int, text: str, headers: Sequence[tuple[str, str]] = ()
    ) -> list[bytes]:
        body = self._served.fault(status, text)
        lines = [("Content-Type", error_responses.JSON), ("Content-Length", str(len(body))), *headers]
        start(f"{status} {HTTPStatus(status).phrase}", lines)
        return [body]
