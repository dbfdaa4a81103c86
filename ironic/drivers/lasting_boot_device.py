"""Whether a boot device is set for good or for one boot, as far as a node's driver_info says so."""

from typing import Any, Final

from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.task import Node

NAME: Final = "force_persistent_boot_device"

PROPERTIES: Final = {
    NAME: "Whether boot devices are set for good: Always, Never, or Default (the network for one boot, the disk for "
    "good). true means Always, false means Never.",
}

_WORDS: Final = {"default": None, "always": True, "never": False}


def is_persistent(node: Node, *, default: bool) -> bool:
    """Return what the node says, or the default; InvalidParameterValue when it says something that can't be."""
    said: Any = node.driver_info.get(NAME)
    if said is None or str(said).lower() in _WORDS:
        forced = _WORDS.get(str(said).lower())
        return default if forced is None else forced
    if (meant := syntax.truth_of(str(said))) is None:
        raise InvalidParameterValue(err=f"{NAME} of node {node.uuid} must be Default, Always, Never, true or false.")
    return meant
