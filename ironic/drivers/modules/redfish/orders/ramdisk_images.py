"""The images that a machine boots from virtual media, published where its BMC finds them.

A ramdisk is booted from an ISO image made of kernel and ramdisk for this one boot: it has the node's kernel parameters,
its token and its network data. A ready ISO image is published as it is, and nothing can be passed to it. A node has
one image of each kind. What is published is stored on the node first, so that what a killed conductor has left can be
distinguished from what is in use.
"""

import logging
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from ironic.conf import CONF
from ironic.core.addresses.own_host import names_file
from ironic.core.errors import InvalidParameterValue, NodeNotFound
from ironic.core.errors.hardware_errors import ImageCreationFailed
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.texts import boot_file_quoting
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import Node
from ironic.drivers.modules.netboot import kernel_and_ramdisk
from ironic.drivers.nodes import instance_capabilities, node_attributes
from ironic.integrations import boot_iso, fat_image, own_directories, virtual_media_images
from ironic.integrations.boot_iso import BootIso, BootPrograms
from ironic.integrations.hidden_faults import is_of_project
from ironic.integrations.image_cache import Image, ImageCache, directory_of
from ironic.integrations.image_places import SHARE_SCHEMES, Place

if TYPE_CHECKING:
    from ironic.db import Store

LOG = logging.getLogger(__name__)

# Kinds of images.
BOOT: Final = "boot"
SETTINGS: Final = "settings"
CONFIG_DRIVE: Final = "configdrive"
_KINDS: Final = (BOOT, SETTINGS, CONFIG_DRIVE)

# "secret" keeps it out of the API: who knows a name can download it.
_PUBLISHED: Final = InternalKey(
    "secret_virtual_media_files", dict[str, str], "The images that are published for its virtual media, by kind."
)
# For the case that they have to be published again; it has the agent's token.
BOOTED: Final = InternalKey("secret_virtual_media_boot", dict[str, Any], "What the machine boots from these images.")
# Images that are built at a time: each takes the disk's time.
_MOST_BUILDS: Final = 4
_SETTINGS_LABEL: Final = "ir-vfd-dev"
_SETTINGS_FILE: Final = "parameters.txt"
_NETWORK_DATA: Final = "openstack/latest/network_data.json"
_GROUP: Final = "redfish"
# Names of ready images that users give, and of where BMCs download them.
INSTANCE_ISO: Final = "boot_iso"
_SOURCE: Final = "ramdisk_image_download_source"
_ON_SHARES: Final = tuple(f"{scheme}:" for scheme in SHARE_SCHEMES)
_DEFAULT_ARCH: Final = "x86_64"
_EFI_NAMES: Final = {"x86_64": "BOOTX64.EFI", "aarch64": "BOOTAA64.EFI"}

_builds = threading.BoundedSemaphore(_MOST_BUILDS)


@dataclass(frozen=True, slots=True)
class Passed:
    """What a ramdisk is passed: kernel parameters, network configuration and further files, by path on the CD."""

    parameters: Mapping[str, object]
    network_data: Mapping[str, object]
    files: Mapping[str, bytes]


def check_programs(node: Node) -> None:
    """Raise InvalidParameterValue when this host lacks what boots an ISO image in the boot mode of the node.

    Templates of both boot modes are checked, as an image has the files of both.
    """
    boot_iso.check_templates(CONF.grub_config_template, CONF.isolinux_config_template)
    mode, programs = instance_capabilities.boot_mode(node), _local_programs(node)
    if (programs.uefi or _bootloader(node)) if mode == boot_devices.UEFI else programs.bios:
        return
    needed = (
        f"[DEFAULT]efi_boot_program_by_arch has no file for {node_attributes.architecture(node) or _DEFAULT_ARCH}; "
        "install Debian's grub-efi-amd64-bin (or -arm64-bin), or set [DEFAULT]esp_image"
        if mode == boot_devices.UEFI
        else "[DEFAULT]isolinux_bin or ldlinux_c32 is no file; install Debian's isolinux and syslinux-common"
    )
    raise InvalidParameterValue(err=f"An image that boots node {node.uuid} in mode {mode} can't be made: {needed}.")


def check_command_line(node: Node, purpose: str) -> None:
    """Raise InvalidParameterValue for kernel parameters that a boot program can't express."""
    for program in (boot_file_quoting.GRUB, boot_file_quoting.PXELINUX):
        kernel_and_ramdisk.check_command_line(node, program, purpose, _GROUP)


