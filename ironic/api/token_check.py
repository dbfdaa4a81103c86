"""Check tokens by keystonemiddleware, as [keystone_authtoken] configures it.

What keystonemiddleware would find out with the first request only is checked at the start. Validated tokens are cached
in the process, or by `memcached_servers` for all processes; a memcached that does not answer is passed over.

Every client can send tokens that were never validated, and a Keystone that hangs holds a thread for each. So requests
with tokens that are new to this process move to a few threads that ask Keystone, and come back once the cache has them.
"""

import hashlib
import importlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import webob.exc
from keystoneauth1 import exceptions as keystone_errors
from keystonemiddleware import auth_token
from oslo_cache import exception as cache_errors
from oslo_config import cfg

from ironic.api.error_responses import RETRY_SOON, Refused
from ironic.core import permit
from ironic.core.permit import PERMIT, MustMove

LOG = logging.getLogger(__name__)

WSGI = Callable[[dict[str, Any], Any], Iterable[bytes]]

# For which an answer of Keystone is waited for unless http_connect_timeout says it; keystonemiddleware has no limit.
KEYSTONE_SECONDS: Final = 20
_NO_CACHE: Final = {"memcached_servers": [], "memcache_security_strategy": "None", "token_cache_time": -1}
# Tokens that are remembered as validated, and the headers that bring them.
_MOST_KNOWN: Final = 10_000
_HEADERS: Final = ("HTTP_X_AUTH_TOKEN", "HTTP_X_STORAGE_TOKEN", "HTTP_X_SERVICE_TOKEN")


class _KnownTokens:
    """Digests of the tokens that this process has validated and that the cache should still have."""

    def __init__(self, cache_seconds: int) -> None:
        self.cache_seconds = cache_seconds
        self._until: OrderedDict[bytes, float] = OrderedDict()
        self._lock = threading.Lock()

    def has_all_of(self, environ: Mapping[str, Any]) -> bool:
        """Return whether every token of a request is known."""
        now = time.monotonic()
        with self._lock:
            return all(self._until.get(digest, now) > now for digest in _digests(environ))

    def add_all_of(self, environ: Mapping[str, Any]) -> None:
        """Remember the tokens of a request; the earliest ones are forgotten."""
        with self._lock:
            for digest in _digests(environ):
                self._until.pop(digest, None)
                self._until[digest] = time.monotonic() + self.cache_seconds
            while len(self._until) > _MOST_KNOWN:
                self._until.popitem(last=False)


def _digests(environ: Mapping[str, Any]) -> list[bytes]:
    tokens = [str(environ[name]).encode("utf-8", "replace") for name in _HEADERS if environ.get(name)]
    return [hashlib.sha256(token).digest() for token in tokens]


class _TokenCheck(auth_token.AuthProtocol):  # type: ignore[misc]  # keystonemiddleware carries no types
    def __init__(self, app: WSGI, options: Mapping[str, Any], cache_seconds: int) -> None:
        # keystonemiddleware removes some of its options.
        super().__init__(app, dict(options))
        self._known = _KnownTokens(cache_seconds)

    def process_request(self, request: Any) -> object:
        """Authenticate a request; raises MustMove for one that has to ask Keystone in another thread."""
        lane = request.environ.get(permit.LANE)
        if lane in (permit.QUICK, permit.FULL) and not self._known.has_all_of(request.environ):
            if lane == permit.FULL:
                LOG.error("A request is refused with 503: too many others wait for Keystone. See whether it answers.")
                raise _unavailable("Too many requests wait for Keystone")
            PERMIT.check_may_wait()
            raise MustMove(permit.LOGIN)
        answer = super().process_request(request)
        if lane == permit.LOGIN and self._known.cache_seconds > 0:
            self._known.add_all_of(request.environ)
            raise MustMove(permit.QUICK)
        return answer

    def fetch_token(self, token: str, **options: Any) -> object:
        """Validate a token in the cache or at Keystone."""
        with PERMIT.waiting():
            try:
                return super().fetch_token(token, **options)
            except webob.exc.HTTPServiceUnavailable as error:
                raise _unavailable("Keystone does not answer") from error
            except cache_errors.QueueEmpty as error:
                LOG.error(
                    "All connections to [keystone_authtoken]memcached_servers are in use; a request is refused with "
                    "503. See whether memcached answers, or raise memcache_pool_maxsize: %s",
                    error,
                )
                raise _unavailable("The cache of Keystone's tokens is busy") from error
            except keystone_errors.ClientException as error:
                # What keystonemiddleware takes for no outage: a time-out, TLS, no endpoint in the catalog.
                LOG.error(
                    "A token can't be checked, so a request is refused with 503. See whether Keystone answers, and "
                    "correct [keystone_authtoken]: %s",
                    error,
                )
                raise _unavailable("Keystone can't be asked about the token") from error


