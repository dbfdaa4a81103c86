"""The history of the API: what each microversion brought, one row per version.

The range served, the page of the history and what the README says of it are read off these rows; tests hold them
against the tables of fields and routes. Names are spelt as there: `node.owner` is a field, `node` a resource with all
fields it began with, `GET /v1/shards` a request, `/v1/shards` all requests there and below. What follows a request is a
parameter (`GET /v1/nodes?owner`), a key of the body (`... timeout`) or one word for it (`... target=clean`).
Source: doc/contract/versions.md.
"""

from dataclasses import dataclass
from typing import Final

_POWER: Final = "PUT /v1/nodes/{node}/states/power"
_PROVISION: Final = "PUT /v1/nodes/{node}/states/provision"
_HEARTBEAT: Final = "POST /v1/heartbeat/{agent_node}"
_LINK: Final = "port.local_link_connection"


@dataclass(frozen=True, slots=True)
class Microversion:
    """One minor version: a sentence about it, what came with it and what that was there before works otherwise."""

    minor: int
    sentence: str
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def touched(self) -> tuple[str, ...]:
        """All that callers of this version find different; nothing where it is no more than a number."""
        return self.added + self.changed


def _of_node(*kinds: str) -> tuple[str, ...]:
    fields = (f"{kind}_interface" for kind in kinds)
    return tuple(name for field in fields for name in (f"node.{field}", f"GET /v1/nodes?{field}"))


def _of_driver(*kinds: str) -> tuple[str, ...]:
    return tuple(
        name for kind in kinds for name in (f"driver.default_{kind}_interface", f"driver.enabled_{kind}_interfaces")
    )


_FIRST_KINDS: Final = ("boot", "console", "deploy", "inspect", "management", "power", "raid", "vendor")