def publish_ramdisk(node: Node, purpose: str, passed: Passed, place: Place) -> str:
    """Make an ISO image of the kernel and ramdisk for a purpose; return its URL. Saves the node."""
    mark = str(uuid.uuid4())
    parameters = {**({} if purpose == kernel_and_ramdisk.INSTANCE else {"ir_pub_id": mark}), **passed.parameters}
    lines = {
        program: kernel_and_ramdisk.render_command_line(node, program, purpose, parameters, _GROUP)
        for program in (boot_file_quoting.GRUB, boot_file_quoting.PXELINUX)
    }
    files = dict(passed.files)
    if passed.network_data:
        files[_NETWORK_DATA] = orjson.dumps(passed.network_data, option=orjson.OPT_INDENT_2)
    if purpose == kernel_and_ramdisk.INSTANCE:
        found = kernel_and_ramdisk.of_instance(node)
    else:
        found = kernel_and_ramdisk.find_ramdisk(node, purpose)

    def make(partial: Path) -> None:
        parts = {name: partial.with_name(f"{partial.name}.{name}") for name in ("kernel", "ramdisk", "bootloader")}
        cache = ImageCache.from_conf(CONF.pxe.tftp_master_path)
        try:
            cache.provide(found.kernel, parts["kernel"])
            cache.provide(found.ramdisk, parts["ramdisk"])
            programs = _programs(node, cache, parts["bootloader"])
            iso = BootIso(
                kernel=parts["kernel"],
                ramdisk=parts["ramdisk"],
                grub_arguments=lines[boot_file_quoting.GRUB],
                isolinux_arguments=lines[boot_file_quoting.PXELINUX],
                grub_template=CONF.grub_config_template,
                isolinux_template=CONF.isolinux_config_template,
                mark=mark,
                grub_config_path=CONF.grub_config_path,
                files=files,
            )
            with _builds:
                boot_iso.build(iso, programs, partial)
        finally:
            for path in parts.values():
                path.unlink(missing_ok=True)

    return _publish(node, BOOT, ".iso", make, place)


def check_ready_iso(node: Node, name: str, url: object, *, takes_shares: bool) -> str:
    """Return the URL of a ready ISO image, or raise InvalidParameterValue; ``takes_shares`` allows those of shares."""
    schemes = (*kernel_and_ramdisk.SCHEMES, *(SHARE_SCHEMES if takes_shares else ()))
    checked = kernel_and_ramdisk.check_url(node, name, url, schemes)
    if checked.startswith(_ON_SHARES) and _download_source(node, name) == "local":
        raise InvalidParameterValue(
            err=f"{name} of node {node.uuid} is on a share, and this host makes no copies of such images. With option "
            "[deploy]ramdisk_image_download_source = http the BMC mounts the share itself."
        )
    return checked


def _download_source(node: Node, name: str) -> str:
    """Return from where a BMC downloads a ready image: users may decide for their own."""
    source: str = CONF.deploy.ramdisk_image_download_source
    given = node.instance_info.get(_SOURCE) if name == INSTANCE_ISO else None
    if given is not None and given not in virtual_media_images.SOURCES:
        known = ", ".join(virtual_media_images.SOURCES)
        raise InvalidParameterValue(err=f"{_SOURCE} in instance_info of node {node.uuid} must be one of: {known}.")
    return source if given is None else str(given)


def publish_ready_iso(node: Node, name: str, url: str, place: Place) -> str:
    """Return the URL of a checked ready ISO image for the BMC: its own, or that of a copy. Saves the node."""
    if _download_source(node, name) == "http" and not names_file(url):
        return url
    options = CONF.deploy
    cache = ImageCache(
        directory_of(options.iso_master_path),
        max_bytes=options.iso_cache_size << 20,
        max_age_seconds=options.iso_cache_ttl * 60,
    )
    return _publish(
        node, BOOT, ".iso", lambda partial: cache.provide(Image(url, by_project=is_of_project(node)), partial), place
    )


def publish_settings(node: Node, parameters: Mapping[str, object], place: Place) -> str:
    """Publish a floppy with the parameters of the ramdisk, one name=value a line; return its URL. Saves the node."""
    text = "".join(f"{name}={'' if value is None else value}\n" for name, value in parameters.items())
    files = {_SETTINGS_FILE: text.encode()}

    def make(path: Path) -> None:
        fat_image.make(path, fat_image.FLOPPY_SIZE, _SETTINGS_LABEL, files)

    return _publish(node, SETTINGS, ".img", make, place)


def publish_config_drive(node: Node, content: bytes, place: Place) -> str:
    """Publish the config drive of an instance; return its URL. Saves the node."""
    return _publish(node, CONFIG_DRIVE, ".img", lambda path: path.write_bytes(content), place)


def withdraw(node: Node, *kinds: str) -> None:
    """Remove published images of a node, all without kinds; saves the node if there were any."""
    virtual_media_images.withdraw(node.uuid, kinds or _KINDS)
    names = _published(node)
    virtual_media_images.withdraw_from_store(name for kind, name in names.items() if not kinds or kind in kinds)
    kept = {kind: name for kind, name in names.items() if kinds and kind not in kinds}
    if not kinds:
        BOOTED.delete(node)
    if kept != names:
        _remember(node, kept)


