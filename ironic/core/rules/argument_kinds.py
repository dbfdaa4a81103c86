"""The kinds of argument that operators and actions take.

``prepare`` checks the argument of a posted rule and compiles it to a template. ``accept`` converts the rendered value
to the type of the function's parameter: a compiled regular expression, a network, the keys of a path. Constants are
converted once, when the rule is posted.
"""

import dataclasses
import ipaddress
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NewType

from ironic.core.rules import calls, documents, paths, patterns
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
from ironic.core.rules.limits import PARSING, TEXT_LENGTH, RuleFault, weight

# Annotations beside `Any`, `str`, `bool` and `Sequence[Any]`.
VarArgs = NewType("VarArgs", list[Any])  # all positional arguments, or one list by name
Name = NewType("Name", str)
Level = NewType("Level", str)
NodePath = NewType("NodePath", tuple[str, ...])
PortPath = NewType("PortPath", tuple[str, ...])
DataPath = NewType("DataPath", tuple[str, ...])
IgnoredPluginData = NewType("IgnoredPluginData", dict[str, Any])
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
# Headers that the HTTP client sets: destination, connection and length of a request.
_CLIENTS_HEADERS: Final = frozenset(
    {"host", "connection", "content-length", "expect", "te", "trailer", "transfer-encoding", "upgrade"}
)
_MOST_HEADERS: Final = 32
_LONGEST_HEADER: Final = 8192
_LONGEST_NAME: Final = 1024
_LONGEST_SUBNET: Final = 64
_PROXIED: Final = frozenset({"http", "https"})


class BadArgument(ValueError):
    """An invalid argument of a rule; the message says why."""


class Kind:
    """Any JSON value."""

    noun = "any value"
    checks_origin = False  # whether `accept_reported` is stricter than `accept`

    def prepare(self, value: Any, names: Collection[str]) -> Template:
        """Compile a posted value; a constant is checked completely. Raises BadArgument or BadExpression."""
        made = self.made(value, names)
        return self.prepare_literal(made.value, names) if isinstance(made, Constant) else self.checked(made)

    def prepare_literal(self, value: Any, names: Collection[str]) -> Template:
        """Check a posted value without expressions: braces have no meaning in it. Raises BadArgument."""
        try:
            return Constant(self.accept(value))
        except RuleFault as fault:
            raise BadArgument(str(fault)) from None

    def made(self, value: Any, names: Collection[str]) -> Template:
        """Return the posted value as a template."""
        return template(value, names)

    def checked(self, made: Template) -> Template:
        """Return the template, adapted if necessary; raises BadArgument if it can never yield this kind."""
        return made

    def accept(self, value: Any) -> Any:
        """Return the value converted for the function, or raise RuleFault."""
        return value

    def accept_reported(self, value: Any) -> Any:
        """Return the same for a value that comes from what a machine reported."""
        return self.accept(value)

    def steps(self, value: Any) -> int:
        """Return the additional steps of accepting a value."""
        return 0

    def refuse(self) -> RuleFault:
        """Return the fault of a value of another kind."""
        return RuleFault(f"must be {self.noun}")


class WordKind(Kind):
    """Text, without conversion; the base of the kinds that are written as text."""

    noun = "text"

    def made(self, value: Any, names: Collection[str]) -> Template:
        """Return the posted text as a template."""
        if not isinstance(value, str):
            raise BadArgument(f"must be {self.noun}")
        return text_template(value, names)


class TextKind(WordKind):
    """Text for messages; numbers and booleans (such as "no" in YAML) are converted."""

    def made(self, value: Any, names: Collection[str]) -> Template:
        """Return the posted text as a template."""
        return Constant(value) if isinstance(value, bool | int | float) else super().made(value, names)

    def steps(self, value: Any) -> int:
        """Return the steps of converting it to text, whose length is limited."""
        return weight(value, TEXT_LENGTH)

    def accept(self, value: Any) -> Any:
        """Return the text."""
        if self.steps(value) > TEXT_LENGTH or len(text := as_text(value)) > TEXT_LENGTH:
            raise RuleFault(f"a text would become longer than {TEXT_LENGTH} characters")
        return text


