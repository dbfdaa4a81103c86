"""What routes take and answer that are no list, creation, reading, patching or deletion of a resource.

One row per route, by method and path. `ok` is the status of success; without `answer` there is no body. A test holds
that every route is either here or one of those five.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ironic.api import verbs, versions
from ironic.api.openapi.bodies import closed, ref
from ironic.api.openapi.values import LINK, Schema, given, nullable
from ironic.core import callback_urls, certificates, states
from ironic.core.user_steps import AskedSteps, DeploySteps
from ironic.core.values import Array, Bool, Enum, Integer, Mac, Object, Text, TraitNames, Uuid, ValueType, Words


@dataclass(frozen=True, slots=True)
class Action:
    """One route."""

    ok: int = 200
    answer: Schema | None = None
    body: Schema | None = None
    query: Mapping[str, ValueType] = field(default_factory=dict)
    # Whether the answer says where to look next.
    location: bool = False
    # The first version, where the table of routes can't say it.
    since: int = 1
    # What exactly the oldest version knew, where those after it did not.
    oldest: "Action | None" = None
    # Further statuses.
    also: tuple[int, ...] = ()
    # What kind of content the answer is.
    kind: str = "application/json"
    # Keys of the body that came later than the route, and by key words that did.
    later: Mapping[str, int] = field(default_factory=dict)
    later_words: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def body_at(self, minor: int) -> Schema | None:
        """Return what a version takes."""
        if self.body is None or not (self.later or self.later_words):
            return self.body
        keys = {key: schema for key, schema in self.body["properties"].items() if self.later.get(key, 1) <= minor}
        for key, words in self.later_words.items():
            keys[key] = keys[key] | {"enum": [word for word in keys[key]["enum"] if words.get(word, 1) <= minor]}
        return self.body | {"properties": keys}


def takes(required: Mapping[str, ValueType] | None = None, **optional: ValueType) -> Schema:
    """Return the schema of an action's arguments; null counts as not given."""
    musts = {name: given(kind) for name, kind in (required or {}).items()}
    mays = {name: nullable(given(kind)) for name, kind in optional.items()}
    return closed(musts | mays, list(musts))


def items(name: str, schema: Schema) -> Schema:
    """Return the schema of a document with one list in it."""
    return closed({name: {"type": "array", "items": schema}}, [name])


# A machine was asked, and refused or did not answer.
_BY_MACHINE: Final = (502,)

_TEXT: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": "integer"}
_OPEN: Final[Schema] = {"type": "object"}
_TEXTS: Final[Schema] = {"type": "object", "additionalProperties": _TEXT}
_LINKS: Final[Schema] = {"type": "array", "items": LINK}
_VERDICT: Final = closed({"result": {"type": ["boolean", "null"]}, "reason": _TEXT}, ["result"])
_VALIDATION: Final[Schema] = {"type": "object", "additionalProperties": _VERDICT}
_METHODS: Final[Schema] = {"type": "object", "additionalProperties": _OPEN}
_BOOT_DEVICE: Final = closed({"boot_device": nullable(_TEXT), "persistent": {"type": ["boolean", "null"]}})
_CONSOLE: Final = closed({"console_enabled": {"type": "boolean"}, "console_info": {"type": ["object", "null"]}})
_CHILDREN: Final = closed({"children": {"type": "array", "items": _TEXT}, "links": LINK}, ["children", "links"])
_INVENTORY: Final = closed({"inventory": _OPEN, "plugin_data": _OPEN}, ["inventory", "plugin_data"])
_VOLUME: Final = closed({"links": _LINKS, "connectors": _LINKS, "targets": _LINKS})
_RULE_RUN: Final = closed({"rules": {"type": "array", "items": _OPEN}, "changes": _OPEN}, ["rules", "changes"])
_LOOKUP: Final = closed({"node": _OPEN, "config": _OPEN}, ["node", "config"])
_REPORT: Final = _OPEN | {"required": ["inventory"]}
_TRAITS: Final = items("traits", _TEXT)
_EVENT: Final = takes(
    {
        "event": Enum("network.bind_port", "network.unbind_port", "network.delete_port"),
        "port_id": Uuid(),
        "mac_address": Mac(),
        "status": Text(),
    },
    **{"device_id": Uuid(), "binding:host_id": Uuid(), "binding:vnic_type": Text()},
)
_PROVISION: Final = takes(
    {"target": Enum(*sorted({verb for state in states.ALL for verb in states.verbs_of(state)}), name="verb")},
    configdrive=ValueType(),
    clean_steps=AskedSteps(),
    deploy_steps=DeploySteps(),
    service_steps=AskedSteps(),
    rescue_password=Text(None),
    disable_ramdisk=Bool(),
    runbook=Text(),
)
_HEARTBEAT: Final = takes(
    {"callback_url": Text(callback_urls.LONGEST)},
    agent_version=Text(),
    agent_token=Text(1024),
    agent_verify_ca=Text(certificates.LONGEST),
    agent_status=Enum("start", "end", "error", name="agent status"),
    agent_status_message=Text(64 * 1024),
)
_CALL: Final = Action(answer={}, body={}, query={"method": Text()}, also=(202, 409, *_BY_MACHINE), kind="*/*")
_NAMED_CALL: Final = Action(answer={}, body={}, also=(202, 409, *_BY_MACHINE), kind="*/*")
_PASSTHRU: Final = tuple(
    (f"{method} /v1/{place}/vendor_passthru{name}", call)
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
    for place in ("nodes/{node}", "drivers/{driver}")
    for name, call in (("", _CALL), ("/{method}", _NAMED_CALL))
)
_NODE: Final = "/v1/nodes/{node}"
_DONE: Final = Action(204)
_BEGUN: Final = 202

