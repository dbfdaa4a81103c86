"""What must not leave the site wherever it stands, by its form: addresses, identities, e-mail, URLs, keys."""

import functools
import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from ironic.drivers.modules.redfish.records.stand_ins import Kind, hex_digits

# Each looks at a character a bounded number of times: a BMC writes what it wants.
_BEFORE, _AFTER = r"(?<![0-9A-Za-z])", r"(?![0-9A-Za-z])"
_URL: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'<>\\{}|^`]{1,4000}")
_MAIL: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?!odata\.|Redfish\.|Message\.)[A-Za-z0-9-]{1,63}(?:\.[\w-]{1,63}){1,8}", re.ASCII
)
_IQN: Final = re.compile(r"(?<![a-z0-9])(?:iqn\.\d{4}-\d\d|nqn\.\d{4}-\d\d)\.[^\s\"\\,;/]{1,223}")
_UUID: Final = re.compile(rf"{_BEFORE}[0-9A-Fa-f]{{8}}-(?:[0-9A-Fa-f]{{4}}-){{3}}[0-9A-Fa-f]{{12}}{_AFTER}")
_GROUPS: Final = re.compile(rf"{_BEFORE}[0-9A-Fa-f]{{2}}(?:(?:[: _-]|%3[Aa])[0-9A-Fa-f]{{2}}){{5,19}}{_AFTER}")
# In words and names of resources; decimal digits alone are more likely a date or a size.
_BARE: Final = re.compile(
    r"(?<![0-9A-Fa-f])(?=[0-9-]{0,12}[A-Fa-f])(?=[A-Fa-f-]{0,12}\d)"
    r"(?:[0-9A-Fa-f]{12}|[0-9A-Fa-f]{6}-[0-9A-Fa-f]{6})(?![0-9A-Fa-f])"
)
_DOTTED: Final = re.compile(rf"{_BEFORE}[0-9A-Fa-f]{{4}}\.[0-9A-Fa-f]{{4}}\.[0-9A-Fa-f]{{4}}{_AFTER}(?!\.\d)")
_OF_UEFI: Final = re.compile(r"(?<=MAC\()[0-9A-Fa-f]{12,64}")
_LONG_HEX: Final = re.compile(rf"{_BEFORE}(?:0[xX](?=[1256]))?[0-9A-Fa-f]{{16,4000}}{_AFTER}")
_IPV4: Final = re.compile(r"(?<![0-9A-Za-z.])\d{1,3}(?:\.\d{1,3}){3}(?![0-9A-Za-z]|\.\d)", re.ASCII)
_IPV6: Final = re.compile(
    r"(?<![0-9A-Za-z:.])(?=[0-9A-Fa-f.]*:)[0-9A-Fa-f:.]{3,4000}(?:(?<=[0-9A-Fa-f])|(?<=[0-9A-Fa-f]::))(?![A-Za-z])"
)
_KEY: Final = re.compile(
    r"-----BEGIN [\s\S]*|(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-\w{1,20}) [A-Za-z0-9+/=]{16,}"
    r"|(?<![\w-])eyJ[\w-]{8,}\.[\w.-]{8,}"
    # A certificate without its first line, and a licence.
    r"|(?<![A-Za-z0-9+/])MII[A-Za-z0-9+/]{29,}[A-Za-z0-9+/=\r\n]*"
    r"|(?<![0-9A-Za-z-])[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}(?![0-9A-Za-z-])"
)
# What follows one of these words; a word without a digit is no secret but explains one.
_SAID: Final = re.compile(
    r"(?i:passw(?:or)?d|token|secret|api-?key|authorization)\s{0,4}[=:]\s{0,4}(?i:(?:basic|bearer)\s{1,4})?"
    r"((?=[^\s\d\"',;&]{0,64}\d)[^\s\"',;&]{6,512})"
)
# A share, and the user of a host.
_SHARE: Final = re.compile(r"(?<![\w/:\\.])(?://|\\\\)[A-Za-z0-9][\w.-]{0,252}[/\\][^\s\"'<>|]{1,1000}")
_USER_AT: Final = re.compile(r"(?<![\w.+@-])[A-Za-z][\w.+-]{0,63}@[a-z][a-z0-9-]{2,62}(?![\w.@-])", re.ASCII)

_FULL_NAME: Final = re.compile(
    r"(?<![\w.-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}"
    r"(?:com|net|org|edu|gov|mil|local|lan|internal|intranet|corp|home|localdomain|example|test|invalid|info|biz|cloud"
    r"|dev|lab|private|arpa)(?![\w-]|\.\w)",
    re.ASCII,
)
# Of a country, with the host before its domain; the endings of files are not among them.
_OF_COUNTRY: Final = re.compile(
    r"(?<![\w.-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){2,8}"
    r"(?:ae|ai|ar|at|au|be|bg|br|ca|ch|cl|cn|co|cz|de|dk|ee|es|eu|fi|fr|gr|hk|hr|hu|ie|il|in|io|is|it|jp|ke|kr|lt|lu|lv"
    r"|ma|me|mx|my|ng|nl|no|nz|pe|ph|pk|pl|pt|ro|rs|ru|sa|se|sg|si|sk|th|tr|tw|ua|uk|us|vn|za)(?![\w-]|\.\w)",
    re.ASCII,
)
# A token of base 64; a path has slashes of its own.
_OPAQUE: Final = re.compile(r"(?<![\w+/-])[\w+/-]{32,}={0,2}", re.ASCII)
_OPAQUE_IN_PATHS: Final = re.compile(r"(?<![\w+-])[\w+-]{32,}={0,2}", re.ASCII)
_LETTERS_AND_DIGITS: Final = re.compile(r"[A-Z]\d|\d[A-Z]|[a-z]\d|\d[a-z]")
# Hosts of standards, whose names are in many documents.
_PUBLIC: Final = re.compile(r"(?:[\w-]+\.)*(?:dmtf\.org|w3\.org|oasis-open\.org|ietf\.org|json-schema\.org|snia\.org)$")
_MOST_ADDRESS: Final = 45
# Words have few changes between letters and digits.
_MOST_CHANGES: Final = 5
# All forms have one of these; most texts have none.
_MAY_HAVE_PARTS: Final = re.compile(r"\d|@|:|\.[A-Za-z]|-----BEGIN|//|\\\\|MII|-")
# No private part is shorter than an address, as 2001:db8:: or a:b::1.
_SHORTEST: Final = 4