class NameKind(WordKind):
    """Text of limited length that is not empty."""

    noun = f"a name of 1 to {_LONGEST_NAME} characters"

    def accept(self, value: Any) -> Any:
        """Return the name."""
        if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
            raise self.refuse()
        return value


class LevelKind(WordKind):
    """The level of a log line."""

    noun = f"one of {', '.join(LEVELS)}"

    def accept(self, value: Any) -> Any:
        """Return the level."""
        if not isinstance(value, str) or value not in LEVELS:
            raise self.refuse()
        return value


class FlagKind(Kind):
    """A boolean."""

    noun = "true or false"

    def checked(self, made: Template) -> Template:
        """Accept a single expression, which may yield a boolean."""
        if not isinstance(made, Lookup):
            raise BadArgument(f"must be {self.noun}")
        return made

    def accept(self, value: Any) -> Any:
        """Return the boolean."""
        if not isinstance(value, bool):
            raise self.refuse()
        return value


class ListKind(Kind):
    """A list."""

    noun = "a list"

    def checked(self, made: Template) -> Template:
        """Accept lists and single expressions."""
        if not isinstance(made, Listing | Lookup):
            raise BadArgument(f"must be {self.noun}")
        return made

    def accept(self, value: Any) -> Any:
        """Return the list."""
        if not isinstance(value, list):
            raise self.refuse()
        return value


class ObjectKind(Kind):
    """An object."""

    noun = "an object"

    def checked(self, made: Template) -> Template:
        """Accept objects and single expressions."""
        if not isinstance(made, Table | Lookup):
            raise BadArgument(f"must be {self.noun}")
        return made

    def accept(self, value: Any) -> Any:
        """Return the object."""
        if not isinstance(value, dict):
            raise self.refuse()
        return value


class NumberKind(Kind):
    """A whole number."""

    noun = "a whole number"

    def checked(self, made: Template) -> Template:
        """Accept a single expression, which may yield a number."""
        if not isinstance(made, Lookup):
            raise BadArgument(f"must be {self.noun}")
        return made

    def accept(self, value: Any) -> Any:
        """Return the number."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.refuse()
        return value


class RegexKind(WordKind):
    """A regular expression, passed on compiled."""

    noun = "a regular expression"

    def made(self, value: Any, names: Collection[str]) -> Template:
        """Return the posted expression as a template; the braces of its own syntax stay."""
        if not isinstance(value, str):
            raise BadArgument(f"must be {self.noun}")
        return pattern_template(value, names)

    def checked(self, made: Template) -> Template:
        """Escape what a machine reported, so that it matches itself only and can't add regular expressions."""
        if isinstance(made, Lookup):
            return Whole(made, patterns.literal)
        return dataclasses.replace(made, escape_reported=patterns.literal) if isinstance(made, Text) else made

    def steps(self, value: Any) -> int:
        """Return the steps of compiling it."""
        return patterns.steps_to_compile(value) if isinstance(value, str) else 0

    def accept(self, value: Any) -> Any:
        """Return the compiled expression."""
        if not isinstance(value, str):
            raise self.refuse()
        try:
            return patterns.compiled(value)
        except patterns.BadPattern as error:
            raise RuleFault(str(error)) from None


class SubnetKind(WordKind):
    """A network in CIDR notation, passed on as a network."""

    noun = "a subnet such as 192.0.2.0/24"

    def steps(self, value: Any) -> int:
        """Return the steps of parsing it; its length is limited."""
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
    """A path, passed on as its keys.

    ``allowed`` raises RuleFault for paths that rules may not write, ``reported`` for paths that may not contain keys
    that a machine reported.
    """

    noun = "a path such as /extra/key"
    checks_origin = True

    def __init__(self, allowed: Callable[[paths.Path], None], reported: Callable[[paths.Path], None]) -> None:
        self._allowed, self._reported = allowed, reported

    def checked(self, made: Template) -> Template:
        """Return a template in which every expression yields a single key."""
        if isinstance(made, Lookup):
            return paths.whole_path(made)
        return paths.path_template(made) if isinstance(made, Text) else made

    def prepare_literal(self, value: Any, names: Collection[str]) -> Template:
        """Check a literal path; it may stand in double braces as a whole."""
        return super().prepare_literal(paths.without_braces(value) if isinstance(value, str) else value, names)

    def accept(self, value: Any) -> Any:
        """Return the keys."""
        path = paths.parsed_at_run_time(value)
        self._allowed(path)
        return path

    def accept_reported(self, value: Any) -> Any:
        """Return the keys, if the path may contain keys that a machine reported."""
        path = self.accept(value)
        self._reported(path)
        return path


