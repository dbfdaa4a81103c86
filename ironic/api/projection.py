"""Project rows to documents.

A projection is compiled once per resource, version and set of fields: which columns to select, which keys to write, and
how to render the few columns whose stored text is not the JSON to send. Nothing is decided per row except which fields
are hidden, and that only for a caller who may not see every field of every node. Stored JSON is passed on unparsed;
only columns that may hold secrets are parsed, masked and encoded again.

Computed fields are in no column of the row: traits, conductors, links, counts. A line of the model states the columns
that a computed field needs, and a function is bound to it by name when a module of `resources` is loaded. It is called
once for a whole page, so that a field that needs a query costs one query per page.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from ironic.api import access
from ironic.api.error_responses import unacceptable
from ironic.api.request import Request, printable
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.fields import Field, Resource
from ironic.core.secrets.masking import REPLACEMENT
from ironic.core.values.value_types import Json, Links

if TYPE_CHECKING:
    from ironic.db.record import Record


# Computes a field: gets one tuple of the needed columns per row, returns one value per row.
Gather = Callable[[Request, Sequence[tuple[Any, ...]]], Sequence[object]]

_BOUND: dict[Field, Gather] = {}


def bind_computed(resource: type[Resource], **gathers: Gather) -> None:
    """Bind functions to the computed fields of a resource; raises TypeError unless they are exactly these."""
    fields = {name: one for name, one in resource.table.fields.items() if one.is_computed}
    if wrong := fields.keys() ^ gathers.keys():
        raise TypeError(f"{resource.__name__}: {', '.join(sorted(wrong))} must be bound if, and only if, computed")
    _BOUND.update({one: gathers[name] for name, one in fields.items()})


def computed_values(one: Field) -> Gather:
    """Return the function that is bound to a computed field; raises KeyError when none is."""
    return _BOUND[one]


# The rules that unmask secrets for a caller; None: secrets are always masked and no field is hidden.
Visibility = frozenset[str] | None

_REDACTED: Final = orjson.Fragment(b'{"redacted_contents":"******"}')
_OWNERSHIP: Final = ("owner", "lessee")
_NONE_KNOWN: Final[Mapping[str, object]] = {}


class Projection:
    """How rows of a resource are rendered for one version and one choice of fields."""

    __slots__ = (
        "_absent",
        "_gathered",
        "_hidden",
        "_hidden_with",
        "_keys",
        "_links",
        "_links_key",
        "_rules",
        "_shown",
        "_stored",
        "_trims",
        "columns",
        "is_unmasked",
        "names",
    )

    def __init__(
        self, resource: type[Resource], minor: int, fields: Sequence[Field], *, brief: bool, visibility: Visibility
    ) -> None:
        stored = [one for one in fields if one.column is not None]
        linked = [one for one in fields if isinstance(one.type, Links)]
        self._gathered = [one for one in fields if one.is_computed]
        self.names = [one.name for one in fields]
        columns = [str(one.column) for one in stored]
        needed = [column for one in self._gathered for column in one.needs] + ([resource.key] if linked else [])
        self._rules = {one.name: one.rules for one in fields if one.rules and visibility is not None}
        self._trims = {(one.name, trim.rule): trim.reduced for one in fields for trim in one.trims}
        self._hidden = {one.name: _REDACTED if isinstance(one.type, Json) else REPLACEMENT for one in fields}
        conditions = {one.name: one.hidden_with for one in fields if one.hidden_with and one.name in self._rules}
        needed += (*_OWNERSHIP, *conditions.values()) if self._rules else ()
        self.columns: tuple[str, ...] = tuple(dict.fromkeys(columns + needed))
        self._hidden_with = {name: self.columns.index(column) for name, column in conditions.items()}
        self._absent = [(one.name, one.absent_if) for one in fields if one.absent_if is not None]
        self._stored = len(stored)
        self._keys = [one.name for one in (*stored, *linked, *self._gathered)]
        self._shown = [
            (index, shown)
            for index, one in enumerate(stored)
            if (shown := (one.brief if brief else None) or _shown(one, minor, visibility)) is not None
        ]
        # Whether it shows secrets unmasked.
        self.is_unmasked = (
            any(one.unmasked_by in visibility for one in fields if one.unmasked_by) if visibility else False
        )
        self._links = [one.type.path for one in fields if isinstance(one.type, Links)]
        self._links_key = self.columns.index(resource.key) if linked else 0

    def batch(
        self, request: Request, rows: Sequence[Sequence[object]], known: Mapping[str, object] = _NONE_KNOWN
    ) -> "Batch":
        """Prepare rows of `columns` for rendering; each computed field is computed for all of them at once.

        ``known`` has computed fields that are not asked for, as they have this value in all rows.
        """
        computed: list[Sequence[object]] = []
        for one in self._gathered:
            if one.name in known:
                computed.append([known[one.name]] * len(rows))
                continue
            at = [self.columns.index(column) for column in one.needs]
            computed.append(computed_values(one)(request, [tuple(row[index] for index in at) for row in rows]))
        templates = [_template(request.base, path) for path in self._links]
        return Batch(rows, templates, computed, self._document, self._hider(request))

    def _hider(self, request: Request) -> Callable[[Sequence[Any], dict[str, Any]], None] | None:
        """Return the function that hides fields of a row's document from the caller; None: the caller sees all."""
        hidden = access.hidden_fields(request, self._rules) if self._rules else None
        if hidden is None:
            return None
        owner, lessee = (self.columns.index(name) for name in _OWNERSHIP)

        def hide(row: Sequence[Any], document: dict[str, object]) -> None:
            for name, rule in hidden(row[owner], row[lessee]):
                if name in self._hidden_with and row[self._hidden_with[name]] is None:
                    continue
                trim = self._trims.get((name, rule))
                document[name] = self._hidden[name] if trim is None else trim(document[name])

        return hide

    def document(self, request: Request, row: Sequence[object]) -> dict[str, Any]:
        """Return the document of one row of `columns`."""
        return self.batch(request, (row,)).documents(0, 1)[0]

    def of_record(self, request: Request, record: "Record", others: Mapping[str, object]) -> dict[str, object]:
        """Return the document of a record that was just written, without reading it again.

        ``others`` has the values of columns that are not in its table, and of computed fields that are known.
        """
        row = [others[name] if name in others else _stored(record, name) for name in self.columns]
        return self.batch(request, (row,), others).documents(0, 1)[0]

    def _document(self, row: Sequence[object], links: list[str], gathered: Sequence[object]) -> dict[str, object]:
        values = list(row[: self._stored])
        for index, shown in self._shown:
            values[index] = shown(values[index])
        if links:
            key = row[self._links_key]
            values += [orjson.Fragment(template % (key, key)) for template in links]
        values += gathered
        document = dict(zip(self._keys, values, strict=True))
        for name, value in self._absent:
            if document[name] == value:
                del document[name]
        return document


