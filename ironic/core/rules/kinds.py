"""The kinds of argument that operators and actions take.

A kind checks and prepares what stands in a posted rule (``prepare``) and turns what an expression yields later into
what the function wants (``accept``): a regular expression arrives compiled, a subnet as a network, a path as its keys.
What is constant is accepted once, when the rule is posted.
"""

import dataclasses
import ipaddress
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NewType

from ironic.core.rules import paths, patterns, urls, writable
from ironic.core.rules.faults import RuleFault
from ironic.core.rules.interpolation import (
    Constant,
    Listing,
    Lookup,
    Table,
    Template,
    Text,
    Whole,
    as_text,
    pattern_template,
    template,
    text_template,
)
from ironic.core.rules.limits import PARSING, TEXT_LENGTH, weight

# Annotations beside `Any`, `str`, `bool` and `Sequence[Any]`.
Several = NewType("Several", list[Any])  # all positional arguments, or one list by name
Name = NewType("Name", str)
Level = NewType("Level", str)
NodePath = NewType("NodePath", tuple[str, ...])
PortPath = NewType("PortPath", tuple[str, ...])
DataPath = NewType("DataPath", tuple[str, ...])
Leftover = NewType("Leftover", dict[str, Any])
Url = NewType("Url", str)
Headers = NewType("Headers", dict[str, str])
Proxies = NewType("Proxies", dict[str, str])
Timeout = NewType("Timeout", float)
Retries = NewType("Retries", int)
Backoff = NewType("Backoff", float)

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

LEVELS: Final = ("debug", "info", "warning", "error", "critical")

_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}")
_HEADER_VALUE: Final = re.compile(r"(?:[!-~](?:[ -~\t]{0,8190}[!-~])?)?")
# Those that say to whom a request goes and how long it is: the client writes them.
_CLIENTS_HEADERS: Final = frozenset(
    {"host", "connection", "content-length", "expect", "te", "trailer", "transfer-encoding", "upgrade"}
)
_MOST_HEADERS: Final = 32
_LONGEST_HEADER: Final = 8192
_LONGEST_NAME: Final = 1024
_LONGEST_SUBNET: Final = 64
_PROXIED: Final = frozenset({"http", "https"})


class BadArgument(ValueError):
    """An argument that no rule may have; the message says why."""


class Kind:
    """Any JSON value."""

    takes = "any value"
    minds_origin = False  # whether `accept_reported` is stricter than `accept`

    def prepare(self, value: Any, names: Collection[str]) -> Template:
        """Check a posted value and make it ready; without expressions in it, it is checked in full."""
        made = self.made(value, names)
        if not isinstance(made, Constant):
            return self.checked(made)
        try:
            return Constant(self.accept(made.value))
        except RuleFault as fault:
            raise BadArgument(str(fault)) from None

    def prepare_literally(self, value: Any, names: Collection[str]) -> Template:
        """Check a posted value in which braces mean nothing."""
        try:
            return Constant(self.accept(value))
        except RuleFault as fault:
            raise BadArgument(str(fault)) from None

    def made(self, value: Any, names: Collection[str]) -> Template:
        """Return the posted value as a template."""
        return template(value, names)

    def checked(self, made: Template) -> Template:
        """Refuse a template that can never yield this kind."""
        return made

    def accept(self, value: Any) -> Any:
        """Return the value as the function wants it, or raise RuleFault."""
        return value

    def accept_reported(self, value: Any) -> Any:
        """Return the same of a value that is made from what a machine reported."""
        return self.accept(value)

    def steps(self, value: Any) -> int:
        """Return the steps that accepting a value takes, beyond those of any."""
        return 0

    def refuse(self) -> RuleFault:
        """Return the fault of a value of another kind."""
        return RuleFault(f"takes {self.takes}")


class WordKind(Kind):
    """Text and nothing else; the base of all that is written as text."""

    takes = "text"

    def made(self, value: Any, names: Collection[str]) -> Template:
        """Return the posted text as a template."""
        if not isinstance(value, str):
            raise BadArgument(f"takes {self.takes}")
        return text_template(value, names)


class TextKind(WordKind):
    """Text for people; numbers and booleans (a "no" in YAML is one) are turned into it."""

    def made(self, value: Any, names: Collection[str]) -> Template:
        """Return the posted text as a template."""
        return Constant(value) if isinstance(value, bool | int | float) else super().made(value, names)

    def steps(self, value: Any) -> int:
        """Return the steps of making it text, which is short."""
        return weight(value, TEXT_LENGTH)

    def accept(self, value: Any) -> Any:
        """Return the text."""
        if self.steps(value) > TEXT_LENGTH or len(text := as_text(value)) > TEXT_LENGTH:
            raise RuleFault(f"a text would become longer than {TEXT_LENGTH} characters")
        return text


