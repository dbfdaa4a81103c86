"""Which kernel and ramdisk a machine boots, and with which kernel command line.

For the agent's work and for rescue they come from the node's driver_info or else from options, always in pairs: a
kernel of one source is never combined with the ramdisk of another. A user's own ramdisk comes from instance_info.

The kernel command line begins with the operator's parameters, or this node's (`kernel_append_params`, in which
%default% stands for the operator's); the parameters of the ramdisk follow. An instance's own parameters apply to its
own kernel only (`kernel_append_params` and `ramdisk_kernel_arguments` in instance_info): a user must not influence the
service's ramdisks.
"""

import logging
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.missing_keys import missing_keys
from ironic.core.flows.flow import in_state
from ironic.core.projects.kernel_parameters import APPEND_PARAMS, ARGUMENTS, DEFAULT
from ironic.core.texts import boot_file_quoting, syntax
from ironic.drivers.contract.task import Node
from ironic.drivers.info_keys import DEPLOY
from ironic.drivers.nodes import instance_capabilities, node_attributes
from ironic.integrations import host_files
from ironic.integrations.hidden_faults import is_of_project
from ironic.integrations.image_cache import ALGORITHMS, Image

LOG = logging.getLogger(__name__)

INSTANCE: Final = "instance"
# No ramdisk: the machine goes on to its disk.
DISK: Final = "disk"

SCHEMES: Final = ("http", "https", "file")
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F]+")
# The group of options with the parameters for network boot.
_GROUP: Final = "pxe"


@dataclass(frozen=True, slots=True)
class Ramdisk:
    """A kernel and a ramdisk image that belong together."""

    purpose: str
    kernel: Image
    ramdisk: Image

    @property
    def files(self) -> dict[str, Image]:
        """The images by file name: the kernel first."""
        return {f"{self.purpose}_kernel": self.kernel, f"{self.purpose}_ramdisk": self.ramdisk}


def purpose_of(node: Node) -> str:
    """Return the purpose that the machine boots a ramdisk for in the node's present state: DEPLOY or RESCUE."""
    flow = in_state(node.provision_state)
    return flow.ramdisk if flow and flow.ramdisk else DEPLOY


def find_ramdisk(node: Node, purpose: str) -> Ramdisk:
    """Return the kernel and ramdisk for a purpose: of driver_info, of the options by architecture, or of the options.

    Raise MissingParameterValue when no source names both, InvalidParameterValue when a URL or checksum is wrong.
    """
    names = kernel, ramdisk = f"{purpose}_kernel", f"{purpose}_ramdisk"
    arch = node_attributes.architecture(node)
    boot_mode = instance_capabilities.boot_mode(node)
    by_arch = {
        name: node_attributes.for_architecture(CONF.conductor[f"{name}_by_arch"], arch, boot_mode) for name in names
    }
    sources: list[tuple[str, Mapping[str, object]]] = [
        ("its driver_info", node.driver_info),
        ("[conductor] options by cpu_arch", by_arch),
        ("[conductor] options", {name: CONF.conductor[name] for name in names}),
    ]
    for source, values in sources:
        found = [name for name in names if values.get(name)]
        if len(found) == len(names):
            return Ramdisk(purpose, _image(node, kernel, values), _image(node, ramdisk, values))
        if found:
            text = f"Node {node.uuid}: of kernel and ramdisk {source} names only {found[0]}. Name both or none."
            if CONF.conductor.error_on_ramdisk_config_inconsistency:
                raise InvalidParameterValue(err=text)
            LOG.warning("%s It is ignored", text)
    reason = ", or the options of the same names in [conductor]"
    raise missing_keys(node.uuid, "driver_info", names, node.driver_info, reason=reason)


def of_instance(node: Node) -> Ramdisk:
    """Return the kernel and ramdisk of the user's own ramdisk; raises as `find_ramdisk` does."""
    info = node.instance_info
    if not (info.get("kernel") and info.get("ramdisk")):
        raise missing_keys(node.uuid, "instance_info", ["kernel", "ramdisk"], info)
    return Ramdisk(INSTANCE, _image(node, "kernel", info), _image(node, "ramdisk", info))


