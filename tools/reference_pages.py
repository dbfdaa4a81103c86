"""The pages of `api-ref/`: one per resource, read off the tables of routes and fields.

Since when there is a request or a parameter is found by comparing the OpenAPI documents of all versions. Titles,
introductions and the requests of the examples are in reference.yaml; `reference_examples` sends them.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import reference_examples
import yaml

from ironic.api import versions
from ironic.api.openapi import document, operations
from ironic.api.openapi.values import TRUTH_WORDS, given, shown
from ironic.api.resources import ROUTES
from ironic.api.routes import Route
from ironic.core.model.fields import REQUIRED, Field, Resource

HERE = Path(__file__).resolve().parent
ABOUT = "Read off the tables of the service by `make docs`. What holds of all requests: [start](README.md)."

Schema = Mapping[str, Any]


def pages() -> dict[str, str]:
    """Return the pages by the name of their file."""
    told: dict[str, Any] = yaml.safe_load((HERE / "reference.yaml").read_text())
    found = {f"{name}.md": "\n".join(_page(name, page)) for name, page in told["pages"].items()}
    index = [
        f"| [{page['title']}]({name}.md) | {page['about'].split('. ')[0].rstrip('.')} |"
        for name, page in told["pages"].items()
    ]
    found["README.md"] = (
        told["start"] + "\n" + "\n".join(["| page | what it is about |", "| --- | --- |", *index]) + "\n"
    )
    return found


def paths_of(page: Mapping[str, Any]) -> list[str]:
    """Return the paths a page tells of, in the order of the table of routes."""
    wanted: list[str] = page["paths"]
    return [path for path in _documents()[versions.MAXIMUM]["paths"] if any(_is_of(path, one) for one in wanted)]


def _is_of(path: str, wanted: str) -> bool:
    # A star at the end means all below, unless another page has it by a longer name.
    return path == wanted or (wanted.endswith("/*") and path.startswith(wanted[:-1]))


@functools.cache
def _documents() -> dict[int, dict[str, Any]]:
    return {minor: document(ROUTES, minor, "/") for minor in versions.TEXTS}


def _since(*place: str) -> int | None:
    """Return the first version whose document has this place."""
    for minor, whole in _documents().items():
        found: Any = whole
        for part in place:
            found = found.get(part) if isinstance(found, dict) else None
            if found is None:
                break
        else:
            return minor
    return None


def _version(minor: int | None) -> str:
    return "" if minor is None else versions.text(minor)


def _page(name: str, page: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {page['title']}\n"
    yield f"{page['about'].strip()}\n"
    yield f"{ABOUT}\n"
    rows = list(_operations(paths_of(page)))
    yield "## Requests\n"
    yield "| request | since | what it does | right | answers |"
    yield "| --- | --- | --- | --- | --- |"
    yield from (_request(path, method, operation) for path, method, operation in rows)
    yield ""
    yield from _table("Parameters", "| parameter | in | type | since | of |", _joined(_parameters(rows)))
    yield from _table("Bodies", "| key | type | needed | since | of |", _joined(_bodies(rows)))
    for resource in page.get("resources", ()):
        yield from _fields(operations.resources()[resource])
    yield from reference_examples.examples(page.get("examples", ()))


def _operations(paths: Iterable[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path in paths:
        for method, operation in _documents()[versions.MAXIMUM]["paths"][path].items():
            yield path, method, operation


@functools.cache
def _routes() -> dict[tuple[str, str], Route]:
    return {("get" if route.method == "*" else route.method.lower(), route.path): route for route in ROUTES}


def _request(path: str, method: str, operation: Schema) -> str:
    route = _routes()[method, path]
    right = "public" if route.public else f"`{route.rule}`" if route.rule else ""
    answers = ", ".join(sorted(operation["responses"]))
    since = _version(_since("paths", path, method))
    return f"| `{method.upper()} {path}` | {since} | {operation['summary']} | {right} | {answers} |"


def _table(title: str, head: str, rows: Iterable[str]) -> Iterator[str]:
    if found := list(rows):
        yield f"## {title}\n"
        yield head
        yield "|" + " --- |" * (head.count("|") - 1)
        yield from found
        yield ""


def _joined(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Write one line for all requests that have the same thing."""
    found: dict[str, list[str]] = {}
    for request, told in rows:
        found.setdefault(told, []).append(request)
    return (f"| {told} | {', '.join(requests)} |" for told, requests in found.items())


