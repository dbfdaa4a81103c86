"""Capabilities that an instance requests: boot mode, secure boot, partition table, boot option, root device.

They are in ``instance_info.capabilities``, as an object or as text of the form name:value,name:value. Where the
instance requests no boot mode, the node's own capabilities name it, or else [deploy]default_boot_mode.
"""

from collections.abc import Mapping
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.texts import syntax
from ironic.core.values import root_device_hints
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import Node
from ironic.drivers.nodes import node_attributes

_ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "boot_mode": frozenset({boot_devices.UEFI, boot_devices.LEGACY_BIOS}),
    "secure_boot": frozenset({"true", "false"}),
    "disk_label": frozenset({"gpt", "msdos"}),
}


def check_capabilities(node: Node, *boot_options: str) -> None:
    """Raise InvalidParameterValue for a capability with an unsupported value; these boot options are supported."""
    requested = requested_capabilities(node)
    for name, allowed in {**_ALLOWED, "boot_option": frozenset(boot_options)}.items():
        if name in requested and requested[name].lower() not in allowed:
            raise InvalidParameterValue(
                err=f"Capability {name} in instance_info of node {node.uuid} is {requested[name]!r}; with deploy "
                f"interface {node.deploy_interface} it may be: {', '.join(sorted(allowed))}."
            )
    check_secure_boot(node)
    mode = boot_mode(node)
    if mode in CONF.conductor.disallowed_deployment_boot_modes:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} would boot in mode {mode}, which [conductor]disallowed_deployment_boot_modes "
            "forbids. Request another one with capability boot_mode."
        )


def requested_capabilities(node: Node) -> dict[str, str]:
    """Return the capabilities that the instance requests, by name; raise InvalidParameterValue for malformed text."""
    given = node.instance_info.get("capabilities") or {}
    if isinstance(given, Mapping):
        return {str(name): str(value) for name, value in given.items()}
    try:
        return syntax.parse_capabilities(given)
    except ValueError as error:
        raise InvalidParameterValue(err=f"The capabilities in instance_info of node {node.uuid}: {error}.") from error


def requests_secure_boot(node: Node) -> bool:
    """Return whether the instance requests secure boot; raise InvalidParameterValue for malformed text."""
    return requested_capabilities(node).get("secure_boot", "").lower() == "true"


def check_secure_boot(node: Node) -> None:
    """Raise InvalidParameterValue for a request that is neither true nor false, or that the boot mode contradicts."""
    given = requested_capabilities(node).get("secure_boot", "false").lower()
    if given not in _ALLOWED["secure_boot"]:
        raise InvalidParameterValue(
            err=f"Capability secure_boot in instance_info of node {node.uuid} is {given[:64]!r}; it may be true or "
            "false."
        )
    mode = _named_boot_mode(node)
    if given == "true" and mode not in (None, boot_devices.UEFI):
        raise InvalidParameterValue(
            err=f"The instance of node {node.uuid} requests secure boot, which needs boot mode uefi, but its boot mode "
            f"is to be {mode}. Change capability boot_mode or secure_boot."
        )


def wanted_boot_mode(node: Node) -> str | None:
    """Return the boot mode that instance or node name; uefi with secure boot; None where it does not matter."""
    return boot_devices.UEFI if requests_secure_boot(node) else _named_boot_mode(node)


def boot_mode(node: Node) -> str:
    """Return the boot mode of the machine: uefi or bios."""
    return wanted_boot_mode(node) or str(CONF.deploy.default_boot_mode).lower()


def _named_boot_mode(node: Node) -> str | None:
    mode = requested_capabilities(node).get("boot_mode") or node_attributes.capability(node, "boot_mode")
    return str(mode).lower() if mode else None


def check_root_device(node: Node) -> None:
    """Raise InvalidParameterValue when the root device hints can't be used."""
    hints = node.instance_info.get("root_device") or node.properties.get("root_device")
    if hints and (faults := root_device_hints.faults(hints)):
        raise InvalidParameterValue(err=f"root_device of node {node.uuid}: {'; '.join(faults)}.")
