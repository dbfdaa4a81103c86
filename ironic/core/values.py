"""The types of values in documents: what stands in a field, an argument or a query parameter.

A type says which JSON it takes from a caller and how a stored value is shown. It has the one method that WSME asks of a
type, `validate`, so the API hands it to WSME as it is; nothing here knows WSME. Null never gets here: the reader checks
it against the field. Refusals say what was wanted and never quote what came, because it may be a password.
"""

import datetime
import re
from collections.abc import Callable
from typing import Any, ClassVar

import orjson

from ironic.core import states, syntax
from ironic.core.traits import is_trait

Shown = Callable[[Any], object]


class ValueType:
    """One kind of value; the base lets any JSON value through."""

    # What it takes, as others say it: "takes a UUID".
    noun = "any value"
    sortable: ClassVar[bool] = True

    def validate(self, value: object) -> object:
        """Return the value to store, or raise ValueError saying what is wanted."""
        return value

    def at(self, minor: int) -> "ValueType":
        """Return the type as it was in one version."""
        return self

    @property
    def sought(self) -> "ValueType":
        """Return the type of a value that lists are searched for."""
        return self

    @property
    def strict(self) -> "ValueType":
        """Return the type without values of other JSON types that callers may write in its place."""
        return self

    def shown(self) -> Shown | None:
        """Return how a stored value becomes JSON; None when it is JSON as it stands."""
        return None

    def described(self) -> dict[str, object]:
        """Return the JSON schema of what callers send, where the kind of value doesn't tell; {}: the kind tells."""
        return {}


class Text(ValueType):
    """A string."""

    noun = "text"

    def __init__(self, longest: int | None = 255, shortest: int = 0) -> None:
        self.longest, self.shortest = longest, shortest
        # Kinds of text with a syntax have said what they take.
        if self.noun == "text" and longest is not None:
            self.noun = f"text of {shortest} to {longest} characters"

    def validate(self, value: object) -> str:
        """Check length; a zero character is refused, some databases can't hold it."""
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
    def sought(self) -> ValueType:
        """Lift the limits of what is stored: other text is just not found."""
        return Text(None) if type(self) is Text else self


class LowerText(Text):
    """A string that is stored in lower case; what is searched for is not changed."""

    def validate(self, value: object) -> str:
        """Check like text, and spell it in lower case."""
        return super().validate(value).lower()

    @property
    def sought(self) -> ValueType:
        """Lift the limits of what is stored."""
        return Text(None)


class Uuid(Text):
    """A UUID; stored in its usual spelling."""

    noun = "a UUID"

    def validate(self, value: object) -> str:
        """Check the syntax."""
        if (spelled := syntax.uuid_of(value)) is None:
            raise ValueError(f"must be {self.noun}")
        return spelled


class Pattern(Text):
    """A string of one syntax."""

    def __init__(self, name: str, pattern: str, wanted: str) -> None:
        super().__init__()
        self.name, self.pattern, self.wanted = name, re.compile(pattern), wanted

    def validate(self, value: object) -> str:
        """Match the whole string."""
        if not isinstance(value, str) or not self.pattern.fullmatch(value):
            raise ValueError(self.wanted)
        return value


class HostName(Text):
    """A name as it had to be before 1.10."""

    noun = "a host name"

    def validate(self, value: object) -> str:
        """Check the syntax."""
        if not syntax.is_host_name(value):
            raise ValueError(f"must be {self.noun}")
        return value


class LogicalName(Text):
    """A name of a node and the like: a host name before 1.10, RFC 3986 unreserved characters since."""

    noun = "a logical name: letters, digits, '-', '.', '_' or '~', not shaped like a UUID"
    _before_1_10 = HostName()

    def at(self, minor: int) -> ValueType:
        """Return the syntax of a version."""
        return self if minor >= 10 else self._before_1_10

    def validate(self, value: object) -> str:
        """Check the syntax."""
        if not syntax.is_name(value):
            raise ValueError("must be 1 to 255 letters, digits, '-', '.', '_' or '~' and not shaped like a UUID")
        return value


