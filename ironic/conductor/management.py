"""What is done with a machine besides power and provisioning: boot, RAID, lights, interrupts, virtual media.

What a machine does at once is done while the user waits. What takes longer is begun, and goes on in the background.
Consoles are in `consoles`, virtual network interfaces in `ports`. Source: doc/contract/states.md#permissions.
"""

from ironic.conductor import background
from ironic.conductor.answering import answers
from ironic.conductor.background import Work
from ironic.conductor.task import Task
from ironic.conductor.tasks import Tasks
from ironic.core import node_rules
from ironic.core.context import RequestContext
from ironic.core.errors import InvalidParameterValue, UnsupportedDriverExtension
from ironic.core.machine_documents import BootDevice, Lights
from ironic.integrations import media_images

# Boot device


@answers
def set_boot_device(task: Task, device: str, persistent: bool = False) -> None:
    """Have the machine boot from a device, once or from now on."""
    task.validated(task.management).set_boot_device(task, device=device, persistent=persistent)


@answers
def get_boot_device(task: Task) -> BootDevice:
    """Return ``{"boot_device": ..., "persistent": ...}`` as the machine reports it."""
    return task.validated(task.management).get_boot_device(task)


@answers
def supported_boot_devices(task: Task) -> list[str]:
    """Return what the machine can be told to boot from."""
    return list(task.validated(task.management).get_supported_boot_devices(task))


# Boot mode and secure boot


@answers
def change_boot_mode(task: Task, mode: str) -> None:
    """Begin to set the boot mode, or refuse it."""
    node_rules.check_idle(task.node, "change the boot mode")
    task.validated(task.management)
    background.begin(task, Work(f"setting boot mode '{mode}'", "boot mode", set_boot_mode), mode)


@answers
def change_secure_boot(task: Task, on: bool) -> None:
    """Begin to turn secure boot on or off, or refuse it."""
    node_rules.check_idle(task.node, "change secure boot")
    task.validated(task.management)
    what = "turning secure boot on" if on else "turning secure boot off"
    background.begin(task, Work(what, "secure boot", _set_secure_boot), on)


def boot_mode(task: Task) -> str | None:
    """Return the boot mode as the machine reports it, None when it does not tell."""
    try:
        return task.management.get_boot_mode(task)
    except UnsupportedDriverExtension:
        return None


def set_boot_mode(task: Task, mode: str) -> None:
    """Set the boot mode, now; the caller saves the node."""
    task.management.set_boot_mode(task, mode=mode)
    task.node.boot_mode = mode


def _set_secure_boot(task: Task, on: bool) -> None:
    task.management.set_secure_boot_state(task, state=on)
    task.node.secure_boot = on


# RAID


@answers
def set_target_raid_config(task: Task, config: dict[str, object]) -> None:
    """Make a configuration the node's target once its RAID interface takes it; an empty one is no target."""
    raid = task.raid
    task.node.target_raid_config = config
    # An interface that has no RAID says so here, whatever the target.
    raid.validate(task)
    if config:
        raid.validate_raid_config(task, config)
    task.node.save()


@answers
def driver_logical_disk_properties(tasks: Tasks, context: RequestContext, hardware_type: str) -> dict[str, str]:
    """Return what can be said about a logical disk of nodes that chose no RAID interface of their own (S31)."""
    driver = tasks.composition.default_driver(hardware_type)
    return (driver.raid or driver.refuse("raid")).get_logical_disk_properties()


# Interrupts and lights


@answers
def inject_nmi(task: Task) -> None:
    """Send a non-maskable interrupt, which wakes a machine that hangs."""
    task.validated(task.management).inject_nmi(task)


@answers
def supported_indicators(task: Task) -> Lights:
    """Return the lights by component and name, each with ``readonly`` and ``states``."""
    return task.validated(task.management).get_supported_indicators(task)


@answers
def get_indicator(task: Task, component: str, indicator: str) -> str:
    """Return what a light shows."""
    return task.validated(task.management).get_indicator_state(task, component, indicator)


@answers
def set_indicator(task: Task, component: str, indicator: str, state: str) -> None:
    """Switch a light that can be switched, to something it can show."""
    management = task.validated(task.management)
    terms = management.get_supported_indicators(task, component).get(component, {}).get(indicator)
    if terms is None:
        raise _not_switched(task, component, indicator, "the machine has no such light")
    if terms.get("readonly"):
        raise _not_switched(task, component, indicator, "it can only be read")
    if state not in terms.get("states", ()):
        raise _not_switched(task, component, indicator, f"it can show only: {', '.join(terms.get('states', ()))}")
    management.set_indicator_state(task, component, indicator, state)


def _not_switched(task: Task, component: str, indicator: str, reason: str) -> InvalidParameterValue:
    return InvalidParameterValue(
        err=f"Light {indicator} of {component} on node {task.node.uuid} can't be switched so: {reason}."
    )


# Virtual media. The BMC fetches an image by itself: from where the user named it (source "http"), or from the web
# server beside this conductor, where a copy is put before (source "local").


@answers
def get_virtual_media(task: Task) -> list[dict[str, object]]:
    """Return what is in the virtual drives."""
    return task.validated(task.management).get_virtual_media(task)


@answers
def attach_virtual_media(task: Task, device_type: str, image_url: str, source: str) -> None:
    """Begin to put an image into a drive, or refuse it."""
    task.validated(task.management)
    if source not in media_images.SOURCES:
        known = ", ".join(media_images.SOURCES)
        raise InvalidParameterValue(err=f"Images of source {source} can't be handed to BMCs here; use one of: {known}.")
    media_images.check(image_url, source)
    work = Work(f"attaching a virtual {device_type}", "virtual media", _attach)
    background.begin(task, work, device_type, image_url, source)


@answers
def detach_virtual_media(task: Task, device_types: list[str] | None) -> None:
    """Begin to empty drives; None means all."""
    task.validated(task.management)
    background.begin(task, Work("detaching virtual media", "virtual media", _detach), device_types)


def _attach(task: Task, device_type: str, image_url: str, source: str) -> None:
    url = media_images.offered(task.node.uuid, device_type, image_url, source)
    task.management.attach_virtual_media(task, device_type=device_type, image_url=url)


def _detach(task: Task, device_types: list[str] | None) -> None:
    task.management.detach_virtual_media(task, device_types=device_types)
    media_images.withdraw(task.node.uuid, device_types)
