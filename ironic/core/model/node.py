"""The node, field by field: the reference page of the resource.

Whether a change is possible in the node's state is decided elsewhere; here stand only type, history, who may write and
see a value, and who is told of it. Source: doc/contract/fields.md#node and demands S21, S32, S68, S149.
"""

from typing import ClassVar, Final

from ironic.core import flow
from ironic.core.flow import FLOWS
from ironic.core.interface_kinds import KINDS, interface_field
from ironic.core.model import views
from ironic.core.model.fields import (
    CREATE,
    EVERY,
    NOBODY,
    NOT_TOLD,
    PATCH,
    REQUIRED,
    RULES,
    WHOLE,
    Exact,
    Field,
    Filter,
    Resource,
    Trim,
)
from ironic.core.step_cursor import lists_of
from ironic.core.values import (
    Array,
    Bool,
    Datetime,
    Enum,
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

# Who may give a node steps may see what they were given.
_CLEANS: Final = "baremetal:node:set_provision_state:clean_steps"
_SERVICES: Final = "baremetal:node:set_provision_state:service_steps"
_DEPLOYS: Final = "baremetal:node:set_provision_state"
_STORED_STEPS: Final = (
    Trim(_CLEANS, views.without_arguments_in(*lists_of(flow.CLEAN))),
    Trim(_SERVICES, views.without_arguments_in(*lists_of(flow.SERVICE))),
    Trim(_DEPLOYS, views.without_arguments_in(*lists_of(flow.DEPLOY))),
)

# Kinds of payload about a node that tell more than the others.
CRUD: Final = "crud"
PROVISION: Final = "provision"

INTERFACES: Final = frozenset(map(interface_field, KINDS))

POWER_FAILURE: Final = "power failure"
# Besides what failed flows leave; older services marked nodes with the last one, and clients may ask for it.
FAULTS: Final = (POWER_FAILURE, *(flow.fault for flow in FLOWS if flow.fault), "rescue abort failure")

_UPDATES: Final = "baremetal:node:update:"
_EXTRA: Final = "baremetal:node:update_extra"
_INSTANCE_INFO: Final = "baremetal:node:update_instance_info"
_DRIVER_INTERFACES: Final = f"{_UPDATES}driver_interfaces"
_SEES: Final = "baremetal:node:get:"

_IN_STATES: Final = frozenset({"states"})


def _interface(since: int = 31, told: frozenset[str] = EVERY) -> Field:
    """One kind of interface; null and removal ask for the calculated default (S7)."""
    return Field(Text(), since=since, filter=Exact(31), right=_DRIVER_INTERFACES, literal=WHOLE, told=told)


def _step(rule: str, since: int, told: frozenset[str] = EVERY) -> Field:
    """The step that runs; its arguments are for callers whom the rule lets give steps."""
    trims = (Trim(rule, views.without_arguments),)
    return Field(Object(), since=since, write=NOBODY, mask=views.without_secrets, trims=trims, told=told)


# Literal for rules are right and place: whose the node is, who may undo or delete it, which service, conductor and
# rules have it, and through which code and network it is managed. A machine could lie itself into the hands of another
# project otherwise. The scope of inspection chooses rules, and those may hold passwords.
class Node(Resource):
    """A machine under management."""

    collection = "nodes"
    singular = "node"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (
        Filter("instance_uuid", Uuid(), single=True),
        Filter("chassis_uuid", Uuid(), store=None),
        Filter("associated", Bool(), kept=True),
        Filter("maintenance", Bool(), kept=True),
        Filter("retired", Bool(), kept=True),
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

    uuid = Field(Uuid(), write=CREATE, plain=True, told=EVERY)
    created_at = Field(Datetime(), write=NOBODY, select=False)
    updated_at = Field(Datetime(), write=NOBODY, select=False)
    # To switch it off takes a right of its own.
    automated_clean = Field(Bool(), since=47, literal=WHOLE)
    bios_interface = _interface(40)
    boot_interface = _interface()
    boot_mode = Field(Text(16), since=75, write=CREATE, told=EVERY, parts=_IN_STATES)
    clean_step = _step(_CLEANS, since=7)
    conductor_group = Field(
        LowerText(),
        since=46,
        nullable=False,
        empty="",
        filter=Exact(),
        right=f"{_UPDATES}conductor_group",
        literal=WHOLE,
        told=EVERY,
    )
    console_enabled = Field(Bool(), write=CREATE, empty=False, told=EVERY, parts=_IN_STATES)
    console_interface = _interface()
    disable_power_off = Field(
        Bool(), since=95, empty=False, right=f"{_UPDATES}disable_power_off", literal=WHOLE, told=EVERY
    )
    deploy_interface = _interface()
    deploy_step = _step(_DEPLOYS, since=44)
    description = Field(Text(4096), since=51, told=EVERY)
    driver = Field(
        Text(),
        nullable=False,
        empty=REQUIRED,
        filter=Exact(16),
        right=_DRIVER_INTERFACES,
        free_in_new=True,
        by_rules=Text(255, 1),
        literal=WHOLE,
        told=EVERY,
    )
    driver_info = Field(
        Object(),
        empty={},
        mask=views.without_secrets,
        unmasked_by="show_password",
        rule=f"{_SEES}driver_info",
        right=f"{_UPDATES}driver_info",
        told=frozenset({CRUD}),
    )
    driver_internal_info = Field(
        Object(),
        since=3,
        write=NOBODY,
        mask=views.without_secrets,
        trims=_STORED_STEPS,
        rule=f"{_SEES}driver_internal_info",
        told=frozenset({PROVISION}),
    )
    extra = Field(Object(), empty={}, right=_EXTRA, told=EVERY)
    fault = Field(Text(), since=42, write=NOBODY, told=EVERY)
    firmware_interface = _interface(86, told=NOT_TOLD)
    health = Field(Text(), since=109, write=NOBODY)
    inspection_finished_at = Field(Datetime(), since=6, write=NOBODY, told=EVERY)
    inspection_started_at = Field(Datetime(), since=6, write=NOBODY, told=EVERY)
    inspect_interface = _interface()
    instance_info = Field(
        Object(),
        empty={},
        mask=views.without_instance_secrets,
        unmasked_by="show_instance_secrets",
        right=_INSTANCE_INFO,
        told=frozenset({CRUD, PROVISION}),
    )
    instance_name = Field(Text(255, 1), since=104, filter=Exact(), right=_INSTANCE_INFO)
    instance_uuid = Field(Uuid(), plain=True, right=f"{_UPDATES}instance_uuid", literal=WHOLE, told=EVERY)
    last_error = Field(
        Text(None),
        write=NOBODY,
        render=views.text_without_secrets,
        rule=f"{_SEES}last_error",
        told=EVERY,
        parts=_IN_STATES,
    )
    lessee = Field(Text(), since=65, filter=Exact(), right=f"{_UPDATES}lessee", literal=WHOLE, told=EVERY)
    maintenance = Field(Bool(), plain=True, empty=False, clears=("maintenance_reason", "fault"), told=EVERY)
    maintenance_reason = Field(Text(None), write=NOBODY, render=views.text_without_secrets, told=EVERY)
    management_interface = _interface()
    name = Field(LogicalName(), since=5, plain=True, only_removed=True, right=f"{_UPDATES}name", told=EVERY)
    network_data = Field(Object(), since=66, empty={}, right=f"{_UPDATES}network_data")
    network_interface = _interface(20)
    owner = Field(
        Text(), since=50, filter=Exact(), right=f"{_UPDATES}owner", free_in_new=True, literal=WHOLE, told=EVERY
    )
    parent_node = Field(Text(), since=83, right=f"{_UPDATES}parent_node", literal=WHOLE)
    power_interface = _interface()
    power_state = Field(Text(), write=NOBODY, plain=True, told=EVERY, parts=_IN_STATES)
    properties = Field(Object(), empty={}, right=f"{_UPDATES}properties", literal=(("inspection_scope",),), told=EVERY)
    protected = Field(
        Bool(), since=48, write=PATCH | RULES, empty=False, clears=("protected_reason",), literal=WHOLE, told=EVERY
    )
    protected_reason = Field(Text(None), since=48, write=PATCH | RULES, by_rules=Text(65_535), told=EVERY)
    provision_state = Field(
        Text(), write=NOBODY, plain=True, render=views.state_of_version, told=EVERY, parts=_IN_STATES
    )
    provision_updated_at = Field(Datetime(), write=NOBODY, told=EVERY, parts=_IN_STATES)
    raid_config = Field(Object(), since=12, write=NOBODY, parts=_IN_STATES)
    raid_interface = _interface()
    rescue_interface = _interface(38)
    reservation = Field(Text(), write=NOBODY, rule=f"{_SEES}reservation")
    resource_class = Field(Text(80), since=21, filter=Exact(), told=EVERY)
    retired = Field(
        Bool(), since=61, empty=False, clears=("retired_reason",), right=f"{_UPDATES}retired", literal=WHOLE, told=EVERY
    )
    retired_reason = Field(Text(None), since=61, right=f"{_UPDATES}retired", by_rules=Text(255), told=EVERY)
    secure_boot = Field(Bool(), since=75, write=CREATE, told=EVERY, parts=_IN_STATES)
    service_step = _step(_SERVICES, since=87, told=NOT_TOLD)
    shard = Field(Text(), since=82, right=f"{_UPDATES}shard", literal=WHOLE)
    storage_interface = _interface(33)
    target_power_state = Field(Text(), write=NOBODY, told=EVERY, parts=_IN_STATES)
    target_provision_state = Field(Text(), write=NOBODY, told=EVERY, parts=_IN_STATES)
    target_raid_config = Field(Object(), since=12, write=NOBODY, parts=_IN_STATES)
    vendor_interface = _interface()
    # S68: whether the machine enrolled itself; an addition of ours, in the full document only.
    auto_discovered = Field(Bool(), since=84, write=NOBODY)
    allocation_uuid = Field(Uuid(), since=52, write=NOBODY, sort=False)
    chassis_uuid = Field(
        Uuid(), removed_since=25, sort=False, right=f"{_UPDATES}chassis_uuid", literal=WHOLE, told=frozenset({CRUD})
    )
    traits = Field(Array(), since=37, write=NOBODY, needs=("id",), told=EVERY)
    # Which conductor has it is calculated from these.
    conductor = Field(Text(), since=49, write=NOBODY, needs=("uuid", "driver", "conductor_group"))
    links = Field(Links("nodes/{}"), write=NOBODY, plain=True, select=False)
    ports = Field(Links("nodes/{}/ports"), write=NOBODY, select=False)
    states = Field(Links("nodes/{}/states"), since=14, write=NOBODY, select=False)
    portgroups = Field(Links("nodes/{}/portgroups"), since=24, write=NOBODY, select=False)
    volume = Field(Links("nodes/{}/volume"), since=32, write=NOBODY, select=False)


class NodeStates(Resource, part_of=Node):
    """The states of a node in one document."""

    collection = "states"
    singular = "states"