@dataclass(slots=True, frozen=True)
class Batch:
    """The rows of a page with everything that rendering them needs."""

    rows: Sequence[Sequence[Any]]
    links: list[str]
    gathered: list[Sequence[Any]]
    show: Callable[[Sequence[Any], list[str], list[Any]], dict[str, Any]]
    hide: Callable[[Sequence[Any], dict[str, Any]], None] | None

    def documents(self, start: int, stop: int) -> list[dict[str, object]]:
        """Return the documents of a slice of the rows."""
        stop = min(stop, len(self.rows))
        shown = [
            self.show(self.rows[at], self.links, [values[at] for values in self.gathered]) for at in range(start, stop)
        ]
        if self.hide is not None:
            for at, document in enumerate(shown, start):
                self.hide(self.rows[at], document)
        return shown


def _stored(record: "Record", name: str) -> object:
    value = record.form.of(name, getattr(record, name))
    # The encoder takes plain text only, not the subclass that marks text as JSON.
    return str(value) if isinstance(value, str) else value


def _shown(one: Field, minor: int, visibility: Visibility) -> Callable[[Any], Any] | None:
    if one.render is not None and (rendered := one.render(minor)) is not None:
        return rendered
    if one.mask is not None and (visibility is None or one.unmasked_by not in visibility):
        return functools.partial(_masked, one.mask)
    return one.type.shown()


