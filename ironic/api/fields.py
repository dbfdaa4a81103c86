"""The field table: one line per field of a resource, from which everything else is derived.

A `Resource` reads like its own reference page. Responses per version, create and patch checks, `fields=`, sorting and
filters all come from its lines (see projection, input, listing, json_patch). Nothing below the API knows versions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from ironic.api.request import Request
from ironic.core.values import Links, ValueType

NOBODY: Final = frozenset[str]()
CREATE: Final = frozenset({"create"})
PATCH: Final = frozenset({"patch"})
ANYONE: Final = CREATE | PATCH

REQUIRED: Final = object()

# Given one tuple of needed columns per row, returns one value per row.
Gather = Callable[[Request, Sequence[tuple[Any, ...]]], Sequence[Any]]
# Given the version, returns how a stored value is shown there; None: as its type says.
Render = Callable[[int], Callable[[Any], Any] | None]


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


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its type, its history, who may write it, how it is shown."""

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
    # What null and removal mean in the row.
    empty: Any = None
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
    # For computed fields: the columns needed, and what makes values of them for a whole page at once.
    needs: tuple[str, ...] = ()
    gather: Gather | None = None
    # Only taken from callers, never shown.
    hidden: bool = False
    name: str = ""

    def __set_name__(self, owner: Any, name: str) -> None:
        """Learn the name the table gives it."""
        object.__setattr__(self, "name", name)
        if self.column == "":
            object.__setattr__(self, "column", None if self.gather or isinstance(self.type, Links) else name)

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
    # By way of writing, "create" and "patch".
    written: Mapping[str, Mapping[str, Field]]
    filters: Mapping[str, Filter] = field(default_factory=dict)


class Resource:
    """One kind of thing in the API; subclasses list its fields."""

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

    def __init_subclass__(cls, **options: Any) -> None:
        """Read the table off the class body."""
        super().__init_subclass__(**options)
        fields = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
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
    def plain_fields(cls, minor: int) -> list[str]:
        """Return the fields of the plain list as `fields=` would name them; none where it has all that there are."""
        shown = [one for one in cls.visible(minor) if not isinstance(one.type, Links)]
        plain = [one.name for one in shown if one.plain]
        if cls.since_fields is None or minor < cls.since_fields or len(plain) == len(shown):
            return []
        return sorted(plain, key=cls.plain_order.index) if cls.plain_order else plain

    @classmethod
    def writable(cls, way: str) -> dict[str, Field]:
        """Return the fields a caller may send, for "create" or "patch", whatever the version."""
        return dict(cls.table.written[way])


def _written(fields: Mapping[str, Field], way: str) -> Mapping[str, Field]:
    writable = {name: one for name, one in fields.items() if way in one.write}
    return {name: replace(one, since=1) if way in one.ungated else one for name, one in writable.items()}
