"""Option types that oslo.config lacks.

A type is a callable that parses the text of a file and raises ValueError with a reason; oslo.config adds the group and
name of the option to the reason.
"""

import ipaddress
import logging
import re
import shlex
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg, types

from ironic.core.texts.syntax import url_of

LOG = logging.getLogger(__name__)

# A version, of which the first two numbers name the release.
_VERSION = re.compile(r"(?:[0-9]!)?([0-9]{1,4}\.[0-9]{1,4})(?:\.[0-9]{1,9})?(?:\.?(?:a|b|rc|dev)[0-9]{1,9})?")

_MODE = re.compile(r"(0o?)?[0-7]{1,4}")


class _Items(types.List):
    """A list whose empty items are left out, such as that of ``a,,b``; each option warns of them once."""

    def __init__(self, option: str, item_type: types.ConfigType | None) -> None:
        super().__init__(item_type)
        self._option, self._has_warned = option, False

    def __call__(self, value: Any) -> list[Any]:
        """Parse the items that are not empty."""
        if not isinstance(value, str):
            return super().__call__(value)
        given = value.strip().rstrip(",").split(",")
        items = [item for item in given if item.strip()]
        if len(items) < len(given) and items and not self._has_warned:
            self._has_warned = True
            LOG.warning("Option %s has an empty item, which is left out", self._option)
        return super().__call__(",".join(items))


class ListOpt(cfg.ListOpt):
    """A list option that leaves out empty items."""

    def __init__(self, name: str, item_type: types.ConfigType | None = None, **settings: Any) -> None:
        super().__init__(name, item_type=item_type, **settings)
        self.type = _Items(name, item_type)


class Octal(types.ConfigType):
    """A file mode in octal digits, as for `chmod`."""

    def __init__(self) -> None:
        super().__init__(type_name="octal file mode")

    def __call__(self, value: Any) -> int:
        """Parse octal digits; an integer is returned unchanged."""
        if isinstance(value, int):
            return value
        if not _MODE.fullmatch(value.strip()):
            raise ValueError(f"{value!r} is not a file mode: use up to four octal digits, such as 0660")
        return int(value.strip().removeprefix("0o"), 8)

    def _formatter(self, value: int) -> str:
        return oct(value)


class RegularExpression(types.String):
    """Text that compiles as a regular expression."""

    def __init__(self) -> None:
        super().__init__(type_name="regular expression")

    def __call__(self, value: object) -> str:
        """Return the text; ValueError if it does not compile."""
        pattern: str = super().__call__(value)
        try:
            re.compile(pattern)
        except re.error as fault:
            raise ValueError(f"{pattern!r} is not a regular expression: {fault}") from fault
        return pattern


class KernelParameters(types.String):
    """Parameters as on a kernel command line; quotes keep spaces together."""

    def __init__(self) -> None:
        super().__init__(type_name="kernel parameters")

    def __call__(self, value: object) -> str:
        """Return the text; ValueError if it can't be split into words."""
        text: str = super().__call__(value).strip(" \t\r\n")
        if "\n" in text or "\r" in text:
            raise ValueError("kernel parameters must be on one line")
        try:
            shlex.split(text)
        except ValueError as fault:
            raise ValueError(f"{text!r} are not kernel parameters: {fault}") from fault
        return text


class IPNetwork(types.ConfigType):
    """A network such as 192.0.2.0/24, or a single address."""

    def __init__(self) -> None:
        super().__init__(type_name="network")

    def __call__(self, value: object) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """Parse a network; ValueError for bits set after the prefix."""
        return ipaddress.ip_network(str(value).strip())

    def _formatter(self, value: ipaddress.IPv4Network | ipaddress.IPv6Network) -> str:
        return str(value)