def check_iso(node: Node, program: str) -> str:
    """Return the URL of the user's ISO image, or raise InvalidParameterValue when the boot program can't boot it."""
    if program != boot_file_quoting.IPXE:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} can't start boot_iso over the network without iPXE. Choose boot interface ipxe or "
            "http-ipxe, or give kernel and ramdisk."
        )
    url = check_url(node, "boot_iso", node.instance_info["boot_iso"])
    with _as_invalid_parameter(f"boot_iso of node {node.uuid}"):
        boot_file_quoting.address(program, url)
    return url


def check_url(node: Node, name: str, url: object, schemes: Collection[str] = SCHEMES) -> str:
    """Return the URL of an image that this host or a BMC can fetch, or raise InvalidParameterValue."""
    text = str(url)
    parts = syntax.url_of(text, schemes)
    # The URL may end up in a file that boot programs read line by line and word by word.
    if parts is None or not text.isprintable() or " " in text:
        raise InvalidParameterValue(
            err=f"{name} of node {node.uuid} must be a URL that begins with one of: {', '.join(schemes)}."
        )
    with _as_invalid_parameter(f"{name} of node {node.uuid}"):
        boot_file_quoting.check_unexpanded(text)
    if parts.scheme == "file" and (fault := host_files.path_fault(text)):
        raise InvalidParameterValue(err=f"{name} of node {node.uuid} is {fault}.")
    return text


def check_command_line(node: Node, program: str, purpose: str, group: str = _GROUP) -> None:
    """Raise InvalidParameterValue when a boot program can't express the parameters of operator, owner or user."""
    _appended_words(node, program, purpose, group)


def render_command_line(
    node: Node, program: str, purpose: str, parameters: Mapping[str, object], group: str = _GROUP
) -> str:
    """Return the kernel command line as the boot program's file contains it; a parameter without a value is a flag.

    ``group`` is the group of options with the operator's parameters.
    """
    words = _appended_words(node, program, purpose, group)
    for name, value in parameters.items():
        with _as_invalid_parameter(f"Kernel parameter {name[:64]!r} of node {node.uuid}, as {program} reads it,"):
            word = boot_file_quoting.parameter(name, value)
            boot_file_quoting.arguments(program, [word])
        words.append(word)
    with _as_invalid_parameter(f"All kernel parameters together of node {node.uuid}, as {program} reads it,"):
        return boot_file_quoting.arguments(program, words)


def _appended_words(node: Node, program: str, purpose: str, group: str) -> list[str]:
    """Return the words of `kernel_append_params`: of the user's instance, of the node, or of the option.

    Those of ``ramdisk_kernel_arguments`` are added for a user's own ramdisk.
    """
    text, field = DEFAULT, f"Option [{group}]{APPEND_PARAMS}"
    for column in ("instance_info", "driver_info") if purpose == INSTANCE else ("driver_info",):
        if (given := getattr(node, column).get(APPEND_PARAMS)) is not None:
            text, field = given, f"{APPEND_PARAMS} in {column}"
            break
    words = _words(node, program, field, text, group)
    if purpose == INSTANCE and (more := node.instance_info.get(ARGUMENTS)) is not None:
        words += _words(node, program, f"{ARGUMENTS} in instance_info", more, group)
    return words


def _words(node: Node, program: str, field: str, text: object, group: str) -> list[str]:
    with _as_invalid_parameter(f"{field} of node {node.uuid}, as {program} reads it,"):
        if not isinstance(text, str):
            raise ValueError("must be text")
        # Before %default% makes it longer.
        boot_file_quoting.check_length(text)
        words = boot_file_quoting.words(text.replace(DEFAULT, CONF[group].kernel_append_params or ""))
        boot_file_quoting.arguments(program, words)
    return words


def _image(node: Node, name: str, values: Mapping[str, object]) -> Image:
    checksum = values.get(f"{name}_checksum")
    if checksum and not (_HEXADECIMAL.fullmatch(str(checksum)) and len(str(checksum)) in ALGORITHMS):
        raise InvalidParameterValue(err=f"{name}_checksum of node {node.uuid} must be a SHA256 or SHA512 checksum.")
    # Those of the options are the operator's choice.
    by_project = values in (node.driver_info, node.instance_info) and is_of_project(node)
    return Image(check_url(node, name, values[name]), str(checksum) if checksum else None, by_project=by_project)


@contextmanager
def _as_invalid_parameter(subject: str) -> Iterator[None]:
    """Turn a ValueError, which begins with a verb, into InvalidParameterValue with its subject."""
    try:
        yield
    except ValueError as fault:
        raise InvalidParameterValue(err=f"{subject} {fault}.") from fault
