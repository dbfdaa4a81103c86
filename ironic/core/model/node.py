"""The node, its chassis, history entries, BIOS settings and firmware components, field by field.

Whether the state of a node allows a change is decided by `ironic.core.node_rules`. Sources:
doc/contract/fields.md#node, doc/contract/fields.md#history-entry, doc/contract/fields.md#chassis, demands S21, S32,
S68, S149.
"""

from typing import ClassVar, Final

from ironic.core.errors import NodeNotFound
from ironic.core.errors.resource_errors import ChassisNotFound
from ironic.core.flows import flow
from ironic.core.flows.flow import FLOWS
from ironic.core.flows.step_cursor import step_keys_of
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.core.model import fields
from ironic.core.model.fields import (
    CREATE,
    EVERY,
    NEVER,
    NOT_NOTIFIED,
    PATCH,
    REQUIRED,
    RULES,
    WHOLE,
    Belongs,
    Exact,
    Field,
    Filter,
    PartialMask,
    Resource,
    text_without_secrets,
)
from ironic.core.secrets.masking import masked_text
from ironic.core.values.value_types import (
    Array,
    Bool,
    Datetime,
    Enum,
    Integer,
    Links,
    LogicalName,
    LowerText,
    Object,
    State,
    Text,
    Uuid,
    ValueType,
    Words,
)

# Callers with the right to request steps see the arguments of steps.
_CLEANS: Final = "baremetal:node:set_provision_state:clean_steps"
_SERVICES: Final = "baremetal:node:set_provision_state:service_steps"
_DEPLOYS: Final = "baremetal:node:set_provision_state"
# Flows of other projects have no rule of their own: those who may deploy a node see the arguments of their steps.
_STEP_RULES: Final = {flow.CLEAN: _CLEANS, flow.SERVICE: _SERVICES}
_STORED_STEPS: Final = tuple(
    PartialMask(
        rule,
        fields.without_arguments_in(
            *(key for one in FLOWS if _STEP_RULES.get(one, _DEPLOYS) == rule for key in step_keys_of(one))
        ),
    )
    for rule in (_CLEANS, _SERVICES, _DEPLOYS)
)

# Kinds of notification payload that have more fields of a node than the others.
CRUD: Final = "crud"
PROVISION: Final = "provision"

INTERFACES: Final = frozenset(map(interface_field, KINDS))

POWER_FAILURE: Final = "power failure"
# Besides those that failed flows set; older services set the last one, and clients may filter by it.
FAULTS: Final = (POWER_FAILURE, *(flow.fault for flow in FLOWS if flow.fault), "rescue abort failure")

# What users may ask for; the mode of a machine is what its driver reports.
BOOT_MODES: Final = ("bios", "uefi")

# The key of `properties` that selects the inspection rules which have a scope.
SCOPE_PROPERTY: Final = "inspection_scope"

_UPDATES: Final = "baremetal:node:update:"
_EXTRA: Final = "baremetal:node:update_extra"
_INSTANCE_INFO: Final = "baremetal:node:update_instance_info"
_DRIVER_INTERFACES: Final = f"{_UPDATES}driver_interfaces"
_SEES: Final = "baremetal:node:get:"

_IN_STATES: Final = frozenset({"states"})


def _interface(since: int = 31, notified: frozenset[str] = EVERY) -> Field:
    """Return the field of one kind of interface; null and removal select the calculated default (S7)."""
    return Field(Text(), since=since, filter=Exact(31), right=_DRIVER_INTERFACES, literal=WHOLE, notified=notified)


def _step(rule: str, since: int, notified: frozenset[str] = EVERY) -> Field:
    """Return the field with the running step; callers without the right ``rule`` do not see its arguments."""
    trims = (PartialMask(rule, fields.without_arguments),)
    return Field(Object(), since=since, write=NEVER, mask=fields.without_secrets, trims=trims, notified=notified)