MICROVERSIONS: Final = (
    Microversion(
        1,
        "The API begins with nodes, ports, chassis, drivers and what vendors add; nodes are named by UUID only.",
        ("/", "node", "node_states", "port", "chassis", "driver"),
    ),
    Microversion(
        2,
        "A node that is available says so where it said null, and no ramdisk reports an inventory until 1.84.",
        changed=("node.provision_state=available", "POST /v1/continue_inspection"),
    ),
    Microversion(3, "Nodes show what their driver remembers of them.", ("node.driver_internal_info",)),
    Microversion(
        4,
        "The verbs manage and provide lead a node to 'manageable' and from there to 'available'.",
        (f"{_PROVISION} target=manage", f"{_PROVISION} target=provide"),
    ),
    Microversion(5, "Nodes have a name, which requests take in place of the UUID.", ("node.name",)),
    Microversion(
        6,
        "The verb inspect finds out what a machine is made of, and the node shows when that began and ended.",
        (f"{_PROVISION} target=inspect", "node.inspection_started_at", "node.inspection_finished_at"),
    ),
    Microversion(7, "Nodes show the clean step that runs.", ("node.clean_step",)),
    Microversion(
        8,
        "Callers choose the fields of nodes, ports and chassis that they get.",
        ("GET /v1/nodes?fields", "GET /v1/ports?fields", "GET /v1/chassis?fields"),
    ),
    Microversion(9, "Lists of nodes are narrowed by provision state.", ("GET /v1/nodes?provision_state",)),
    Microversion(
        10, "Names of nodes take all unreserved characters of URLs instead of host names only.", changed=("node.name",)
    ),
    Microversion(11, "New nodes begin in 'enroll' instead of 'available'.", changed=("POST /v1/nodes",)),
    Microversion(
        12,
        "Nodes take a target for their RAID and show it beside what was built; drivers describe logical disks.",
        (
            "PUT /v1/nodes/{node}/states/raid",
            "GET /v1/drivers/raid/logical_disk_properties",
            "GET /v1/drivers/{driver}/raid/logical_disk_properties",
            "node.raid_config",
            "node.target_raid_config",
            "node_states.raid_config",
            "node_states.target_raid_config",
        ),
    ),
    Microversion(13, "The verb abort ends a wait before its time.", (f"{_PROVISION} target=abort",)),
    Microversion(
        14, "Nodes link to their states, and drivers to their properties.", ("node.states", "driver.properties")
    ),
    Microversion(
        15,
        "The verb clean runs given steps, available skips a failed cleaning, and nodes list automated clean steps.",
        (
            f"{_PROVISION} target=clean",
            f"{_PROVISION} target=available",
            f"{_PROVISION} clean_steps",
            "GET /v1/nodes/{node}/cleaning/steps",
        ),
    ),
    Microversion(16, "Lists of nodes are narrowed by driver.", ("GET /v1/nodes?driver",)),
    Microversion(
        17,
        "The verb adopt takes a machine that is in use already without deploying it.",
        (f"{_PROVISION} target=adopt",),
    ),
    Microversion(18, "Ports show what the service itself keeps about them.", ("port.internal_info",)),
    Microversion(
        19,
        "Ports say where they are plugged in and whether the machine may boot from them.",
        (_LINK, "port.pxe_enabled"),
    ),
    Microversion(20, "Nodes name their network interface.", ("node.network_interface",)),
    Microversion(
        21,
        "Nodes have a resource class, by which lists can be narrowed.",
        ("node.resource_class", "GET /v1/nodes?resource_class"),
    ),
    Microversion(22, "Agents in a ramdisk look up their node and send heartbeats.", ("GET /v1/lookup", _HEARTBEAT)),
    Microversion(23, "Port groups join ports of a node.", ("/v1/portgroups", "portgroup")),
    Microversion(
        24,
        "Ports say which port group they are in; a node's port groups and a group's ports are listed.",
        (
            "/v1/nodes/{node}/portgroups",
            "/v1/portgroups/{portgroup}/ports",
            "GET /v1/ports?portgroup",
            "port.portgroup_uuid",
            "node.portgroups",
        ),
    ),
    Microversion(25, "A node can be taken out of its chassis.", changed=("node.chassis_uuid",)),
    Microversion(
        26,
        "Port groups have a mode and properties, which tell how their ports are bonded.",
        ("portgroup.mode", "portgroup.properties"),
    ),
    Microversion(
        27,
        "Machines can be asked to shut down or reboot by themselves, within a time.",
        (f"{_POWER} target=soft rebooting", f"{_POWER} target=soft power off", f"{_POWER} timeout"),
    ),
    Microversion(
        28, "Virtual network interfaces are attached to nodes, detached and listed.", ("/v1/nodes/{node}/vifs",)
    ),
    Microversion(
        29, "A machine can be sent a non-maskable interrupt.", ("PUT /v1/nodes/{node}/management/inject_nmi",)
    ),
    Microversion(
        30,
        "Drivers show their type and which interfaces they have, and are listed in detail or by type.",
        (
            "driver.type",
            "GET /v1/drivers?type",
            "GET /v1/drivers?detail",
            *_of_driver(*_FIRST_KINDS, "network"),
        ),
    ),
    Microversion(
        31,
        "Nodes name their interface of each kind, and lists are narrowed by them.",
        (*_of_node(*_FIRST_KINDS), "GET /v1/nodes?network_interface"),
    ),
    Microversion(
        32,
        "Volumes outside the machine have connectors and targets, which belong to nodes.",
        ("/v1/volume", "/v1/nodes/{node}/volume", "volume_connector", "volume_target", "node.volume"),
    ),
    Microversion(33, "Nodes and drivers name storage interfaces.", (*_of_node("storage"), *_of_driver("storage"))),
    Microversion(34, "Ports name the physical network they are in.", ("port.physical_network",)),
    Microversion(35, "The verb rebuild takes a config drive.", changed=(f"{_PROVISION} configdrive",)),
    Microversion(36, "Agents say their version in heartbeats.", (f"{_HEARTBEAT} agent_version",)),
    Microversion(37, "Nodes have traits.", ("/v1/nodes/{node}/traits", "node.traits")),
    Microversion(
        38,
        "The verbs rescue and unrescue start a machine with a rescue system and return it to its own.",
        (
            f"{_PROVISION} target=rescue",
            f"{_PROVISION} target=unrescue",
            f"{_PROVISION} rescue_password",
            *_of_node("rescue"),
            *_of_driver("rescue"),
        ),
    ),
    Microversion(
        39,
        "A node whose inspection waits for the ramdisk reads 'inspect wait', and one that is being inspected, its ports"
        " and its port groups can't be changed.",
        changed=(
            "node.provision_state=inspect wait",
            "PATCH /v1/nodes/{node}",
            "PATCH /v1/ports/{port}",
            "PATCH /v1/portgroups/{portgroup}",
        ),
    ),
    Microversion(
        40,
        "Nodes show the settings of their BIOS, and nodes and drivers name BIOS interfaces.",
        ("/v1/nodes/{node}/bios", "bios_setting", *_of_node("bios"), *_of_driver("bios")),
    ),
    Microversion(41, "The verb abort ends the wait of an inspection.", changed=(f"{_PROVISION} target=abort",)),
    Microversion(
        42,
        "Nodes show what is wrong with the machine, and lists are narrowed by it.",
        ("node.fault", "GET /v1/nodes?fault"),
    ),
    Microversion(
        43,
        "Lists of nodes, ports, port groups and chassis show everything on request.",
        ("GET /v1/nodes?detail", "GET /v1/ports?detail", "GET /v1/portgroups?detail", "GET /v1/chassis?detail"),
    ),
    Microversion(44, "Nodes show the deploy step that runs.", ("node.deploy_step",)),
    Microversion(
        45,
        "A change of a node's driver sets its interfaces back to their defaults on request.",
        ("PATCH /v1/nodes/{node}?reset_interfaces",),
    ),
    Microversion(
        46,
        "Nodes belong to a conductor group, by which lists can be narrowed.",
        ("node.conductor_group", "GET /v1/nodes?conductor_group"),
    ),
    Microversion(47, "Nodes say whether they are cleaned automatically.", ("node.automated_clean",)),
    Microversion(
        48,
        "Nodes can be protected against being undeployed, rebuilt and deleted.",
        ("node.protected", "node.protected_reason"),
    ),
    Microversion(
        49,
        "Conductors are listed, and nodes name the one that serves them.",
        ("/v1/conductors", "conductor", "node.conductor", "GET /v1/nodes?conductor"),
    ),
    Microversion(50, "Nodes have an owner, by which lists can be narrowed.", ("node.owner", "GET /v1/nodes?owner")),
    Microversion(51, "Nodes have a description.", ("node.description",)),
    Microversion(
        52,
        "Allocations find a node that fits a request and set it aside.",
        ("/v1/allocations", "/v1/nodes/{node}/allocation", "allocation", "node.allocation_uuid"),
    ),
    Microversion(
        53,
        "Ports say whether they belong to a smart NIC, and name its host where they are plugged in.",
        ("port.is_smartnic",),
        (_LINK,),
    ),
    Microversion(54, "Other services report events, such as a network that is bound to a port.", ("/v1/events",)),
    Microversion(
        55,
        "Deploy templates name steps that a trait adds to a deployment.",
        ("/v1/deploy_templates", "deploy_template"),
    ),
    Microversion(
        56,
        "A config drive may be an object, from which the service builds one.",
        changed=(f"{_PROVISION} configdrive",),
    ),
    Microversion(
        57, "The name and the extra data of an allocation can be changed.", ("PATCH /v1/allocations/{allocation}",)
    ),
    Microversion(58, "An allocation can be written down for a node that is in use already.", ("allocation.node",)),
    Microversion(
        59, "An object for a config drive may hold data of the vendor.", changed=(f"{_PROVISION} configdrive",)
    ),
    Microversion(
        60,
        "Allocations have an owner, by which lists can be narrowed.",
        ("allocation.owner", "GET /v1/allocations?owner"),
    ),
    Microversion(61, "Nodes can be retired, with a reason.", ("node.retired", "node.retired_reason")),
    Microversion(62, "An agent gets a token when it looks up its node.", changed=("GET /v1/lookup",)),
    Microversion(63, "Nothing changes: the indicators of a machine, announced here, are in every version."),
    Microversion(64, "The place where a port is plugged in may be said to be unmanaged.", changed=(_LINK,)),
    Microversion(65, "Nodes have a lessee, by which lists can be narrowed.", ("node.lessee", "GET /v1/nodes?lessee")),
    Microversion(66, "Nodes hold static network data for the ramdisk.", ("node.network_data",)),
    Microversion(
        67,
        "A virtual network interface can be meant for one port or one port group.",
        ("POST /v1/nodes/{node}/vifs port_uuid", "POST /v1/nodes/{node}/vifs portgroup_uuid"),
    ),
    Microversion(68, "Agents send their certificate in heartbeats.", (f"{_HEARTBEAT} agent_verify_ca",)),
    Microversion(69, "The verbs active and rebuild take deploy steps.", (f"{_PROVISION} deploy_steps",)),
    Microversion(70, "The verb clean can do without a ramdisk.", (f"{_PROVISION} disable_ramdisk",)),
    Microversion(71, "Nothing changes: the number says that rights may be scoped to the whole system."),
    Microversion(
        72,
        "Agents say in heartbeats how far a deployment is.",
        (f"{_HEARTBEAT} agent_status", f"{_HEARTBEAT} agent_status_message"),
    ),
    Microversion(
        73,
        "The verb deploy is another word for active; undeploy, another word for deleted, is in every version.",
        (f"{_PROVISION} target=deploy",),
    ),
    Microversion(
        74,
        "The settings of a BIOS tell which values they take, and callers choose the fields that they get.",
        (
            *(
                f"bios_setting.{name}"
                for name in (
                    "attribute_type",
                    "allowable_values",
                    "lower_bound",
                    "upper_bound",
                    "min_length",
                    "max_length",
                    "read_only",
                    "reset_required",
                    "unique",
                )
            ),
            "GET /v1/nodes/{node}/bios?fields",
            "GET /v1/nodes/{node}/bios?detail",
        ),
    ),
    Microversion(
        75,
        "Nodes show how they boot, and whether securely.",
        ("node.boot_mode", "node.secure_boot", "node_states.boot_mode", "node_states.secure_boot"),
    ),
    Microversion(
        76,
        "The boot mode and secure boot of a machine can be set.",
        ("PUT /v1/nodes/{node}/states/boot_mode", "PUT /v1/nodes/{node}/states/secure_boot"),
    ),
    Microversion(77, "Callers choose the fields of drivers that they get.", ("GET /v1/drivers?fields",)),
    Microversion(78, "Nodes show what happened to them.", ("/v1/nodes/{node}/history", "history_entry")),
    Microversion(79, "Nothing changes: in every version an allocation first tries the node that has its name."),
    Microversion(80, "Nothing changes: the number says that projects may have rights to nodes of their own."),
    Microversion(81, "Nodes show what the last inspection found.", ("GET /v1/nodes/{node}/inventory",)),
    Microversion(
        82,
        "Nodes belong to a shard; lists of nodes and ports are narrowed by it, and shards are counted.",
        ("node.shard", "/v1/shards", "GET /v1/nodes?shard", "GET /v1/nodes?sharded", "GET /v1/ports?shard"),
    ),
    Microversion(
        83,
        "Nodes may have a parent, and lists of nodes leave children out unless they are asked for.",
        (
            "node.parent_node",
            "GET /v1/nodes/{node}/children",
            "GET /v1/nodes?parent_node",
            "GET /v1/nodes?include_children",
        ),
    ),
    Microversion(
        84,
        "Ramdisks report inventories again and may name their node; discovered nodes and rejected reports are shown.",
        (
            "POST /v1/continue_inspection?node_uuid",
            "GET /v1/inspection/rejected_callbacks",
            "node.auto_discovered",
            "GET /v1/nodes?auto_discovered",
        ),
        ("POST /v1/continue_inspection",),
    ),
    Microversion(85, "The verb unhold lets a node that a step holds go on.", (f"{_PROVISION} target=unhold",)),
    Microversion(
        86,
        "Nodes show the firmware of their components, and nodes and drivers name firmware interfaces.",
        ("/v1/nodes/{node}/firmware", "firmware_component", *_of_node("firmware"), *_of_driver("firmware")),
    ),
    Microversion(
        87,
        "The verb service runs steps on a machine in use, and the node shows the one that runs.",
        (f"{_PROVISION} target=service", f"{_PROVISION} service_steps", "node.service_step"),
    ),
    Microversion(88, "Ports have a name.", ("port.name",)),
    Microversion(
        89,
        "Images are attached to machines as virtual media, and detached.",
        ("POST /v1/nodes/{node}/vmedia", "DELETE /v1/nodes/{node}/vmedia"),
    ),
    Microversion(90, "A port may be plugged into a VTEP, the end of a tunnel.", changed=(_LINK,)),
    Microversion(
        91, "A '.json' at the end of a path is part of the name, where it was cut off before.", changed=("/",)
    ),
    Microversion(
        92,
        "Runbooks name lists of steps, which the verbs clean and service take.",
        ("/v1/runbooks", "runbook", f"{_PROVISION} runbook"),
    ),
    Microversion(93, "The virtual media of a machine are listed.", ("GET /v1/nodes/{node}/vmedia",)),
    Microversion(94, "A new port may name its node by name instead of UUID.", ("port.node_ident",)),
    Microversion(95, "Nodes can be kept from being powered off.", ("node.disable_power_off",)),
    Microversion(
        96,
        "Inspection rules say what is done with what inspections find.",
        ("/v1/inspection_rules", "GET /v1/nodes/{node}/inspection_rules", "inspection_rule"),
    ),
    Microversion(97, "Ports have a description.", ("port.description",)),
    Microversion(98, "Nothing changes: what '~' may stand for in the paths of patches is the same in every version."),
    Microversion(99, "Nothing changes: ports and port groups are listed by conductor groups in every version."),
    Microversion(100, "Ports name their vendor.", ("port.vendor",)),
    Microversion(101, "Ports have a category.", ("port.category",)),
    Microversion(
        102,
        "Port groups name their physical network, and ports in a group can't change theirs any more.",
        ("portgroup.physical_network",),
        ("port.physical_network",),
    ),
    Microversion(103, "Port groups have a category.", ("portgroup.category",)),
    Microversion(
        104,
        "Nodes name their instance, and lists are narrowed by that name.",
        ("node.instance_name", "GET /v1/nodes?instance_name"),
    ),
    Microversion(105, "A port can't be plugged into a VTEP any more.", changed=(_LINK,)),
    Microversion(106, "Lists of port groups are narrowed by shard.", ("GET /v1/portgroups?shard",)),
    Microversion(107, "Nothing changes: answers carry the number of their request under two names in every version."),
    Microversion(108, "The verb service can do without a ramdisk.", changed=(f"{_PROVISION} disable_ramdisk",)),
    Microversion(109, "Nodes show the health of the machine.", ("node.health",)),
    Microversion(110, "The verb abort ends the wait of a deployment.", changed=(f"{_PROVISION} target=abort",)),
    Microversion(
        111,
        "Ports say whether a port group may be formed with them, and port groups whether they were formed so.",
        ("port.available_for_dynamic_portgroup", "portgroup.dynamic_portgroup"),
    ),
    Microversion(
        112,
        "Runbooks have a description and traits; one that shares a trait with a node is for it, and names are free.",
        ("runbook.description", "runbook.traits", "/v1/runbooks/{runbook}/traits"),
        ("runbook.name", f"{_PROVISION} runbook"),
    ),
    Microversion(113, "A node's history names the project of who asked.", ("history_entry.project",)),
    Microversion(
        114,
        "The firmware of a component tells the vendor, the model and the serial number.",
        ("firmware_component.vendor", "firmware_component.model", "firmware_component.serial_number"),
    ),
    Microversion(
        115,
        "A node's history tells the state, the target state and how long it took.",
        ("history_entry.state", "history_entry.target_provision_state", "history_entry.duration_seconds"),
    ),
)

MINIMUM: Final = MICROVERSIONS[0].minor
MAXIMUM: Final = MICROVERSIONS[-1].minor
