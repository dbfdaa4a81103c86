"""What a conductor can be asked: the whole conversation, said once.

Clients and servers of every transport are derived from ``ConductorCalls``. A call is a method here, with what it needs
of its node, and a function of the conductor that has its name and is marked ``@answers``. Arguments and results are
plain JSON-able values, the caller's context comes first. What a call decides is documented where it is decided; here
stands only what the caller can rely on.
"""

from typing import Final, Protocol

from ironic.core.context import RequestContext
from ironic.core.machine_documents import BootDevice, Console, Lights
from ironic.rpc.call import EXCLUSIVE, SHARED, call, calls_of


class ConductorCalls(Protocol):
    """One conductor, seen from outside; nodes, ports and port groups are named by UUID.

    What is said to begin answers once it is accepted; how it ended shows on the node, a failure in its ``last_error``.
    """

    # Nodes

    @call(lock=EXCLUSIVE, purpose="changing the power state to '{target}'")
    def change_node_power_state(
        self, context: RequestContext, node_id: str, target: str, timeout: int | None = None
    ) -> None:
        """Begin a power change; answers once it is accepted, the change itself goes on in the background."""

    @call(lock=EXCLUSIVE, purpose="provision verb {verb}")
    def change_provision_state(
        self, context: RequestContext, node_id: str, verb: str, arguments: dict[str, object]
    ) -> None:
        """Begin what a provision verb asks for; ``arguments`` has only what the user gave."""

    @call(lock=EXCLUSIVE, purpose="deletion")
    def destroy_node(self, context: RequestContext, node_id: str) -> None:
        """Delete a node with everything that belongs to it."""

    @call(lock=SHARED, purpose="validation")
    def validate_interfaces(self, context: RequestContext, node_id: str) -> dict[str, dict[str, object]]:
        """Return ``{kind: {"result": True, False or None, "reason": text if not True}}`` of the node's interfaces."""

    @call(lock=SHARED, purpose="listing clean steps")
    def cleaning_steps(self, context: RequestContext, node_id: str) -> dict[str, object]:
        """Return the ``steps`` that automated cleaning would run, and since when an agent's are known (``source``)."""

    # What a machine or its driver reports

    @call(lock=EXCLUSIVE, purpose="heartbeat of the agent", background=True)
    def heartbeat(self, context: RequestContext, node_id: str, beat: dict[str, object]) -> None:
        """Take note of an agent's sign of life; the API has checked its token against the row.

        ``beat`` has callback_url, agent_version, agent_verify_ca, agent_status and agent_status_message.
        """

    @call(lock=EXCLUSIVE, purpose="processing inspection data", background=True)
    def continue_inspection(
        self, context: RequestContext, node_id: str, inventory: dict[str, object], plugin_data: dict[str, object]
    ) -> None:
        """Go on with an inspection from what the ramdisk found; answers before the data are processed."""

    @call(lock=EXCLUSIVE, purpose="going on with its steps", background=True)
    def continue_flow(self, context: RequestContext, node_id: str) -> None:
        """Go on with the steps of a node that waits; for whoever polls a machine and saw a step come to its end."""

    # Ports and port groups

    @call(lock=EXCLUSIVE, purpose="changing port {port_id}")
    def update_port(self, context: RequestContext, port_id: str, changes: dict[str, object]) -> None:
        """Change fields of a port; the node's network interface has a say."""

    @call(lock=EXCLUSIVE, purpose="deleting port {port_id}")
    def destroy_port(self, context: RequestContext, port_id: str) -> None:
        """Delete a port; the node's network interface has a say."""

    @call(lock=EXCLUSIVE, purpose="changing port group {portgroup_id}")
    def update_portgroup(self, context: RequestContext, portgroup_id: str, changes: dict[str, object]) -> None:
        """Change fields of a port group; the node's network interface has a say."""

    @call(lock=EXCLUSIVE, purpose="deleting port group {portgroup_id}")
    def destroy_portgroup(self, context: RequestContext, portgroup_id: str) -> None:
        """Delete a port group that has no ports."""

    # Virtual network interfaces

    @call(lock=SHARED, purpose="listing virtual interfaces")
    def list_vifs(self, context: RequestContext, node_id: str) -> list[dict[str, object]]:
        """Return the virtual interfaces that are bound to the node's ports."""

    @call(lock=EXCLUSIVE, purpose="attaching virtual interface {vif[id]}")
    def attach_vif(self, context: RequestContext, node_id: str, vif: dict[str, object]) -> None:
        """Bind a virtual interface, named by ``vif["id"]``, to a port of the node."""

    @call(lock=EXCLUSIVE, purpose="detaching virtual interface {vif_id}")
    def detach_vif(self, context: RequestContext, node_id: str, vif_id: str) -> None:
        """Take a virtual interface off its port."""

    # Boot

    @call(lock=EXCLUSIVE, purpose="choosing boot device {device}")
    def set_boot_device(self, context: RequestContext, node_id: str, device: str, persistent: bool) -> None:
        """Choose what the machine boots from, once or from now on."""

    @call(lock=SHARED, purpose="reading the boot device")
    def get_boot_device(self, context: RequestContext, node_id: str) -> BootDevice:
        """Return ``{"boot_device": ..., "persistent": ...}`` as the machine reports it."""

    @call(lock=SHARED, purpose="reading the supported boot devices")
    def supported_boot_devices(self, context: RequestContext, node_id: str) -> list[str]:
        """Return the boot devices that the machine can be set to."""

    @call(lock=EXCLUSIVE, purpose="setting boot mode {mode}")
    def change_boot_mode(self, context: RequestContext, node_id: str, mode: str) -> None:
        """Begin to set the boot mode, "bios" or "uefi"."""

    @call(lock=EXCLUSIVE, purpose="changing secure boot")
    def change_secure_boot(self, context: RequestContext, node_id: str, on: bool) -> None:
        """Begin to turn secure boot on or off."""

    # Console

    @call(lock=EXCLUSIVE, purpose="switching the console")
    def change_console(self, context: RequestContext, node_id: str, enabled: bool) -> None:
        """Begin to open or to close the console."""

    @call(lock=SHARED, purpose="reading the console")
    def get_console(self, context: RequestContext, node_id: str) -> Console:
        """Return how to reach the open console."""

    # RAID

    @call(lock=EXCLUSIVE, purpose="setting the target RAID configuration")
    def set_target_raid_config(self, context: RequestContext, node_id: str, config: dict[str, object]) -> None:
        """Note which logical disks the machine is to have; a step creates them."""

    # Signals and lights

    @call(lock=EXCLUSIVE, purpose="injecting an NMI")
    def inject_nmi(self, context: RequestContext, node_id: str) -> None:
        """Send the machine a non-maskable interrupt."""

    @call(lock=SHARED, purpose="listing indicators")
    def supported_indicators(self, context: RequestContext, node_id: str) -> Lights:
        """Return the lights by component and name, each with ``readonly`` and ``states``."""

    @call(lock=SHARED, purpose="reading an indicator")
    def get_indicator(self, context: RequestContext, node_id: str, component: str, indicator: str) -> str:
        """Return what a light shows."""

    @call(lock=EXCLUSIVE, purpose="switching indicator {indicator} of {component}")
    def set_indicator(self, context: RequestContext, node_id: str, component: str, indicator: str, state: str) -> None:
        """Switch a light."""

    # Virtual media

    @call(lock=SHARED, purpose="reading the virtual media")
    def get_virtual_media(self, context: RequestContext, node_id: str) -> list[dict[str, object]]:
        """Return what is in the machine's virtual drives."""

    @call(lock=EXCLUSIVE, purpose="attaching a virtual {device_type}")
    def attach_virtual_media(
        self, context: RequestContext, node_id: str, device_type: str, image_url: str, source: str
    ) -> None:
        """Begin to put an image into a virtual drive; ``source`` says who hands it to the BMC."""

    @call(lock=EXCLUSIVE, purpose="detaching virtual media")
    def detach_virtual_media(
        self, context: RequestContext, node_id: str, device_types: list[str] | None = None
    ) -> None:
        """Begin to empty these virtual drives, or all."""

    # Vendor methods. They answer ``{"async": bool, "result": ...}`` or, when the result is a file, ``{"async": False,
    # "file": its bytes in base64}``; an asynchronous one was only begun.

    @call(lock=SHARED, purpose="listing vendor methods")
    def vendor_methods(self, context: RequestContext, node_id: str) -> dict[str, dict[str, object]]:
        """Return the vendor methods of a node, each with its terms."""

    @call(lock=SHARED, purpose="vendor method {method}")
    def call_vendor_method(
        self, context: RequestContext, node_id: str, method: str, http_method: str, arguments: dict[str, object]
    ) -> dict[str, object]:
        """Call one of them."""

    @call()
    def driver_vendor_methods(self, context: RequestContext, hardware_type: str) -> dict[str, dict[str, object]]:
        """Return the vendor methods that need no node, each with its terms."""

    @call()
    def call_driver_vendor_method(
        self, context: RequestContext, hardware_type: str, method: str, http_method: str, arguments: dict[str, object]
    ) -> dict[str, object]:
        """Call one of them."""

    # Hardware types

    @call()
    def driver_properties(self, context: RequestContext, hardware_type: str) -> dict[str, str]:
        """Return the driver_info properties that a hardware type knows, with a description of each."""

    @call()
    def driver_logical_disk_properties(self, context: RequestContext, hardware_type: str) -> dict[str, str]:
        """Return what can be said about a logical disk, with a description of each."""

    # Allocations

    @call()
    def process_allocation(self, context: RequestContext, allocation_id: str) -> None:
        """Look for a node for a stored allocation; answers once the work is accepted, the result is in its row."""


CALLS: Final = calls_of(ConductorCalls)
