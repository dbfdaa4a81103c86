"""Kernel parameters that projects must not give: those by which the agent in a ramdisk takes its orders.

The agent reads every parameter that begins with `ipa-`, also one that a project wrote: where the API is, whether its
certificate is checked, which time server a shell is called with. A name counts in every spelling that a kernel, a boot
program or an agent may take for it: in any case, with `_` for `-`, quoted as a whole or in part, within a quoted value,
after `--`, and joined by an empty %default%.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from ironic.core.errors import InvalidParameterValue

# The keys of driver_info and instance_info with kernel parameters.
APPEND_PARAMS: Final = "kernel_append_params"
ARGUMENTS: Final = "ramdisk_kernel_arguments"
# Stands in them for the operator's parameters.
DEFAULT: Final = "%default%"

_OF_AGENT: Final = "ipa-"
_PLAIN: Final = str.maketrans({"_": "-", '"': None, "'": None, "\\": None})


def agent_parameters(text: str) -> set[str]:
    """Return the names of the agent's parameters in a text, in lower case with dashes."""
    return {name for joint in ("", " ") for name in _names(text.replace(DEFAULT, joint)) if name.startswith(_OF_AGENT)}


def _names(text: str) -> Iterator[str]:
    for word in text.translate(_PLAIN).lower().split():
        yield word.lstrip("-").partition("=")[0]


def check_project_parameters(
    where: str, before: Mapping[str, object], after: Mapping[str, object], allowed: Collection[str]
) -> None:
    """Raise InvalidParameterValue for a change of kernel parameters that names one of the agent's.

    ``before`` and ``after`` are the document ``where``; ``allowed`` are the names that projects may give nevertheless.
    """
    known = {name.lower().replace("_", "-") for name in allowed}
    for key in (APPEND_PARAMS, ARGUMENTS):
        value = after.get(key)
        if not isinstance(value, str) or value == before.get(key):
            continue
        if names := sorted(agent_parameters(value) - known):
            raise InvalidParameterValue(
                err=f"{key} in {where} must not name {', '.join(name[:64] for name in names[:5])}: parameters of the "
                "agent are for administrators, or have to be in [agent]project_kernel_parameters."
            )