def _unavailable(why: str) -> Refused:
    """Return the error for a request that has not begun; the library's own body is one that clients don't read."""
    return Refused(503, f"{why}. Try again in a moment.", RETRY_SOON)


class _CheckWithLogin(_TokenCheck):
    """Check tokens with a memcached that may refuse to serve; then Keystone validates each token."""

    def __init__(self, app: WSGI, options: Mapping[str, Any], cache_seconds: int, refusal: type[Exception]) -> None:
        super().__init__(app, options, cache_seconds)
        self._refusal, self._without_cache = refusal, _TokenCheck(app, {**options, **_NO_CACHE}, 0)

    def process_request(self, request: Any) -> object:
        """Authenticate a request."""
        try:
            return super().process_request(request)
        except self._refusal as error:
            LOG.error(
                "A server of [keystone_authtoken]memcached_servers refuses to serve, so Keystone validates each token. "
                "Correct memcache_username and memcache_password: %s",
                error,
            )
            return self._without_cache.process_request(request)


def wrap(app: WSGI, conf: cfg.ConfigOpts) -> WSGI:
    """Return the application behind the check, which refuses every request without a valid token.

    Raises ValueError for options that no token can be checked with.
    """
    for group, known in auth_token.list_opts():
        conf.register_opts(known, group=group)
    options = conf.keystone_authtoken
    refusal = _refusal_of_memcached(options)
    # The application relies on a caller that is known, so the option to let others through is overridden.
    own = {"oslo_config_config": conf, "delay_auth_decision": False}
    if options.delay_auth_decision:
        LOG.warning(
            "[keystone_authtoken]delay_auth_decision has no effect: requests without a valid token are always refused. "
            "Remove the option."
        )
    if options.cache:
        LOG.warning(
            "[keystone_authtoken]cache has no effect: tokens are cached in the process, or in memcached_servers for "
            "all processes. Remove the option."
        )
    if options.http_connect_timeout is None:
        own["http_connect_timeout"] = KEYSTONE_SECONDS
    try:
        seconds = options.token_cache_time
        checked: WSGI = _CheckWithLogin(app, own, seconds, refusal) if refusal else _TokenCheck(app, own, seconds)
    except auth_token.ConfigurationError as error:
        raise ValueError(f"[keystone_authtoken] can't be used: {error}.") from error
    return checked


def _refusal_of_memcached(options: cfg.ConfigOpts.GroupAttr) -> type[Exception] | None:
    """Return the error of the client of memcached when a server refuses to serve, None if no server can.

    Raises ValueError if the client is missing; keystonemiddleware imports it with the first request.
    """
    if not options.memcached_servers:
        return None
    is_binary = options.memcache_tls_enabled or options.memcache_sasl_enabled
    module, package = ("bmemcached", "python-binary-memcached") if is_binary else ("memcache", "python-memcached")
    try:
        client = importlib.import_module(module)
    except ImportError as error:
        raise ValueError(
            f"[keystone_authtoken]memcached_servers needs the Python package {package}, which is not installed "
            f"({error}): run pip install {package}, or remove the option."
        ) from error
    return client.exceptions.MemcachedException if is_binary else None