class Part(NamedTuple):
    """A private part of a text."""

    start: int
    end: int
    kind: Kind


class Taken:
    """The characters of a text that are taken; to look is not slower for those that have many parts."""

    def __init__(self, length: int) -> None:
        self._characters = bytearray(length)

    def take(self, start: int, end: int) -> bool:
        """Take the characters of a part; return False where another part has one of them."""
        if self._characters.find(1, start, end) >= 0:
            return False
        self._characters[start:end] = b"\1" * (end - start)
        return True


def own_hosts(text: str, host: str) -> Iterator[tuple[int, int]]:
    """Yield where the text has the host and port of the BMC's own URLs."""
    for found in _URL.finditer(text):
        if _host_of(found[0]) == host:
            start = found.start() + found[0].index("://") + 3
            yield start, start + len(re.split(r"[/?#]", found[0].split("://", 1)[1], maxsplit=1)[0])


@functools.lru_cache(maxsize=1 << 16)  # each text is looked at in both passes
def private_parts(text: str, host: str, *, is_name: bool = False) -> tuple[Part, ...]:
    """Return the private parts of a text, none of which overlap; an address within a URL is a part of the URL.

    ``host`` is the BMC's own, in whose URLs other parts are private. Names of properties are no mail addresses.
    """
    if len(text) < _SHORTEST or not _MAY_HAVE_PARTS.search(text):
        return ()
    taken = Taken(len(text))
    return tuple(part for part in _parts(text, host, is_name=is_name) if taken.take(part.start, part.end))


def _parts(text: str, host: str, *, is_name: bool) -> Iterator[Part]:
    for pattern, kind, is_meant in _IN_NAMES if is_name else _IN_VALUES:
        for found in pattern.finditer(text):
            if is_meant(found[0], host):
                yield Part(*found.span(found.lastindex or 0), kind)
    for found in (_OPAQUE_IN_PATHS if text.startswith("/") or "://" in text else _OPAQUE).finditer(text):
        if len(_LETTERS_AND_DIGITS.findall(found[0])) >= _MOST_CHANGES:
            yield Part(*found.span(), Kind.NUMBER)


def _host_of(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _is_private(text: str) -> bool:
    """Return whether a text is an address of one host: no netmask, no loopback, none that stands for all or none."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return address.packed[0] not in (0, 127, 255)
    return not (address.is_unspecified or address.is_loopback)


def _is_elsewhere(url: str, host: str) -> bool:
    other = _host_of(url)
    return other != host and not (other and _PUBLIC.fullmatch(other))


def _is_foreign_name(name: str, host: str) -> bool:
    return not _PUBLIC.fullmatch(name)


def _is_mail_of_host(mail: str, host: str) -> bool:
    domain = mail.rpartition("@")[2]
    return any(form.fullmatch(f"host.{domain}") for form in (_FULL_NAME, _OF_COUNTRY))


def _says_something(digits: str, host: str) -> bool:
    return len(set(hex_digits(digits))) > 1


def _always(text: str, host: str) -> bool:
    return True


def _is_address(text: str, host: str) -> bool:
    return len(text) <= _MOST_ADDRESS and _is_private(text)


_Form = tuple[re.Pattern[str], Kind, Callable[[str, str], bool]]
# The first of those that overlap counts.
_IN_VALUES: Final[tuple[_Form, ...]] = (
    (_URL, Kind.URL, _is_elsewhere),
    (_SHARE, Kind.URL, _always),
    (_KEY, Kind.SECRET, _always),
    (_SAID, Kind.SECRET, _always),
    (_MAIL, Kind.MAIL, _always),
    (_USER_AT, Kind.MAIL, _always),
    (_IQN, Kind.INITIATOR, _always),
    (_UUID, Kind.HARDWARE, _says_something),
    (_GROUPS, Kind.HARDWARE, _says_something),
    (_DOTTED, Kind.HARDWARE, _says_something),
    (_OF_UEFI, Kind.HARDWARE, _says_something),
    (_IPV6, Kind.ADDRESS, _is_address),
    (_IPV4, Kind.ADDRESS, _is_address),
    (_LONG_HEX, Kind.HARDWARE, _says_something),
    (_BARE, Kind.HARDWARE, _says_something),
    (_FULL_NAME, Kind.HOST, _is_foreign_name),
    (_OF_COUNTRY, Kind.HOST, _is_foreign_name),
)
# Annotations look like mail addresses and hosts.
_IN_NAMES: Final = (
    (_MAIL, Kind.MAIL, _is_mail_of_host),
    *(form for form in _IN_VALUES if form[1] not in (Kind.MAIL, Kind.HOST)),
)
