"""What an instance asks of its machine: capabilities (boot mode, secure boot, partition table, boot option), a disk.

Capabilities stand in ``instance_info.capabilities``, as an object or as text of the form name:value,name:value. Where
an instance says nothing of the boot mode, the machine's own capabilities do, and else [deploy]default_boot_mode.
"""

from collections.abc import Mapping
from typing import Final

from ironic.conf import CONF
from ironic.core import capabilities, root_device_hints
from ironic.core.errors import InvalidParameterValue
from ironic.drivers import node_facts
from ironic.drivers.task import Node

UEFI: Final = "uefi"
BIOS: Final = "bios"

_ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "boot_mode": frozenset({UEFI, BIOS}),
    "secure_boot": frozenset({"true", "false"}),
    "disk_label": frozenset({"gpt", "msdos"}),
}


def check(node: Node, *boot_options: str) -> None:
    """Raise when the instance asks for what can't be, or for another boot option than one of these."""
    asked = of(node)
    for name, allowed in {**_ALLOWED, "boot_option": frozenset(boot_options)}.items():
        if name in asked and asked[name].lower() not in allowed:
            raise InvalidParameterValue(
                err=f"Capability {name} in instance_info of node {node.uuid} is {asked[name]!r}; with deploy interface "
                f"{node.deploy_interface} it may be: {', '.join(sorted(allowed))}."
            )
    mode = boot_mode(node)
    if mode in CONF.conductor.disallowed_deployment_boot_modes:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} would boot in mode {mode}, which [conductor]disallowed_deployment_boot_modes rules "
            "out. Ask for another one with capability boot_mode."
        )


def of(node: Node) -> dict[str, str]:
    """Return the capabilities that the instance asks for."""
    asked = node.instance_info.get("capabilities") or {}
    if isinstance(asked, Mapping):
        return {str(name): str(value) for name, value in asked.items()}
    try:
        return capabilities.parse(asked)
    except ValueError as error:
        raise InvalidParameterValue(err=f"The capabilities in instance_info of node {node.uuid}: {error}.") from error


def boot_mode(node: Node) -> str:
    """Return how the machine is to start: uefi or bios."""
    asked = of(node).get("boot_mode") or node_facts.capability(node, "boot_mode") or CONF.deploy.default_boot_mode
    return str(asked).lower()


def check_root_device(node: Node) -> None:
    """Raise when the hints at the disk that the system goes to can't be used."""
    hints = node.instance_info.get("root_device") or node.properties.get("root_device")
    if hints and (faults := root_device_hints.faults(hints)):
        raise InvalidParameterValue(err=f"root_device of node {node.uuid}: {'; '.join(faults)}.")
