"""The BIOS settings of a node, as the last look at the machine found them. Read only: steps change them."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ironic.api import answers, computed, named_nodes, projection
from ironic.api.answers import Answer
from ironic.api.arguments import Argument
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.schema import ref
from ironic.core import secrets
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.fields import FieldNames
from ironic.core.model.node_items import BiosSetting
from ironic.core.values import Bool


def values_without_secrets(request: Request, rows: Sequence[tuple[object, ...]]) -> Sequence[object]:
    """Return what each setting is set to, unless its name is that of a secret."""
    return [secrets.masked({"name": name, "value": value})["value"] for name, value in rows]


def links(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[object]:
    """Return the links of each setting; they lie below the node that the request names."""
    paths = (f"{request.within}/bios/{quote(name, safe='@:')}" for (name,) in rows)
    return [
        [
            {"href": request.url(f"/v1/{path}"), "rel": "self"},
            {"href": request.url(f"/{path}"), "rel": "bookmark"},
        ]
        for path in paths
    ]


computed.bind(BiosSetting, value=values_without_secrets, links=links)


# Shown whatever fields are asked for.
ALWAYS = ("created_at", "updated_at")


def index(request: Request, node: str, fields: Sequence[str] = (), detail: bool = False) -> Answer:
    """List the settings of a node."""
    view = _projection(request, fields, detail=detail)
    (node_id,) = named_nodes.row(request, ("id",), node)
    rows = request.store.bios_settings.rows(view.columns, node_id)
    request.within = f"nodes/{node}"
    return answers.document({"bios": view.batch(request, rows).documents(0, len(rows))})


def _projection(request: Request, fields: Sequence[str], *, detail: bool) -> Projection:
    if fields and detail:
        raise InvalidParameterValue(err="fields and detail can't be used together.")
    if fields:
        return projection.chosen(BiosSetting, request.minor, [*fields, *ALWAYS])
    return (projection.full if detail else projection.plain)(BiosSetting, request.minor)


def show(request: Request, node: str, setting: str) -> Answer:
    """Show one setting."""
    view = projection.full(BiosSetting, request.minor)
    node_id, uuid = named_nodes.row(request, ("id", "uuid"), node)
    row = request.store.bios_settings.row(view.columns, node_id, setting)
    request.within = f"nodes/{uuid}"
    return answers.document({setting: view.document(request, row)})


def _too_early(name: str, since: int) -> Exception:
    return InvalidParameterValue(err=f"{name} needs API version 1.{since} or later.")


ROUTES = (
    Route(
        "GET",
        "/v1/nodes/{node}/bios",
        index,
        since=40,
        rule="baremetal:node:bios:get",
        query=(
            Argument("fields", FieldNames(BiosSetting), since=BiosSetting.since_fields, early=_too_early),
            Argument("detail", Bool(), since=BiosSetting.since_detail, early=_too_early),
        ),
        ok=200,
        answer=ref("BiosSettingList"),
    ),
    Route(
        "GET",
        "/v1/nodes/{node}/bios/{setting}",
        show,
        since=40,
        rule="baremetal:node:bios:get",
        ok=200,
        answer={"type": "object", "additionalProperties": ref("BiosSetting")},
    ),
)
