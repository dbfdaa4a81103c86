"""Calls that rules ask for: noted by the evaluation, made by whoever stores what the rules of the phase decided."""

from collections.abc import Mapping
from dataclasses import dataclass

from ironic.core.rules import urls
from ironic.core.secrets import REPLACEMENT


@dataclass(frozen=True, slots=True)
class Call:
    """One GET request."""

    url: str
    headers: Mapping[str, str]
    proxies: Mapping[str, str]  # by scheme
    timeout: float  # seconds for one attempt
    retries: int
    backoff_factor: float  # seconds


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call, and the action that asked for it."""

    call: Call
    rule: str
    phase: str
    index: int  # of the action
    sensitive: bool


def shown(call: Call, *, hiding: bool) -> dict[str, object]:
    """Return a call as it may be shown: no header's value, no credentials; nothing that came from hidden facts."""
    numbers = {"timeout": call.timeout, "retries": call.retries, "backoff_factor": call.backoff_factor}
    return {
        "url": REPLACEMENT if hiding else urls.shown(call.url),
        "headers": dict.fromkeys(call.headers, REPLACEMENT),
        "proxies": {scheme: urls.shown(url) for scheme, url in call.proxies.items()},
        **numbers,
    }
