"""Manage a machine besides power and provisioning: boot, RAID, indicators, interrupts, virtual media.

What a machine does at once is done while the user waits; what takes longer runs on a worker. Consoles are in
`consoles`, virtual network interfaces in `record_changes`. Source: doc/contract/states.md#permissions.
"""

from ironic.conductor import background_work
from ironic.conductor.background_work import Work
from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.core import node_rules
from ironic.core.bmc_readings import BootDevice, Lights
from ironic.core.context import RequestContext
from ironic.core.errors import InvalidParameterValue, UnsupportedDriverExtension
from ironic.integrations import virtual_media_images

# Boot device


@rpc_method
def set_boot_device(task: TaskManager, device: str, persistent: bool = False) -> None:
    """Set the boot device, for the next boot or for all."""
    task.validated(task.management).set_boot_device(task, device=device, persistent=persistent)


@rpc_method
def get_boot_device(task: TaskManager) -> BootDevice:
    """Return ``{"boot_device": ..., "persistent": ...}`` as the machine reports it."""
    return task.validated(task.management).get_boot_device(task)


@rpc_method
def supported_boot_devices(task: TaskManager) -> list[str]:
    """Return the names of the devices that the machine can boot from."""
    return list(task.validated(task.management).get_supported_boot_devices(task))


# Boot mode and secure boot


@rpc_method
def change_boot_mode(task: TaskManager, mode: str) -> None:
    """Start to set the boot mode on a worker; raises why it is refused."""
    node_rules.check_idle(task.node, "change the boot mode")
    task.validated(task.management)
    background_work.begin(
        task, Work(f"setting boot mode '{mode}'", "boot mode", lambda task: set_boot_mode(task, mode))
    )


@rpc_method
def change_secure_boot(task: TaskManager, on: bool) -> None:
    """Start to turn secure boot on or off on a worker; raises why it is refused."""
    node_rules.check_idle(task.node, "change secure boot")
    task.validated(task.management)

    def set_state(task: TaskManager) -> None:
        task.management.set_secure_boot_state(task, state=on)
        task.node.secure_boot = on

    what = "turning secure boot on" if on else "turning secure boot off"
    background_work.begin(task, Work(what, "secure boot", set_state))


def boot_mode(task: TaskManager) -> str | None:
    """Return the boot mode as the machine reports it, None when its interface can't read it."""
    try:
        return task.management.get_boot_mode(task)
    except UnsupportedDriverExtension:
        return None


def set_boot_mode(task: TaskManager, mode: str) -> None:
    """Set the boot mode while the caller waits; the caller saves the node."""
    task.management.set_boot_mode(task, mode=mode)
    task.node.boot_mode = mode


# RAID


@rpc_method
def set_target_raid_config(task: TaskManager, config: dict[str, object]) -> None:
    """Store the target RAID configuration once the RAID interface accepts it; an empty one clears the target."""
    raid = task.raid
    task.node.target_raid_config = config
    # An interface without RAID refuses here, whatever the target.
    raid.validate(task)
    if config:
        raid.validate_raid_config(task, config)
    task.node.save()


@rpc_method
def driver_logical_disk_properties(tasks: TaskFactory, context: RequestContext, hardware_type: str) -> dict[str, str]:
    """Return the properties of a logical disk on the default RAID interface: ``{name: description}`` (S31)."""
    driver = tasks.composition.default_driver(hardware_type)
    return (driver.raid or driver.refuse("raid")).get_logical_disk_properties()


# Interrupts and indicators


@rpc_method
def inject_nmi(task: TaskManager) -> None:
    """Send a non-maskable interrupt, which wakes a machine that hangs."""
    task.validated(task.management).inject_nmi(task)


@rpc_method
def supported_indicators(task: TaskManager) -> Lights:
    """Return the indicators by component and name, each with ``readonly`` and ``states``."""
    return task.validated(task.management).get_supported_indicators(task)


@rpc_method
def get_indicator(task: TaskManager, component: str, indicator: str) -> str:
    """Return the state of an indicator."""
    return task.validated(task.management).get_indicator_state(task, component, indicator)


@rpc_method
def set_indicator(task: TaskManager, component: str, indicator: str, state: str) -> None:
    """Set an indicator that can be written to one of its states; InvalidParameterValue otherwise."""
    management = task.validated(task.management)
    terms = management.get_supported_indicators(task, component).get(component, {}).get(indicator)
    if terms is None:
        raise _indicator_refusal(task, component, indicator, "the machine has no such indicator")
    if terms.get("readonly"):
        raise _indicator_refusal(task, component, indicator, "it can only be read")
    if state not in terms.get("states", ()):
        raise _indicator_refusal(task, component, indicator, f"its states are: {', '.join(terms.get('states', ()))}")
    management.set_indicator_state(task, component, indicator, state)


def _indicator_refusal(task: TaskManager, component: str, indicator: str, reason: str) -> InvalidParameterValue:
    return InvalidParameterValue(
        err=f"Indicator {indicator} of {component} on node {task.node.uuid} can't be set like this: {reason}."
    )


# Virtual media. The BMC fetches an image by itself: from the user's URL (source "http"), or from the web server on this
# conductor's host, where a copy is stored before (source "local").


@rpc_method
def get_virtual_media(task: TaskManager) -> list[dict[str, object]]:
    """Return the virtual drives with the image in each."""
    drives = task.validated(task.management).get_virtual_media(task)
    return [
        {**drive, "image": virtual_media_images.shown(image)} if isinstance(image := drive.get("image"), str) else drive
        for drive in drives
    ]


@rpc_method
def attach_virtual_media(task: TaskManager, device_type: str, image_url: str, source: str) -> None:
    """Start to attach an image on a worker; raises why it is refused."""
    task.validated(task.management)
    if source not in virtual_media_images.SOURCES:
        known = ", ".join(virtual_media_images.SOURCES)
        raise InvalidParameterValue(err=f"There is no image source {source}; use one of: {known}.")
    virtual_media_images.check(task.node, image_url, source)

    def attach(task: TaskManager) -> None:
        url = virtual_media_images.published(task.node, device_type, image_url, source)
        task.management.attach_virtual_media(task, device_type=device_type, image_url=url)

    background_work.begin(task, Work(f"attaching a virtual {device_type}", "virtual media", attach))


@rpc_method
def detach_virtual_media(task: TaskManager, device_types: list[str] | None) -> None:
    """Start to detach images on a worker; None means all drives."""
    task.validated(task.management)

    def detach(task: TaskManager) -> None:
        task.management.detach_virtual_media(task, device_types=device_types)
        virtual_media_images.withdraw(task.node.uuid, device_types)

    background_work.begin(task, Work("detaching virtual media", "virtual media", detach))
