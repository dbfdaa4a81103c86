"""Attributes of a node that drivers read: MAC addresses, capabilities, architecture, persistent boot device."""

from collections.abc import Mapping
from typing import Any, Final

from ironic.core.errors import InvalidParameterValue
from ironic.core.memory import own_values
from ironic.core.texts import syntax
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.info_keys import FORCE_PERSISTENT


def mac_addresses(task: Task) -> list[str]:
    """Return the MAC addresses of the node's ports."""
    return [port.address for port in task.ports]


def capability(node: Node, name: str) -> str | None:
    """Return one capability of a node, or None; raise InvalidParameterValue for malformed capabilities."""
    return _capabilities(node).get(name)


def architecture(node: Node) -> str | None:
    """Return the CPU architecture of a node, or None when it is unknown."""
    arch = node.properties.get("cpu_arch")
    return arch if isinstance(arch, str) else None


def for_architecture(by_arch: Mapping[str, str], arch: str | None, boot_mode: str) -> str | None:
    """Return the value of an option by architecture: of the key ``arch-boot_mode``, such as x86_64-uefi, or ``arch``.

    None stands for no such key. Keys are written in any case.
    """
    if arch is None:
        return None
    keys = {key.strip().lower(): value for key, value in by_arch.items()}
    return keys.get(f"{arch}-{boot_mode}".lower(), keys.get(arch.lower()))


def add_capability(task: Task, name: str, value: object) -> None:
    """Set one capability of the node, keep the others, and save the node."""
    task.node.properties["capabilities"] = with_capability(task.node, name, value)
    task.node.save()


def remove_capability(task: Task, name: str) -> None:
    """Remove one capability of the node, keep the others, and save the node if it had it."""
    left = _capabilities(task.node)
    if left.pop(name, None) is not None:
        task.node.properties["capabilities"] = syntax.format_capabilities(left)
        task.node.save()


def with_capability(node: Node, name: str, value: object) -> str:
    """Return the capabilities of the node, one of them with this value."""
    return syntax.format_capabilities({**_capabilities(node), name: str(value)})


def lend_capability(node: Node, name: str, value: str) -> None:
    """Set one capability of the node until `own_values.take_back`; the caller saves the node."""
    _capabilities(node)
    own_values.write_capability(node, "properties", name, value)


def _capabilities(node: Node) -> dict[str, str]:
    try:
        return syntax.parse_capabilities(node.properties.get("capabilities"))
    except ValueError as error:
        raise InvalidParameterValue(err=f"The capabilities of node {node.uuid} can't be read: {error}.") from None


_FORCE_WORDS: Final = {"default": None, "always": True, "never": False}


def is_boot_device_persistent(node: Node, *, default: bool) -> bool:
    """Return whether boot devices are set persistently: as the node's driver_info requires, or else the default.

    Raise InvalidParameterValue for any other value in driver_info.
    """
    given: Any = node.driver_info.get(FORCE_PERSISTENT)
    if given is None or str(given).lower() in _FORCE_WORDS:
        forced = _FORCE_WORDS.get(str(given).lower())
        return default if forced is None else forced
    if (forced := syntax.truth_of(str(given))) is None:
        raise InvalidParameterValue(
            err=f"{FORCE_PERSISTENT} of node {node.uuid} must be Default, Always, Never, true or false."
        )
    return forced