# Inspection rules never write these from what a machine reported (``literal``): owner and protection, the conductor,
# driver and network that manage the node, and its scope. A false report could otherwise give the node to another
# project, or select rules that hold passwords.
class Node(Resource):
    """A machine under management."""

    collection = "nodes"
    singular = "node"
    word = "node"
    listed_since = 1
    has_name = True
    has_dotted_name = True
    no_names = frozenset(
        ["allocation", "bios", "children", "firmware", "history", "inventory", "maintenance", "management"]
        + ["portgroups", "ports", "states", "traits", "vendor_passthru", "vifs", "vmedia", "volume"]
    )
    aborts = True
    belongs = Belongs.TO_NODE
    not_found = NodeNotFound
    payload_version = "1.15"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (
        Filter("instance_uuid", Uuid(), single=True),
        Filter("chassis_uuid", Uuid(), store=None),
        Filter("associated", Bool()),
        Filter("maintenance", Bool()),
        Filter("retired", Bool()),
        Filter("provision_state", State(), since=9),
        Filter("fault", Enum(*FAULTS, name="fault"), since=42),
        Filter("conductor", Text(None), since=49, store=None),
        Filter("project", Text(None)),
        Filter("description_contains", Text(4096)),
        Filter("shard", Words(), since=82),
        Filter("sharded", Bool(), since=82),
        Filter("parent_node", Text(None), since=83, ungated_in_detail=True),
        Filter("include_children", Bool(), since=83, store=None, ungated_in_detail=True),
        Filter("auto_discovered", Bool(), since=84),
    )
    plain_order = ("uuid", "name", "instance_uuid", "power_state", "provision_state", "maintenance")

    uuid = Field(Uuid(), write=CREATE, plain=True, notified=EVERY)
    created_at = Field(Datetime(), write=NEVER, select=False)
    updated_at = Field(Datetime(), write=NEVER, select=False)
    automated_clean = Field(Bool(), since=47, right_for={False: "baremetal:node:disable_cleaning"}, literal=WHOLE)
    bios_interface = _interface(40)
    boot_interface = _interface()
    boot_mode = Field(
        Text(16), since=75, write=CREATE, right="baremetal:node:set_boot_mode", notified=EVERY, parts=_IN_STATES
    )
    clean_step = _step(_CLEANS, since=7)
    conductor_group = Field(
        LowerText(),
        since=46,
        nullable=False,
        empty="",
        filter=Exact(),
        right=f"{_UPDATES}conductor_group",
        literal=WHOLE,
        notified=EVERY,
    )
    console_enabled = Field(
        Bool(), write=CREATE, empty=False, right="baremetal:node:set_console_state", notified=EVERY, parts=_IN_STATES
    )
    console_interface = _interface()
    disable_power_off = Field(
        Bool(), since=95, empty=False, right=f"{_UPDATES}disable_power_off", literal=WHOLE, notified=EVERY
    )
    deploy_interface = _interface()
    deploy_step = _step(_DEPLOYS, since=44)
    description = Field(Text(4096), since=51, notified=EVERY)
    driver = Field(
        Text(),
        nullable=False,
        empty=REQUIRED,
        filter=Exact(16),
        right=_DRIVER_INTERFACES,
        free_on_create=True,
        by_rules=Text(255, 1),
        literal=WHOLE,
        notified=EVERY,
    )
    driver_info = Field(
        Object(),
        empty={},
        mask=fields.without_secrets,
        unmasked_by="show_password",
        rule=f"{_SEES}driver_info",
        right=f"{_UPDATES}driver_info",
        notified=frozenset({CRUD}),
    )
    driver_internal_info = Field(
        Object(),
        since=3,
        write=NEVER,
        mask=fields.without_secrets,
        trims=_STORED_STEPS,
        rule=f"{_SEES}driver_internal_info",
        notified=frozenset({PROVISION}),
    )
    extra = Field(Object(), empty={}, right=_EXTRA, notified=EVERY)
    fault = Field(Text(), since=42, write=NEVER, notified=EVERY)
    firmware_interface = _interface(86, notified=NOT_NOTIFIED)
    health = Field(Text(), since=109, write=NEVER)
    inspection_finished_at = Field(Datetime(), since=6, write=NEVER, notified=EVERY)
    inspection_started_at = Field(Datetime(), since=6, write=NEVER, notified=EVERY)
    inspect_interface = _interface()
    instance_info = Field(
        Object(),
        empty={},
        mask=fields.without_instance_secrets,
        unmasked_by="show_instance_secrets",
        right=_INSTANCE_INFO,
        exempt_key="configdrive",
        # A deployment makes this project the lessee, and has the instance's interfaces take the place of the node's.
        literal=(("project_id",), *((name,) for name in sorted(INTERFACES))),
        notified=frozenset({CRUD, PROVISION}),
    )
    instance_name = Field(Text(255, 1), since=104, filter=Exact(), right=_INSTANCE_INFO)
    instance_uuid = Field(Uuid(), plain=True, right=f"{_UPDATES}instance_uuid", literal=WHOLE, notified=EVERY)
    last_error = Field(
        Text(None),
        write=NEVER,
        render=fields.text_without_secrets,
        rule=f"{_SEES}last_error",
        notified=EVERY,
        parts=_IN_STATES,
    )
    lessee = Field(Text(), since=65, filter=Exact(), right=f"{_UPDATES}lessee", literal=WHOLE, notified=EVERY)
    maintenance = Field(
        Bool(),
        plain=True,
        empty=False,
        clears=("maintenance_reason", "fault"),
        right="baremetal:node:set_maintenance",
        right_for=dict.fromkeys((False, None), "baremetal:node:clear_maintenance"),
        notified=EVERY,
    )
    # With a fault it is the service's own, and says what last_error says.
    maintenance_reason = Field(
        Text(None),
        write=NEVER,
        render=fields.text_without_secrets,
        rule=f"{_SEES}last_error",
        hidden_with="fault",
        notified=EVERY,
    )
    management_interface = _interface()
    name = Field(LogicalName(), since=5, plain=True, only_removed=True, right=f"{_UPDATES}name", notified=EVERY)
    network_data = Field(Object(), since=66, empty={}, right=f"{_UPDATES}network_data")
    network_interface = _interface(20)
    owner = Field(
        Text(), since=50, filter=Exact(), right=f"{_UPDATES}owner", free_on_create=True, literal=WHOLE, notified=EVERY
    )
    parent_node = Field(Text(), since=83, right=f"{_UPDATES}parent_node", literal=WHOLE)
    power_interface = _interface()
    power_state = Field(Text(), write=NEVER, plain=True, notified=EVERY, parts=_IN_STATES)
    properties = Field(Object(), empty={}, right=f"{_UPDATES}properties", literal=((SCOPE_PROPERTY,),), notified=EVERY)
    protected = Field(
        Bool(), since=48, write=PATCH | RULES, empty=False, clears=("protected_reason",), literal=WHOLE, notified=EVERY
    )
    protected_reason = Field(Text(None), since=48, write=PATCH | RULES, by_rules=Text(65_535), notified=EVERY)
    provision_state = Field(
        Text(), write=NEVER, plain=True, render=fields.state_of_version, notified=EVERY, parts=_IN_STATES
    )
    provision_updated_at = Field(Datetime(), write=NEVER, notified=EVERY, parts=_IN_STATES)
    raid_config = Field(Object(), since=12, write=NEVER, parts=_IN_STATES)
    raid_interface = _interface()
    rescue_interface = _interface(38)
    reservation = Field(Text(), write=NEVER, rule=f"{_SEES}reservation")
    resource_class = Field(Text(80), since=21, filter=Exact(), notified=EVERY)
    retired = Field(
        Bool(),
        since=61,
        empty=False,
        clears=("retired_reason",),
        right=f"{_UPDATES}retired",
        literal=WHOLE,
        notified=EVERY,
    )
    retired_reason = Field(Text(None), since=61, right=f"{_UPDATES}retired", by_rules=Text(255), notified=EVERY)
    secure_boot = Field(
        Bool(), since=75, write=CREATE, right="baremetal:node:set_secure_boot", notified=EVERY, parts=_IN_STATES
    )
    service_step = _step(_SERVICES, since=87, notified=NOT_NOTIFIED)
    shard = Field(Text(), since=82, right=f"{_UPDATES}shard", literal=WHOLE)
    storage_interface = _interface(33)
    target_power_state = Field(Text(), write=NEVER, notified=EVERY, parts=_IN_STATES)
    target_provision_state = Field(Text(), write=NEVER, notified=EVERY, parts=_IN_STATES)
    target_raid_config = Field(Object(), since=12, write=NEVER, parts=_IN_STATES)
    vendor_interface = _interface()
    # S68: whether the node was created by auto-discovery; an extension of this service, in the full document only.
    auto_discovered = Field(Bool(), since=84, write=NEVER)
    allocation_uuid = Field(Uuid(), since=52, write=NEVER, sort=False)
    chassis_uuid = Field(
        Uuid(), removed_since=25, sort=False, right=f"{_UPDATES}chassis_uuid", literal=WHOLE, notified=frozenset({CRUD})
    )
    traits = Field(Array(), since=37, write=NEVER, needs=("id",), notified=EVERY)
    # The hash ring computes the conductor from these.
    conductor = Field(Text(), since=49, write=NEVER, needs=("uuid", "driver", "conductor_group"))
    links = Field(Links("nodes/{}"), write=NEVER, plain=True, select=False)
    ports = Field(Links("nodes/{}/ports"), write=NEVER, select=False)
    states = Field(Links("nodes/{}/states"), since=14, write=NEVER, select=False)
    portgroups = Field(Links("nodes/{}/portgroups"), since=24, write=NEVER, select=False)
    volume = Field(Links("nodes/{}/volume"), since=32, write=NEVER, select=False)