class NameKind(WordKind):
    """Text that is not empty, and short."""

    takes = f"a name, which is text of 1 to {_LONGEST_NAME} characters"

    def accept(self, value: Any) -> Any:
        """Return the name."""
        if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
            raise self.refuse()
        return value


class LevelKind(WordKind):
    """How loud a log line is."""

    takes = f"one of {', '.join(LEVELS)}"

    def accept(self, value: Any) -> Any:
        """Return the level."""
        if not isinstance(value, str) or value not in LEVELS:
            raise self.refuse()
        return value


class FlagKind(Kind):
    """A boolean."""

    takes = "true or false"

    def checked(self, made: Template) -> Template:
        """Let a single expression pass: it may yield a boolean."""
        if not isinstance(made, Lookup):
            raise BadArgument(f"takes {self.takes}")
        return made

    def accept(self, value: Any) -> Any:
        """Return the boolean."""
        if not isinstance(value, bool):
            raise self.refuse()
        return value


class ListKind(Kind):
    """A list."""

    takes = "a list"

    def checked(self, made: Template) -> Template:
        """Let lists and single expressions pass."""
        if not isinstance(made, Listing | Lookup):
            raise BadArgument(f"takes {self.takes}")
        return made

    def accept(self, value: Any) -> Any:
        """Return the list."""
        if not isinstance(value, list):
            raise self.refuse()
        return value


class ObjectKind(Kind):
    """An object."""

    takes = "an object"

    def checked(self, made: Template) -> Template:
        """Let objects and single expressions pass."""
        if not isinstance(made, Table | Lookup):
            raise BadArgument(f"takes {self.takes}")
        return made

    def accept(self, value: Any) -> Any:
        """Return the object."""
        if not isinstance(value, dict):
            raise self.refuse()
        return value


