"""What stands in a record for what must not leave the site: for equal values the same, for different ones another.

A stand-in has the form of what it replaces, as readers of the record have to take the same way: as many characters,
digits for digits, letters for letters, of either case. It comes from a counter, so it says nothing of the value.
"""

import re
import string
from collections import Counter
from collections.abc import Callable
from enum import Enum
from typing import Final

OWN_HOST: Final = "bmc.example"

_HEX: Final = frozenset(string.hexdigits)
# A number of JSON without a sign.
_NUMBER: Final = re.compile(r"(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)
# What needs no escape in JSON.
_KEPT: Final = frozenset(string.punctuation + " ") - frozenset('"\\')
# A network that is for documents only; beyond it come those for benchmarks.
_DOCUMENTS: Final = "203.0.113."
_FEW: Final = 254
_MAC_DIGITS, _UUID_DIGITS = 12, 32
_LONGEST_NUMBER: Final = 15


class Kind(Enum):
    """What is replaced, in words for people; of several kinds of one value the first counts."""

    ADDRESS = "IP address"
    HARDWARE = "MAC address, UUID or world-wide name"
    MAIL = "e-mail address"
    URL = "URL of another server"
    INITIATOR = "iSCSI or NVMe name"
    SECRET = "key, password or certificate"
    NUMBER = "serial number or tag"
    HOST = "host name"
    USER = "user or person"
    PLACE = "place"


_ORDER: Final = {kind: number for number, kind in enumerate(Kind)}


def plain(text: str) -> str:
    """Return the form by which values are compared."""
    return text.strip().lower() if len(text.lower()) == len(text) else text.strip()


def hex_digits(text: str) -> str:
    """Return the digits of an address or identity of hexadecimal digits, in whichever way it is written."""
    bare = text.lower().replace("%3a", "").removeprefix("0x")
    return "".join(each for each in bare if each in _HEX)


class StandIns:
    """All stand-ins of one record."""

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {}
        self._made: dict[str, str] = {}
        self._taken: set[str] = set()
        self._numbers: Counter[str] = Counter()
        self.counts: Counter[Kind] = Counter()

    def know(self, kind: Kind, value: str) -> None:
        """Take note of a value that will be replaced; all are known before the first one is."""
        key = self._key(kind, value)
        if key not in self._kinds or _ORDER[kind] < _ORDER[self._kinds[key]]:
            self._kinds[key] = kind
        self._taken.add(key)

    def of(self, kind: Kind, value: str) -> str:
        """Return what stands for a value."""
        bare = plain(value)
        # Written as a serial number here, as an address there.
        key = bare if bare in self._kinds else self._key(kind, value)
        kind = self._kinds.get(key, kind)
        if key not in self._made:
            self._made[key] = self._new(kind, key)
            self._taken.add(self._made[key])
            self.counts[kind] += 1
        made = self._made[key]
        if kind is Kind.HARDWARE:
            return _in_hex_form(made, value)
        if kind is Kind.NUMBER:
            return "".join(_cased(each, like) for each, like in zip(made, value.strip(), strict=True))
        return made

    def of_number(self, value: str) -> str:
        """Return what stands for a value without quotes: a number, also where it is a password in other places."""
        if _NUMBER.fullmatch(value) and _NUMBER.fullmatch(made := self.of(Kind.NUMBER, value)):
            return made
        key = f"{plain(value)} without quotes"
        if key not in self._made:
            if _NUMBER.fullmatch(value):
                self._made[key] = self._new(Kind.NUMBER, plain(value))
            else:
                self._numbers[key] += 1
                self._made[key] = str(10 ** min(len(value), _LONGEST_NUMBER) + self._numbers.total())
            self._taken.add(self._made[key])
        return self._made[key]

    @staticmethod
    def _key(kind: Kind, value: str) -> str:
        return hex_digits(value) if kind is Kind.HARDWARE else plain(value)

    def _new(self, kind: Kind, key: str) -> str:
        make: Callable[[int], str] = {
            Kind.ADDRESS: _ipv6 if ":" in key else _ipv4,
            Kind.HARDWARE: lambda number: _hardware(number, len(key)),
            Kind.MAIL: lambda number: f"person-{number}@mail.example",
            Kind.URL: lambda number: _place(number, key),
            Kind.INITIATOR: lambda number: f"{'nqn' if key.startswith('nqn') else 'iqn'}.2000-01.example:node-{number}",
            Kind.SECRET: lambda number: f"secret-{number}",
            Kind.NUMBER: lambda number: _shaped(number, key),
            Kind.HOST: lambda number: f"host-{number}" + (".example" if "." in key else ""),
            Kind.USER: lambda number: f"user-{number}",
            Kind.PLACE: lambda number: f"text-{number}",
        }[kind]
        shape = f"{kind.name} {''.join(map(_class_of, key))}" if kind is Kind.NUMBER else kind.name
        made = key
        # A short number has few others; when all are taken, it shares one.
        for _ in range(len(self._taken) + 2):
            self._numbers[shape] += 1
            made = make(self._numbers[shape])
            if made not in self._taken:
                break
        return made


def _ipv4(number: int) -> str:
    if number <= _FEW:
        return f"{_DOCUMENTS}{number}"
    return f"198.{18 + (number >> 16 & 1)}.{number >> 8 & 255}.{number & 255}"


def _ipv6(number: int) -> str:
    return f"2001:db8::{number >> 16:x}:{number & 0xFFFF:x}" if number >> 16 else f"2001:db8::{number:x}"


def _hardware(number: int, count: int) -> str:
    if count == _UUID_DIGITS:
        return f"0000000000004000800{number:013x}"
    # Addresses of network cards are those that a site gives to its own.
    lead = "02" if count == _MAC_DIGITS else "5"
    return f"{lead}{number:0{count - len(lead)}x}"[-count:]


def _in_hex_form(digits: str, like: str) -> str:
    """Return digits as another address is written: with its separators, and in its case."""
    given, is_upper = iter(digits), like != like.lower()
    parts, place = list[str](), 0
    while place < len(like):
        if like[place : place + 3].lower() == "%3a":
            parts.append(like[place : place + 3])
            place += 3
            continue
        if place == 0 and like[:2].lower() == "0x":
            parts.append(like[:2])
            place = 2
            continue
        each = like[place]
        digit = next(given, "0") if each in _HEX else each
        parts.append(digit.upper() if is_upper and each in _HEX else digit)
        place += 1
    return "".join(parts)


def _class_of(each: str) -> str:
    if each.isdecimal() or each.isalpha():
        return "0" if each.isdecimal() else "a"
    return each if each in _KEPT else "?"


def _shaped(number: int, key: str) -> str:
    """Return the number as a text of this form, its last characters first; a leading digit is not zero."""
    made = []
    for place in range(len(key) - 1, -1, -1):
        kind = _class_of(key[place])
        if kind == "0":
            number, digit = divmod(number, 10)
            made.append(str(digit))
        elif kind == "a":
            number, digit = divmod(number, 26)
            made.append(string.ascii_lowercase[digit])
        else:
            made.append(kind)
    if made[-1] == "0" and len(made) > 1:
        made[-1] = "1"
    return "".join(reversed(made))


def _cased(each: str, like: str) -> str:
    return each.upper() if like.isupper() else each


def _place(number: int, like: str) -> str:
    """Return the place of a file: a URL, a share, a path on a host, or its name alone."""
    file = f"file{_ending(like)}"
    if "://" in like:
        return f"{like.partition('://')[0]}://server-{number}.example/{file}"
    if like.startswith(("//", "\\\\")):
        return f"//server-{number}.example/{file}"
    host, slash, _ = like.partition("/")
    if not slash:
        return f"file-{number}{_ending(like)}"
    return f"server-{number}.example{':' if host.endswith(':') else ''}/{file}" if host else f"/files-{number}/{file}"


def _ending(url: str) -> str:
    """Return the ending of the file that a URL names, by which some readers know what it is."""
    _, dot, ending = url.rpartition("/")[2].partition("?")[0].rpartition(".")
    return f".{ending}" if dot and ending.isascii() and ending.isalnum() and len(ending) <= 5 else ""
