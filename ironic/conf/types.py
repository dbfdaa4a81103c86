"""Option types that oslo.config lacks.

A type is a callable that turns the text of a file into a value and raises ValueError with a reason when it can't;
oslo.config adds the group and the name of the option to that reason.
"""

import os
import re
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


class AbsolutePath(types.String):
    """A path that names the same place for every process: absolute and without `..`."""

    def __init__(self) -> None:
        super().__init__(type_name="absolute path")

    def __call__(self, value: Any) -> str:
        """Accept the path or say what is wrong with it."""
        path: str = super().__call__(value)
        if not os.path.isabs(path) or os.path.normpath(path) != path.rstrip("/"):
            raise ValueError(f"{path!r} must be an absolute path without '.', '..' or doubled slashes")
        return path


class RegularExpression(types.String):
    """Text that compiles as a regular expression."""

    def __init__(self) -> None:
        super().__init__(type_name="regular expression")

    def __call__(self, value: Any) -> str:
        """Compile once to find mistakes at start; the text itself is handed on."""
        pattern: str = super().__call__(value)
        try:
            re.compile(pattern)
        except re.error as fault:
            raise ValueError(f"{pattern!r} is no regular expression: {fault}") from fault
        return pattern


class GibibytesOrSwitch(types.Integer):
    """A number of GiB; `true` and `false`, which older files hold, mean 1 and 0 (S103)."""

    def __init__(self) -> None:
        super().__init__(min=0, type_name="whole GiB")

    def __call__(self, value: Any) -> Any:
        """Translate the old switch words, then read a number."""
        words = {"true": 1, "yes": 1, "on": 1, "false": 0, "no": 0, "off": 0}
        return super().__call__(words.get(str(value).strip().lower(), value))
