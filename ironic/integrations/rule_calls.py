"""Making the calls that inspection rules ask for: GET requests of bounded time whose answers nobody reads.

Redirects are not followed, proxies and logins come from the rule alone, and a server can't prolong a call:
an attempt ends with its time, however slowly the answer trickles, and Retry-After is not obeyed.
Failures are told in the client's words; URLs and headers may hold credentials and are in no message.
"""

import math
import time
from http import HTTPStatus
from typing import Final, NamedTuple

import tenacity

from ironic.conf import CONF
from ironic.core.rules import Call
from ironic.core.servers import is_among, server_of
from ironic.integrations import image_servers, outgoing

_AGAIN: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, *range(500, 600)})
_LONGEST_PAUSE: Final = 10.0  # seconds


class Result(NamedTuple):
    """What became of a call; ``status`` is that of the last answer, None when there was none."""

    status: int | None
    attempts: int
    error: str = ""

    @property
    def failure(self) -> str | None:
        """Why the call failed; None when it did not."""
        if self.status is None:
            return f"the call failed in attempt {self.attempts}: {self.error}"
        if HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES:
            return None
        return f"the call was answered with status {self.status} in attempt {self.attempts}"


def make(call: Call, within: float = math.inf) -> Result:
    """Make a call within so many seconds, again as often as it says while the answer is 429 or 5xx."""
    repeated = tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda answered: answered[0] in _AGAIN),
        stop=tenacity.stop_after_attempt(call.retries + 1) | tenacity.stop_before_delay(within),
        # None before the second attempt, then twice as long each time.
        wait=tenacity.wait_chain(
            tenacity.wait_none(), tenacity.wait_exponential(call.backoff_factor, max=_LONGEST_PAUSE)
        ),
        retry_error_callback=lambda state: state.outcome and state.outcome.result(),
    )
    status, error = repeated(_attempt, call, time.monotonic() + within)
    return Result(status, repeated.statistics["attempt_number"], error)


def _may_be_called(url: str) -> bool:
    hosts, server = CONF.inspection_rules.call_hosts, server_of(url)
    return not hosts or (server is not None and is_among(server, hosts))


def _attempt(call: Call, until: float) -> tuple[int | None, str]:
    """Return the status of an answer of which the head was read, or what went wrong."""
    seconds = min(call.timeout, until - time.monotonic())
    if seconds <= 0:
        return None, "its time was over before"
    if not all(map(_may_be_called, (call.url, *call.proxies.values()))):
        return None, "[inspection_rules]call_hosts does not name its server"
    terms = outgoing.Terms(
        tls=image_servers.trust,
        seconds=seconds,
        idle_seconds=seconds,
        proxy=lambda server: call.proxies.get(server.scheme),
        follows_redirects=False,
    )
    try:
        with outgoing.get(call.url, terms, call.headers) as answer:
            return answer.status, ""
    except outgoing.CallFailed as error:
        return None, str(error)
