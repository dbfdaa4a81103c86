"""HTTP calls that inspection rules ask for: GET requests of bounded time whose bodies are not read.

Redirects are not followed, and proxies and credentials come from the rule alone. An attempt ends in its time, however
slowly the answer arrives, and Retry-After is ignored. Errors are described without URLs and headers, which may hold
credentials.
"""

import math
import time
from http import HTTPStatus
from typing import Final, NamedTuple

import tenacity

from ironic.conf import CONF
from ironic.core.addresses.allowed_addresses import is_among, server_of
from ironic.core.rules import Call
from ironic.integrations import http_client, image_servers

_AGAIN: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, *range(500, 600)})
_LONGEST_PAUSE: Final = 10.0  # seconds


class Result(NamedTuple):
    """The result of a call; ``status`` is that of the last answer, None when there was none."""

    status: int | None
    attempts: int
    error: str = ""

    @property
    def failure(self) -> str | None:
        """Why the call failed, None when it succeeded."""
        if self.status is None:
            return f"the call failed in attempt {self.attempts}: {self.error}"
        if HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES:
            return None
        return f"the call was answered with status {self.status} in attempt {self.attempts}"


def make(call: Call, within: float = math.inf) -> Result:
    """Make a call in ``within`` seconds; an answer of 429 or 5xx is retried as often as the call says."""
    repeated = tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda answered: answered[0] in _AGAIN),
        stop=tenacity.stop_after_attempt(call.retries + 1) | tenacity.stop_before_delay(within),
        # None before the second attempt, then twice as long each time.
        wait=tenacity.wait_chain(
            tenacity.wait_none(), tenacity.wait_exponential(call.backoff_factor, max=_LONGEST_PAUSE)
        ),
        retry_error_callback=lambda state: state.outcome and state.outcome.result(),
    )
    status, error = repeated(_make_once, call, time.monotonic() + within)
    return Result(status, repeated.statistics["attempt_number"], error)


def _make_once(call: Call, until: float) -> tuple[int | None, str]:
    """Return the status of the answer, or None and the error."""
    seconds = min(call.timeout, until - time.monotonic())
    if seconds <= 0:
        return None, "its time was over before"
    hosts = CONF.inspection_rules.call_hosts
    servers = [server_of(url) for url in (call.url, *call.proxies.values())]
    if hosts and not all(server is not None and is_among(server, hosts) for server in servers):
        return None, "[inspection_rules]call_hosts does not name its server"
    terms = http_client.Terms(
        tls=image_servers.tls_context,
        seconds=seconds,
        idle_seconds=seconds,
        proxy=lambda server: call.proxies.get(server.scheme),
        follows_redirects=False,
    )
    try:
        with http_client.get(call.url, terms, call.headers) as answer:
            return answer.status, ""
    except http_client.CallFailed as error:
        return None, str(error)