_NOTHING = orjson.Fragment(b"{}")


def _masked(mask: Callable[[Any], Any], text: str | None) -> Any:
    return _NOTHING if text is None or text == "{}" else mask(orjson.loads(text))


def _template(base: str, path: str) -> str:
    """Return the template of the two links to a path; the key of the row is filled in twice."""
    start, below = orjson.dumps(base).decode()[1:-1].replace("%", "%%"), path.replace("{}", "%s")
    return f'[{{"href":"{start}/v1/{below}","rel":"self"}},{{"href":"{start}/{below}","rel":"bookmark"}}]'


def links(base: str, path: str) -> orjson.Fragment:
    """Return the two links to a path without a wildcard."""
    return orjson.Fragment(_template(base, path).replace("%%", "%"))


_MOST: Final = 512
_CACHE: dict[tuple[Any, ...], Projection] = {}


def _compiled(
    resource: type[Resource], minor: int, names: tuple[str, ...] | None, plain: bool, visibility: Visibility
) -> Projection:
    key = (resource, minor, names, plain, visibility)
    if (found := _CACHE.get(key)) is None:
        if len(_CACHE) >= _MOST:
            # Clients choose fields freely; projections in use are soon compiled again.
            _CACHE.clear()
        fields = [one for one in resource.visible(minor) if one.plain or not plain]
        if names is not None:
            fields = [one for one in fields if one.name in names or one.name == "links"]
        found = _CACHE[key] = Projection(resource, minor, fields, brief=plain, visibility=visibility)
    return found


def visibility_of(request: Request, resource: type[Resource]) -> Visibility:
    """Return the rules that unmask secrets of a resource for the caller."""
    rules = (one.unmasked_by for one in resource.table.fields.values() if one.unmasked_by is not None)
    return access.unmasked(request, rules) if request.is_judged else None


def full(resource: type[Resource], minor: int, visibility: Visibility = None) -> Projection:
    """Return the projection to all fields of the version."""
    return _compiled(resource, minor, None, False, visibility)


def plain(resource: type[Resource], minor: int, visibility: Visibility = None) -> Projection:
    """Return the projection to the default fields of a list."""
    return _compiled(resource, minor, None, True, visibility)


def _selectable(resource: type[Resource], minor: int) -> str:
    return ", ".join(
        sorted(one.name for one in resource.table.fields.values() if one.is_selectable and one.since <= minor)
    )


def chosen(resource: type[Resource], minor: int, names: Iterable[str], visibility: Visibility = None) -> Projection:
    """Return the projection to the fields of `fields=`; raises 406 for a newer field, 400 for an unknown one."""
    asked = tuple(sorted({name.lower() for name in names}))
    known = {name: one for name in asked if (one := resource.table.fields.get(name)) and one.is_selectable}
    newer = [one for one in known.values() if one.since > minor and not one.named_early]
    if newer and not resource.hides_newer:
        raise unacceptable(f"Field {newer[0].name}", newer[0].since)
    for name in asked:
        if name not in known or known[name] in newer:
            raise InvalidParameterValue(
                err=f"{printable(name)} is no field that can be selected. Known ones: {_selectable(resource, minor)}."
            )
    return _compiled(resource, minor, asked, False, visibility)


def selected(
    resource: type[Resource],
    minor: int,
    names: Sequence[str],
    *,
    detail: bool = False,
    visibility: Visibility = None,
) -> Projection:
    """Return the projection of a list: the fields of `fields=`, all with `detail=true`, else the default ones."""
    if names and detail:
        raise InvalidParameterValue(err="fields and detail can't be used together.")
    if names:
        return chosen(resource, minor, names, visibility)
    return (full if detail else plain)(resource, minor, visibility)
