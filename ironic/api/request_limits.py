"""Limits on the requests of one client address and of one project, so that one caller can't occupy the API.

An address is counted before its token is checked, so that a flood of wrong tokens does not reach Keystone; a project,
or a user without one, once the caller is known. Every request counts for its address, whatever its path and whether it
needs credentials: a call of a ramdisk for the limit of such calls, any other one for the limit of requests, and each
for those in progress. Only the limit of ramdisks' calls is on unless an option of [api] sets another one, and each API
process counts by itself.
"""

import math
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from wsgiref.types import WSGIEnvironment

from oslo_config import cfg

from ironic.api.error_responses import RETRY_SOON, Headers, OverLimit
from ironic.api.rate_limit import TokenBuckets, bucket_of
from ironic.core.context import RequestContext
from ironic.core.permit import JUDGED, LANE, QUICK

# Key of the request's environment: whose bucket of the limit per project has counted the request.
_COUNTED: Final = "ironic.counted_caller"
# Seconds after which a client may find room again that has too many requests in progress.
_SOON: Final = 1


class RequestLimits:
    """Count the requests of addresses and callers; 0 is no limit."""

    def __init__(self, per_address: int = 0, per_caller: int = 0, at_once: int = 0, of_ramdisks: int = 0) -> None:
        self._per_address, self._per_caller, self._at_once = per_address, per_caller, at_once
        self._addresses = TokenBuckets(per_address) if per_address else None
        self._ramdisks = TokenBuckets(of_ramdisks) if of_ramdisks else None
        self._callers = TokenBuckets(per_caller) if per_caller else None
        self._running: Counter[str] = Counter()
        self._lock = threading.Lock()

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "RequestLimits":
        """Read the options."""
        api = conf.api
        return cls(
            api.requests_per_minute_address,
            api.requests_per_minute_project,
            api.requests_at_once_address,
            api.ramdisk_calls_per_minute,
        )

    def counts_addresses(self, *, is_of_ramdisk: bool = False) -> bool:
        """Return whether a limit for addresses is set that counts such requests."""
        return bool(self._at_once or (self._ramdisks if is_of_ramdisk else self._addresses))

    @contextmanager
    def of_address(
        self, address: str | None, environ: WSGIEnvironment | None = None, *, is_of_ramdisk: bool = False
    ) -> Iterator[None]:
        """Count a request of an address while the block runs; raises OverLimit: 429, for a ramdisk's call 503.

        Agents repeat a call after a 503, and not after a 429.
        """
        name = bucket_of(address)
        with self._lock:
            if self._at_once and self._running[name] >= self._at_once:
                what = f"has {self._at_once} requests in progress"
                raise _too_busy(name, what) if is_of_ramdisk else _too_many(f"address {name}", what, _SOON)
            self._running[name] += 1
        try:
            buckets = self._ramdisks if is_of_ramdisk else self._addresses
            if buckets is not None and is_begun(environ or {}) and not buckets.admits(address):
                if is_of_ramdisk:
                    raise _too_busy(name, "makes more calls than [api]ramdisk_calls_per_minute allows")
                raise _too_often(f"address {name}", self._per_address)
            yield
        finally:
            with self._lock:
                self._running[name] -= 1
                if not self._running[name]:
                    del self._running[name]

    def count_caller(self, environ: WSGIEnvironment, context: RequestContext) -> None:
        """Count a request of a project, or of a user without one; raises OverLimit (429)."""
        caller = context.project_id or context.user_id
        if self._callers is None or caller is None or context.is_public_api:
            return
        if not self._callers.admits(caller):
            kind = "project" if context.project_id else "user"
            raise _too_often(f"{kind} {caller}", self._per_caller)
        environ[_COUNTED] = caller

    def take_back(self, environ: WSGIEnvironment, address: str | None, *, is_of_ramdisk: bool = False) -> None:
        """Undo the count of a request that has changed nothing and is begun again, as if it had not been."""
        buckets = self._ramdisks if is_of_ramdisk else self._addresses
        if buckets is not None and is_begun(environ):
            buckets.give_back(address)
        self.take_back_caller(environ)

    def take_back_caller(self, environ: WSGIEnvironment) -> None:
        """Undo the count of the caller of a request that is begun again elsewhere, or with its body."""
        caller = environ.pop(_COUNTED, None)
        if self._callers is not None and caller is not None:
            self._callers.give_back(caller)


def is_begun(environ: WSGIEnvironment) -> bool:
    """Return whether a request is begun for the first time: not again, with its body or in another lane."""
    return JUDGED not in environ and environ.get(LANE, QUICK) == QUICK


def _too_often(who: str, per_minute: int) -> OverLimit:
    return _too_many(who, f"sends more than {per_minute} requests per minute", math.ceil(60 / per_minute))


def _too_many(who: str, what: str, seconds: int) -> OverLimit:
    text = (
        f"The {who} {what}. Wait {seconds} s before the next request; the administrator of the service sets the limit."
    )
    return OverLimit(429, text, [("Retry-After", str(seconds))], who, what)


def _too_busy(address: str, what: str) -> OverLimit:
    return too_many_calls(f"address {address}", what, RETRY_SOON)


def too_many_calls(who: str, what: str, headers: Headers = RETRY_SOON) -> OverLimit:
    """Return the error for a ramdisk's call beyond a limit, in one text, as its sender is not known."""
    text = "There are too many calls from this address. Try again in a moment."
    return OverLimit(503, text, list(headers), who, what)