class Release(types.String):
    """A release by its first two numbers or its name; what programs print as their version is taken too.

    `1.1`, `1.1.0`, `1.1.1.dev3` and the package's `1!1.1.0` are all 1.1.
    """

    def __init__(self, choices: Sequence[str]) -> None:
        super().__init__(choices=choices, type_name="release")

    def __call__(self, value: object) -> str:
        """Return one of the choices; ValueError for any other release."""
        version = _VERSION.fullmatch(str(value).strip())
        named: str = super().__call__(version[1] if version else value)
        return named


class Url(types.String):
    """Text that is mostly a URL; a host of IPv6 gets its brackets.

    They are missing in what operators write for any site, `http://$my_ip:6385`. What follows the last colon of such a
    host is the port if an address is left without it.
    """

    def __init__(self) -> None:
        super().__init__(type_name="URL")

    def __call__(self, value: object) -> str:
        """Return the text, with brackets."""
        text: str = super().__call__(value)
        return _bracketed(text)


class AbsoluteUrl(types.URI):
    """A URL with scheme and host; a host of IPv6 gets its brackets as in `Url`."""

    def __call__(self, value: Any) -> str:
        """Return the URL; ValueError for anything else."""
        url: str = super().__call__(_bracketed(str(value)))
        return url


class HttpUrl(types.String):
    """A URL with http:// or https:// and a host; empty text stands for none."""

    def __init__(self) -> None:
        super().__init__(type_name="URL")

    def __call__(self, value: object) -> str:
        """Return the text; the ValueError for anything else does not show it, as it may contain a login."""
        text: str = super().__call__(value)
        if text.strip() and url_of(text.strip(), ("http", "https")) is None:
            raise ValueError("it is no URL that begins with http:// or https:// and has a host")
        return text


def _bracketed(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    login, at, address = host.rpartition("@")
    if not mark or address.count(":") < 2:
        return url
    found, colon, port = address.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port) < 65536 and _is_ipv6(found)):
        found, colon, port = address, "", ""
    # Whatever is none, or has brackets, stays.
    return f"{scheme}://{login}{at}[{found}]{colon}{port}{slash}{path}" if _is_ipv6(found) else url


class PublishedPort(types.String):
    """Address, port and port in a container, as container programs take them; an address of IPv6 gets its brackets."""

    def __init__(self) -> None:
        super().__init__(type_name="published port")

    def __call__(self, value: object) -> str:
        """Return the text, with brackets."""
        text: str = super().__call__(value)
        address, *ports = text.rsplit(":", 2)
        return ":".join((f"[{address}]", *ports)) if len(ports) == 2 and _is_ipv6(address) else text


def _is_ipv6(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).version == 6
    except ValueError:
        return False


class Gibibytes(types.Integer):
    """A size in GiB; true means one and false none, as in older configurations."""

    _WORDS = {"true": 1, "yes": 1, "on": 1, "false": 0, "no": 0, "off": 0}

    def __init__(self) -> None:
        super().__init__(min=0, type_name="size in GiB")

    def __call__(self, value: object) -> int:
        """Parse a number, or a boolean word of older releases."""
        word = str(value).strip().lower()
        size: int | float | None = super().__call__(self._WORDS.get(word, value))
        if size is None:
            raise ValueError("a size in GiB must not be empty; use 0 for none")
        return int(size)


class PortRange(types.ConfigType):
    """TCP ports as first:end, of which the end is not one."""

    def __init__(self) -> None:
        super().__init__(type_name="range of ports")

    def __call__(self, value: object) -> range:
        """Parse two ports with a colon; ValueError for anything else."""
        if isinstance(value, range):
            return value
        try:
            first, end = (int(part) for part in str(value).split(":"))
        except ValueError:
            raise ValueError(f"{value!r} is not a range of ports: use first:end, such as 10000:20000") from None
        if not 0 <= first <= end <= 65535:
            raise ValueError(f"{value!r} is not a range of ports: they go from 0 to 65535, the first one first")
        return range(first, end)

    def _formatter(self, value: range | str) -> str:
        return value if isinstance(value, str) else f"{value.start}:{value.stop}"
