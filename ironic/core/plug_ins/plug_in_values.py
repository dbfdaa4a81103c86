"""Values as third-party plug-ins check and change them: names, MAC addresses, ports, capabilities, hints for disks.

The functions have the names and arguments that plug-ins know, and follow the rules of this service.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from ironic.core.errors import InvalidMAC, InvalidParameterValue
from ironic.core.texts import lenient_json, syntax
from ironic.core.values import root_device_hints

_LAST_PORT: Final = 65535


def untranslated(text: str) -> str:
    """Return a text as it is: this service says everything in English."""
    return text


def is_valid_logical_name(name: object) -> bool:
    """Return whether a node may have the name."""
    return syntax.is_new_name(name)


def is_hostname_safe(name: object) -> bool:
    """Return whether a name can be the name of a host."""
    return syntax.is_host_name(name)


def is_http_url(url: object) -> bool:
    """Return whether a text is a URL of http or https."""
    return syntax.url_of(url, ("http", "https")) is not None


def normalize_mac(mac: str) -> str:
    """Return a MAC address in lower case, unchecked."""
    return mac.lower()


def validate_and_normalize_mac(mac: object) -> str:
    """Return a MAC address with colons in lower case; raise InvalidMAC for anything else."""
    if (plain := syntax.mac_of(mac)) is None:
        raise InvalidMAC(mac=mac)
    return plain


def validate_network_port(port: object, port_name: str = "Port") -> int:
    """Return a port of 1 to 65535; raise InvalidParameterValue for anything else, under the name of what it is for."""
    try:
        number = int(str(port))
    except ValueError:
        number = 0
    if not 1 <= number <= _LAST_PORT:
        raise InvalidParameterValue(err=f"{port_name} {str(port)[:80]!r} is no port: it has to be 1 to {_LAST_PORT}.")
    return number


def safe_rstrip(value: object, chars: str | None = None) -> object:
    """Return a text without these characters at its end; as it is if nothing were left, or for what is no text."""
    return (value.rstrip(chars) or value) if isinstance(value, str) else value


def get_updated_capabilities(current_capabilities: str | None, new_capabilities: Mapping[str, object]) -> str:
    """Return the text name:value,name:value with these set and the others kept; ValueError for malformed text."""
    return syntax.updated_capabilities(current_capabilities, {name: str(v) for name, v in new_capabilities.items()})


def parse_instance_info_capabilities(node: Any) -> dict[str, Any]:
    """Return instance_info.capabilities, an object or its JSON text; raise InvalidParameterValue for anything else."""
    given = node.instance_info.get("capabilities") or {}
    try:
        found = lenient_json.parse(given.encode(), mends=False) if isinstance(given, str) else given
    except ValueError:
        found = None
    if not isinstance(found, Mapping):
        raise InvalidParameterValue(err=f"The capabilities in instance_info of node {node.uuid} are no JSON object.")
    return dict(found)


def set_node_nested_field(node: Any, collection: str, field: str, value: object) -> None:
    """Set a key of a dictionary of the node, so that the next save of the node stores it."""
    setattr(node, collection, {**(getattr(node, collection) or {}), field: value})


def pop_node_nested_field(node: Any, collection: str, field: str, default: object = None) -> Any:
    """Remove a key of a dictionary of the node and return its value; the next save of the node stores that."""
    left = deepcopy(getattr(node, collection) or {})
    if field not in left:
        return default
    value = left.pop(field)
    setattr(node, collection, left)
    return value


def parse_root_device_hints(root_device: Mapping[str, object] | None) -> dict[str, object] | None:
    """Return hints with truth values for the words of them, None if there are none; ValueError for wrong ones."""
    if not root_device:
        return None
    if faults := root_device_hints.faults(root_device):
        raise ValueError(f"The root device hints can't be used: {'; '.join(faults)}.")
    flags = root_device_hints.FLAGS
    return {name: syntax.truth_of(str(value)) if name in flags else value for name, value in root_device.items()}


def find_devices_by_hints(
    devices: Sequence[Mapping[str, Any]], root_device_hints: Mapping[str, object]
) -> Iterator[Mapping[str, Any]]:
    """Yield the disks (sizes in bytes) that match all hints (sizes in GiB); ValueError for wrong hints."""
    yield from _matching(devices, root_device_hints)


def match_root_device_hints(
    devices: Sequence[Mapping[str, Any]], root_device_hints: Mapping[str, object]
) -> Mapping[str, Any] | None:
    """Return the first of the disks that match all hints, or None; ValueError for wrong hints."""
    return next(iter(_matching(devices, root_device_hints)), None)


def _matching(devices: Sequence[Mapping[str, Any]], hints: Mapping[str, object]) -> list[Mapping[str, Any]]:
    return root_device_hints.find(devices, parse_root_device_hints(hints) or {})