@dataclass(frozen=True, slots=True)
class Booted:
    """What a machine boots from published images: its purpose, and what it is passed; None for nothing."""

    purpose: str
    parameters: Mapping[str, object] | None = None

    @classmethod
    def of(cls, node: Node) -> "Booted | None":
        """Return what the machine of a node boots, None if it is nothing from published images."""
        kept = BOOTED.of(node)
        return cls(**kept) if kept else None

    def put(self, node: Node) -> None:
        """Put the record on the node; the caller saves the node."""
        BOOTED.set(node, {"purpose": self.purpose, "parameters": self.parameters})


def are_missing(node: Node) -> bool:
    """Return whether the machine boots from an image that was published on another host, or lost on this one."""
    names = _published(node).values()
    return Booted.of(node) is not None and not all(virtual_media_images.is_here(name) for name in names)


def take_back(node: Node) -> None:
    """Remove the images of a node from this host, so that they are missing again."""
    virtual_media_images.withdraw(node.uuid, _KINDS)


def remove_leftovers(store: "Store") -> None:
    """Remove the images on this host that no node uses: of deleted nodes, or left by a conductor that was killed."""
    for path in virtual_media_images.published_paths():
        node_uuid, kind = virtual_media_images.node_of(path), virtual_media_images.kind_of(path)
        try:
            (memory,) = store.nodes.row(("driver_internal_info",), node_uuid)
        except NodeNotFound:
            memory = None
        else:
            names = _PUBLISHED.read(orjson.loads(memory or "{}")) or {}
            # Images that users attach are not stored on the node; they stay until they are detached.
            if kind not in _KINDS or virtual_media_images.is_part_of(path, names.get(kind, "")):
                continue
        LOG.info("Node %s: an image for its virtual media is left over on this host and is removed", node_uuid)
        virtual_media_images.remove(path)


def _publish(node: Node, kind: str, suffix: str, make: Callable[[Path], object], place: Place) -> str:
    """Publish a new image of a kind, which appears when it is complete; return its URL."""
    place.check(node)
    virtual_media_images.withdraw(node.uuid, [kind])
    virtual_media_images.withdraw_from_store(filter(None, [_published(node).get(kind)]))
    path = virtual_media_images.new_path(node, kind, suffix)
    _remember(node, {**_published(node), kind: path.name})
    partial = path.with_name(f".{path.name}.part")
    try:
        make(partial)
        place.offer(partial, path)
    except OSError as error:
        raise ImageCreationFailed(image_type=kind, error=own_directories.explained(error)) from error
    finally:
        partial.unlink(missing_ok=True)
    return place.url(node, path.name)


def _published(node: Node) -> dict[str, str]:
    return dict(_PUBLISHED.of(node) or {})


def _remember(node: Node, names: Mapping[str, str]) -> None:
    if names:
        _PUBLISHED.set(node, dict(names))
    else:
        _PUBLISHED.delete(node)
    node.save()


def _bootloader(node: Node) -> str | None:
    """Return the URL of an EFI system partition: of the node, of the options by architecture, or of the option."""
    arch = node_attributes.architecture(node)
    by_arch = node_attributes.for_architecture(
        CONF.conductor.bootloader_by_arch, arch, instance_capabilities.boot_mode(node)
    )
    given: Any = node.driver_info.get("bootloader") or by_arch or CONF.conductor.bootloader
    return kernel_and_ramdisk.check_url(node, "bootloader", given) if given else None


def _local_programs(node: Node) -> BootPrograms:
    """Return the boot programs that are files of this host."""
    arch = node_attributes.architecture(node) or _DEFAULT_ARCH
    by_arch = CONF.efi_boot_program_by_arch
    program = node_attributes.for_architecture(by_arch, arch, instance_capabilities.boot_mode(node))
    has_bios = arch == _DEFAULT_ARCH
    return BootPrograms(
        efi_program=_file(program),
        efi_name=_EFI_NAMES.get(arch, _EFI_NAMES[_DEFAULT_ARCH]),
        efi_partition=_file(CONF.esp_image),
        isolinux=_file(CONF.isolinux_bin) if has_bios else None,
        ldlinux=_file(CONF.ldlinux_c32) if has_bios else None,
    )


def _programs(node: Node, cache: ImageCache, target: Path) -> BootPrograms:
    """Return the boot programs; a system partition that a URL names is put at ``target``."""
    local = _local_programs(node)
    url = _bootloader(node)
    if url is None:
        return local
    by_project = bool(node.driver_info.get("bootloader")) and is_of_project(node)
    cache.provide(Image(url, by_project=by_project), target)
    return BootPrograms(efi_partition=target, isolinux=local.isolinux, ldlinux=local.ldlinux)


def _file(path: str | None) -> Path | None:
    return Path(path) if path and Path(path).is_file() else None
