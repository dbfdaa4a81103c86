"""From rows to documents.

A projection is compiled once per resource, version and set of fields: which columns to select, which keys to write, how
to show the few columns that are not JSON as they stand. Per row nothing asks for versions or link templates, and for
rules only where a caller may not see every field of every node. Stored JSON passes unparsed; only columns that may hold
secrets are parsed, masked and encoded again.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from ironic.api import access, computed
from ironic.api.errors import unacceptable
from ironic.api.request import Request, printable
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.fields import Field, Resource
from ironic.core.secrets import REPLACEMENT
from ironic.core.values import Json, Links

if TYPE_CHECKING:
    from ironic.db.record import Record

# The rules whose masks are lifted for a caller; None: rules don't decide here what is seen.
Sight = frozenset[str] | None

_REDACTED: Final = orjson.Fragment(b'{"redacted_contents":"******"}')
_JUDGED_BY: Final = ("owner", "lessee")


class Projection:
    """How rows of one resource are shown to callers of one version."""

    __slots__ = (
        "_gathered",
        "_hidden",
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
        self, resource: type[Resource], minor: int, fields: Sequence[Field], *, brief: bool, sight: Sight
    ) -> None:
        stored = [one for one in fields if one.column is not None]
        linked = [one for one in fields if isinstance(one.type, Links)]
        self._gathered = [one for one in fields if one.is_computed]
        self.names = [one.name for one in fields]
        columns = [str(one.column) for one in stored]
        needed = [column for one in self._gathered for column in one.needs] + ([resource.key] if linked else [])
        self._rules = {one.name: one.rules for one in fields if one.rules and sight is not None}
        self._trims = {(one.name, trim.rule): trim.left for one in fields for trim in one.trims}
        self._hidden = {one.name: _REDACTED if isinstance(one.type, Json) else REPLACEMENT for one in fields}
        needed += _JUDGED_BY if self._rules else ()
        self.columns: tuple[str, ...] = tuple(dict.fromkeys(columns + needed))
        self._stored = len(stored)
        self._keys = [one.name for one in (*stored, *linked, *self._gathered)]
        self._shown = [
            (index, shown)
            for index, one in enumerate(stored)
            if (shown := (one.brief if brief else None) or _shown(one, minor, sight)) is not None
        ]
        # Whether it shows secrets.
        self.is_unmasked = any(one.unmasked_by in sight for one in fields if one.unmasked_by) if sight else False
        self._links = [one.type.path for one in fields if isinstance(one.type, Links)]
        self._links_key = self.columns.index(resource.key) if linked else 0

    def batch(self, request: Request, rows: Sequence[Sequence[object]]) -> "Batch":
        """Prepare rows of `columns` for being shown; whatever takes a statement is asked once for all of them."""
        return Batch(
            rows,
            [_template(request.base, path) for path in self._links],
            [self._gather(request, one, rows) for one in self._gathered],
            self._document,
            self._hider(request),
        )

    def _hider(self, request: Request) -> Callable[[Sequence[Any], dict[str, Any]], None] | None:
        """Return what takes out of a row's document what the caller may not see; None: all may be seen."""
        hidden = access.hidden_fields(request, self._rules) if self._rules else None
        if hidden is None:
            return None
        owner, lessee = (self.columns.index(name) for name in _JUDGED_BY)

        def hide(row: Sequence[Any], document: dict[str, object]) -> None:
            for name, rule in hidden(row[owner], row[lessee]):
                trim = self._trims.get((name, rule))
                document[name] = self._hidden[name] if trim is None else trim(document[name])

        return hide

    def document(self, request: Request, row: Sequence[object]) -> dict[str, Any]:
        """Turn one row into a document."""
        return self.batch(request, (row,)).documents(0, 1)[0]

    def of_record(self, request: Request, record: "Record", others: Mapping[str, object]) -> dict[str, object]:
        """Turn a record just written into a document without reading it; `others` has what is not in its table."""
        row = [others[name] if name in others else _stored(record, name) for name in self.columns]
        return self.document(request, row)

    def _gather(self, request: Request, one: Field, rows: Sequence[Sequence[object]]) -> Sequence[object]:
        at = [self.columns.index(column) for column in one.needs]
        return computed.gather(one)(request, [tuple(row[index] for index in at) for row in rows])

    def _document(self, row: Sequence[object], links: list[str], gathered: Sequence[object]) -> dict[str, object]:
        values = list(row[: self._stored])
        for index, shown in self._shown:
            values[index] = shown(values[index])
        if links:
            key = row[self._links_key]
            values += [orjson.Fragment(template % (key, key)) for template in links]
        values += gathered
        return dict(zip(self._keys, values, strict=True))


