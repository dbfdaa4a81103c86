"""Which kernel and ramdisk a machine boots, and for what.

For the agent's work and for rescuing they are named by the node's driver_info or else by options, in pairs: a kernel of
one source is never put together with the ramdisk of another. A user's own ramdisk stands in instance_info.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from ironic.conf import CONF
from ironic.core import boot_languages, syntax
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.flow import in_state
from ironic.drivers import node_facts
from ironic.drivers.task import Node
from ironic.integrations import local_files
from ironic.integrations.image_cache import ALGORITHMS, Image

LOG = logging.getLogger(__name__)

DEPLOY: Final = "deploy"
RESCUE: Final = "rescue"
INSTANCE: Final = "instance"

PROPERTIES: Final = {
    f"{purpose}_{part}{suffix}": f"{about} of the {part} that the machine boots for {work}.{rule}"
    for purpose, work in ((DEPLOY, "inspecting, cleaning, deploying and servicing"), (RESCUE, "rescuing"))
    for part in ("kernel", "ramdisk")
    for suffix, about, rule in (
        ("", "URL (http, https, file)", f" Required, unless option [conductor]{purpose}_{part} is set."),
        ("_checksum", "SHA256 or SHA512 checksum", " Optional."),
    )
}

_SCHEMES: Final = ("http", "https", "file")
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F]+")


@dataclass(frozen=True, slots=True)
class Ramdisk:
    """A kernel and a ramdisk image that belong together."""

    purpose: str
    kernel: Image
    ramdisk: Image

    @property
    def files(self) -> dict[str, Image]:
        """The images by the names of their files."""
        return {f"{self.purpose}_kernel": self.kernel, f"{self.purpose}_ramdisk": self.ramdisk}


def purpose_of(node: Node) -> str:
    """Return what the machine boots a ramdisk for now."""
    flow = in_state(node.provision_state)
    return flow.ramdisk if flow and flow.ramdisk else DEPLOY


def find(node: Node, purpose: str) -> Ramdisk:
    """Return what the node boots, or raise what is wrong with what it names."""
    for kernel, ramdisk in _candidates(node, purpose):
        return Ramdisk(purpose, kernel, ramdisk)
    raise MissingParameterValue(
        err=f"Node {node.uuid} needs {purpose}_kernel and {purpose}_ramdisk in its driver_info, or the options of the "
        "same names in [conductor]."
    )


def of_instance(node: Node) -> Ramdisk:
    """Return the ramdisk that a user wants the machine to run."""
    info = node.instance_info
    if not (info.get("kernel") and info.get("ramdisk")):
        raise MissingParameterValue(err=f"Node {node.uuid} needs kernel and ramdisk in its instance_info.")
    return Ramdisk(INSTANCE, _image(node, "kernel", info), _image(node, "ramdisk", info))


def check_iso(node: Node, program: str) -> str:
    """Return the URL of the ISO image that a user wants to start, if the boot program can start it."""
    if program != boot_languages.IPXE:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} can't start boot_iso over the network without iPXE. Choose boot interface ipxe or "
            "http-ipxe, or give kernel and ramdisk."
        )
    url = check_url(node, "boot_iso", node.instance_info["boot_iso"])
    with _refusals(node, "boot_iso"):
        boot_languages.address(program, url)
    return url


def check_url(node: Node, name: str, url: object) -> str:
    """Return the URL of an image if it is one that can be fetched from here, or raise InvalidParameterValue."""
    text = str(url)
    parts = syntax.url_of(text, _SCHEMES)
    # It may end up in a file that boot programs read line by line and word by word.
    if parts is None or not text.isprintable() or " " in text:
        raise InvalidParameterValue(
            err=f"{name} of node {node.uuid} must be a URL that begins with one of: {', '.join(_SCHEMES)}."
        )
    with _refusals(node, name):
        boot_languages.check_unexpanded(text)
    if parts.scheme == "file" and (fault := local_files.fault_of(text)):
        raise InvalidParameterValue(err=f"{name} of node {node.uuid} is {fault}.")
    return text


@contextmanager
def _refusals(node: Node, name: str) -> Iterator[None]:
    """Have a refusal say which URL of which node it is about."""
    try:
        yield
    except ValueError as fault:
        raise InvalidParameterValue(err=f"{name} of node {node.uuid} {fault}.") from fault


def _candidates(node: Node, purpose: str) -> Iterator[tuple[Image, Image]]:
    """Return the pairs that are named, best first."""
    names = kernel, ramdisk = f"{purpose}_kernel", f"{purpose}_ramdisk"
    for source, named in _sources(node, names):
        found = [name for name in names if named.get(name)]
        if len(found) == len(names):
            yield _image(node, kernel, named), _image(node, ramdisk, named)
        elif found:
            _is_half(node, source, found[0])


def _sources(node: Node, names: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, object]]]:
    yield "its driver_info", node.driver_info
    arch = node_facts.architecture(node)
    yield "[conductor] options by cpu_arch", {name: CONF.conductor[f"{name}_by_arch"].get(arch) for name in names}
    yield "[conductor] options", {name: CONF.conductor[name] for name in names}


def _is_half(node: Node, source: str, name: str) -> None:
    text = f"Node {node.uuid}: of kernel and ramdisk {source} names only {name}. Name both or none."
    if CONF.conductor.error_on_ramdisk_config_inconsistency:
        raise InvalidParameterValue(err=text)
    LOG.warning("%s It is passed over", text)


def _image(node: Node, name: str, named: Mapping[str, object]) -> Image:
    checksum = named.get(f"{name}_checksum")
    if checksum and not (_HEXADECIMAL.fullmatch(str(checksum)) and len(str(checksum)) in ALGORITHMS):
        raise InvalidParameterValue(err=f"{name}_checksum of node {node.uuid} must be a SHA256 or SHA512 checksum.")
    return Image(check_url(node, name, named[name]), str(checksum) if checksum else None)
