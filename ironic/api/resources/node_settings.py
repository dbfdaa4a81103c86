"""Settings of a machine that stand among its states: console, boot mode, secure boot, target RAID configuration.

Switching is begun by the conductor and shows in the states afterwards; the target RAID configuration is only noted.
"""

from ironic.api import answers, input
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.errors import Refused
from ironic.api.request import Request
from ironic.api.resources import node_references, node_serving
from ironic.api.routes import FAULT, Route
from ironic.core.errors import UnsupportedDriverExtension
from ironic.core.values import Bool, Enum

_ENABLED = (("enabled", Bool()),)
_MODE = (("target", Enum("bios", "uefi", name="boot mode")),)
_ON = (("target", Bool()),)


def show_console(request: Request, node: str) -> Answer:
    """Say whether the console is open, and if so how to reach it."""
    input.query(request.query(), {})
    facts = node_references.facts(request, node)
    info = None
    if facts.console_enabled:
        info = request.conductors.serving(facts).get_console(request.context, facts.uuid)
    # The address of a console may let in whoever knows it.
    return answers.secret({"console_enabled": facts.console_enabled, "console_info": info})


def change_console(request: Request, node: str) -> Answer:
    """Begin to open or close the console."""
    enabled = input.arguments(request.arguments(), (), _ENABLED)["enabled"]
    conductor, uuid = node_serving.conductor(request, node)
    conductor.change_console(request.context, uuid, enabled)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states/console"))


def change_boot_mode(request: Request, node: str) -> Answer:
    """Begin to change the boot mode."""
    mode = input.arguments(request.arguments(), (), _MODE)["target"]
    conductor, uuid = node_serving.conductor(request, node)
    conductor.change_boot_mode(request.context, uuid, mode)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def change_secure_boot(request: Request, node: str) -> Answer:
    """Begin to turn secure boot on or off."""
    on = input.arguments(request.arguments(), (), _ON)["target"]
    conductor, uuid = node_serving.conductor(request, node)
    conductor.change_secure_boot(request.context, uuid, on)
    return answers.accepted(request.url(f"/v1/nodes/{node}/states"))


def change_raid(request: Request, node: str) -> Answer:
    """Note which logical disks the machine is to have; the whole body is the configuration."""
    input.query(request.query(), {})
    config = input.require_object(request.json())
    conductor, uuid = node_serving.conductor(request, node)
    try:
        conductor.set_target_raid_config(request.context, uuid, config)
    except UnsupportedDriverExtension as error:
        # Without RAID there is no such thing at this path.
        raise Refused(404, str(error)) from None
    return NO_CONTENT


_STATES = "/v1/nodes/{node}/states"

ROUTES = (
    Route("GET", f"{_STATES}/console", show_console, rule="baremetal:node:get_console"),
    Route("PUT", f"{_STATES}/console", change_console, rule="baremetal:node:set_console_state"),
    Route("PUT", f"{_STATES}/boot_mode", change_boot_mode, since=76, shape=FAULT, rule="baremetal:node:set_boot_mode"),
    Route(
        "PUT",
        f"{_STATES}/secure_boot",
        change_secure_boot,
        since=76,
        shape=FAULT,
        rule="baremetal:node:set_secure_boot",
    ),
    Route(
        "PUT",
        f"{_STATES}/raid",
        change_raid,
        since=12,
        below=406,
        shape=FAULT,
        rule="baremetal:node:set_raid_state",
    ),
)
