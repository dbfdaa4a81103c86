"""Drivers: which hardware types there are, what nodes of them can be made of, which properties they know.

Lists and single drivers are answered from the table that conductors keep of what they serve; only the properties, which
the code of a driver describes, are asked of a conductor.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ironic.api import answers, projection
from ironic.api.answers import Answer
from ironic.api.arguments import Argument
from ironic.api.errors import Refused
from ironic.api.forms import One
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.api.schema import TEXT, Schema, ref
from ironic.core.errors import (
    DriverNotFound,
    InvalidParameterValue,
    UnsupportedDriverExtension,
)
from ironic.core.model.driver import DYNAMIC, INTERFACE_FIELDS, Driver, default_field, enabled_field
from ironic.core.model.fields import FieldNames
from ironic.core.values import Bool, Text

if TYPE_CHECKING:
    from ironic.db import ServedInterface

_TYPE: Final = Driver.table.filters["type"]
_DRIVER_NAME: Final = Argument("driver_name", Text(shortest=1), required=True)


def index(request: Request, type: str = DYNAMIC, detail: bool = False, fields: Sequence[str] = ()) -> Answer:
    """List drivers; there are no pages."""
    view = _projection(request, fields, detail=detail)
    found = _served(request) if type == DYNAMIC else {}
    rows = [_row(view, facts) for _, facts in sorted(found.items())]
    return answers.document({"drivers": view.batch(request, rows).documents(0, len(rows))})


def _projection(request: Request, fields: Sequence[str], *, detail: bool) -> Projection:
    if fields and detail:
        raise InvalidParameterValue(err="fields and detail can't be used together.")
    if not fields:
        return (projection.full if detail else projection.plain)(Driver, request.minor)
    if INTERFACE_FIELDS.intersection(name.lower() for name in fields):
        raise InvalidParameterValue(err="Fields about interfaces can be chosen for a single driver only.")
    return projection.chosen(Driver, request.minor, fields)


def show(request: Request, driver: str, view: Projection) -> Answer:
    """Show one driver."""
    facts = _served(request).get(driver)
    if facts is None:
        raise DriverNotFound(driver=driver)
    return answers.document(view.document(request, _row(view, facts)))


def _served(request: Request) -> dict[str, dict[str, object]]:
    """Return what is known of each driver, by name."""
    found: dict[str, dict[str, Any]] = {}
    for row in request.placement.served():
        _note(found.setdefault(row.hardware_type, {"name": row.hardware_type, "type": DYNAMIC, "hosts": []}), row)
    return found


def _note(facts: dict[str, Any], row: "ServedInterface") -> None:
    """Add what one row says; conductors may serve a driver differently, then the first one's default is shown (S34)."""
    enabled = facts.setdefault(enabled_field(row.interface_type), [])
    # What a type takes unlisted, as fake-hardware takes anything, is no part of its description.
    if row.listed and row.interface_name not in enabled:
        enabled.append(row.interface_name)
    if row.default:
        facts.setdefault(default_field(row.interface_type), row.interface_name)
    if row.hostname not in facts["hosts"]:
        facts["hosts"].append(row.hostname)


def _row(view: Projection, facts: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(facts.get(name, [] if name.startswith("enabled_") else None) for name in view.columns)


def show_properties(request: Request, driver: str) -> Answer:
    """Show which properties of driver_info a driver knows, with a description of each."""
    conductor = request.conductors.for_driver(driver)
    return answers.document(conductor.driver_properties(request.context, driver))


def show_properties_by_query(request: Request, driver_name: str) -> Answer:
    """The older spelling of the same."""
    return show_properties(request, driver_name)


def show_logical_disk_properties(request: Request, driver: str) -> Answer:
    """Show what can be said about a logical disk when nodes of a driver get a RAID configuration."""
    conductor = request.conductors.for_driver(driver)
    try:
        return answers.document(conductor.driver_logical_disk_properties(request.context, driver))
    except UnsupportedDriverExtension as error:
        # Without RAID there is no such thing at this path.
        raise Refused(404, str(error)) from None


def show_logical_disk_properties_by_query(request: Request, driver_name: str) -> Answer:
    """The older spelling of the same."""
    return show_logical_disk_properties(request, driver_name)


_PROPERTIES_RULE: Final = "baremetal:driver:get_properties"
_DISK_RULE: Final = "baremetal:driver:get_raid_logical_disk_properties"
_TEXTS: Final[Schema] = {"type": "object", "additionalProperties": TEXT}
_DISKS: Final[dict[str, Any]] = {
    "since": 12,
    "below": 406,
    "shape": FAULT,
    "rule": _DISK_RULE,
    "ok": 200,
    "answer": _TEXTS,
}

ROUTES = (
    Route(
        "GET",
        "/v1/drivers",
        index,
        rule="baremetal:driver:get",
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
        "/v1/drivers/properties",
        show_properties_by_query,
        rule=_PROPERTIES_RULE,
        query=(_DRIVER_NAME,),
        ok=200,
        answer=_TEXTS,
    ),
    Route("GET", "/v1/drivers/{driver}", show, rule="baremetal:driver:get", of=One(Driver)),
    Route("GET", "/v1/drivers/{driver}/properties", show_properties, rule=_PROPERTIES_RULE, ok=200, answer=_TEXTS),
    Route(
        "GET",
        "/v1/drivers/raid/logical_disk_properties",
        show_logical_disk_properties_by_query,
        query=(_DRIVER_NAME,),
        **_DISKS,
    ),
    Route("GET", "/v1/drivers/{driver}/raid/logical_disk_properties", show_logical_disk_properties, **_DISKS),
)
