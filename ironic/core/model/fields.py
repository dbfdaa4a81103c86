"""How a thing is described: `Resource`, a class whose body has one `Field` per line.

Everything that is said of a field stands in its line, or is the default of `Field`. What is read off the lines of a
resource is read once, when its class is made (`Table`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from ironic.core.values import Links, ValueType, Words

# Ways of writing a field: a new thing, a patch, an inspection rule. A rule writes what an administrator's patch may.
NOBODY: Final = frozenset[str]()
CREATE: Final = frozenset({"create"})
PATCH: Final = frozenset({"patch"})
RULES: Final = frozenset({"rules"})
ANYONE: Final = CREATE | PATCH | RULES

REQUIRED: Final = object()

# The kinds of payload that tell a field's value; EVERY: all those about its resource.
NOT_TOLD: Final = frozenset[str]()
EVERY: Final = frozenset({"every"})

# Paths below a field; WHOLE: the field itself, and so all in it.
Paths = tuple[tuple[str, ...], ...]
WHOLE: Final[Paths] = ((),)

# Given the version, returns how a stored value is shown there; None: as its type says.
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
    # Whether the `next` link carries it on when it is true.
    kept: bool = False
    # Whether it finds at most one thing, so that no page can follow.
    single: bool = False
    # Whether the older spelling of a detailed list takes it in any version.
    ungated_in_detail: bool = False

    @property
    def key(self) -> str | None:
        """Name the store knows this filter by."""
        return self.name if self.store == "" else self.store

    def since_in(self, *, detailed: bool) -> int:
        """First version of a list that takes it; ``detailed``: of the list spelled `/detail`."""
        return 1 if detailed and self.ungated_in_detail else self.since


@dataclass(frozen=True, slots=True)
class Trim:
    """A rule about the node, and what is left of a parsed value for callers whom it refuses."""

    rule: str
    left: Callable[[Any], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field: its type, its history, who may write it, how it is shown, who is told."""

    type: ValueType
    since: int = 1
    write: frozenset[str] = ANYONE
    # Ways of writing it that callers of any version have, although only later versions show it.
    ungated: frozenset[str] = NOBODY
    # In the plain list, not only in the full document.
    plain: bool = False
    # May be named in `fields=`.
    select: bool = True
    # May be named there before it exists, to no effect.
    named_early: bool = False
    # May be named in `sort_key=`; None: as its type.
    sort: bool | None = None
    nullable: bool = True
    # Whether null in a patch or a rule is refused, so that it has to be removed.
    only_removed: bool = False
    # The first version whose patches may remove it; None: none may.
    removed_since: int | None = 1
    # What null and removal mean in the row.
    empty: Any = None
    # Fields that become null when it becomes false.
    clears: tuple[str, ...] = ()
    filter: Exact | None = None
    # Column of the row; "" is the field's name, None: not stored.
    column: str | None = ""
    render: Render | None = None
    # How the plain list shows it, where that is less than the whole.
    brief: Callable[[Any], Any] | None = None
    # Hides secrets in a parsed JSON value.
    mask: Callable[[Any], Any] | None = None
    # The rule that lets a caller see it without the mask.
    unmasked_by: str | None = None
    # The rule about the node that a caller needs to see it at all.
    rule: str | None = None
    # Rules about the node that a caller needs to see all of it; for fields with a mask.
    trims: tuple[Trim, ...] = ()
    # The rule that a caller needs to write it; None: that of changing the thing.
    right: str | None = None
    # Whether whoever may create a thing may give it this without that right.
    free_in_new: bool = False
    # What inspection rules may write, where that is not what callers may.
    by_rules: ValueType | None = None
    # What rules never make from what a machine reported.
    literal: Paths = ()
    # Payloads of notifications that have it.
    told: frozenset[str] = NOT_TOLD
    # For computed fields: the columns that the API computes it from.
    needs: tuple[str, ...] = ()
    # Other documents that show it, by their collection.
    parts: frozenset[str] = frozenset()
    # Only taken from callers, never shown.
    hidden: bool = False
    name: str = ""

    def __set_name__(self, owner: object, name: str) -> None:
        """Learn the name the table gives it."""
        object.__setattr__(self, "name", name)
        if self.column == "":
            object.__setattr__(self, "column", None if self.needs or isinstance(self.type, Links) else name)

    @property
    def is_computed(self) -> bool:
        """Tell whether its values are made of others by the API."""
        return bool(self.needs)

    def may_be_removed(self, minor: int) -> bool:
        """Tell whether a patch of this version may remove it."""
        has_empty_value = self.empty is not REQUIRED and (self.nullable or self.empty is not None)
        return has_empty_value and self.removed_since is not None and self.removed_since <= minor

    @property
    def is_selectable(self) -> bool:
        """Tell whether `fields=` may name it."""
        return self.select and not self.hidden

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules about the node that decide how much a caller sees of it; the one that hides all of it is last."""
        return (*(trim.rule for trim in self.trims), *((self.rule,) if self.rule else ()))

    @property
    def sortable(self) -> bool:
        """Tell whether lists may be ordered by it."""
        return self.column is not None and (self.type.sortable if self.sort is None else self.sort)


@dataclass(frozen=True, slots=True)
class Table:
    """What is read off a resource's lines once."""

    fields: Mapping[str, Field]
    # By way of writing: "create", "patch", "rules".
    written: Mapping[str, Mapping[str, Field]]
    filters: Mapping[str, Filter] = field(default_factory=dict)

    def told_in(self, kind: str) -> list[str]:
        """Return the fields that one kind of payload has, by name."""
        return sorted(name for name, one in self.fields.items() if one.told & {kind, *EVERY})

    @property
    def literal(self) -> frozenset[tuple[str, ...]]:
        """The paths that rules never make from what a machine reported."""
        return frozenset((name, *path) for name, one in self.fields.items() for path in one.literal)


