"""HTTP calls that rules request: their URLs and their descriptions.

The evaluation only collects calls; `ironic.inspection.rules` makes them before it stores the changes of a phase.
Scheme, user, host and port of a URL are literal, so that the data of a machine can't choose the called server. Values
of expressions in the path or query are percent-encoded: they begin no new part of the URL and lead to no parent path.
"""

import functools
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from ironic.core.rules.interpolation import Template, Text
from ironic.core.rules.limits import RuleFault
from ironic.core.secrets.masking import REPLACEMENT, is_secret_parameter

_LONGEST: Final = 8192
_LONGEST_HOST: Final = 253
_HIGHEST_PORT: Final = 65535

_LABEL: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HEAD: Final = re.compile(
    r"https?://"
    r"(?:(?P<user>(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*)@)?"
    rf"(?P<host>{_LABEL}(?:\.{_LABEL})*\.?|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?(?=[/?]|\Z)"
)
_TAIL: Final = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*")
_SLASH: Final = re.compile(r"[/\\]")
_STEPS: Final = frozenset({".", ".."})


class BadUrl(ValueError):
    """A URL that rules may not call; the message says why."""


def url_template(made: Template) -> Text:
    """Return the template of a URL with expressions in path and query; raises BadUrl if they are in other parts."""
    first = made.parts[0] if isinstance(made, Text) else None
    head = _HEAD.match(first) if isinstance(first, str) else None
    if not isinstance(made, Text) or not isinstance(first, str) or head is None or head.end() == len(first):
        raise BadUrl(
            "the URL must begin with a literal http:// or https://, host and optional port: expressions may stand only "
            "behind the first '/' or '?' after them"
        )
    _check_head(head)
    literal = [first[head.end() :], *(part for part in made.parts[1:] if isinstance(part, str))]
    if not all(_TAIL.fullmatch(part) for part in literal):
        raise BadUrl(_BAD_TAIL)
    return Text(made.parts, functools.partial(quote, safe="", errors="replace"))


def checked_url(value: object) -> str:
    """Return a URL that may be called, or raise BadUrl."""
    if not isinstance(value, str) or not value or len(value) > _LONGEST:
        raise BadUrl(f"a URL must be text of at most {_LONGEST} characters")
    if (head := _HEAD.match(value)) is None:
        raise BadUrl("a URL must begin with http:// or https://, a host and an optional port")
    _check_head(head)
    tail = value[head.end() :]
    if not _TAIL.fullmatch(tail):
        raise BadUrl(_BAD_TAIL)
    segments = tail.partition("?")[0].split("/")
    if any(not _STEPS.isdisjoint(_SLASH.split(unquote(segment))) for segment in segments):
        raise BadUrl("the path of a URL must have no segment '.' or '..', also none from an expression")
    return value


def url_checked_at_run_time(value: object) -> str:
    """Return a URL that may be called, or raise RuleFault."""
    try:
        return checked_url(value)
    except BadUrl as error:
        raise RuleFault(str(error)) from None


def shown_url(url: str) -> str:
    """Return a URL that may be shown: with its login and the secret parameters of its query masked."""
    if (head := _HEAD.match(url)) is None:
        return REPLACEMENT
    begin = url[: head.end()]
    if (user := head.group("user")) is not None:
        begin = begin.replace(f"{user}@", f"{REPLACEMENT}@", 1)
    path, mark, query = url[head.end() :].partition("?")
    return f"{begin}{path}{mark}{'&'.join(map(_shown_pair, query.split('&')))}"


_BAD_TAIL: Final = "path and query of a URL must be ASCII without spaces and '#'; percent-encode other characters"


def _check_head(head: re.Match[str]) -> None:
    host, port = head.group("host"), head.group("port")
    if len(host) > _LONGEST_HOST or (port is not None and not 0 < int(port) <= _HIGHEST_PORT):
        raise BadUrl(f"a host must have at most {_LONGEST_HOST} characters, a port must be 1 to {_HIGHEST_PORT}")
    if host.startswith("["):
        try:
            ipaddress.IPv6Address(host[1:-1])
        except ValueError:
            raise BadUrl("a host in brackets must be an IPv6 address") from None


def _shown_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    return f"{name}={REPLACEMENT}" if equals and value and is_secret_parameter(unquote(name)) else pair


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
    """A call, and the action that requested it."""

    call: Call
    rule: str
    phase: str
    index: int  # of the action
    sensitive: bool


def shown_call(call: Call, *, hiding: bool) -> dict[str, object]:
    """Return a call as it may be shown: without header values and credentials; ``hiding``: also without its URL."""
    numbers = {"timeout": call.timeout, "retries": call.retries, "backoff_factor": call.backoff_factor}
    return {
        "url": REPLACEMENT if hiding else shown_url(call.url),
        "headers": dict.fromkeys(call.headers, REPLACEMENT),
        "proxies": {scheme: shown_url(url) for scheme, url in call.proxies.items()},
        **numbers,
    }