class UrlKind(WordKind):
    """The URL of a call: its server is literal, path and query may have expressions."""

    noun = "an http or https URL; expressions may stand behind host and port only, and are percent-encoded"

    def checked(self, made: Template) -> Template:
        """Refuse expressions that would choose the server."""
        try:
            return calls.url_template(made)
        except calls.BadUrl as error:
            raise BadArgument(str(error)) from None

    def accept(self, value: Any) -> Any:
        """Return the URL."""
        return calls.url_checked_at_run_time(value)


class HeadersKind(ObjectKind):
    """Headers of a request: literal names with values of one ASCII line."""

    noun = f"an object of at most {_MOST_HEADERS} headers: literal names with values of one ASCII line"

    def checked(self, made: Template) -> Template:
        """Accept expressions in the values of headers only."""
        if not isinstance(made, Table) or not all(isinstance(name, Constant) for name, _ in made.pairs):
            raise BadArgument(f"must be {self.noun}")
        return made

    def accept(self, value: Any) -> Any:
        """Return the headers."""
        if value is None:
            return {}
        if not isinstance(value, dict) or len(value) > _MOST_HEADERS:
            raise self.refuse()
        for name, text in value.items():
            is_line = isinstance(text, str) and len(text) <= _LONGEST_HEADER and _HEADER_VALUE.fullmatch(text)
            if not _HEADER.fullmatch(name) or not is_line:
                raise self.refuse()
        if written := _CLIENTS_HEADERS & {name.lower() for name in value}:
            raise RuleFault(f"must not have the headers that the service sets: {', '.join(sorted(written))}")
        return value


class ProxiesKind(ObjectKind):
    """The proxies of a request, literal like the server of its URL."""

    noun = "an object with the URL of a proxy for each scheme, http or https, without expressions"

    def checked(self, made: Template) -> Template:
        """Refuse all expressions."""
        raise BadArgument(f"must be {self.noun}")

    def accept(self, value: Any) -> Any:
        """Return the proxies."""
        if value is None:
            return {}
        if not isinstance(value, dict) or not value.keys() <= _PROXIED:
            raise self.refuse()
        return {scheme: calls.url_checked_at_run_time(url) for scheme, url in value.items()}


class BoundedKind(NumberKind):
    """A number within bounds, which limit how long a rule occupies a thread of the service."""

    def __init__(self, lowest: float, highest: float, of: str, *, whole: bool = False) -> None:
        self._lowest, self._highest = lowest, highest
        self._types: tuple[type, ...] = (int,) if whole else (int, float)
        self.noun = f"{of}, {lowest} to {highest} (limited, because a thread of the service waits meanwhile)"

    def accept(self, value: Any) -> Any:
        """Return the number."""
        is_number = not isinstance(value, bool) and isinstance(value, self._types)
        if not is_number or not self._lowest <= value <= self._highest:
            raise self.refuse()
        return value


class IgnoredPluginDataKind(Kind):
    """An empty object, which the reference adds to the rules that it returns, so that they can be posted again."""

    noun = "an empty object"

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
    VarArgs: ListKind(),
    Name: NameKind(),
    Level: LevelKind(),
    patterns.Pattern: RegexKind(),
    Network: SubnetKind(),
    NodePath: PathKind(documents.check_node_path, documents.check_reported_path),
    PortPath: PathKind(documents.check_port_path, documents.check_reported_path),
    DataPath: PathKind(documents.accept_any_path, documents.accept_any_path),
    IgnoredPluginData | None: IgnoredPluginDataKind(),
    Url: UrlKind(),
    Headers | None: HeadersKind(),
    Proxies | None: ProxiesKind(),
    Timeout: BoundedKind(0.1, 30, "the seconds for one attempt"),
    Retries: BoundedKind(0, 5, "the number of retries", whole=True),
    Backoff: BoundedKind(0, 5, "the seconds from which the pauses between attempts grow"),
}
