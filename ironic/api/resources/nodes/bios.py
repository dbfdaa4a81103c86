"""`/v1/nodes/{node}/bios`: the BIOS settings of a node, as they were last read from the machine.

They are read-only; steps change them.
"""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from ironic.api import answers, named_nodes, projection
from ironic.api.answers import Answer
from ironic.api.arguments import Argument
from ironic.api.json_schema import ref
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.fields import FieldNames
from ironic.core.model.node import BiosSetting
from ironic.core.secrets import masking
from ironic.core.values.value_types import Bool


def values_without_secrets(request: Request, rows: Sequence[tuple[object, ...]]) -> Sequence[object]:
    """Return the value of each setting, masked if its name is that of a secret."""
    return [masking.masked({"name": name, "value": value})["value"] for name, value in rows]


def links(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[object]:
    """Return the links of each setting, below the node that the request names."""
    paths = (f"{request.within}/bios/{quote(name, safe='@:')}" for (name,) in rows)
    return [
        [
            {"href": request.url(f"/v1/{path}"), "rel": "self"},
            {"href": request.url(f"/{path}"), "rel": "bookmark"},
        ]
        for path in paths
    ]


projection.bind_computed(BiosSetting, value=values_without_secrets, links=links)


# Fields that are shown whatever fields are chosen.
ALWAYS = ("created_at", "updated_at")


def index(request: Request, node: str, fields: Sequence[str] = (), detail: bool = False) -> Answer:
    """List the BIOS settings of a node."""
    names = [*fields, *ALWAYS] if fields else ()
    view = projection.selected(BiosSetting, request.minor, names, detail=detail)
    (node_id,) = named_nodes.row(request, ("id",), node)
    rows = request.store.bios_settings.rows(view.columns, node_id)
    request.within = f"nodes/{node}"
    return answers.document({"bios": view.batch(request, rows).documents(0, len(rows))})


def show(request: Request, node: str, setting: str) -> Answer:
    """Show one BIOS setting of a node."""
    view = projection.full(BiosSetting, request.minor)
    node_id, uuid = named_nodes.row(request, ("id", "uuid"), node)
    row = request.store.bios_settings.row(view.columns, node_id, setting)
    request.within = f"nodes/{uuid}"
    return answers.document({setting: view.document(request, row)})


def _too_new(name: str, since: int) -> Exception:
    return InvalidParameterValue(err=f"{name} needs API version 1.{since} or later.")


_ALL: Final = "/v1/nodes/{node}/bios"
_RULE: Final = "baremetal:node:bios:get"

ROUTES = (
    Route(
        "GET",
        _ALL,
        index,
        since=40,
        rule=_RULE,
        query=(
            Argument("fields", FieldNames(BiosSetting), since=BiosSetting.since_fields, too_new=_too_new),
            Argument("detail", Bool(), since=BiosSetting.since_detail, too_new=_too_new),
        ),
        ok=200,
        answer=ref("BiosSettingList"),
    ),
    Route(
        "GET",
        f"{_ALL}/{{setting}}",
        show,
        since=40,
        rule=_RULE,
        ok=200,
        answer={"type": "object", "additionalProperties": ref("BiosSetting")},
    ),
)
