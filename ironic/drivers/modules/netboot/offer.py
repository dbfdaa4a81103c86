"""Bringing everything a machine boots to where it looks for it, and taking it away again.

Both may be repeated at any time. Kernel and ramdisk come first, the files that machines find by their MAC addresses
last: a machine that starts meanwhile finds all or nothing.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core import boot_languages
from ironic.core.boot_languages import IPXE, PXELINUX
from ironic.drivers import node_facts
from ironic.drivers.modules.agent import wishes
from ironic.drivers.modules.netboot import answers, command_line, common, files, ramdisks, templates
from ironic.drivers.modules.netboot.layout import CONFIG, PROGRAMS, Layout
from ironic.drivers.modules.netboot.prepared import Prepared
from ironic.drivers.modules.netboot.variants import Variant
from ironic.drivers.task import Node
from ironic.integrations.dhcp import Host, provider
from ironic.integrations.image_cache import Image, ImageCache

_ISO = "instance_iso"
_PRIVATE = 0o600


class Offer:
    """What one node's machine is offered."""

    def __init__(self, variant: Variant, node: Node) -> None:
        self._variant, self._node = variant, node
        self._layout = Layout(variant, node.uuid)

    @property
    def is_there(self) -> bool:
        """Tell whether it lies on this host."""
        return (self._layout.folder / CONFIG).is_file()

    def make(self, prepared: Prepared) -> None:
        """Put it there."""
        node = self._node
        boot_mode = wishes.boot_mode(node)
        program = self._variant.program(boot_mode)
        common.offer(self._variant)
        text = templates.render(self._template(program), **self._values(prepared, program))
        # For the operator to look at: no machine asks for it, and a token may be in it.
        files.write(self._layout.folder / CONFIG, text, _PRIVATE)
        for mac in prepared.cards.values():
            files.write(self._layout.by_mac(program, mac), text)
        self._remove_by_mac(prepared.cards.values(), (other for other in PROGRAMS if other != program))
        options = answers.options(self._variant, boot_mode, node_facts.architecture(node))
        provider().serve(_hosts(prepared), options)

    def withdraw(self, prepared: Prepared | None) -> None:
        """Take it away, wherever it was put."""
        if prepared is not None:
            provider().withdraw(_hosts(prepared))
            self._remove_by_mac(prepared.cards.values(), PROGRAMS)
        files.remove_folder(self._layout.folder)

    def _remove_by_mac(self, macs: Iterable[str], programs: Iterable[str]) -> None:
        """Remove files by MAC address that are this node's; a network card may be in another machine now."""
        names = list(programs)
        for path in (self._layout.by_mac(program, mac) for mac in macs for program in names):
            if path.is_file() and self._node.uuid in path.read_text():
                files.remove(path)

    # What the file says

    def _template(self, program: str) -> str:
        options = CONF.pxe
        if program == IPXE:
            return str(options.ipxe_config_template)
        default = options.pxe_config_template if program == PXELINUX else options.uefi_pxe_config_template
        return str(options.pxe_config_template_by_arch.get(node_facts.architecture(self._node), default))

    def _values(self, prepared: Prepared, program: str) -> dict[str, object]:
        """Return what a template may use; the images are brought in place on the way."""
        values: dict[str, Any] = {
            "node_uuid": self._node.uuid,
            "purpose": prepared.purpose,
            "program": program,
            "timeout_ms": CONF.pxe.ipxe_timeout * 1000,
            "arguments": command_line.render(self._node, program, prepared.purpose, prepared.secret_parameters),
            "kernel": None,
            "ramdisk": None,
            "ramdisk_name": None,
            "iso": None,
        }
        if prepared.purpose == ramdisks.INSTANCE and self._node.instance_info.get("boot_iso"):
            return values | {"iso": self._iso(program)}
        found = self._ramdisk(prepared.purpose)
        for name, image in found.files.items():
            self._bring(image, self._layout.folder / name)
        kernel, ramdisk = found.files
        return values | {
            "kernel": self._layout.address(kernel, program),
            "ramdisk": self._layout.address(ramdisk, program),
            "ramdisk_name": ramdisk,
        }

    def _ramdisk(self, purpose: str) -> ramdisks.Ramdisk:
        if purpose == ramdisks.INSTANCE:
            return ramdisks.of_instance(self._node)
        return ramdisks.find(self._node, purpose)

    def _iso(self, program: str) -> str:
        """Return where iPXE finds the user's ISO image; one in a file is offered from here."""
        url = ramdisks.check_iso(self._node, program)
        if urlsplit(url).scheme != "file":
            return boot_languages.address(program, url)
        self._bring(Image(url), self._layout.folder / _ISO)
        return self._layout.address(_ISO, program)

    def _bring(self, image: Image, target: Path) -> None:
        files.make_folder(target.parent)
        ImageCache.from_conf(CONF.pxe.tftp_master_path).provide(image, target, CONF.pxe.file_permission)


def _hosts(prepared: Prepared) -> list[Host]:
    return [Host(port, mac) for port, mac in prepared.cards.items()]
