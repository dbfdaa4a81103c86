"""Declare resources: a subclass of `Resource` has one `Field` per line, which says how it is written, stored and shown.

What a line leaves out is the default of `Field`. `Table` is derived from the lines once, when the class is created. The
functions below show stored values in part, or in another form than the stored one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, ClassVar, Final

from ironic.core.errors import NotFound
from ironic.core.flows import states
from ironic.core.secrets import masking
from ironic.core.texts import syntax
from ironic.core.values.value_types import Links, ValueType, Words

# Ways of writing a field: creation, a patch, an inspection rule. A rule may write what an administrator's patch may.
NEVER: Final = frozenset[str]()
CREATE: Final = frozenset({"create"})
PATCH: Final = frozenset({"patch"})
RULES: Final = frozenset({"rules"})
ANYONE: Final = CREATE | PATCH | RULES

REQUIRED: Final = object()

# The kinds of notification payload that have a field; EVERY: all payloads about its resource.
NOT_NOTIFIED: Final = frozenset[str]()
EVERY: Final = frozenset({"every"})

# Paths below a field; WHOLE: the field itself with everything in it.
Paths = tuple[tuple[str, ...], ...]
WHOLE: Final[Paths] = ((),)

# Takes the minor version and returns the function that shows a stored value there; None: as its type shows it.
Render = Callable[[int], Callable[[Any], object] | None]


@dataclass(frozen=True, slots=True)
class Exact:
    """The field filters the list by equality; `since` when later than the field itself."""

    since: int = 1
    type: ValueType | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A query parameter that narrows a list."""

    name: str
    type: ValueType
    since: int = 1
    # Name of the store's filter; None: the resource's own code reads it.
    store: str | None = ""
    # Whether it finds at most one resource, so that no further page exists.
    single: bool = False
    # Whether the older path of a detailed list (`/detail`) accepts it in any version.
    ungated_in_detail: bool = False

    @property
    def key(self) -> str | None:
        """The name of this filter in the store."""
        return self.name if self.store == "" else self.store

    def since_in(self, *, detailed: bool) -> int:
        """Return the first version whose lists accept it; ``detailed``: of the list with the path `/detail`."""
        return 1 if detailed and self.ungated_in_detail else self.since


