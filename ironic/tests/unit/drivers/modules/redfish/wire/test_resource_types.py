"""Each field that the sushy library reads has a typed row where it stands, and no odd value takes its resource away.

The fields are those of the library's classes, so a release that reads more fails here until the table has it.
"""

import importlib
import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from unittest import mock

import pytest
import sushy.resources
from sushy.main import Sushy
from sushy.resources import base

from ironic.drivers.modules.redfish.wire.common_types import ALLOWED, COMMON, EACH, Row
from ironic.drivers.modules.redfish.wire.document_repair import repaired
from ironic.drivers.modules.redfish.wire.resource_types import OTHERS, RESOURCES
from ironic.drivers.modules.redfish.wire.typed_places import ANYWHERE, rows_by_name
from ironic.drivers.modules.redfish.wire.value_types import apply_times, as_it_is, left_out, words

# Classes whose resources have another name in the standard.
NAMES = {"System": "ComputerSystem", "Sushy": "ServiceRoot", "ResourceZone": "Zone"}
# They stand for no resource of their own.
ABSTRACT = {"OEMResourceBase", "FakeOEMSystemExtension", "RegistryType"}
# Fields inside these are typed with the object that they are in, or not at all.
WHOLE = (apply_times, as_it_is, left_out)
ODD: list[Any] = [
    None, "", "x", "16", 5, 1.5, True, [], {}, [5], [None], ["x"], [[]], [{}], {"x": [1]}, {"@odata.id": "/a"}, 2**70,
]  # fmt: skip
# What the library demands, and nothing stands for.
DEMANDED: dict[str, dict[str, Any]] = {
    "MessageRegistryFile": {"Languages": [], "Location": []},
    "MessageRegistry": {"RegistryPrefix": "x", "Messages": {}},
    "CertificateLocations": {"Links": {"Certificates": [{"@odata.id": "/a"}]}},
    "ResourceBlock": {"CompositionStatus": {"CompositionState": "x"}},
}
# What reads these judges what is odd in them.
READ_AS_IT_IS = {("Task", "Messages"), ("EventDestination", "EventTypes"), ("EventDestination", "HttpHeaders")}

Path = tuple[str, ...]


@cache
def classes() -> Mapping[str, type]:
    """Return the library's classes of resources, by what the standard calls them."""
    found: dict[str, type] = {"ServiceRoot": Sushy}
    for module in pkgutil.walk_packages(sushy.resources.__path__, "sushy.resources."):
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            is_own = kind.__module__ == module.name != base.__name__
            if is_own and issubclass(kind, base.ResourceBase) and name not in ABSTRACT:
                found[NAMES.get(name, name)] = kind
    return found


def fields_of(kind: type) -> Iterator[tuple[Path, Any]]:
    """Yield the fields of a class and those in them, by the names of the properties that lead there."""
    fields = ((name, getattr(kind, name)) for name in dir(kind))
    yield from _inside({name: one for name, one in fields if isinstance(one, base.Field)})