class NumberKind(Kind):
    """A whole number."""

    takes = "a whole number"

    def checked(self, made: Template) -> Template:
        """Let a single expression pass: it may yield a number."""
        if not isinstance(made, Lookup):
            raise BadArgument(f"takes {self.takes}")
        return made

    def accept(self, value: Any) -> Any:
        """Return the number."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.refuse()
        return value


class RegexKind(WordKind):
    """A regular expression, handed on compiled."""

    takes = "a regular expression"

    def made(self, value: Any, names: Collection[str]) -> Template:
        """Return the posted expression as a template; its own braces stay."""
        if not isinstance(value, str):
            raise BadArgument(f"takes {self.takes}")
        return pattern_template(value, names)

    def checked(self, made: Template) -> Template:
        """Have what a machine reported match itself and nothing else: it writes no expression."""
        if isinstance(made, Lookup):
            return Whole(made, patterns.literal)
        return dataclasses.replace(made, disarm=patterns.literal) if isinstance(made, Text) else made

    def steps(self, value: Any) -> int:
        """Return the steps of compiling it."""
        return patterns.steps_to_compile(value) if isinstance(value, str) else 0

    def accept(self, value: Any) -> Any:
        """Return the expression compiled."""
        if not isinstance(value, str):
            raise self.refuse()
        try:
            return patterns.compiled(value)
        except patterns.BadPattern as error:
            raise RuleFault(str(error)) from None


class SubnetKind(WordKind):
    """A network in CIDR notation, handed on as a network."""

    takes = "a subnet such as 192.0.2.0/24"

    def steps(self, value: Any) -> int:
        """Return the steps of reading it, which is short."""
        return PARSING

    def accept(self, value: Any) -> Any:
        """Return the network."""
        if not isinstance(value, str) or len(value) > _LONGEST_SUBNET:
            raise self.refuse()
        try:
            return ipaddress.ip_network(value, strict=False)
        except ValueError:
            raise self.refuse() from None


class PathKind(WordKind):
    """A path, handed on as its keys.

    ``allowed`` refuses those that lead nowhere a rule may write, ``reported`` those into which an expression has filled
    a key that a machine reported.
    """

    takes = "a path such as /extra/key"
    minds_origin = True

    def __init__(self, allowed: Callable[[paths.Path], None], reported: Callable[[paths.Path], None]) -> None:
        self._allowed, self._reported = allowed, reported

    def checked(self, made: Template) -> Template:
        """Make every expression fill in a single key."""
        if isinstance(made, Lookup):
            return paths.whole_path(made)
        return paths.path_template(made) if isinstance(made, Text) else made

    def accept(self, value: Any) -> Any:
        """Return the keys."""
        path = paths.parsed_at_run_time(value)
        self._allowed(path)
        return path

    def accept_reported(self, value: Any) -> Any:
        """Return the keys, if such a path may hold some that a machine reported."""
        path = self.accept(value)
        self._reported(path)
        return path


class UrlKind(WordKind):
    """What is called: whom is literal, what is asked there may hold expressions."""

    takes = "a URL of http or https, in which expressions stand behind host and port only and get percent-encoded"

    def checked(self, made: Template) -> Template:
        """Refuse expressions that would choose whom the service calls."""
        try:
            return urls.url_template(made)
        except urls.BadUrl as error:
            raise BadArgument(str(error)) from None

    def accept(self, value: Any) -> Any:
        """Return the URL."""
        return urls.checked_at_run_time(value)


class HeadersKind(ObjectKind):
    """Headers of a request: literal names, and text that is one line of ASCII."""

    takes = f"an object of at most {_MOST_HEADERS} literal header names with their text, which is one line of ASCII"

    def checked(self, made: Template) -> Template:
        """Let expressions stand in the text of headers only."""
        if not isinstance(made, Table) or not all(isinstance(name, Constant) for name, _ in made.pairs):
            raise BadArgument(f"takes {self.takes}")
        return made

    def accept(self, value: Any) -> Any:
        """Return the headers."""
        if value is None:
            return {}
        if not isinstance(value, dict) or len(value) > _MOST_HEADERS:
            raise self.refuse()
        if not all(_HEADER.fullmatch(name) and _is_header_value(one) for name, one in value.items()):
            raise self.refuse()
        if written := _CLIENTS_HEADERS & {name.lower() for name in value}:
            raise RuleFault(f"no rule writes header {', '.join(sorted(written))}")
        return value


class ProxiesKind(ObjectKind):
    """Through whom requests go; literal, as whom they reach is."""

    takes = "an object of proxies' URLs by scheme, http or https, without expressions"

    def checked(self, made: Template) -> Template:
        """Refuse all expressions."""
        raise BadArgument(f"takes {self.takes}")

    def accept(self, value: Any) -> Any:
        """Return the proxies."""
        if value is None:
            return {}
        if not isinstance(value, dict) or not value.keys() <= _PROXIED:
            raise self.refuse()
        return {scheme: urls.checked_at_run_time(url) for scheme, url in value.items()}


class BoundedKind(NumberKind):
    """A number within bounds, which keep the time short that a rule may hold a thread of the service."""

    def __init__(self, lowest: float, highest: float, of: str, *, whole: bool = False) -> None:
        self._lowest, self._highest = lowest, highest
        self._types: tuple[type, ...] = (int,) if whole else (int, float)
        self.takes = f"{of}, {lowest} to {highest} (bounded, as a thread of the service waits meanwhile)"

    def accept(self, value: Any) -> Any:
        """Return the number."""
        is_number = not isinstance(value, bool) and isinstance(value, self._types)
        if not is_number or not self._lowest <= value <= self._highest:
            raise self.refuse()
        return value


def _is_header_value(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_HEADER and _HEADER_VALUE.fullmatch(value) is not None


class LeftoverKind(Kind):
    """An empty object: the reference leaves one in the rules it hands out, which can so be posted again."""

    takes = "an empty object"

    def accept(self, value: Any) -> Any:
        """Return the object."""
        if value != {}:
            raise self.refuse()
        return value


KINDS: Final[Mapping[Any, Kind]] = {
    Any: Kind(),
    str: TextKind(),
    bool: FlagKind(),
    int: NumberKind(),
    list: ListKind(),
    dict: ObjectKind(),
    list[Any]: ListKind(),
    dict[str, Any]: ObjectKind(),
    Sequence[Any]: ListKind(),
    Several: ListKind(),
    Name: NameKind(),
    Level: LevelKind(),
    patterns.Pattern: RegexKind(),
    Network: SubnetKind(),
    NodePath: PathKind(writable.allowed_on_node, writable.allowed_reported),
    PortPath: PathKind(writable.allowed_on_port, writable.allowed_reported),
    DataPath: PathKind(writable.allowed_in_plugin_data, writable.allowed_in_plugin_data),
    Leftover | None: LeftoverKind(),
    Url: UrlKind(),
    Headers | None: HeadersKind(),
    Proxies | None: ProxiesKind(),
    Timeout: BoundedKind(0.1, 30, "seconds for one attempt"),
    Retries: BoundedKind(0, 5, "how often it is tried again", whole=True),
    Backoff: BoundedKind(0, 5, "seconds that the pauses between attempts grow from"),
}
