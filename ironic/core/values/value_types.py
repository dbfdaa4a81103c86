"""The types of values in fields, arguments and query parameters.

A type validates the JSON of a caller and shows a stored value. The API passes types to WSME, which needs `validate`
only; this module does not import WSME. Null never arrives here: the reader checks it against the field. A refusal says
what is expected and never quotes the value, which may be a password.
"""

import datetime
import re
from collections.abc import Callable
from typing import Any, ClassVar

import orjson

from ironic.core.flows import states
from ironic.core.texts import syntax
from ironic.core.values.traits import is_trait

Shown = Callable[[Any], object]


class ValueType:
    """One kind of value; the base lets any JSON value through."""

    # What it accepts, for messages: "must be a UUID".
    noun = "any value"
    sortable: ClassVar[bool] = True

    @property
    def is_endless(self) -> bool:
        """Return whether its values may be as long as a request."""
        return False

    def validate(self, value: object) -> object:
        """Return the value to store, or raise ValueError that says what is expected."""
        return value

    def at(self, minor: int) -> "ValueType":
        """Return the type as it was in one version."""
        return self

    @property
    def sought(self) -> "ValueType":
        """Return the type of a value by which lists are filtered."""
        return self

    @property
    def strict(self) -> "ValueType":
        """Return the type that accepts no other JSON type in place of its own."""
        return self

    def shown(self) -> Shown | None:
        """Return the function that makes JSON of a stored value; None when the stored value is JSON already."""
        return None

    def described(self) -> dict[str, object]:
        """Return the JSON schema of what callers send; {} where the class of the type determines it."""
        return {}


class Text(ValueType):
    """A string."""

    noun = "text"

    def __init__(self, longest: int | None = 255, shortest: int = 0) -> None:
        self.longest, self.shortest = longest, shortest
        # Subclasses with a syntax have a noun of their own.
        if self.noun == "text" and longest is not None:
            self.noun = f"text of {shortest} to {longest} characters"

    def validate(self, value: object) -> str:
        """Check the length; a zero character is refused, because some databases can't store it."""
        if not isinstance(value, str):
            raise ValueError("must be a string")
        if self.longest is not None and len(value) > self.longest:
            raise ValueError(f"must not be longer than {self.longest} characters")
        if len(value) < self.shortest:
            raise ValueError("must not be empty")
        if "\x00" in value:
            raise ValueError("must not contain the character with code 0")
        return value

    @property
    def is_endless(self) -> bool:
        """Return whether its values may be as long as a request."""
        return self.longest is None

    @property
    def sought(self) -> ValueType:
        """Return the type without limits: a text that can't be stored is just not found."""
        return Text(None) if type(self) is Text else self


class LowerText(Text):
    """A string that is stored in lower case; filters compare the text as given."""

    def validate(self, value: object) -> str:
        """Check it like text, and return it in lower case."""
        return super().validate(value).lower()

    @property
    def sought(self) -> ValueType:
        """Return plain text without limits."""
        return Text(None)


class Uuid(Text):
    """A UUID; stored in lower case with dashes."""

    noun = "a UUID"

    def validate(self, value: object) -> str:
        """Check the syntax."""
        if (spelled := syntax.uuid_of(value)) is None:
            raise ValueError(f"must be {self.noun}")
        return spelled


class Pattern(Text):
    """A string that matches a regular expression; ``wanted`` is the error message."""

    def __init__(self, name: str, pattern: str, wanted: str) -> None:
        super().__init__()
        self.name, self.pattern, self.wanted = name, re.compile(pattern), wanted

    def validate(self, value: object) -> str:
        """Match the whole string."""
        if not isinstance(value, str) or not self.pattern.fullmatch(value):
            raise ValueError(self.wanted)
        return value


class HostName(Text):
    """The syntax of a name before 1.10."""

    noun = "a host name"

    def validate(self, value: object) -> str:
        """Check the syntax."""
        if not syntax.is_host_name(value):
            raise ValueError(f"must be {self.noun}")
        return value


class LogicalName(Text):
    """The name of a resource: a host name before 1.10, RFC 3986 unreserved characters since."""

    noun = "a logical name: letters, digits, '-', '.', '_' or '~', neither '.' nor '..' nor shaped like a UUID"
    _before_1_10 = HostName()

    def at(self, minor: int) -> ValueType:
        """Return the syntax of a version."""
        return self if minor >= 10 else self._before_1_10

    def validate(self, value: object) -> str:
        """Check the syntax."""
        if not syntax.is_new_name(value):
            wanted = "must be 1 to 255 letters, digits, '-', '.', '_' or '~'"
            raise ValueError(f"{wanted}, and neither '.' nor '..' nor shaped like a UUID")
        return value


class NameOrUuid(Text):
    """The UUID or the logical name of a resource."""

    noun = "a UUID or a logical name"

    def validate(self, value: object) -> str:
        """Check the syntax."""
        if not syntax.is_name_or_uuid(value):
            raise ValueError(f"must be {self.noun}")
        return value


class TraitName(Text):
    """A published or custom trait."""

    noun = "a trait"

    def validate(self, value: object) -> str:
        """Look it up among the published traits, or check the syntax of a custom one."""
        if not is_trait(value):
            raise ValueError("must be a trait: a published one, or CUSTOM_ and capital letters, digits or underscores")
        return value


