"""The kernel command line of what a machine boots.

First what the operator wants of every kernel, or of this node's (`kernel_append_params`, in which %default% stands for
the former), then what the ramdisk must know. It ends up in files that boot programs read line by line, so it is one
line, whatever a node says.
"""

from collections.abc import Mapping
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.task import Node

PROPERTIES: Final = {
    "kernel_append_params": "Kernel parameters in place of option [pxe]kernel_append_params; %default% stands for "
    "those of the option.",
}

_NAME: Final = "kernel_append_params"
_DEFAULT: Final = "%default%"


def check(node: Node) -> None:
    """Raise when the node's own parameters can't stand on a command line."""
    _own(node)


def render(node: Node, parameters: Mapping[str, Any]) -> str:
    """Return the command line; a parameter without a value is a flag."""
    words = (_word(node, name, value) for name, value in parameters.items())
    return " ".join(filter(None, (_own(node), *words)))


def _own(node: Node) -> str:
    default = CONF.pxe.kernel_append_params or ""
    for source in (node.instance_info, node.driver_info):
        if source.get(_NAME) is not None:
            return _checked(node, str(source[_NAME]).replace(_DEFAULT, default).strip())
    return default


def _word(node: Node, name: str, value: Any) -> str:
    if value is None:
        return _checked(node, name)
    text = str(value)
    return _checked(node, f'{name}="{text}"' if " " in text else f"{name}={text}")


def _checked(node: Node, text: str) -> str:
    if not text.isprintable():
        raise InvalidParameterValue(err=f"Kernel parameters of node {node.uuid} must be one line of printable text.")
    return text