ACTIONS: Final[Mapping[str, Action]] = {
    "GET /": Action(answer=_OPEN),
    "GET /v1": Action(answer=_OPEN),
    "GET /v1/openapi.json": Action(answer=_OPEN),
    # States of a node
    f"GET {_NODE}/states": Action(answer=ref("NodeStates")),
    f"PUT {_NODE}/states/power": Action(
        _BEGUN,
        body=takes({"target": Enum(*states.POWER_TARGET)}, timeout=Integer(1)),
        location=True,
        later={"timeout": verbs.SOFT_POWER_SINCE},
        later_words={"target": dict.fromkeys((states.SOFT_REBOOT, states.SOFT_POWER_OFF), verbs.SOFT_POWER_SINCE)},
    ),
    f"PUT {_NODE}/states/provision": Action(
        _BEGUN,
        body=_PROVISION,
        location=True,
        later=verbs.ARGUMENTS_SINCE,
        later_words={"target": {**verbs.SINCE, **verbs.SINCE_AFTER_STATE}},
    ),
    f"GET {_NODE}/states/console": Action(answer=_CONSOLE, also=_BY_MACHINE),
    f"PUT {_NODE}/states/console": Action(_BEGUN, body=takes({"enabled": Bool()}), location=True),
    f"PUT {_NODE}/states/boot_mode": Action(_BEGUN, body=takes({"target": Enum("bios", "uefi")}), location=True),
    f"PUT {_NODE}/states/secure_boot": Action(_BEGUN, body=takes({"target": Bool()}), location=True),
    f"PUT {_NODE}/states/raid": Action(204, body=_OPEN),
    # Other actions on a node
    f"GET {_NODE}/validate": Action(answer=_VALIDATION),
    "GET /v1/nodes/validate": Action(answer=_VALIDATION, query={"node": Text(), "node_uuid": Uuid()}),
    f"PUT {_NODE}/maintenance": Action(_BEGUN, body=takes(reason=Text(None))),
    f"DELETE {_NODE}/maintenance": Action(_BEGUN),
    f"GET {_NODE}/management/boot_device": Action(answer=_BOOT_DEVICE, also=_BY_MACHINE),
    f"GET {_NODE}/management/boot_device/supported": Action(
        answer=items("supported_boot_devices", _TEXT), also=_BY_MACHINE
    ),
    f"PUT {_NODE}/management/boot_device": Action(
        204, body=takes({"boot_device": Text()}, persistent=Bool()), also=_BY_MACHINE
    ),
    f"GET {_NODE}/management/indicators": Action(answer=items("indicators", _OPEN), also=_BY_MACHINE),
    f"GET {_NODE}/management/indicators/{{indicator}}": Action(
        answer=closed({"state": nullable(_TEXT)}, ["state"]), also=_BY_MACHINE
    ),
    f"PUT {_NODE}/management/indicators/{{indicator}}": Action(204, body=takes({"state": Text()}), also=_BY_MACHINE),
    f"PUT {_NODE}/management/inject_nmi": Action(204, body=takes(), also=_BY_MACHINE),
    f"GET {_NODE}/inventory": Action(answer=_INVENTORY),
    f"GET {_NODE}/children": Action(answer=_CHILDREN),
    f"GET {_NODE}/cleaning/steps": Action(answer=closed({"steps": {"type": "array", "items": _OPEN}, "source": _OPEN})),
    f"GET {_NODE}/vmedia": Action(answer={"type": "array", "items": _OPEN}, also=_BY_MACHINE),
    f"POST {_NODE}/vmedia": Action(
        204,
        body=takes(
            {"device_type": Enum("disk", "cdrom", "floppy"), "image_url": Text(None)},
            image_download_source=Enum("http", "local", "swift"),
        ),
    ),
    f"DELETE {_NODE}/vmedia": Action(204, query={"device_types": Words()}),
    f"GET {_NODE}/vifs": Action(answer=items("vifs", _OPEN)),
    f"POST {_NODE}/vifs": Action(204, body=_OPEN | {"properties": {"id": _TEXT}, "required": ["id"]}),
    f"DELETE {_NODE}/vifs/{{vif}}": _DONE,
    f"GET {_NODE}/bios/{{setting}}": Action(answer={"type": "object", "additionalProperties": ref("BiosSetting")}),
    f"GET {_NODE}/traits": Action(answer=_TRAITS),
    f"PUT {_NODE}/traits": Action(204, body=takes({"traits": TraitNames()})),
    f"DELETE {_NODE}/traits": _DONE,
    f"PUT {_NODE}/traits/{{trait}}": Action(204, location=True),
    f"DELETE {_NODE}/traits/{{trait}}": _DONE,
    f"GET {_NODE}/allocation": Action(answer=ref("Allocation"), query={"fields": Words()}),
    f"DELETE {_NODE}/allocation": _DONE,
    f"GET {_NODE}/volume": Action(answer=_VOLUME),
    f"GET {_NODE}/inspection_rules": Action(answer=_RULE_RUN),
    # Drivers
    "GET /v1/drivers/properties": Action(answer=_TEXTS, query={"driver_name": Text()}),
    "GET /v1/drivers/{driver}/properties": Action(answer=_TEXTS),
    "GET /v1/drivers/raid/logical_disk_properties": Action(answer=_TEXTS, query={"driver_name": Text()}),
    "GET /v1/drivers/{driver}/raid/logical_disk_properties": Action(answer=_TEXTS),
    "GET /v1/drivers/vendor_passthru/methods": Action(answer=_METHODS, query={"driver_name": Text()}),
    "GET /v1/drivers/{driver}/vendor_passthru/methods": Action(answer=_METHODS),
    f"GET {_NODE}/vendor_passthru/methods": Action(answer=_METHODS),
    **dict(_PASSTHRU),
    # The rest
    "GET /v1/volume": Action(answer=_VOLUME),
    "GET /v1/runbooks/{runbook}/traits": Action(answer=_TRAITS),
    "PUT /v1/runbooks/{runbook}/traits": Action(204, body=takes({"traits": TraitNames()})),
    "DELETE /v1/runbooks/{runbook}/traits": _DONE,
    "PUT /v1/runbooks/{runbook}/traits/{trait}": Action(204, location=True),
    "DELETE /v1/runbooks/{runbook}/traits/{trait}": _DONE,
    "GET /v1/shards": Action(answer=items("shards", closed({"name": _TEXT, "count": _NUMBER}, ["name", "count"]))),
    "POST /v1/events": Action(
        204, body=closed({"events": {"type": "array", "items": _EVENT, "minItems": 1}}, ["events"])
    ),
    "DELETE /v1/inspection_rules": _DONE,
    "POST /v1/inspection_rules/evaluate": Action(
        answer=_RULE_RUN,
        body=takes(node=Text(), inventory=Object(), plugin_data=Object(), rules=Array(), phase=Text()),
    ),
    "GET /v1/inspection/rejected_callbacks": Action(answer=items("rejected_callbacks", _OPEN)),
    "GET /v1/lookup": Action(answer=_LOOKUP, query={"addresses": Words(), "node_uuid": Uuid()}, also=(409,)),
    "POST /v1/heartbeat/{agent_node}": Action(_BEGUN, body=_HEARTBEAT, later=verbs.HEARTBEAT_SINCE),
    "POST /v1/continue_inspection": Action(
        answer=_LOOKUP,
        body=_REPORT,
        query={"node_uuid": Uuid(), "boot_token": Text()},
        since=84,
        also=(202,),
        oldest=Action(
            answer=closed({"uuid": _TEXT}, ["uuid"]), body=_REPORT, query={"boot_token": Text()}, also=(202,)
        ),
    ),
}


def find(method: str, path: str, minor: int) -> Action | None:
    """Return the row of a route in a version, if it has one."""
    row = ACTIONS.get(f"{method} {path}")
    return row.oldest if row is not None and row.oldest is not None and minor == versions.MINIMUM else row