class Mac(Text):
    """A MAC address; stored in lower case with colons."""

    noun = "a MAC address, its octets parted by colons"

    def validate(self, value: object) -> str:
        """Check the syntax."""
        if (spelled := syntax.mac_of(value)) is None:
            raise ValueError(f"must be {self.noun}")
        return spelled


class Enum(Text):
    """One of a fixed set of words."""

    def __init__(self, *words: str, name: str = "choice") -> None:
        super().__init__()
        self.name, self.words = name, words
        self.noun = f"one of: {', '.join(words)}"

    def validate(self, value: object) -> str:
        """Compare with the words."""
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(f"must be {self.noun}")
        return value


class State(Enum):
    """A provision state."""

    def __init__(self) -> None:
        super().__init__(*sorted(states.ALL), name="provision state")


class Bool(ValueType):
    """A truth value; the usual words are accepted too, in any case."""

    noun = "true or false"

    def validate(self, value: object) -> bool:
        """Return True or False."""
        if (meant := syntax.truth_of(value)) is None:
            raise ValueError(f"must be {self.noun}")
        return meant

    @property
    def strict(self) -> ValueType:
        """Return the type that accepts no words."""
        return _STRICT_BOOL

    def shown(self) -> Shown | None:
        """Return a conversion to true or false: database engines may return 0 and 1."""
        return lambda value: None if value is None else bool(value)


class StrictBool(Bool):
    """A truth value, no words."""

    def validate(self, value: object) -> bool:
        """Check the JSON type."""
        if not isinstance(value, bool):
            raise ValueError(f"must be {self.noun}")
        return value


_STRICT_BOOL = StrictBool()


class Integer(ValueType):
    """A whole number, of 32 bits by default; with ``digits`` also as text."""

    noun = "a whole number"

    def __init__(
        self, smallest: int | None = -(2**31), largest: int | None = 2**31 - 1, *, digits: bool = False
    ) -> None:
        self.smallest, self.largest, self.digits = smallest, largest, digits

    def validate(self, value: object) -> int:
        """Check type and range; 1.0 and true are no whole numbers."""
        if self.digits and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,100}", value.strip()):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"must be {self.noun}")
        if self.smallest is not None and value < self.smallest:
            raise ValueError(f"must be at least {self.smallest}")
        if self.largest is not None and value > self.largest:
            raise ValueError(f"must be at most {self.largest}")
        return value


class Datetime(ValueType):
    """A time, stored as naive UTC and shown with microseconds and offset."""

    noun = "a time"

    def shown(self) -> Shown | None:
        """Return the conversion to ISO 8601, always with a fraction."""
        return show_time


def utc_now() -> datetime.datetime:
    """Return the current time as it is stored: UTC without a time zone."""
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None)


def show_time(value: datetime.datetime | None) -> str | None:
    """Return a naive UTC time in ISO 8601 with microseconds and offset."""
    return None if value is None else value.isoformat(timespec="microseconds") + "+00:00"


class Json(ValueType):
    """A value stored as JSON text, which is inserted into the answer unparsed."""

    sortable = False
    empty: ClassVar[bytes] = b"null"

    @property
    def is_endless(self) -> bool:
        """Return whether its values may be as long as a request."""
        return True

    def shown(self) -> Shown | None:
        """Return the function that inserts the stored text."""
        nothing = orjson.Fragment(self.empty)
        return lambda text: nothing if text is None else orjson.Fragment(text)


class Object(Json):
    """A JSON object of any content."""

    noun = "an object"
    empty = b"{}"

    def validate(self, value: object) -> dict[str, object]:
        """Check the JSON type."""
        if not isinstance(value, dict):
            raise ValueError(f"must be {self.noun}")
        return value


class Array(Json):
    """A JSON list of any content."""

    noun = "a list"
    empty = b"[]"

    def validate(self, value: object) -> list[object]:
        """Check the JSON type."""
        if not isinstance(value, list):
            raise ValueError(f"must be {self.noun}")
        return value


class ListOf(Array):
    """A JSON list whose items are all of the type ``item``."""

    item: ClassVar[ValueType]

    def validate(self, value: object) -> list[object]:
        """Check every item."""
        return [self.item.validate(one) for one in super().validate(value)]


class TraitNames(ListOf):
    """A list of traits."""

    noun = "a list of traits"
    item = TraitName()

    def validate(self, value: object) -> list[object]:
        """Check every item, and drop repeated ones."""
        return list(dict.fromkeys(super().validate(value)))


class Words(ValueType):
    """A comma list in a query; empty items are dropped."""

    noun = "a comma separated list"
    sortable = False

    def validate(self, value: object) -> list[str]:
        """Split the text at its commas."""
        if not isinstance(value, str):
            raise ValueError(f"must be {self.noun}")
        return [word for word in (part.strip() for part in value.split(",")) if word]


class Links(ValueType):
    """The two links (self, bookmark) to a path of the resource; never written."""

    noun = "links"
    sortable = False

    def __init__(self, path: str) -> None:
        self.path = path