class NameOrUuid(Text):
    """What a thing is named by: its UUID or its logical name."""

    noun = "a UUID or a logical name"

    def validate(self, value: object) -> str:
        """Check the syntax."""
        if not syntax.is_name_or_uuid(value):
            raise ValueError(f"must be {self.noun}")
        return value


class TraitName(Text):
    """A word that may be a trait."""

    noun = "a trait"

    def validate(self, value: object) -> str:
        """Look it up, or check the syntax of those that sites make up."""
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
    """One of some words."""

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
    """A truth value; the usual words are taken too, in any case."""

    noun = "true or false"

    def validate(self, value: object) -> bool:
        """Return True or False."""
        if (meant := syntax.truth_of(value)) is None:
            raise ValueError(f"must be {self.noun}")
        return meant

    @property
    def strict(self) -> ValueType:
        """Take no words."""
        return _STRICT_BOOL

    def shown(self) -> Shown | None:
        """Engines may hand out 0 and 1."""
        return lambda value: None if value is None else bool(value)


class StrictBool(Bool):
    """A truth value, no words."""

    def validate(self, value: object) -> bool:
        """Refuse everything else."""
        if not isinstance(value, bool):
            raise ValueError(f"must be {self.noun}")
        return value


_STRICT_BOOL = StrictBool()


class Integer(ValueType):
    """A whole number of 32 bits unless said otherwise; a query has it as digits."""

    noun = "a whole number"

    def __init__(
        self, smallest: int | None = -(2**31), largest: int | None = 2**31 - 1, *, digits: bool = False
    ) -> None:
        self.smallest, self.largest, self.digits = smallest, largest, digits

    def validate(self, value: object) -> int:
        """Check kind and range; 1.0 and true are no whole numbers."""
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
    """A moment, kept as naive UTC and shown with microseconds and offset."""

    noun = "a time"

    def shown(self) -> Shown | None:
        """Write ISO 8601; the fraction is always there."""
        return show_time


def show_time(value: datetime.datetime | None) -> str | None:
    """Write a naive UTC time as clients know it."""
    return None if value is None else value.isoformat(timespec="microseconds") + "+00:00"


class Json(ValueType):
    """A value kept as JSON text, spliced into the answer unparsed."""

    sortable = False
    empty: ClassVar[bytes] = b"null"

    def shown(self) -> Shown | None:
        """Splice the stored text."""
        nothing = orjson.Fragment(self.empty)
        return lambda text: nothing if text is None else orjson.Fragment(text)


class Object(Json):
    """A free JSON object."""

    noun = "an object"
    empty = b"{}"

    def validate(self, value: object) -> dict[str, object]:
        """Refuse what is no object."""
        if not isinstance(value, dict):
            raise ValueError(f"must be {self.noun}")
        return value


class Array(Json):
    """A free JSON list."""

    noun = "a list"
    empty = b"[]"

    def validate(self, value: object) -> list[object]:
        """Refuse what is no list."""
        if not isinstance(value, list):
            raise ValueError(f"must be {self.noun}")
        return value


class ListOf(Array):
    """A JSON list whose items are all of one type, that of ``item``."""

    item: ClassVar[ValueType]

    def validate(self, value: object) -> list[object]:
        """Check every item."""
        return [self.item.validate(one) for one in super().validate(value)]


class TraitNames(ListOf):
    """A list of traits."""

    noun = "a list of traits"
    item = TraitName()

    def validate(self, value: object) -> list[object]:
        """Check every item; what is given twice counts once."""
        return list(dict.fromkeys(super().validate(value)))


class Words(ValueType):
    """A comma list in a query; empty items are dropped."""

    noun = "a comma separated list"
    sortable = False

    def validate(self, value: object) -> list[str]:
        """Split."""
        if not isinstance(value, str):
            raise ValueError(f"must be {self.noun}")
        return [word for word in (part.strip() for part in value.split(",")) if word]


class Links(ValueType):
    """The two links to a path of the thing itself; never written."""

    noun = "links"
    sortable = False

    def __init__(self, path: str) -> None:
        self.path = path