@dataclass(frozen=True, slots=True)
class PartialMask:
    """A policy rule about the node, and the part of a parsed value that callers without that right see."""

    rule: str
    reduced: Callable[[Any], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field: its type, its versions, who may write it, how it is shown, which notifications have it."""

    type: ValueType
    since: int = 1
    write: frozenset[str] = ANYONE
    # Ways of writing it that are open to any version, although only ``since`` and later versions show it.
    ungated: frozenset[str] = NEVER
    # In the plain list, not only in the full document.
    plain: bool = False
    # May be named in `fields=`.
    select: bool = True
    # May be named there in versions before ``since``, without effect.
    named_early: bool = False
    # May be named in `sort_key=`; None: as its type says.
    sort: bool | None = None
    nullable: bool = True
    # Null in a patch or a rule is refused; only removal clears the field.
    only_removed: bool = False
    # The first version whose patches may remove it; None: none may.
    removed_since: int | None = 1
    # The value stored for null and after removal.
    empty: Any = None
    # Fields that become null when it becomes false.
    clears: tuple[str, ...] = ()
    filter: Exact | None = None
    # Column of the row; "" is the field's name, None: not stored.
    column: str | None = ""
    render: Render | None = None
    # The shorter form that the plain list shows.
    brief: Callable[[Any], Any] | None = None
    # Hides secrets in a parsed JSON value.
    mask: Callable[[Any], Any] | None = None
    # The policy rule that lets a caller see it without the mask.
    unmasked_by: str | None = None
    # The policy rule about the node that a caller needs to see it at all.
    rule: str | None = None
    # The column without whose value that rule hides nothing; None: the rule hides the field in every row.
    hidden_with: str | None = None
    # Policy rules about the node that a caller needs to see all of it; for fields with a mask.
    trims: tuple[PartialMask, ...] = ()
    # The policy rule that a caller needs to write it; None: the rule for changing the resource.
    right: str | None = None
    # The rule in its place for these values; None stands for null and for removal.
    right_for: Mapping[bool | None, str] = field(default_factory=dict)
    # Creating the resource with this field does not need that right.
    free_on_create: bool = False
    # The type of values that inspection rules may write, where it differs from ``type``.
    by_rules: ValueType | None = None
    # The key of an object to whose value [api]largest_json_field does not apply.
    exempt_key: str | None = None
    # What inspection rules never write from what a machine reported.
    literal: Paths = ()
    # Kinds of notification payload that have it.
    notified: frozenset[str] = NOT_NOTIFIED
    # For computed fields: the columns that the API computes it from.
    needs: tuple[str, ...] = ()
    # Collections of other documents that show it.
    parts: frozenset[str] = frozenset()
    # Accepted from callers, never shown.
    hidden: bool = False
    # The value for which it is left out of documents; None: it is in all of them.
    absent_if: str | None = None
    name: str = ""

    def __set_name__(self, owner: object, name: str) -> None:
        """Set the name of the field, and of its column."""
        object.__setattr__(self, "name", name)
        if self.column == "":
            object.__setattr__(self, "column", None if self.needs or isinstance(self.type, Links) else name)

    @property
    def is_computed(self) -> bool:
        """Return whether the API computes its values from other columns."""
        return bool(self.needs)

    def may_be_removed(self, minor: int) -> bool:
        """Return whether a patch of this version may remove it."""
        has_empty_value = self.empty is not REQUIRED and (self.nullable or self.empty is not None)
        return has_empty_value and self.removed_since is not None and self.removed_since <= minor

    def right_to_set(self, value: object) -> str | None:
        """Return the policy rule that a caller needs to set it to a value, in any spelling that a request may use."""
        return self.right_for.get(syntax.truth_of(value), self.right)

    @property
    def is_limited(self) -> bool:
        """Return whether the size of its values has the limit of [api]largest_json_field."""
        return self.type.is_endless

    @property
    def is_selectable(self) -> bool:
        """Return whether `fields=` may name it."""
        return self.select and not self.hidden

    @property
    def rules(self) -> tuple[str, ...]:
        """The policy rules that decide how much of it a caller sees; the one that hides it completely is last."""
        return (*(trim.rule for trim in self.trims), *((self.rule,) if self.rule else ()))

    @property
    def sortable(self) -> bool:
        """Return whether lists may be ordered by it."""
        return self.column is not None and (self.type.sortable if self.sort is None else self.sort)


@dataclass(frozen=True, slots=True)
class Table:
    """The tables derived from the fields of a resource."""

    fields: Mapping[str, Field]
    # By way of writing: "create", "patch", "rules".
    written: Mapping[str, Mapping[str, Field]]
    filters: Mapping[str, Filter] = field(default_factory=dict)

    def notified_in(self, kind: str) -> list[str]:
        """Return the names of the fields that one kind of payload has, sorted."""
        return sorted(name for name, one in self.fields.items() if one.notified & {kind, *EVERY})

    @property
    def literal(self) -> frozenset[tuple[str, ...]]:
        """The paths that inspection rules never write from what a machine reported."""
        return frozenset((name, *path) for name, one in self.fields.items() for path in one.literal)


class Belongs(Enum):
    """By what rules know whose a resource is."""

    TO_NODE = auto()
    """By the node that it belongs to, or is."""
    TO_OWNER = auto()
    """By its own column ``owner``."""


# By the word in paths.
RESOURCES: Final[dict[str, "type[Resource]"]] = {}


class Resource:
    """A resource of the API; subclasses list its fields, and say what is to be known of it elsewhere."""

    # Key of lists, and the path below /v1.
    collection: ClassVar[str]
    singular: ClassVar[str]
    # How paths call its identifier (`/v1/nodes/{node}`), and errors and rules the resource; "": no path has one.
    word: ClassVar[str] = ""
    # The first version that lists the collection in the document of `/v1`; None: none does.
    listed_since: ClassVar[int | None] = None
    # Whether a logical name identifies it as its UUID does, and whether that may contain a dot.
    has_name: ClassVar[bool] = False
    has_dotted_name: ClassVar[bool] = False
    # Words that stand in place of an identifier when it was left out of a path.
    no_names: ClassVar[frozenset[str]] = frozenset()
    # Whether a wrong identifier gets the older shape of errors.
    aborts: ClassVar[bool] = False
    # Whose it is, and the column by which everyone may use it; None: rules don't ask that.
    belongs: ClassVar[Belongs | None] = None
    public_by: ClassVar[str | None] = None
    # The error for one that does not exist; it names it by ``word``.
    not_found: ClassVar[type[NotFound]] = NotFound
    # The table of its rows; by default that of the collection's name.
    stored_in: ClassVar[str] = ""
    # The version of its payload in notifications up to API version 1.115; "": there are none.
    payload_version: ClassVar[str] = ""
    # The field that identifies a resource in markers and links.
    key: ClassVar[str] = "uuid"
    marker: ClassVar[ValueType]
    own_filters: ClassVar[tuple[Filter, ...]] = ()
    table: ClassVar[Table]
    # Whether lists are paged and sorted as requested.
    paged: ClassVar[bool] = True
    # The first version whose lists accept `detail=`; None: none does.
    since_detail: ClassVar[int | None] = 43
    # The first version whose lists accept `fields=`; None: none does.
    since_fields: ClassVar[int | None] = 8
    # The order of the field names in `next` links of the plain list; (): that of the table.
    plain_order: ClassVar[tuple[str, ...]] = ()
    # The column that lists are sorted by unless the caller names another one.
    sorted_by: ClassVar[str] = "id"
    # Whether a field of a later version counts as unknown (400) in `fields=`, not as unacceptable (406).
    hides_newer: ClassVar[bool] = False
    # Whether a patch may remove a field of a later version, which then has no effect; clients of nodes rely on it.
    removes_newer: ClassVar[bool] = True

    def __init_subclass__(cls, *, part_of: "type[Resource] | None" = None, **options: Any) -> None:
        """Build the table from the class body, and from the resource whose fields this document shows (``part_of``)."""
        super().__init_subclass__(**options)
        if cls.word:
            RESOURCES.setdefault(cls.word, cls)
        if not cls.stored_in:
            cls.stored_in = cls.collection
        fields = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        if part_of is not None:
            fields |= {
                name: replace(one, write=NEVER, plain=False, filter=None)
                for name, one in part_of.table.fields.items()
                if cls.collection in one.parts
            }
        filters = {one.name: one for one in cls.own_filters}
        for name, one in fields.items():
            if one.filter:
                filters[name] = Filter(name, one.filter.type or one.type.sought, max(one.since, one.filter.since))
        cls.table = Table(fields, {way: _written(fields, way) for way in sorted(ANYONE)}, filters)

    @classmethod
    def plural(cls) -> str:
        """Return what several of them are called in messages."""
        return f"{cls.singular}s"

    @classmethod
    def visible(cls, minor: int) -> list[Field]:
        """Return the fields a version shows, in the order of the table."""
        return [one for one in cls.table.fields.values() if one.since <= minor and not one.hidden]

    @classmethod
    def selectable(cls, minor: int) -> list[str]:
        """Return the names that `fields=` takes in a version, in the order of the table."""
        fields = cls.table.fields.values()
        return [one.name for one in fields if one.is_selectable and (one.since <= minor or one.named_early)]

    @classmethod
    def plain_fields(cls, minor: int) -> list[str]:
        """Return the names of the fields in the plain list, for `fields=`; empty where the list shows all fields."""
        shown = [one for one in cls.visible(minor) if not isinstance(one.type, Links)]
        plain = [one.name for one in shown if one.plain]
        if cls.since_fields is None or minor < cls.since_fields or len(plain) == len(shown):
            return []
        return sorted(plain, key=cls.plain_order.index) if cls.plain_order else plain

    @classmethod
    def writable(cls, way: str) -> dict[str, Field]:
        """Return the fields that can be written in one way ("create", "patch", "rules") in any version."""
        return dict(cls.table.written[way])


class FieldNames(Words):
    """The query parameter `fields=`: a comma list of the fields that the answer shall have.

    Only the form is checked here; `Resource.selectable` has the names of a version.
    """

    def __init__(self, resource: type[Resource]) -> None:
        self.resource = resource


def _written(fields: Mapping[str, Field], way: str) -> Mapping[str, Field]:
    writable = {name: one for name, one in fields.items() if way in one.write}
    return {name: replace(one, since=1) if way in one.ungated else one for name, one in writable.items()}


_REDACTED: Final = {"redacted_contents": masking.REPLACEMENT}


def without_secrets(info: dict[str, object]) -> dict[str, object]:
    """Return a copy with passwords, tokens and keys masked."""
    shown: dict[str, Any] = masking.masked(info)
    return shown


def without_instance_secrets(info: Mapping[str, object]) -> dict[str, object]:
    """Return a copy with secrets masked, and with the config drive and the URL of the image, which may contain some."""
    return masking.masked_instance_info(info)


def without_arguments(step: object) -> Any:
    """Return a step with its arguments hidden."""
    return {**step, "args": _REDACTED} if isinstance(step, dict) and step.get("args") else step


def without_arguments_in(*keys: str) -> Callable[[Any], Any]:
    """Return a function that hides the arguments of steps under these keys of driver_internal_info."""

    def reduced(info: Any) -> object:
        if not isinstance(info, dict):
            return info
        stored = {key: info[key] for key in keys if key in info}
        return info | {
            key: [without_arguments(step) for step in steps] if isinstance(steps, list) else without_arguments(steps)
            for key, steps in stored.items()
        }

    return reduced


def text_without_secrets(_minor: int) -> Callable[[Any], Any]:
    """Return the function that shows a text which may quote machines and drivers: with secrets masked."""
    return lambda text: masking.masked_text(text) if text else text


def state_of_version(minor: int) -> Callable[[Any], Any] | None:
    """Return the function that shows a provision state in a version, None for unchanged; two states are newer."""
    if minor < 2:
        names: dict[str, str | None] = {states.AVAILABLE: None, states.INSPECTWAIT: states.INSPECTING}
    elif minor < 39:
        names = {states.INSPECTWAIT: states.INSPECTING}
    else:
        return None
    return lambda state: names.get(state, state)
