"""The boot files and DHCP options of one node: written before its machine boots, removed afterwards.

Kernel and ramdisk are written first, the files that boot programs find by MAC address last: a machine that starts in
between finds everything or nothing. Writing and removing may be repeated at any time.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core.texts import boot_file_quoting
from ironic.core.texts.boot_file_quoting import IPXE, PXELINUX
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.netboot import boot_variants, kernel_and_ramdisk, shared_boot_files
from ironic.drivers.modules.netboot.boot_variants import CONFIG, PROGRAMS, Layout, Variant
from ironic.drivers.modules.netboot.prepared_boot import PreparedBoot
from ironic.drivers.nodes import instance_capabilities, node_attributes
from ironic.integrations import boot_templates, web_root
from ironic.integrations.dhcp import BOOT_PROGRAM, Host, Option, task_provider
from ironic.integrations.dhcp.dhcp_provider import NEXT_SERVER, TFTP_SERVER, VENDOR_CLASS
from ironic.integrations.hidden_faults import is_of_project
from ironic.integrations.image_cache import Image, ImageCache

_HTTP_CLIENT = "HTTPClient"
_ISO = "instance_iso"
_PRIVATE = 0o600
# A template that an operator wrote for upstream begins with its section for deployment, and has one for what an
# instance boots, an ISO image or a kernel and a ramdisk, and one that goes on to the disk.
_FIRST_SECTION = re.compile(r"^goto[ \t]+deploy[ \t]*$", re.MULTILINE)
_SECTIONS = {kernel_and_ramdisk.INSTANCE: "boot_ramdisk", kernel_and_ramdisk.DISK: "boot_whole_disk"}
# What such a template writes where upstream puts the disk of a partition image in later.
_ROOT = "{{ ROOT }}"


class BootFiles:
    """The boot files of one node on this host, for one variant of network boot."""

    def __init__(self, variant: Variant, node: Node) -> None:
        self._variant, self._node = variant, node
        self._layout = Layout(variant, node.uuid)

    def exist(self) -> bool:
        """Return whether the node's boot files are on this host."""
        return (self._layout.folder / CONFIG).is_file()

    def write(self, prepared: PreparedBoot, task: Task) -> None:
        """Write the node's boot files, then pass its DHCP options to the DHCP provider.

        Raise InvalidParameterValue for a template or node setting that can't be used, BootImageFailed for an image that
        can't be provided, DhcpError when the DHCP provider fails.
        """
        node = self._node
        boot_mode = instance_capabilities.boot_mode(node)
        program = self._variant.program(boot_mode)
        shared_boot_files.write_shared_files(self._variant)
        values = self._template_values(prepared, program)
        values |= {"pxe_options": _older_variables(values), "ROOT": _ROOT, "enumerate": enumerate}
        text = boot_templates.render(self._template(program), **values)
        section = _SECTIONS.get(prepared.purpose)
        if section and any(line.rstrip(" \t") == f":{section}" for line in text.split("\n")):
            text = _FIRST_SECTION.sub(f"goto {section}", text, count=1)
        # A copy for the operator; no machine requests it. It may contain a token.
        shared_boot_files.write_file(self._layout.folder / CONFIG, text, _PRIVATE)
        for port, mac in prepared.cards.items():
            path = self._layout.by_mac(program, mac, infiniband=port in prepared.infiniband)
            shared_boot_files.write_file(path, text)
        self._remove_by_mac(prepared.cards.values(), (other for other in PROGRAMS if other != program))
        options = dhcp_options(self._variant, boot_mode, node_attributes.architecture(node))
        task_provider.serve(task, _hosts(prepared), options)

    def remove(self, prepared: PreparedBoot | None, task: Task) -> None:
        """Remove the node's boot files from this host and its options from the DHCP provider."""
        if prepared is not None:
            task_provider.withdraw(task, _hosts(prepared))
            self._remove_by_mac(prepared.cards.values(), PROGRAMS)
        shared_boot_files.remove_folder(self._layout.folder)

    def _remove_by_mac(self, macs: Iterable[str], programs: Iterable[str]) -> None:
        """Remove those files by MAC address that belong to this node; a network card may be in another machine now."""
        names = [(program, kind) for program in programs for kind in (False, True)]
        for path in {self._layout.by_mac(name, mac, infiniband=kind) for mac in macs for name, kind in names}:
            if path.is_file() and self._node.uuid in path.read_text():
                shared_boot_files.remove_file(path)

    def _template(self, program: str) -> str:
        """Return the path of the template for the boot program and the node's architecture."""
        if program == IPXE:
            return str(CONF.pxe.ipxe_config_template)
        default = CONF.pxe.pxe_config_template if program == PXELINUX else CONF.pxe.uefi_pxe_config_template
        arch, boot_mode = node_attributes.architecture(self._node), instance_capabilities.boot_mode(self._node)
        by_arch = CONF.pxe.pxe_config_template_by_arch
        return str(node_attributes.for_architecture(by_arch, arch, boot_mode) or default)

    def _template_values(self, prepared: PreparedBoot, program: str) -> dict[str, object]:
        """Return the variables of a template; the images that they name are provided first."""
        node, purpose = self._node, prepared.purpose
        values: dict[str, Any] = {
            "node_uuid": node.uuid,
            "purpose": purpose,
            "program": program,
            "timeout_ms": CONF.pxe.ipxe_timeout * 1000,
            "arguments": "",
            "kernel": None,
            "ramdisk": None,
            "ramdisk_name": None,
            "iso": None,
        }
        if purpose == kernel_and_ramdisk.DISK:
            return values
        parameters = prepared.secret_parameters
        values["arguments"] = kernel_and_ramdisk.render_command_line(node, program, purpose, parameters)
        if purpose == kernel_and_ramdisk.INSTANCE and node.instance_info.get("boot_iso"):
            url = kernel_and_ramdisk.check_iso(node, program)
            if urlsplit(url).scheme != "file":
                return values | {"iso": boot_file_quoting.address(program, url)}
            self._provide(_ISO, Image(url, by_project=is_of_project(node)))
            return values | {"iso": self._layout.address(_ISO, program)}
        if purpose == kernel_and_ramdisk.INSTANCE:
            found = kernel_and_ramdisk.of_instance(node)
        else:
            found = kernel_and_ramdisk.find_ramdisk(node, purpose)
        for name, image in found.files.items():
            self._provide(name, image)
        kernel, ramdisk = found.files
        return values | {
            "kernel": self._layout.address(kernel, program),
            "ramdisk": self._layout.address(ramdisk, program),
            "ramdisk_name": ramdisk,
        }

    def _provide(self, name: str, image: Image) -> None:
        """Link the image from the cache into the node's directory; download it first where the cache lacks it."""
        shared_boot_files.make_folder(self._layout.folder)
        cache = ImageCache.from_conf(CONF.pxe.tftp_master_path)
        cache.provide(image, self._layout.folder / name, CONF.pxe.file_permission)


