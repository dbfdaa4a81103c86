"""Links of the document: what can be done with a thing that an answer speaks of.

They follow from the tables. Whoever made a thing can do all that is below its path, and make what belongs to it;
whoever read a list can read, change and delete the first one of it. Programs that explore the service live on these.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ironic.api.schema import ref
from ironic.core.model.fields import Resource

Paths = Mapping[str, dict[str, Any]]

# What is done with one of a list; everything else starts from the thing itself.
_ON_ONE: Final = ("get", "patch", "delete")


def add(paths: Paths, resources: Mapping[str, type[Resource]]) -> None:
    """Give every answer that makes a thing or lists things its links."""
    for path, methods in paths.items():
        if "201" in (made := methods.get("post", {}).get("responses", {})):
            made["201"]["links"] = dict(_of_made(paths, path, resources))
        listed = resources.get(_collection(path))
        if listed is not None and _lists(methods, listed) and (found := dict(_of_listed(paths, path, listed))):
            methods["get"]["responses"]["200"]["links"] = found


def _collection(path: str) -> str:
    return path.removesuffix("/detail").rpartition("/")[2]


def _lists(methods: Mapping[str, Any], resource: type[Resource]) -> bool:
    content = methods.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
    return any(one["schema"] == ref(f"{resource.__name__}List") for one in content.values())


def _of_made(
    paths: Paths, collection: str, resources: Mapping[str, type[Resource]]
) -> Iterator[tuple[str, dict[str, object]]]:
    for path, methods in paths.items():
        if (name := _only_name(path, collection)) is not None:
            for one in methods.values():
                yield _link(one, {f"path.{name}": "$response.body#/uuid"})
    if (resource := resources.get(_collection(collection))) is not None:
        key = f"{resource.__name__.lower()}_uuid"
        for path, methods in paths.items():
            made = resources.get(_collection(path))
            if "post" in methods and made is not None and key in made.writable("create"):
                yield _link(methods["post"], {}, {key: "$response.body#/uuid"})


def _of_listed(paths: Paths, path: str, resource: type[Resource]) -> Iterator[tuple[str, dict[str, object]]]:
    whole = path.removesuffix("/detail")
    # A part of a thing is read below it; what stands on its own also has a path of its own.
    collection = whole if whole in paths and _item(paths, whole) else f"/v1/{resource.collection}"
    if (item := _item(paths, collection)) is None:
        return
    *above, name = _names(item)
    parameters = {f"path.{one}": f"$request.path.{one}" for one in above}
    parameters[f"path.{name}"] = f"$response.body#/{resource.collection}/0/{resource.key}"
    for below, methods in paths.items():
        # What nobody makes can be reached from its list only.
        if below == item or ("post" not in paths[collection] and _only_name(below, collection) == name):
            for method, one in methods.items():
                if below != item or method in _ON_ONE:
                    yield _link(one, parameters)


def _item(paths: Paths, collection: str) -> str | None:
    """Return the path of one thing of a collection."""
    for path in paths:
        if path.startswith(f"{collection}/{{") and path.endswith("}") and "/" not in path[len(collection) + 1 :]:
            return path
    return None


def _only_name(path: str, collection: str) -> str | None:
    """Return the only name in a path below a collection; None where it has others or is elsewhere."""
    names = _names(path)
    return names[0] if path.startswith(f"{collection}/{{") and len(names) == 1 else None


def _names(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def _link(
    operation: Mapping[str, Any], parameters: Mapping[str, str], body: Mapping[str, str] | None = None
) -> tuple[str, dict[str, Any]]:
    name = operation["operationId"]
    said: dict[str, Any] = {"operationId": name}
    if parameters:
        said["parameters"] = dict(parameters)
    if body:
        said["requestBody"] = dict(body)
    return name, said