def _parameters(rows: Iterable[tuple[str, str, Schema]]) -> Iterator[tuple[str, str]]:
    for path, method, operation in rows:
        for parameter in operation["parameters"]:
            if "name" in parameter:
                name, since = parameter["name"], _since_parameter(path, method, parameter["name"])
                told = f"`{name}` | {parameter['in']} | {_type(parameter['schema'])} | {_version(since)}"
                yield f"`{method.upper()} {path}`", told


def _since_parameter(path: str, method: str, name: str) -> int | None:
    for minor, whole in _documents().items():
        operation = whole["paths"].get(path, {}).get(method, {})
        if any(one.get("name") == name for one in operation.get("parameters", ())):
            return minor
    return None


def _bodies(rows: Iterable[tuple[str, str, Schema]]) -> Iterator[tuple[str, str]]:
    for path, method, operation in rows:
        schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        for name, one in schema.get("properties", {}).items():
            needed = "yes" if name in schema.get("required", ()) else ""
            place = ("paths", path, method, "requestBody", "content", "application/json", "schema", "properties", name)
            since = _since(*place)
            told = _words_since(place, one, since) or _type(one)
            yield f"`{method.upper()} {path}`", f"`{name}` | {told} | {needed} | {_version(since)}"


def _words_since(place: tuple[str, ...], schema: Schema, since: int | None) -> str:
    """List words of which some came later."""
    return ", ".join(
        f"`{word}`" + (f" ({_version(first)})" if first != since else "")
        for word in schema.get("enum", ())
        if (first := _first_with(place, word)) is not None
    )


def _first_with(place: tuple[str, ...], word: str) -> int | None:
    for minor, whole in _documents().items():
        found: Any = whole
        for part in place:
            found = found.get(part, {})
        if word in found.get("enum", ()):
            return minor
    return None


def _fields(resource: type[Resource]) -> Iterator[str]:
    head = "| field | type | since | written | notes |"
    rows = (_field(resource, one) for one in resource.table.fields.values())
    yield from _table(f"Fields: {resource.singular}", head, rows)


def _field(resource: type[Resource], one: Field) -> str:
    schema = given(one.type) if one.write else shown(one.type)
    written = " and ".join(word for word, way in (("create", "create"), ("change", "patch")) if way in one.write)
    notes = ", ".join(_notes(resource, one))
    return f"| `{one.name}` | {_type(schema)} | {versions.text(one.since)} | {written} | {notes} |"


def _notes(resource: type[Resource], one: Field) -> Iterator[str]:
    if one.empty is REQUIRED:
        yield "needed"
    elif one.write and not one.nullable:
        yield "not null"
    if one.hidden:
        yield "taken, never shown"
    if one.plain:
        yield "in the plain list too"
    if one.name in resource.table.filters:
        since = resource.table.filters[one.name].since
        yield "filters the list" + (f" since {versions.text(since)}" if since > one.since else "")
    if not one.sortable and not one.hidden and resource.paged:
        yield "lists can't be sorted by it"
    if one.mask is not None:
        yield "secrets are shown as `******`" + (f" unless `{one.unmasked_by}` allows" if one.unmasked_by else "")
    if one.rule is not None:
        yield f"needs `{one.rule}`"


def _type(schema: Schema) -> str:
    """Say in words what a schema allows."""
    if "$ref" in schema:
        return f"a {schema['$ref'].rpartition('/')[2]}"
    if alternatives := schema.get("anyOf"):
        # The words for true and false are told on the first page.
        kinds = [_type(one) for one in alternatives if one != TRUTH_WORDS]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"] if word)
    kinds = schema.get("type", "any")
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    return " or ".join(_named(one, schema) for one in names)


def _named(kind: str, schema: Schema) -> str:
    if kind == "array":
        items = schema.get("items")
        return "list" + (f" of {_type(items)}" if items else "")
    if kind == "string":
        return {"uuid": "UUID", "date-time": "time", "uri": "URL"}.get(schema.get("format", ""), "text") + _limits(
            schema
        )
    if kind == "integer":
        return "whole number" + _range(schema)
    if kind == "object" and schema.get("properties") and schema.get("required"):
        return f"object ({', '.join(f'`{name}`' for name in schema['properties'])})"
    return kind


def _limits(schema: Schema) -> str:
    return f" of at most {schema['maxLength']} characters" if "maxLength" in schema else ""


def _range(schema: Schema) -> str:
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    if lowest is None and highest is None:
        return ""
    if highest is None:
        return f", at least {lowest}"
    return f" from {lowest} to {highest}"
