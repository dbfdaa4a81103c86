"""`/v1/drivers`: list and show the drivers that live conductors serve, and their properties.

Lists and single drivers are answered from the table in which conductors record what they serve; only the properties,
which the code of a driver describes, are requested from a conductor.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.api import answers, projection
from ironic.api.answers import Answer
from ironic.api.arguments import Argument
from ironic.api.crud import One
from ironic.api.error_responses import Refused
from ironic.api.json_schema import TEXT, Schema, ref
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.errors import DriverNotFound, InvalidParameterValue, UnsupportedDriverExtension
from ironic.core.model.conductor import CLASSIC, DYNAMIC, INTERFACE_FIELDS, Driver, default_field, enabled_field
from ironic.core.model.fields import FieldNames
from ironic.core.values.value_types import Bool, Text

_TYPE: Final = Driver.table.filters["type"]
_DRIVER_NAME: Final = Argument("driver_name", Text(shortest=1), required=True)


def index(request: Request, type: str | None = None, detail: bool = False, fields: Sequence[str] = ()) -> Answer:
    """List drivers, without pages."""
    if fields and not detail and INTERFACE_FIELDS.intersection(name.lower() for name in fields):
        raise InvalidParameterValue(err="Fields about interfaces can be chosen for a single driver only.")
    view = projection.selected(Driver, request.minor, fields, detail=detail)
    found = sorted(_served(request).items())
    rows = [_row(view, facts) for _, facts in found if type in (None, facts["type"])]
    return answers.document({"drivers": view.batch(request, rows).documents(0, len(rows))})


def show(request: Request, driver: str, view: Projection) -> Answer:
    """Show one driver."""
    facts = _served(request).get(driver)
    if facts is None:
        raise DriverNotFound(driver=driver)
    return answers.document(view.document(request, _row(view, facts)))


def _served(request: Request) -> dict[str, dict[str, Any]]:
    """Return the drivers by name, as the table has them now, with hosts, enabled interfaces and default interfaces.

    Conductors may serve a driver differently; then the default of the first one is shown (S34). Fixed interfaces have
    no names, so a driver that has only these is a classic one (S30).
    """
    drivers: dict[str, dict[str, Any]] = {}
    for row in request.hash_ring.served(reread=True):
        facts = drivers.setdefault(row.hardware_type, {"name": row.hardware_type, "type": CLASSIC, "hosts": []})
        if row.hostname not in facts["hosts"]:
            facts["hosts"].append(row.hostname)
        if row.interface_name is None:
            continue
        facts["type"] = DYNAMIC
        enabled = facts.setdefault(enabled_field(row.interface_type), [])
        # Interfaces that a type takes without listing them, as fake-hardware takes any, are not shown.
        if row.listed and row.interface_name not in enabled:
            enabled.append(row.interface_name)
        if row.default:
            facts.setdefault(default_field(row.interface_type), row.interface_name)
    return drivers


def _row(view: Projection, facts: Mapping[str, object]) -> tuple[object, ...]:
    none_enabled: list[str] | None = [] if facts["type"] == DYNAMIC else None
    return tuple(facts.get(name, none_enabled if name.startswith("enabled_") else None) for name in view.columns)


def show_properties(request: Request, driver: str) -> Answer:
    """Show the properties of driver_info that a driver knows, with their descriptions."""
    conductor = request.conductors.for_driver(driver)
    return answers.document(conductor.driver_properties(request.context, driver))


def show_properties_by_query(request: Request, driver_name: str) -> Answer:
    """Show the properties of a driver, older spelling with the driver in the query."""
    return show_properties(request, driver_name)


def show_logical_disk_properties(request: Request, driver: str) -> Answer:
    """Show the properties of a logical disk in the target RAID configuration of a driver's nodes."""
    conductor = request.conductors.for_driver(driver)
    try:
        return answers.document(conductor.driver_logical_disk_properties(request.context, driver))
    except UnsupportedDriverExtension as error:
        # For a driver without RAID the path does not exist.
        raise Refused(404, str(error)) from None


def show_logical_disk_properties_by_query(request: Request, driver_name: str) -> Answer:
    """Show the properties of a logical disk, older spelling with the driver in the query."""
    return show_logical_disk_properties(request, driver_name)


_ALL: Final = "/v1/drivers"
_ONE: Final = "/v1/drivers/{driver}"
_RULE: Final = "baremetal:driver:get"
_PROPERTIES_RULE: Final = "baremetal:driver:get_properties"
_TEXTS: Final[Schema] = {"type": "object", "additionalProperties": TEXT}
_DISKS: Final[dict[str, Any]] = {
    "since": 12,
    "below": 406,
    "shape": FAULT,
    "rule": "baremetal:driver:get_raid_logical_disk_properties",
    "ok": 200,
    "answer": _TEXTS,
}

ROUTES = (
    Route(
        "GET",
        _ALL,
        index,
        rule=_RULE,
        query=(
            Argument("type", Text(), since=_TYPE.since, exact=_TYPE.type),
            Argument("detail", Bool(), since=Driver.since_detail),
            Argument("fields", FieldNames(Driver), since=Driver.since_fields),
        ),
        ok=200,
        answer=ref("DriverList"),
    ),
    Route(
        "GET",
        f"{_ALL}/properties",
        show_properties_by_query,
        rule=_PROPERTIES_RULE,
        query=(_DRIVER_NAME,),
        ok=200,
        answer=_TEXTS,
    ),
    Route("GET", _ONE, show, rule=_RULE, of=One(Driver)),
    Route("GET", f"{_ONE}/properties", show_properties, rule=_PROPERTIES_RULE, ok=200, answer=_TEXTS),
    Route(
        "GET",
        f"{_ALL}/raid/logical_disk_properties",
        show_logical_disk_properties_by_query,
        query=(_DRIVER_NAME,),
        **_DISKS,
    ),
    Route("GET", f"{_ONE}/raid/logical_disk_properties", show_logical_disk_properties, **_DISKS),
)
