"""The RPC API of a conductor: every call, with its lock, time-out and arguments.

Clients and servers of all transports are derived from `ConductorAPI`. A call is a method there; its decorator declares
the lock of its node, the time-out of the answer, and whether there is one. The conductor has a function of the same
name, marked ``@rpc_method``. The first argument is the caller's context; the others and the result have a JSON form.
The docstrings here are for callers.
"""

import enum
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from ironic.core.bmc_readings import BootDevice, Console, Lights
from ironic.core.context import RequestContext

Function = TypeVar("Function", bound=Callable[..., Any])

_MARK: Final = "__rpc_call__"


class NodeLock(enum.Enum):
    """How a call reserves the node that its first argument names."""

    EXCLUSIVE = enum.auto()  # raises NodeLocked if the node stays reserved
    SHARED = enum.auto()  # the node may be reserved meanwhile


EXCLUSIVE: Final = NodeLock.EXCLUSIVE
SHARED: Final = NodeLock.SHARED


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its time-out in seconds (None: the configured one), arguments, and lock (None: it has no node)."""

    name: str
    timeout: float | None
    wait: bool
    signature: inspect.Signature
    lock: NodeLock | None = None
    purpose: str = ""
    background: bool = False
    advisory: frozenset[str] = frozenset()

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters after self and context."""
        return list(self.signature.parameters.values())[2:]

    def arguments(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the arguments after self and context by name; raises TypeError if they do not fit."""
        return dict(list(self.signature.bind(None, None, *args, **kwargs).arguments.items())[2:])


def call(
    *,
    lock: NodeLock | None = None,
    purpose: str = "",
    background: bool = False,
    advisory: Iterable[str] = (),
    timeout: float | None = None,
    wait: bool = True,
) -> Callable[[Function], Function]:
    """Declare a method of an RPC API to be a call.

    ``purpose`` is why the node is reserved, for users; ``{name}`` stands for the argument of that name. The work of a
    ``background`` call, which its caller repeats by itself, does not use the workers that are reserved for users.
    Arguments that are ``advisory`` are left out for a release that does not know them, instead of refusing the call.
    """

    def mark(function: Function) -> Function:
        signature, optional = inspect.signature(function), frozenset(advisory)
        made = Call(function.__name__, timeout, wait, signature, lock, purpose, background, optional)
        if (lock is None) == bool(purpose):
            raise TypeError(f"{made.name}: a call has either both a lock and a purpose or neither")
        names = {parameter.name for parameter in made.parameters}
        if unknown := set(re.findall(r"{(\w+)", purpose)) - names:
            raise TypeError(f"{made.name}: its purpose names {', '.join(sorted(unknown))}, which is no argument of it")
        setattr(function, _MARK, made)
        return function

    return mark


def calls_of(api: type) -> dict[str, Call]:
    """Return the calls that an RPC API and its base classes declare, by name."""
    members = (member for cls in reversed(api.__mro__) for member in vars(cls).values())
    marked = (getattr(member, _MARK, None) for member in members)
    return {call.name: call for call in marked if isinstance(call, Call)}


class ConductorAPI(Protocol):
    """The calls of one conductor; nodes, ports and port groups are named by UUID.

    A call that begins something returns when it is accepted; its outcome is on the node, a failure in ``last_error``.
    """

    # Nodes

    @call(lock=EXCLUSIVE, purpose="changing the power state to '{target}'")
    def change_node_power_state(
        self, context: RequestContext, node_id: str, target: str, timeout: int | None = None
    ) -> None:
        """Begin a power change."""

    @call(lock=EXCLUSIVE, purpose="provision verb {verb}")
    def change_provision_state(
        self, context: RequestContext, node_id: str, verb: str, arguments: dict[str, object]
    ) -> None:
        """Begin the work of a provision verb; ``arguments`` has only those that the user gave."""

    @call(lock=EXCLUSIVE, purpose="deletion")
    def destroy_node(self, context: RequestContext, node_id: str) -> None:
        """Delete a node with everything that belongs to it."""

    @call(lock=SHARED, purpose="validation")
    def validate_interfaces(self, context: RequestContext, node_id: str) -> dict[str, dict[str, object]]:
        """Return ``{kind: {"result": True, False or None, "reason": text if not True}}`` of the node's interfaces."""

    @call(lock=SHARED, purpose="listing clean steps")
    def cleaning_steps(self, context: RequestContext, node_id: str) -> dict[str, object]:
        """Return the ``steps`` of automated cleaning, and since when those of the agent are known (``source``)."""

    # Reports of machines and drivers

    @call(lock=EXCLUSIVE, purpose="heartbeat of the agent", background=True)
    def heartbeat(self, context: RequestContext, node_id: str, beat: dict[str, object]) -> None:
        """Record a sign of life of an agent, whose token the API has checked.

        ``beat`` has callback_url, agent_version, agent_verify_ca, agent_status and agent_status_message.
        """

    @call(lock=EXCLUSIVE, purpose="processing inspection data", background=True)
    def continue_inspection(
        self, context: RequestContext, node_id: str, inventory: dict[str, object], plugin_data: dict[str, object]
    ) -> None:
        """Begin to process the inspection data that a ramdisk has sent."""

    @call(lock=EXCLUSIVE, purpose="an inspection without booting the machine")
    def await_inspection_data(self, context: RequestContext, node_id: str) -> None:
        """Begin an inspection of a machine that others boot."""

    @call(lock=EXCLUSIVE, purpose="processing inspection data again")
    def reapply_inspection(
        self, context: RequestContext, node_id: str, inventory: dict[str, object], plugin_data: dict[str, object]
    ) -> None:
        """Begin to process inspection data of an earlier inspection; the machine is not touched."""

    @call(lock=EXCLUSIVE, purpose="going on with its steps", background=True)
    def continue_flow(self, context: RequestContext, node_id: str) -> None:
        """Continue the steps of a node in a wait state; for drivers that poll a machine, when a step has ended."""

    # Ports and port groups

    @call(lock=EXCLUSIVE, purpose="changing port {port_id}", advisory=["seen", "most"])
    def update_port(
        self,
        context: RequestContext,
        port_id: str,
        changes: dict[str, object],
        seen: dict[str, object] | None = None,
        most: int | None = None,
    ) -> None:
        """Change fields of a port, as the node's network interface allows.

        ``seen`` has the values from which new ones were made; raises ChangedMeanwhile if the port has others now.
        ``most`` is how many ports another node may have to which it moves (None: any number); raises RowLimit.
        """

    @call(lock=EXCLUSIVE, purpose="deleting port {port_id}")
    def destroy_port(self, context: RequestContext, port_id: str) -> None:
        """Delete a port, as the node's network interface allows."""

    @call(lock=EXCLUSIVE, purpose="changing port group {portgroup_id}", advisory=["seen", "most"])
    def update_portgroup(
        self,
        context: RequestContext,
        portgroup_id: str,
        changes: dict[str, object],
        seen: dict[str, object] | None = None,
        most: int | None = None,
    ) -> None:
        """Change fields of a port group, as the network interface allows; ``seen`` and ``most`` are as for a port."""

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
        """Detach a virtual interface from its port."""

    # Boot

    @call(lock=EXCLUSIVE, purpose="choosing boot device {device}")
    def set_boot_device(self, context: RequestContext, node_id: str, device: str, persistent: bool) -> None:
        """Set the boot device of the machine, for one boot or permanently."""

    @call(lock=SHARED, purpose="reading the boot device")
    def get_boot_device(self, context: RequestContext, node_id: str) -> BootDevice:
        """Return ``{"boot_device": ..., "persistent": ...}`` as the machine reports them."""

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
        """Begin to start or to stop the console."""

    @call(lock=SHARED, purpose="reading the console")
    def get_console(self, context: RequestContext, node_id: str) -> Console:
        """Return the access to the running console."""

    # RAID

    @call(lock=EXCLUSIVE, purpose="setting the target RAID configuration")
    def set_target_raid_config(self, context: RequestContext, node_id: str, config: dict[str, object]) -> None:
        """Store the logical disks that the machine shall have; a step creates them."""

    # NMI and indicators

    @call(lock=EXCLUSIVE, purpose="injecting an NMI")
    def inject_nmi(self, context: RequestContext, node_id: str) -> None:
        """Send the machine a non-maskable interrupt."""

    @call(lock=SHARED, purpose="listing indicators")
    def supported_indicators(self, context: RequestContext, node_id: str) -> Lights:
        """Return the indicators by component and name, each with ``readonly`` and ``states``."""

    @call(lock=SHARED, purpose="reading an indicator")
    def get_indicator(self, context: RequestContext, node_id: str, component: str, indicator: str) -> str:
        """Return the state of an indicator."""

    @call(lock=EXCLUSIVE, purpose="switching indicator {indicator} of {component}")
    def set_indicator(self, context: RequestContext, node_id: str, component: str, indicator: str, state: str) -> None:
        """Set the state of an indicator."""

    # Virtual media

    @call(lock=SHARED, purpose="reading the virtual media")
    def get_virtual_media(self, context: RequestContext, node_id: str) -> list[dict[str, object]]:
        """Return the virtual media of the machine."""

    @call(lock=EXCLUSIVE, purpose="attaching a virtual {device_type}")
    def attach_virtual_media(
        self, context: RequestContext, node_id: str, device_type: str, image_url: str, source: str
    ) -> None:
        """Begin to attach an image as a virtual device; ``source`` is the server from which the BMC gets it."""

    @call(lock=EXCLUSIVE, purpose="detaching virtual media")
    def detach_virtual_media(
        self, context: RequestContext, node_id: str, device_types: list[str] | None = None
    ) -> None:
        """Begin to detach the images of these virtual devices, or of all."""

    # Vendor methods. A call returns ``{"async": bool, "result": ...}`` or, if the result is a file, ``{"async": False,
    # "file": its bytes in base64}``; an asynchronous method was only begun.

    @call(lock=SHARED, purpose="listing vendor methods")
    def vendor_methods(self, context: RequestContext, node_id: str) -> dict[str, dict[str, object]]:
        """Return the vendor methods of a node, each with its properties."""

    @call(lock=SHARED, purpose="vendor method {method}")
    def call_vendor_method(
        self, context: RequestContext, node_id: str, method: str, http_method: str, arguments: dict[str, object]
    ) -> dict[str, object]:
        """Call a vendor method of a node."""

    @call()
    def driver_vendor_methods(self, context: RequestContext, hardware_type: str) -> dict[str, dict[str, object]]:
        """Return the vendor methods of a hardware type, each with its properties."""

    @call()
    def call_driver_vendor_method(
        self, context: RequestContext, hardware_type: str, method: str, http_method: str, arguments: dict[str, object]
    ) -> dict[str, object]:
        """Call a vendor method of a hardware type."""

    # Hardware types

    @call()
    def driver_properties(self, context: RequestContext, hardware_type: str) -> dict[str, str]:
        """Return the driver_info properties of a hardware type, with a description of each."""

    @call()
    def driver_logical_disk_properties(self, context: RequestContext, hardware_type: str) -> dict[str, str]:
        """Return the properties of a logical disk, with a description of each."""

    # Allocations

    @call()
    def process_allocation(self, context: RequestContext, allocation_id: str) -> None:
        """Begin to find a node for a stored allocation; the result is in its row."""


CALLS: Final = calls_of(ConductorAPI)