def _older_variables(values: Mapping[str, object]) -> boot_templates.OptionalVariables:
    """Return `pxe_options`, by which templates that operators wrote for upstream name the same values.

    Such a template has a section per purpose, and not all have the one for instances, so the kernel and the ramdisk of
    the present purpose are in each. It asks for values of other ways to boot, which are empty here.
    """
    found = {
        **dict.fromkeys(("deployment_aki_path", "aki_path"), values["kernel"]),
        **dict.fromkeys(("deployment_ari_path", "ari_path"), values["ramdisk"]),
        "initrd_filename": values["ramdisk_name"],
        "pxe_append_params": values["arguments"],
        "ipxe_timeout": values["timeout_ms"],
        "boot_iso_url": values["iso"],
        "tftp_server": CONF.pxe.tftp_server,
    }
    return boot_templates.OptionalVariables((name, value) for name, value in found.items() if value is not None)


def dhcp_options(variant: Variant, boot_mode: str, arch: str | None) -> list[Option]:
    """Return the DHCP options for a machine's network cards."""
    name = boot_program_of(variant, boot_mode, arch)
    # With iPXE there are two boot programs: the firmware fetches iPXE, and iPXE fetches its script.
    to_firmware = False if variant.ipxe else None
    if variant.http:
        options = [
            Option(VENDOR_CLASS, _HTTP_CLIENT, to_firmware),
            Option(BOOT_PROGRAM, f"{web_root.url()}/{name}", to_firmware),
        ]
    else:
        options = [
            Option(NEXT_SERVER, CONF.pxe.tftp_server),
            Option(TFTP_SERVER, CONF.pxe.tftp_server),
            Option(BOOT_PROGRAM, name, to_firmware),
        ]
    if variant.ipxe:
        options.append(Option(BOOT_PROGRAM, f"{web_root.url()}/{boot_variants.BOOT_SCRIPT}", True))
    return options


def boot_program_of(variant: Variant, boot_mode: str, arch: str | None) -> str:
    """Return the file name of the boot program that the firmware fetches."""
    stem = "ipxe_bootfile_name" if variant.ipxe else "pxe_bootfile_name"
    default = CONF.pxe[f"uefi_{stem}" if boot_mode == boot_devices.UEFI else stem]
    return str(node_attributes.for_architecture(CONF.pxe[f"{stem}_by_arch"], arch, boot_mode) or default)


def _hosts(prepared: PreparedBoot) -> list[Host]:
    return [Host(port, mac) for port, mac in prepared.cards.items()]
