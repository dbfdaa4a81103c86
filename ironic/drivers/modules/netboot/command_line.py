"""The kernel command line of what a machine boots.

First what the operator wants of every kernel, or of this node's (`kernel_append_params`, in which %default% stands for
the former), then what the ramdisk must know. An instance's own parameters go to its own kernel only: a user must not
have a say in what the service's ramdisks do.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from ironic.conf import CONF
from ironic.core import boot_languages
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.netboot import ramdisks
from ironic.drivers.task import Node

PROPERTIES: Final = {
    "kernel_append_params": "Kernel parameters in place of option [pxe]kernel_append_params; %default% stands for "
    "those of the option.",
}

_NAME: Final = "kernel_append_params"
_DEFAULT: Final = "%default%"


def check(node: Node, program: str, purpose: str) -> None:
    """Raise when the parameters that operator, owner or user want can't be written for a boot program."""
    _wanted(node, program, purpose)


def render(node: Node, program: str, purpose: str, parameters: Mapping[str, object]) -> str:
    """Return the command line as a boot program's file has it; a parameter without a value is a flag."""
    words = _wanted(node, program, purpose) + [_word(node, program, *item) for item in parameters.items()]
    with _refusals(node, "All kernel parameters together", program):
        return boot_languages.arguments(program, words)


def _wanted(node: Node, program: str, purpose: str) -> list[str]:
    field, text = _source(node, purpose)
    with _refusals(node, field, program):
        if not isinstance(text, str):
            raise ValueError("must be text")
        # Before %default% makes it longer.
        boot_languages.check_length(text)
        words = boot_languages.words(text.replace(_DEFAULT, CONF.pxe.kernel_append_params or ""))
        boot_languages.arguments(program, words)
    return words


def _source(node: Node, purpose: str) -> tuple[str, object]:
    """Return where the parameters stand that are wanted, and these."""
    for place in ("instance_info", "driver_info") if purpose == ramdisks.INSTANCE else ("driver_info",):
        text = getattr(node, place).get(_NAME)
        if text is not None:
            return f"{_NAME} in {place}", text
    return f"Option [pxe]{_NAME}", _DEFAULT


def _word(node: Node, program: str, name: str, value: object) -> str:
    with _refusals(node, f"Kernel parameter {name[:64]!r}", program):
        word = boot_languages.parameter(name, value)
        boot_languages.arguments(program, [word])
    return word


@contextmanager
def _refusals(node: Node, field: str, program: str) -> Iterator[None]:
    """Have a refusal say whose value of which field can't be written for which boot program."""
    try:
        yield
    except ValueError as fault:
        raise InvalidParameterValue(err=f"{field} of node {node.uuid}, as {program} reads it, {fault}.") from fault