class Resource:
    """One kind of thing; subclasses list its fields."""

    # Key of lists, and the path below /v1.
    collection: ClassVar[str]
    singular: ClassVar[str]
    # What names one of them in markers and links.
    key: ClassVar[str] = "uuid"
    marker: ClassVar[ValueType]
    own_filters: ClassVar[tuple[Filter, ...]] = ()
    table: ClassVar[Table]
    # Whether lists come in pages, sorted as asked.
    paged: ClassVar[bool] = True
    # The first version whose lists take `detail=`; None: none does.
    since_detail: ClassVar[int | None] = 43
    # The same of `fields=`.
    since_fields: ClassVar[int | None] = 8
    # The order in which links between plain pages name the fields of those; (): as the table has them.
    plain_order: ClassVar[tuple[str, ...]] = ()
    # What lists are sorted by when nothing is asked for.
    sorted_by: ClassVar[str] = "id"
    # Whether a field of a later version counts as unknown (400) in `fields=`, not as unacceptable (406).
    hides_newer: ClassVar[bool] = False

    def __init_subclass__(cls, *, part_of: "type[Resource] | None" = None, **options: Any) -> None:
        """Read the table off the class body, or off another resource that has the fields of this document."""
        super().__init_subclass__(**options)
        fields = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        if part_of is not None:
            fields |= {
                name: replace(one, write=NOBODY, plain=False, filter=None)
                for name, one in part_of.table.fields.items()
                if cls.collection in one.parts
            }
        filters = {one.name: one for one in cls.own_filters}
        for name, one in fields.items():
            if one.filter:
                filters[name] = Filter(name, one.filter.type or one.type.sought, max(one.since, one.filter.since))
        cls.table = Table(fields, {way: _written(fields, way) for way in sorted(ANYONE)}, filters)

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
        """Return the fields of the plain list as `fields=` would name them; none where it has all that there are."""
        shown = [one for one in cls.visible(minor) if not isinstance(one.type, Links)]
        plain = [one.name for one in shown if one.plain]
        if cls.since_fields is None or minor < cls.since_fields or len(plain) == len(shown):
            return []
        return sorted(plain, key=cls.plain_order.index) if cls.plain_order else plain

    @classmethod
    def writable(cls, way: str) -> dict[str, Field]:
        """Return the fields that can be written in one way ("create", "patch", "rules"), whatever the version."""
        return dict(cls.table.written[way])


class FieldNames(Words):
    """A comma list of the fields of a resource that an answer shall have: `fields=` of a query.

    Only the form is checked here; which names a version has is the resource's `selectable`.
    """

    def __init__(self, resource: type[Resource]) -> None:
        self.resource = resource


def _written(fields: Mapping[str, Field], way: str) -> Mapping[str, Field]:
    writable = {name: one for name, one in fields.items() if way in one.write}
    return {name: replace(one, since=1) if way in one.ungated else one for name, one in writable.items()}
