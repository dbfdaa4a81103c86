"""The history of the API: what each microversion added or changed, one row per version.

The served range and doc/microversions.md are derived from these rows; tests compare them with the tables of fields and
routes. `node.owner` is a field, `node` a resource with its first fields, `GET /v1/shards` a request, and `/v1/shards`
stands for all requests with this path or below it. A request may be followed by a parameter (`GET /v1/nodes?owner`), a
key of the body (`... timeout`) or a value of one (`... target=clean`). Source: doc/contract/versions.md.
"""

from dataclasses import dataclass
from typing import Final

_POWER: Final = "PUT /v1/nodes/{node}/states/power"
_PROVISION: Final = "PUT /v1/nodes/{node}/states/provision"
_HEARTBEAT: Final = "POST /v1/heartbeat/{agent_node}"
_LINK: Final = "port.local_link_connection"


@dataclass(frozen=True, slots=True)
class Microversion:
    """One minor version: a sentence about it, what it added, and what existed before and behaves differently in it."""

    minor: int
    sentence: str
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def touched(self) -> tuple[str, ...]:
        """Everything that the version added or changed; empty for a version without an effect."""
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
        "The API begins with nodes, ports, chassis, drivers and vendor methods; nodes are identified by UUID only.",
        ("/", "node", "node_states", "port", "chassis", "driver"),
    ),
    Microversion(
        2,
        "An available node shows the state 'available' instead of null; ramdisks can't report inventories until 1.84.",
        changed=("node.provision_state=available", "POST /v1/continue_inspection"),
    ),
    Microversion(3, "Nodes show what their driver stores about them.", ("node.driver_internal_info",)),
    Microversion(
        4,
        "The verbs manage and provide bring a node to 'manageable' and from there to 'available'.",
        (f"{_PROVISION} target=manage", f"{_PROVISION} target=provide"),
    ),
    Microversion(5, "Nodes have a name, which requests accept in place of the UUID.", ("node.name",)),
    Microversion(
        6,
        "The verb inspect reads the hardware of a machine, and the node shows when that began and ended.",
        (f"{_PROVISION} target=inspect", "node.inspection_started_at", "node.inspection_finished_at"),
    ),
    Microversion(7, "Nodes show the clean step that runs.", ("node.clean_step",)),
    Microversion(
        8,
        "Callers select the fields of nodes, ports and chassis that are returned.",
        ("GET /v1/nodes?fields", "GET /v1/ports?fields", "GET /v1/chassis?fields"),
    ),
    Microversion(9, "Lists of nodes are filtered by provision state.", ("GET /v1/nodes?provision_state",)),
    Microversion(
        10, "Names of nodes may have all unreserved characters of URLs, not only host names.", changed=("node.name",)
    ),
    Microversion(11, "New nodes begin in 'enroll' instead of 'available'.", changed=("POST /v1/nodes",)),
    Microversion(
        12,
        "Nodes have a target and a current RAID configuration; drivers list the properties of logical disks.",
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
    Microversion(13, "The verb abort ends a wait early.", (f"{_PROVISION} target=abort",)),
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
    Microversion(16, "Lists of nodes are filtered by driver.", ("GET /v1/nodes?driver",)),
    Microversion(
        17,
        "The verb adopt manages a machine that is already in use without deploying it.",
        (f"{_PROVISION} target=adopt",),
    ),
    Microversion(18, "Ports show what the service itself stores about them.", ("port.internal_info",)),
    Microversion(
        19,
        "Ports show where they are plugged in and whether the machine may boot from them.",
        (_LINK, "port.pxe_enabled"),
    ),
    Microversion(20, "Nodes show their network interface.", ("node.network_interface",)),
    Microversion(
        21,
        "Nodes have a resource class, and lists are filtered by it.",
        ("node.resource_class", "GET /v1/nodes?resource_class"),
    ),
    Microversion(22, "Agents in a ramdisk look up their node and send heartbeats.", ("GET /v1/lookup", _HEARTBEAT)),
    Microversion(23, "Port groups join ports of a node.", ("/v1/portgroups", "portgroup")),
    Microversion(
        24,
        "Ports show their port group; the port groups of a node and the ports of a group are listed.",
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
        "Port groups have a mode and properties, which describe how their ports are bonded.",
        ("portgroup.mode", "portgroup.properties"),
    ),
    Microversion(
        27,
        "The operating system of a machine can be requested to shut down or reboot, within a timeout.",
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
        "Nodes show their interface of each kind, and lists are filtered by them.",
        (*_of_node(*_FIRST_KINDS), "GET /v1/nodes?network_interface"),
    ),
    Microversion(
        32,
        "Nodes have volume connectors and volume targets for volumes outside the machine.",
        ("/v1/volume", "/v1/nodes/{node}/volume", "volume_connector", "volume_target", "node.volume"),
    ),
    Microversion(33, "Nodes and drivers show storage interfaces.", (*_of_node("storage"), *_of_driver("storage"))),
    Microversion(34, "Ports have a physical network.", ("port.physical_network",)),
    Microversion(35, "The verb rebuild accepts a config drive.", changed=(f"{_PROVISION} configdrive",)),
    Microversion(36, "Agents report their version in heartbeats.", (f"{_HEARTBEAT} agent_version",)),
    Microversion(37, "Nodes have traits.", ("/v1/nodes/{node}/traits", "node.traits")),
    Microversion(
        38,
        "The verbs rescue and unrescue boot a machine into a rescue ramdisk and back into its instance.",
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
        "A node whose inspection waits for the ramdisk shows 'inspect wait'; during an inspection a node, its ports and"
        " its port groups can't be changed.",
        changed=(
            "node.provision_state=inspect wait",
            "PATCH /v1/nodes/{node}",
            "PATCH /v1/ports/{port}",
            "PATCH /v1/portgroups/{portgroup}",
        ),
    ),
    Microversion(
        40,
        "Nodes list their BIOS settings, and nodes and drivers show BIOS interfaces.",
        ("/v1/nodes/{node}/bios", "bios_setting", *_of_node("bios"), *_of_driver("bios")),
    ),
    Microversion(41, "The verb abort ends the wait of an inspection.", changed=(f"{_PROVISION} target=abort",)),
    Microversion(
        42,
        "Nodes show a fault of the machine, and lists are filtered by it.",
        ("node.fault", "GET /v1/nodes?fault"),
    ),
    Microversion(
        43,
        "Lists of nodes, ports, port groups and chassis show all fields on request.",
        ("GET /v1/nodes?detail", "GET /v1/ports?detail", "GET /v1/portgroups?detail", "GET /v1/chassis?detail"),
    ),
    Microversion(44, "Nodes show the deploy step that runs.", ("node.deploy_step",)),
    Microversion(
        45,
        "A change of a node's driver resets its interfaces to their defaults on request.",
        ("PATCH /v1/nodes/{node}?reset_interfaces",),
    ),
    Microversion(
        46,
        "Nodes belong to a conductor group, and lists are filtered by it.",
        ("node.conductor_group", "GET /v1/nodes?conductor_group"),
    ),
    Microversion(47, "Nodes have a switch for automated cleaning.", ("node.automated_clean",)),
    Microversion(
        48,
        "Nodes can be protected against being undeployed, rebuilt and deleted.",
        ("node.protected", "node.protected_reason"),
    ),
    Microversion(
        49,
        "Conductors are listed, and nodes show the one that serves them.",
        ("/v1/conductors", "conductor", "node.conductor", "GET /v1/nodes?conductor"),
    ),
    Microversion(50, "Nodes have an owner, and lists are filtered by it.", ("node.owner", "GET /v1/nodes?owner")),
    Microversion(51, "Nodes have a description.", ("node.description",)),
    Microversion(
        52,
        "Allocations find a node that fits a request and reserve it.",
        ("/v1/allocations", "/v1/nodes/{node}/allocation", "allocation", "node.allocation_uuid"),
    ),
    Microversion(
        53,
        "Ports show whether they belong to a smart NIC, and local_link_connection may name its host.",
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
        "A config drive may be an object, from which the service builds the image.",
        changed=(f"{_PROVISION} configdrive",),
    ),
    Microversion(
        57, "The name and the extra data of an allocation can be changed.", ("PATCH /v1/allocations/{allocation}",)
    ),
    Microversion(58, "An allocation can be recorded for a node that is already in use.", ("allocation.node",)),
    Microversion(59, "An object for a config drive may have vendor data.", changed=(f"{_PROVISION} configdrive",)),
    Microversion(
        60,
        "Allocations have an owner, and lists are filtered by it.",
        ("allocation.owner", "GET /v1/allocations?owner"),
    ),
    Microversion(61, "Nodes can be retired, with a reason.", ("node.retired", "node.retired_reason")),
    Microversion(62, "An agent receives a token when it looks up its node.", changed=("GET /v1/lookup",)),
    Microversion(63, "Nothing changes: the indicators of a machine, announced here, are in every version."),
    Microversion(64, "The connection of a port may be declared unmanaged.", changed=(_LINK,)),
    Microversion(65, "Nodes have a lessee, and lists are filtered by it.", ("node.lessee", "GET /v1/nodes?lessee")),
    Microversion(66, "Nodes hold static network data for the ramdisk.", ("node.network_data",)),
    Microversion(
        67,
        "A virtual network interface can be attached to a chosen port or port group.",
        ("POST /v1/nodes/{node}/vifs port_uuid", "POST /v1/nodes/{node}/vifs portgroup_uuid"),
    ),
    Microversion(68, "Agents send their certificate in heartbeats.", (f"{_HEARTBEAT} agent_verify_ca",)),
    Microversion(69, "The verbs active and rebuild accept deploy steps.", (f"{_PROVISION} deploy_steps",)),
    Microversion(70, "The verb clean can work without a ramdisk.", (f"{_PROVISION} disable_ramdisk",)),
    Microversion(71, "Nothing changes: the version indicates that rights may be scoped to the whole system."),
    Microversion(
        72,
        "Agents report the progress of a deployment in heartbeats.",
        (f"{_HEARTBEAT} agent_status", f"{_HEARTBEAT} agent_status_message"),
    ),
    Microversion(
        73,
        "The verb deploy is an alias of active; undeploy, an alias of deleted, is in every version.",
        (f"{_PROVISION} target=deploy",),
    ),
    Microversion(
        74,
        "BIOS settings show which values they accept, and callers select the fields that are returned.",
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
        "Nodes show their boot mode and whether secure boot is on.",
        ("node.boot_mode", "node.secure_boot", "node_states.boot_mode", "node_states.secure_boot"),
    ),
    Microversion(
        76,
        "The boot mode and secure boot of a machine can be set.",
        ("PUT /v1/nodes/{node}/states/boot_mode", "PUT /v1/nodes/{node}/states/secure_boot"),
    ),
    Microversion(77, "Callers select the fields of drivers that are returned.", ("GET /v1/drivers?fields",)),
    Microversion(78, "Nodes have a history of events.", ("/v1/nodes/{node}/history", "history_entry")),
    Microversion(79, "Nothing changes: in every version an allocation first tries the node with its name."),
    Microversion(80, "Nothing changes: the version indicates that projects may have rights to nodes of their own."),
    Microversion(81, "Nodes show the inventory of the last inspection.", ("GET /v1/nodes/{node}/inventory",)),
    Microversion(
        82,
        "Nodes belong to a shard; lists of nodes and ports are filtered by it, and the nodes of shards are counted.",
        ("node.shard", "/v1/shards", "GET /v1/nodes?shard", "GET /v1/nodes?sharded", "GET /v1/ports?shard"),
    ),
    Microversion(
        83,
        "Nodes may have a parent node, and lists of nodes have child nodes on request only.",
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
    Microversion(85, "The verb unhold continues a node that a step holds.", (f"{_PROVISION} target=unhold",)),
    Microversion(
        86,
        "Nodes list the firmware of their components, and nodes and drivers show firmware interfaces.",
        ("/v1/nodes/{node}/firmware", "firmware_component", *_of_node("firmware"), *_of_driver("firmware")),
    ),
    Microversion(
        87,
        "The verb service runs steps on a machine in use, and the node shows the running step.",
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
        91, "A '.json' at the end of a path is part of the name; earlier versions cut it off.", changed=("/",)
    ),
    Microversion(
        92,
        "Runbooks are stored lists of steps, which the verbs clean and service accept.",
        ("/v1/runbooks", "runbook", f"{_PROVISION} runbook"),
    ),
    Microversion(93, "The virtual media of a machine are listed.", ("GET /v1/nodes/{node}/vmedia",)),
    Microversion(94, "A new port may name its node by name instead of UUID.", ("port.node_ident",)),
    Microversion(95, "Powering off a node can be disabled.", ("node.disable_power_off",)),
    Microversion(
        96,
        "Inspection rules perform actions on nodes whose inspection data meet conditions.",
        ("/v1/inspection_rules", "GET /v1/nodes/{node}/inspection_rules", "inspection_rule"),
    ),
    Microversion(97, "Ports have a description.", ("port.description",)),
    Microversion(98, "Paths of patches name any key, with '~0' and '~1' for '~' and '/'.", changed=("/",)),
    Microversion(99, "Nothing changes: ports and port groups are filtered by conductor groups in every version."),
    Microversion(100, "Ports have a vendor.", ("port.vendor",)),
    Microversion(101, "Ports have a category.", ("port.category",)),
    Microversion(
        102,
        "Port groups have a physical network, and that of ports in a group can't be changed any more.",
        ("portgroup.physical_network",),
        ("port.physical_network",),
    ),
    Microversion(103, "Port groups have a category.", ("portgroup.category",)),
    Microversion(
        104,
        "Nodes have the name of their instance, and lists are filtered by it.",
        ("node.instance_name", "GET /v1/nodes?instance_name"),
    ),
    Microversion(105, "A port can't be plugged into a VTEP any more.", changed=(_LINK,)),
    Microversion(106, "Lists of port groups are filtered by shard.", ("GET /v1/portgroups?shard",)),
    Microversion(107, "Nothing changes: answers have the id of their request in two headers in every version."),
    Microversion(108, "The verb service can work without a ramdisk.", changed=(f"{_PROVISION} disable_ramdisk",)),
    Microversion(109, "Nodes show the health of the machine.", ("node.health",)),
    Microversion(110, "The verb abort ends the wait of a deployment.", changed=(f"{_PROVISION} target=abort",)),
    Microversion(
        111,
        "Ports show whether a port group may be created from them, and port groups whether they were created so.",
        ("port.available_for_dynamic_portgroup", "portgroup.dynamic_portgroup"),
    ),
    Microversion(
        112,
        "Runbooks have a description and traits; a runbook fits nodes that share a trait with it, whatever its name.",
        ("runbook.description", "runbook.traits", "/v1/runbooks/{runbook}/traits"),
        ("runbook.name", f"{_PROVISION} runbook"),
    ),
    Microversion(113, "A node's history shows the project of the caller.", ("history_entry.project",)),
    Microversion(
        114,
        "Firmware components show vendor, model and serial number.",
        ("firmware_component.vendor", "firmware_component.model", "firmware_component.serial_number"),
    ),
    Microversion(
        115,
        "A node's history shows the state, the target state and the duration.",
        ("history_entry.state", "history_entry.target_provision_state", "history_entry.duration_seconds"),
    ),
)

MINIMUM: Final = MICROVERSIONS[0].minor
MAXIMUM: Final = MICROVERSIONS[-1].minor