@dataclass(slots=True, frozen=True)
class Batch:
    """Rows of one page with all that is needed to show them."""

    rows: Sequence[Sequence[Any]]
    links: list[str]
    gathered: list[Sequence[Any]]
    show: Callable[[Sequence[Any], list[str], list[Any]], dict[str, Any]]
    hide: Callable[[Sequence[Any], dict[str, Any]], None] | None

    def documents(self, start: int, stop: int) -> list[dict[str, object]]:
        """Show a slice of the rows."""
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
    # The encoder splices plain text only, not text that is marked as JSON.
    return str(value) if isinstance(value, str) else value


def _shown(one: Field, minor: int, sight: Sight) -> Callable[[Any], Any] | None:
    if one.render is not None and (rendered := one.render(minor)) is not None:
        return rendered
    if one.mask is not None and (sight is None or one.unmasked_by not in sight):
        return functools.partial(_masked, one.mask)
    return one.type.shown()


_NOTHING = orjson.Fragment(b"{}")


def _masked(mask: Callable[[Any], Any], text: str | None) -> Any:
    return _NOTHING if text is None or text == "{}" else mask(orjson.loads(text))


def _template(base: str, path: str) -> str:
    """Prepare the two links to a path; what is left to fill in is the thing's key, twice."""
    start, below = orjson.dumps(base).decode()[1:-1].replace("%", "%%"), path.replace("{}", "%s")
    return f'[{{"href":"{start}/v1/{below}","rel":"self"}},{{"href":"{start}/{below}","rel":"bookmark"}}]'


def links(base: str, path: str) -> orjson.Fragment:
    """Return the two links to a fixed path."""
    return orjson.Fragment(_template(base, path).replace("%%", "%"))


_MOST: Final = 512
_CACHE: dict[tuple[Any, ...], Projection] = {}


def _compiled(
    resource: type[Resource], minor: int, names: tuple[str, ...] | None, plain: bool, sight: Sight
) -> Projection:
    key = (resource, minor, names, plain, sight)
    if (found := _CACHE.get(key)) is None:
        if len(_CACHE) >= _MOST:
            # Callers may choose fields as they like; what is used will be back soon.
            _CACHE.clear()
        fields = [one for one in resource.visible(minor) if _is_wanted(one, names, plain)]
        found = _CACHE[key] = Projection(resource, minor, fields, brief=plain, sight=sight)
    return found


def _is_wanted(one: Field, names: tuple[str, ...] | None, plain: bool) -> bool:
    if names is not None:
        return one.name in names or one.name == "links"
    return one.plain or not plain


def sight(request: Request, resource: type[Resource]) -> Sight:
    """Find out which masks are lifted for a caller."""
    rules = (one.unmasked_by for one in resource.table.fields.values() if one.unmasked_by is not None)
    return access.unmasked(request, rules) if request.is_judged else None


def full(resource: type[Resource], minor: int, sight: Sight = None) -> Projection:
    """Return the projection of the whole document."""
    return _compiled(resource, minor, None, False, sight)


def plain(resource: type[Resource], minor: int, sight: Sight = None) -> Projection:
    """Return the projection of the plain list."""
    return _compiled(resource, minor, None, True, sight)


def chosen(resource: type[Resource], minor: int, names: Iterable[str], sight: Sight = None) -> Projection:
    """Return the projection of `fields=`; a later field is a 406, an unknown one a 400."""
    asked = tuple(sorted({name.lower() for name in names}))
    known = {name: one for name in asked if (one := resource.table.fields.get(name)) and one.is_selectable}
    newer = [one for one in known.values() if one.since > minor and not one.named_early]
    if newer and not resource.hides_newer:
        raise unacceptable(f"Field {newer[0].name}", newer[0].since)
    for name in asked:
        if name not in known or known[name] in newer:
            raise InvalidParameterValue(err=f"{printable(name)} is no field that can be selected.")
    return _compiled(resource, minor, asked, False, sight)