def _inside(fields: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    for field in fields.values():
        path = tuple(field._path)
        yield path, field
        steps = (*path, EACH) if isinstance(field, base.DictionaryField) else path
        for inner, one in _inside(getattr(field, "_subfields", {})):
            yield (*steps, *inner), one


def rows_to(kind: str, path: Path) -> list[Row]:
    """Return the rows that lead to a place, the last of which is its own; fewer where it has none.

    A row of the resource goes before a common one, and names of actions are no properties.
    """
    rows, found = [*COMMON, *{**RESOURCES, **OTHERS}.get(kind, ())], list[Row]()
    for name in path:
        step = EACH if name.startswith("#") else name
        here = [row for row in rows if step in row.names]
        if not here and not name.endswith(ALLOWED):
            break
        found.append(here[-1] if here else Row(words, (name,)))
        rows = [*COMMON, *(inner for row in here for inner in row.inside)]
    return found


def untyped(kind: str, fields: Iterator[tuple[Path, Any]]) -> list[str]:
    """Return the places of fields without a row."""
    found = []
    for path, _field in fields:
        rows = rows_to(kind, path)
        if len(rows) < len(path) and not any(row.type in WHOLE for row in rows):
            found.append(f"{kind}: {'.'.join(path)}")
    return found


def test_the_classes_and_their_fields_are_found() -> None:
    assert len(classes()) > 60 and {"ServiceRoot", "ComputerSystem", "Volume", "VolumeCollection"} <= classes().keys()
    assert sum(1 for kind in classes().values() for _field in fields_of(kind)) > 1000
    assert ("FibreChannel", "BootTargets", "LUNID") in dict(fields_of(classes()["NetworkDeviceFunction"]))


@pytest.mark.parametrize("name", sorted(classes()))
def test_each_field_of_a_resource_has_a_typed_row_where_it_stands(name: str) -> None:
    has_rows = name in RESOURCES or name in OTHERS
    assert has_rows is not name.endswith("Collection"), "a resource has rows of its own, a collection the common ones"
    assert untyped(name, fields_of(classes()[name])) == [], "give the property a row in resource_types.py"


def test_a_field_without_a_row_is_found() -> None:
    class Inner(base.CompositeField):
        state = base.Field("State")
        odd = base.Field("Odd")

    class Resource(base.ResourceBase):
        name = base.Field("Name")
        status = Inner("Status")
        drives = base.Field("Drives")
        lane = base.Field("Lanes")

    found = {"Drive: Status.Odd", "Drive: Drives", "Drive: Lanes"}
    assert set(untyped("Drive", fields_of(Resource))) == found
    assert set(untyped("Storage", fields_of(Resource))) == {"Storage: Status.Odd", "Storage: Lanes"}


def _documents(name: str, odd: object) -> Iterator[dict[str, Any]]:
    """Yield a document with the odd value in the place of each field, and one with it inside of all others."""
    fields = {path: field for path, field in fields_of(classes()[name]) if (name, path[0]) not in READ_AS_IT_IS}
    demanded = DEMANDED.get(name, {})
    said = {"@odata.type": f"#{name}.v1_0_0.{name}", "@odata.id": "/x"}
    yield {**said, **{path[0]: odd for path in fields}, **demanded, "@odata.type": said["@odata.type"]}
    inside: dict[str, Any] = {**said, **demanded}
    for path, field in fields.items():
        if path[0] in demanded or any(step.startswith("#") for step in path) or hasattr(field, "_subfields"):
            continue
        here: Any = inside
        for number, step in enumerate(path[:-1], 1):
            is_list = isinstance(fields.get(path[:number]), base.ListField)
            here = here.setdefault("x" if step == EACH else step, [{}] if is_list else {})
            here = here[0] if isinstance(here, list) else here
        here[path[-1]] = odd
    yield inside


class _Answer:
    status_code, content = 200, b"{}"
    headers: Mapping[str, str] = {}

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def json(self) -> dict[str, Any]:
        return self._document


class _Connector:
    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def get(self, *_path: str, **_others: object) -> _Answer:
        return _Answer(self._document)


def _read(name: str, document: dict[str, Any]) -> Any:
    connector = _Connector(repaired(document, "/redfish/v1/x/1"))
    if name == "ServiceRoot":
        return Sushy("http://192.0.2.7", connector=connector, auth=mock.Mock())
    return classes()[name](connector, "/redfish/v1/x/1")


@pytest.mark.parametrize("name", sorted(RESOURCES.keys() & classes().keys() | OTHERS.keys()))
def test_no_odd_value_takes_a_resource_away(name: str) -> None:
    for odd in ODD:
        for document in _documents(name, odd):
            assert _read(name, document).json


def test_a_name_has_one_type_where_it_is_not_known_what_has_it() -> None:
    types = defaultdict(set)
    for rows in (COMMON, *RESOURCES.values()):
        for name, row in rows_by_name(rows):
            if row.is_everywhere:
                types[name].add(row.type)
    assert {name for name, found in types.items() if len(found) > 1} == set(), "make the rows those of the resource"
    assert {name: {kind} for name, kind in ANYWHERE.types.items()} == {n: t for n, t in types.items() if n != EACH}
