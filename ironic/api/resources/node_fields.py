"""The node, field by field: the reference page of the resource.

Source: facts/fields.yaml and demands S21, S32, S68. Whether a change is possible in the node's state is decided in
`node_rules`; here stand only type, history, who may write and how a value is shown.
"""

from typing import ClassVar

from ironic.api.fields import CREATE, NOBODY, PATCH, REQUIRED, Exact, Field, Filter, Resource, Trim
from ironic.api.resources import node_views as views
from ironic.core.values import (
    Array,
    Bool,
    Datetime,
    Enum,
    Links,
    LogicalName,
    Object,
    State,
    Text,
    Uuid,
    ValueType,
    Words,
)

# Who may give a node steps may see what they were given.
_CLEANS = "baremetal:node:set_provision_state:clean_steps"
_SERVICES = "baremetal:node:set_provision_state:service_steps"
_DEPLOYS = "baremetal:node:set_provision_state"
_STORED_STEPS = (
    Trim(_CLEANS, views.without_arguments_in("clean_steps")),
    Trim(_SERVICES, views.without_arguments_in("service_steps")),
    Trim(_DEPLOYS, views.without_arguments_in("deploy_steps", "user_deploy_steps")),
)

FAULTS = ("power failure", "clean failure", "rescue abort failure", "service failure")


def _interface(since: int = 31) -> Field:
    """One kind of interface; null and removal ask for the calculated default (S7)."""
    return Field(Text(), since=since, filter=Exact(31))


def _step(rule: str, since: int) -> Field:
    """The step that runs; its arguments are for callers whom the rule lets give steps."""
    trims = (Trim(rule, views.without_arguments),)
    return Field(Object(), since=since, write=NOBODY, mask=views.without_secrets, trims=trims)


def _seen_by(field: str) -> str:
    return f"baremetal:node:get:{field}"


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

    uuid = Field(Uuid(), write=CREATE, plain=True)
    created_at = Field(Datetime(), write=NOBODY, select=False)
    updated_at = Field(Datetime(), write=NOBODY, select=False)
    automated_clean = Field(Bool(), since=47)
    bios_interface = _interface(40)
    boot_interface = _interface()
    boot_mode = Field(Text(16), since=75, write=CREATE)
    clean_step = _step(_CLEANS, since=7)
    conductor_group = Field(Text(), since=46, nullable=False, empty="", filter=Exact())
    console_enabled = Field(Bool(), write=CREATE, empty=False)
    console_interface = _interface()
    disable_power_off = Field(Bool(), since=95, empty=False)
    deploy_interface = _interface()
    deploy_step = _step(_DEPLOYS, since=44)
    description = Field(Text(4096), since=51)
    driver = Field(Text(), nullable=False, empty=REQUIRED, filter=Exact(16))
    driver_info = Field(
        Object(), empty={}, mask=views.without_secrets, unmasked_by="show_password", rule=_seen_by("driver_info")
    )
    driver_internal_info = Field(
        Object(),
        since=3,
        write=NOBODY,
        mask=views.without_secrets,
        trims=_STORED_STEPS,
        rule=_seen_by("driver_internal_info"),
    )
    extra = Field(Object(), empty={})
    fault = Field(Text(), since=42, write=NOBODY)
    firmware_interface = _interface(86)
    health = Field(Text(), since=109, write=NOBODY)
    inspection_finished_at = Field(Datetime(), since=6, write=NOBODY)
    inspection_started_at = Field(Datetime(), since=6, write=NOBODY)
    inspect_interface = _interface()
    instance_info = Field(Object(), empty={}, mask=views.without_instance_secrets, unmasked_by="show_instance_secrets")
    instance_name = Field(Text(255, 1), since=104, filter=Exact())
    instance_uuid = Field(Uuid(), plain=True)
    last_error = Field(Text(None), write=NOBODY, render=views.text_without_secrets, rule=_seen_by("last_error"))
    lessee = Field(Text(), since=65, filter=Exact())
    maintenance = Field(Bool(), plain=True, empty=False)
    maintenance_reason = Field(Text(None), write=NOBODY, render=views.text_without_secrets)
    management_interface = _interface()
    name = Field(LogicalName(), since=5, plain=True)
    network_data = Field(Object(), since=66, empty={})
    network_interface = _interface(20)
    owner = Field(Text(), since=50, filter=Exact())
    parent_node = Field(Text(), since=83)
    power_interface = _interface()
    power_state = Field(Text(), write=NOBODY, plain=True)
    properties = Field(Object(), empty={})
    protected = Field(Bool(), since=48, write=PATCH, empty=False)
    protected_reason = Field(Text(None), since=48, write=PATCH)
    provision_state = Field(Text(), write=NOBODY, plain=True, render=views.state_of_version)
    provision_updated_at = Field(Datetime(), write=NOBODY)
    raid_config = Field(Object(), since=12, write=NOBODY)
    raid_interface = _interface()
    rescue_interface = _interface(38)
    reservation = Field(Text(), write=NOBODY, rule=_seen_by("reservation"))
    resource_class = Field(Text(80), since=21, filter=Exact())
    retired = Field(Bool(), since=61, empty=False)
    retired_reason = Field(Text(None), since=61)
    secure_boot = Field(Bool(), since=75, write=CREATE)
    service_step = _step(_SERVICES, since=87)
    shard = Field(Text(), since=82)
    storage_interface = _interface(33)
    target_power_state = Field(Text(), write=NOBODY)
    target_provision_state = Field(Text(), write=NOBODY)
    target_raid_config = Field(Object(), since=12, write=NOBODY)
    vendor_interface = _interface()
    # S68: whether the machine enrolled itself; an addition of ours, in the full document only.
    auto_discovered = Field(Bool(), since=84, write=NOBODY)
    allocation_uuid = Field(Uuid(), since=52, write=NOBODY, sort=False)
    chassis_uuid = Field(Uuid(), sort=False)
    traits = Field(Array(), since=37, write=NOBODY, needs=("id",), gather=views.traits)
    conductor = Field(Text(), since=49, write=NOBODY, needs=views.PLACED_BY, gather=views.hosts)
    links = Field(Links("nodes/{}"), write=NOBODY, plain=True, select=False)
    ports = Field(Links("nodes/{}/ports"), write=NOBODY, select=False)
    states = Field(Links("nodes/{}/states"), since=14, write=NOBODY, select=False)
    portgroups = Field(Links("nodes/{}/portgroups"), since=24, write=NOBODY, select=False)
    volume = Field(Links("nodes/{}/volume"), since=32, write=NOBODY, select=False)