class NodeStates(Resource, part_of=Node):
    """The states of a node in one document."""

    collection = "states"
    singular = "states"


_LONGEST: Final = 255
_CUT: Final = 251


def shortened(text: str | None) -> str | None:
    """Return the text as the plain list shows it: at most 255 characters, without secrets."""
    text = masked_text(text) if text else text
    return text if text is None or len(text) <= _LONGEST else f"{text[:_CUT]}..."


class HistoryEntry(Resource):
    """Something that happened to a node."""

    collection = "history"
    singular = "history entry"
    marker: ClassVar[ValueType] = Uuid()
    sorted_by = "created_at"
    since_fields = None
    since_detail = 78

    uuid = Field(Uuid(), since=78, write=NEVER, plain=True)
    created_at = Field(Datetime(), since=78, write=NEVER, plain=True)
    severity = Field(Text(), since=78, write=NEVER, plain=True)
    event_type = Field(Text(), since=78, write=NEVER)
    event = Field(Text(None), since=78, write=NEVER, plain=True, brief=shortened, render=text_without_secrets)
    conductor = Field(Text(), since=78, write=NEVER)
    user = Field(Text(), since=78, write=NEVER)
    project = Field(Text(), since=113, write=NEVER)
    state = Field(Text(), since=115, write=NEVER)
    target_provision_state = Field(Text(), since=115, write=NEVER)
    duration_seconds = Field(Integer(), since=115, write=NEVER)
    links = Field(ValueType(), since=78, write=NEVER, plain=True, needs=("uuid", "node_uuid"))


