"""Option types that oslo.config lacks.

A type is a callable that turns the text of a file into a value and raises ValueError with a reason when it can't;
oslo.config adds the group and the name of the option to that reason.
"""

import ipaddress
import re
import shlex
from typing import Any

from oslo_config import types

_MODE = re.compile(r"(0o?)?[0-7]{1,4}")


class Octal(types.ConfigType):
    """A file mode, written the way `chmod` takes it."""

    def __init__(self) -> None:
        super().__init__(type_name="octal file mode")

    def __call__(self, value: Any) -> int:
        """Read the digits as octal ones; a number is taken as it is."""
        if isinstance(value, int):
            return value
        if not _MODE.fullmatch(value.strip()):
            raise ValueError(f"{value!r} is no file mode: write up to four octal digits, such as 0660")
        return int(value.strip().removeprefix("0o"), 8)

    def _formatter(self, value: int) -> str:
        return oct(value)


class RegularExpression(types.String):
    """Text that compiles as a regular expression."""

    def __init__(self) -> None:
        super().__init__(type_name="regular expression")

    def __call__(self, value: object) -> str:
        """Compile once to find mistakes at start; the text itself is handed on."""
        pattern: str = super().__call__(value)
        try:
            re.compile(pattern)
        except re.error as fault:
            raise ValueError(f"{pattern!r} is no regular expression: {fault}") from fault
        return pattern


class KernelParameters(types.String):
    """Parameters as on a kernel command line; quotes keep spaces together."""

    def __init__(self) -> None:
        super().__init__(type_name="kernel parameters")

    def __call__(self, value: object) -> str:
        """Split once to find mistakes at start; the text itself is handed on."""
        text: str = super().__call__(value)
        if "\n" in text or "\r" in text:
            raise ValueError("kernel parameters must stand on one line")
        try:
            shlex.split(text)
        except ValueError as fault:
            raise ValueError(f"{text!r} are no kernel parameters: {fault}") from fault
        return text


class IPNetwork(types.ConfigType):
    """A network such as 192.0.2.0/24, or a single address."""

    def __init__(self) -> None:
        super().__init__(type_name="network")

    def __call__(self, value: object) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """Read the network; bits behind the prefix are a mistake."""
        return ipaddress.ip_network(str(value).strip())

    def _formatter(self, value: ipaddress.IPv4Network | ipaddress.IPv6Network) -> str:
        return str(value)


class Gibibytes(types.Integer):
    """A size in GiB; true stands for one, as older configurations say it."""

    _WORDS = {"true": 1, "yes": 1, "on": 1, "false": 0, "no": 0, "off": 0}

    def __init__(self) -> None:
        super().__init__(min=0, type_name="size in GiB")

    def __call__(self, value: object) -> int:
        """Take a number, or a word that older releases took."""
        word = str(value).strip().lower()
        size: int | float | None = super().__call__(self._WORDS.get(word, value))
        if size is None:
            raise ValueError("a size in GiB must not be empty; 0 stands for none")
        return int(size)
