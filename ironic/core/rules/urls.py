"""URLs that rules call: whom they lead to stands in the rule, only what is asked there may come from data.

Scheme, user, host and port are literal, so that nothing a machine reports chooses whom the service calls. What an
expression fills into path or query is percent-encoded: it begins no new part of the URL, and no step up in the path.
"""

import ipaddress
import re
from typing import Final
from urllib.parse import quote, unquote

from ironic.core.rules.faults import RuleFault
from ironic.core.rules.interpolation import Template, Text
from ironic.core.secrets import REPLACEMENT, is_secret_parameter

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
    """Text that no rule may call."""


def url_template(made: Template) -> Text:
    """Return a template of a URL with expressions in path and query; raises BadUrl when they stand before those."""
    first = made.parts[0] if isinstance(made, Text) else None
    head = _HEAD.match(first) if isinstance(first, str) else None
    if not isinstance(made, Text) or not isinstance(first, str) or head is None or head.end() == len(first):
        raise BadUrl(
            "the URL begins with http:// or https://, a host and maybe a port, all of them literal: expressions stand "
            "behind the first '/' or '?' after those only"
        )
    _check_head(head)
    literal = [first[head.end() :], *(part for part in made.parts[1:] if isinstance(part, str))]
    if not all(_TAIL.fullmatch(part) for part in literal):
        raise BadUrl(_BAD_TAIL)
    return Text(made.parts, _encoded)


def checked(value: object) -> str:
    """Return a URL as it is called, or raise BadUrl."""
    if not isinstance(value, str) or not value or len(value) > _LONGEST:
        raise BadUrl(f"a URL is text of at most {_LONGEST} characters")
    if (head := _HEAD.match(value)) is None:
        raise BadUrl("a URL begins with http:// or https://, a host and maybe a port")
    _check_head(head)
    tail = value[head.end() :]
    if not _TAIL.fullmatch(tail):
        raise BadUrl(_BAD_TAIL)
    segments = tail.partition("?")[0].split("/")
    if any(not _STEPS.isdisjoint(_SLASH.split(unquote(segment))) for segment in segments):
        raise BadUrl("the path of a URL has '.' or '..' in it, or an expression led to one")
    return value


def checked_at_run_time(value: object) -> str:
    """Return a URL as it is called, or raise RuleFault."""
    try:
        return checked(value)
    except BadUrl as error:
        raise RuleFault(str(error)) from None


def shown(url: str) -> str:
    """Return a URL as people may see it: without who logs in, and without secrets in its query, told by their names."""
    if (head := _HEAD.match(url)) is None:
        return REPLACEMENT
    begin = url[: head.end()]
    if (user := head.group("user")) is not None:
        begin = begin.replace(f"{user}@", f"{REPLACEMENT}@", 1)
    path, mark, query = url[head.end() :].partition("?")
    return f"{begin}{path}{mark}{'&'.join(map(_shown_pair, query.split('&')))}"


_BAD_TAIL: Final = "path and query of a URL are ASCII without spaces and '#'; other characters are percent-encoded"


def _check_head(head: re.Match[str]) -> None:
    host, port = head.group("host"), head.group("port")
    if len(host) > _LONGEST_HOST or (port is not None and not 0 < int(port) <= _HIGHEST_PORT):
        raise BadUrl(f"a host has at most {_LONGEST_HOST} characters, a port is between 1 and {_HIGHEST_PORT}")
    if host.startswith("["):
        try:
            ipaddress.IPv6Address(host[1:-1])
        except ValueError:
            raise BadUrl("what stands in brackets in a URL is an IPv6 address") from None


def _encoded(text: str) -> str:
    return quote(text, safe="", errors="replace")


def _shown_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    return f"{name}={REPLACEMENT}" if equals and value and is_secret_parameter(unquote(name)) else pair
