"""The pages of `api-ref/`: one per resource, made from the OpenAPI documents of all versions.

Requests, parameters and bodies are those of the newest document; the first document that has one is its "since". The
rights of requests and the notes on fields, which OpenAPI does not define, come from the tables behind the documents.
Titles, introductions and the requests of the examples are in reference.yaml; `reference_examples` sends them.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import reference_examples
import yaml

from ironic.api import version_negotiation
from ironic.api.openapi import document, operations
from ironic.api.openapi.schemas import TRUTH_WORDS, given, shown
from ironic.api.resources import ROUTES
from ironic.api.routes import Route
from ironic.core.model.fields import REQUIRED, Field, Resource

HERE = Path(__file__).resolve().parent
ABOUT = "What holds for all requests: [start](README.md)."

Schema = Mapping[str, Any]


def pages() -> dict[str, str]:
    """Return the pages by the name of their file."""
    texts: dict[str, Any] = yaml.safe_load((HERE / "reference.yaml").read_text())
    found = {f"{name}.md": "\n".join(_page(name, page)) for name, page in texts["pages"].items()}
    index = [
        f"| [{page['title']}]({name}.md) | {page['about'].split('. ')[0].rstrip('.')} |"
        for name, page in texts["pages"].items()
    ]
    contents = ["```{toctree}", ":hidden:", *texts["pages"], "```"]
    found["README.md"] = (
        texts["start"]
        + "\n"
        + "\n".join(["| page | what it is about |", "| --- | --- |", *index, "", *contents])
        + "\n"
    )
    return found


def paths_of(page: Mapping[str, Any]) -> list[str]:
    """Return the paths of a page, in the order of the table of routes."""
    wanted: list[str] = page["paths"]
    # A star at the end means all paths below.
    exact, roots = set(wanted), tuple(one[:-1] for one in wanted if one.endswith("/*"))
    return [
        path for path in _documents()[version_negotiation.MAXIMUM]["paths"] if path in exact or path.startswith(roots)
    ]


@functools.cache
def _documents() -> dict[int, dict[str, Any]]:
    return {minor: document(ROUTES, minor, "/") for minor in version_negotiation.TEXTS}


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
    return "" if minor is None else version_negotiation.text(minor)


def _page(name: str, page: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {page['title']}\n"
    yield f"{page['about'].strip()}\n"
    yield f"{ABOUT}\n"
    methods = _documents()[version_negotiation.MAXIMUM]["paths"]
    rows = [(path, method, operation) for path in paths_of(page) for method, operation in methods[path].items()]
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
    """Return one line for all requests with the same cells."""
    found: dict[str, list[str]] = {}
    for request, cells in rows:
        found.setdefault(cells, []).append(request)
    return (f"| {cells} | {', '.join(requests)} |" for cells, requests in found.items())


def _parameters(rows: Iterable[tuple[str, str, Schema]]) -> Iterator[tuple[str, str]]:
    for path, method, operation in rows:
        for parameter in operation["parameters"]:
            if "name" in parameter:
                name, since = parameter["name"], _since_parameter(path, method, parameter["name"])
                cells = f"`{name}` | {parameter['in']} | {_type(parameter['schema'])} | {_version(since)}"
                yield f"`{method.upper()} {path}`", cells


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
            # Words of an enumeration that later versions added have their version.
            words = ", ".join(
                f"`{word}`" + (f" ({_version(first)})" if first != since else "")
                for word in one.get("enum", ())
                if (first := _first_with(place, word)) is not None
            )
            yield f"`{method.upper()} {path}`", f"`{name}` | {words or _type(one)} | {needed} | {_version(since)}"


def _first_with(place: tuple[str, ...], word: str) -> int | None:
    for minor, whole in _documents().items():
        found: Any = whole
        for part in place:
            found = found.get(part, {})
        if word in found.get("enum", ()):
            return minor
    return None


def _fields(resource: type[Resource]) -> Iterator[str]:
    rows = []
    for one in resource.table.fields.values():
        schema = given(one.type) if one.write else shown(one.type)
        written = " and ".join(word for word, way in (("create", "create"), ("change", "patch")) if way in one.write)
        notes = ", ".join(_notes(resource, one))
        rows.append(f"| `{one.name}` | {_type(schema)} | {version_negotiation.text(one.since)} | {written} | {notes} |")
    yield from _table(f"Fields: {resource.singular}", "| field | type | since | written | notes |", rows)


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
        yield "filters the list" + (f" since {version_negotiation.text(since)}" if since > one.since else "")
    if not one.sortable and not one.hidden and resource.paged:
        yield "lists can't be sorted by it"
    if one.mask is not None:
        yield "secrets are shown as `******`" + (f" unless `{one.unmasked_by}` allows" if one.unmasked_by else "")
    if one.rule is not None:
        yield f"needs `{one.rule}`" + (f" while `{one.hidden_with}` is set" if one.hidden_with else "")


def _type(schema: Schema) -> str:
    """Return a description of the values that a schema allows."""
    if "$ref" in schema:
        return f"a {schema['$ref'].rpartition('/')[2]}"
    if alternatives := schema.get("anyOf"):
        # The first page lists the words for true and false.
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
        name = {"uuid": "UUID", "date-time": "time", "uri": "URL"}.get(schema.get("format", ""), "text")
        return name + (f" of at most {schema['maxLength']} characters" if "maxLength" in schema else "")
    if kind == "integer":
        lowest, highest = schema.get("minimum"), schema.get("maximum")
        if highest is not None:
            return f"whole number from {lowest} to {highest}"
        return "whole number" if lowest is None else f"whole number, at least {lowest}"
    if kind == "object" and schema.get("properties") and schema.get("required"):
        return f"object ({', '.join(f'`{name}`' for name in schema['properties'])})"
    return kind