class BiosSetting(Resource):
    """One BIOS setting of a machine."""

    collection = "bios"
    singular = "BIOS setting"
    key = "name"
    marker: ClassVar[ValueType] = Text()
    paged = False
    since_detail = 74
    since_fields = 74

    created_at = Field(Datetime(), write=NEVER, plain=True)
    updated_at = Field(Datetime(), write=NEVER, plain=True)
    name = Field(Text(), write=NEVER, plain=True)
    value = Field(Text(None), write=NEVER, plain=True, needs=("name", "value"))
    attribute_type = Field(Text(), since=74, write=NEVER)
    allowable_values = Field(Array(), since=74, write=NEVER)
    lower_bound = Field(Integer(), since=74, write=NEVER)
    upper_bound = Field(Integer(), since=74, write=NEVER, select=False)
    min_length = Field(Integer(), since=74, write=NEVER)
    max_length = Field(Integer(), since=74, write=NEVER)
    read_only = Field(Bool(), since=74, write=NEVER)
    reset_required = Field(Bool(), since=74, write=NEVER)
    unique = Field(Bool(), since=74, write=NEVER)
    links = Field(ValueType(), write=NEVER, plain=True, needs=("name",))


def _text(since: int = 86) -> Field:
    return Field(Text(), since=since, write=NEVER, plain=True)


class FirmwareComponent(Resource):
    """One component of a machine with its firmware versions."""

    collection = "firmware"
    singular = "firmware component"
    key = "component"
    marker: ClassVar[ValueType] = Text()
    paged = False
    since_detail = None

    created_at = Field(Datetime(), since=86, write=NEVER, plain=True)
    updated_at = Field(Datetime(), since=86, write=NEVER, plain=True)
    component = _text()
    initial_version = _text()
    current_version = _text()
    last_version_flashed = _text()
    vendor = _text(114)
    model = _text(114)
    serial_number = _text(114)


class Chassis(Resource):
    """A group of nodes in one enclosure."""

    collection = "chassis"
    singular = "chassis"
    word = "chassis"
    listed_since = 1
    not_found = ChassisNotFound
    payload_version = "1.0"
    marker: ClassVar[ValueType] = Uuid()

    # Accepted in a patch because clients send whole documents; it never changes.
    uuid = Field(Uuid(), removed_since=None, plain=True, notified=EVERY)
    created_at = Field(Datetime(), write=NEVER)
    updated_at = Field(Datetime(), write=NEVER)
    description = Field(Text(), plain=True, notified=EVERY)
    extra = Field(Object(), empty={}, notified=EVERY)
    links = Field(Links("chassis/{}"), write=NEVER, plain=True)
    nodes = Field(Array(), write=NEVER, needs=("uuid",))
