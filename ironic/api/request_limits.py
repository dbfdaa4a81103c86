"""Limits on the requests of one client address and of one project, so that one caller can't occupy the API.

An address is counted before its token is checked, so that a flood of wrong tokens does not reach Keystone; a project,
or a user without one, once the caller is known. Requests that need no credentials count for their address, but those of
ramdisks, which have limits of their own (`ironic.api.ramdisk_access`). Every limit is off unless an option of [api]
sets it, and each API process counts by itself.
"""

import logging
import math
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from wsgiref.types import WSGIEnvironment

from oslo_config import cfg

from ironic.api.error_responses import Refused
from ironic.api.rate_limit import TokenBuckets, bucket_of
from ironic.core.context import RequestContext

LOG = logging.getLogger(__name__)

# Key of the request's environment: whose bucket of the limit per project has counted the request.
_COUNTED: Final = "ironic.counted_caller"
# Seconds after which a client may find room again that has too many requests in progress.
_SOON: Final = 1


class RequestLimits:
    """Count the requests of addresses and callers; 0 is no limit."""

    def __init__(self, per_address: int = 0, per_caller: int = 0, at_once: int = 0) -> None:
        self._per_address, self._per_caller, self._at_once = per_address, per_caller, at_once
        self._addresses = TokenBuckets(per_address) if per_address else None
        self._callers = TokenBuckets(per_caller) if per_caller else None
        self._running: Counter[str] = Counter()
        self._lock = threading.Lock()

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "RequestLimits":
        """Read the options."""
        api = conf.api
        return cls(api.requests_per_minute_address, api.requests_per_minute_project, api.requests_at_once_address)

    @property
    def counts_addresses(self) -> bool:
        """Whether a limit for addresses is set."""
        return bool(self._per_address or self._at_once)

    @contextmanager
    def of_address(self, address: str | None) -> Iterator[None]:
        """Count a request of an address while the block runs; raises Refused (429)."""
        name = bucket_of(address)
        with self._lock:
            if self._at_once and self._running[name] >= self._at_once:
                raise _too_many(f"address {name}", f"has {self._at_once} requests in progress", _SOON)
            self._running[name] += 1
        try:
            if self._addresses is not None and not self._addresses.admits(address):
                raise _too_often(f"address {name}", self._per_address)
            yield
        finally:
            with self._lock:
                self._running[name] -= 1
                if not self._running[name]:
                    del self._running[name]

    def count_caller(self, environ: WSGIEnvironment, context: RequestContext) -> None:
        """Count a request of a project, or of a user without one; raises Refused (429)."""
        caller = context.project_id or context.user_id
        if self._callers is None or caller is None or context.is_public_api:
            return
        if not self._callers.admits(caller):
            kind = "project" if context.project_id else "user"
            raise _too_often(f"{kind} {caller}", self._per_caller)
        environ[_COUNTED] = caller

    def take_back(self, environ: WSGIEnvironment, address: str | None) -> None:
        """Undo the count of a request that has changed nothing and is begun anew."""
        if self._addresses is not None:
            self._addresses.give_back(address)
        caller = environ.pop(_COUNTED, None)
        if self._callers is not None and caller is not None:
            self._callers.give_back(caller)


def _too_often(who: str, per_minute: int) -> Refused:
    return _too_many(who, f"sends more than {per_minute} requests per minute", math.ceil(60 / per_minute))


def _too_many(who: str, what: str, seconds: int) -> Refused:
    LOG.info("A request is refused with 429: %s %s.", who, what)
    text = (
        f"The {who} {what}. Wait {seconds} s before the next request; the administrator of the service sets the limit."
    )
    return Refused(429, text, [("Retry-After", str(seconds))])
