"""Paths of things that rules write: `/a/b/0` as in a JSON patch, or `a.b` for short.

A path is a tuple of keys. What an expression fills into a longer path is always one key, never several: a name that a
machine reports can't lead anywhere the rule did not name.
"""

from typing import Final

from ironic.core.rules.faults import RuleFault
from ironic.core.rules.interpolation import Lookup, Text, Whole

Path = tuple[str, ...]

APPEND: Final = "-"
_MOST_KEYS: Final = 32
_LONGEST: Final = 4096  # characters


class BadPath(ValueError):
    """Text that is no path."""


def parsed(text: str) -> Path:
    """Return the keys of a path."""
    if len(text) > _LONGEST:
        raise BadPath(f"a path is longer than {_LONGEST} characters")
    keys = _pointer_keys(text[1:]) if text.startswith("/") else text.split(".")
    if not all(keys):
        raise BadPath("a path is /key/key or key.key, and none of its keys is empty")
    if len(keys) > _MOST_KEYS:
        raise BadPath(f"a path has more than {_MOST_KEYS} keys")
    return tuple(keys)


def parsed_at_run_time(value: object) -> Path:
    """Return the keys of a path that an expression yielded."""
    if not isinstance(value, str) or not value:
        raise RuleFault("the path is missing or no text")
    try:
        return parsed(value)
    except BadPath as error:
        raise RuleFault(str(error)) from None


def pointer(path: Path) -> str:
    """Return the JSON pointer of a path."""
    return "".join(f"/{_escaped(key)}" for key in path)


def whole_path(lookup: Lookup) -> Whole:
    """Return a template for a path that one expression yields; what a machine reported is a single key."""
    return Whole(lookup, lambda text: f"/{_escaped(text)}")


def path_template(text: Text) -> Text:
    """Return a template for a path with expressions in it: a pointer, into which each of them fills a single key."""
    pointed = isinstance(first := text.parts[0], str) and first.startswith("/")
    return Text(tuple(part if pointed else _from_dots(part) for part in _led_in(text, pointed)), _escaped)


def _led_in(text: Text, pointed: bool) -> tuple[str | Lookup, ...]:
    return text.parts if pointed else (".", *text.parts)


def _from_dots(part: str | Lookup) -> str | Lookup:
    return part if isinstance(part, Lookup) else _escaped(part).replace(".", "/")


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _pointer_keys(text: str) -> list[str]:
    return [key.replace("~1", "/").replace("~0", "~") for key in text.split("/")]
