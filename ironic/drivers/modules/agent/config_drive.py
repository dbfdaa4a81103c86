"""The config drive of an instance: check it, build it, return it as the agent takes it.

A user gives the URL of a finished config drive, a finished one as base64 text, or its parts (``meta_data``,
``network_data``, ``user_data``, ``vendor_data``). Parts are built into a small ISO image with the layout that
cloud-init and ignition read. The content is secret: no text quotes it.
"""

import base64
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson
import pycdlib

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import ImageDownloadFailed
from ironic.drivers.contract.task import Node
from ironic.integrations import image_servers
from ironic.integrations.hidden_faults import image_fault
from ironic.integrations.http_client import CallFailed
from ironic.integrations.object_store import swift_container

_GZIP: Final = b"\x1f\x8b"
# Agents accept no larger image.
_LARGEST: Final = 64 << 20
# Bytes that are unpacked at once, which may expand to a thousand times as many.
_PIECE: Final = 4096
_GZIP_FORMAT: Final = 16 + zlib.MAX_WBITS
_MOST_MEMBERS: Final = 1000
_A_DAY: Final = 86400

# The signatures of file systems: ISO 9660 in its first descriptor, FAT in its boot sector. All lie in the head.
_HEAD: Final = 0x9000
_ISO_AT: Final = 0x8001
_ISO: Final = b"CD001"
_BOOT_SIGN_AT: Final = 510
_BOOT_SIGN: Final = b"\x55\xaa"
_FAT_AT: Final = (54, 82)

_LABEL: Final = "config-2"
_VERSIONS: Final = ("2015-10-15", "latest")


def check_config_drive(node: Node) -> None:
    """Raise InvalidParameterValue when the instance's config drive is neither a URL, nor an image, nor its parts."""
    given = node.instance_info.get("configdrive")
    if isinstance(given, Mapping):
        for name in ("meta_data", "network_data", "vendor_data"):
            if given.get(name) and not isinstance(given[name], Mapping):
                raise InvalidParameterValue(err=f"{name} in the config drive of node {node.uuid} must be an object.")
    elif given and not _is_url(given) and not CONF.conductor.disable_configdrive_check:
        head, size = _head_and_size(node, str(given))
        if size > _LARGEST:
            raise InvalidParameterValue(
                err=f"The config drive of node {node.uuid} is too large; agents take up to {_LARGEST >> 20} MiB."
            )
        is_iso = head[_ISO_AT : _ISO_AT + len(_ISO)] == _ISO
        has_boot_sector = head[_BOOT_SIGN_AT : _BOOT_SIGN_AT + len(_BOOT_SIGN)] == _BOOT_SIGN
        is_fat = has_boot_sector and any(head[offset : offset + 3] == b"FAT" for offset in _FAT_AT)
        if not (is_iso or is_fat):
            raise InvalidParameterValue(
                err=f"The config drive of node {node.uuid} is neither an ISO 9660 nor a FAT image. To allow "
                "other formats, set [conductor]disable_configdrive_check."
            )


def _head_and_size(node: Node, text: str) -> tuple[bytes, int]:
    """Return the first bytes of a finished image and its size; beyond the largest size the rest is not read."""
    content = _bytes(node, text)
    if not content.startswith(_GZIP):
        return content[:_HEAD], len(content)
    head, size = bytearray(), 0
    try:
        for piece in _unpacked(content):
            head += piece[: _HEAD - len(head)]
            size += len(piece)
            if size > _LARGEST:
                break
        return bytes(head), size
    except (EOFError, zlib.error):
        raise InvalidParameterValue(
            err=f"The config drive of node {node.uuid} is a broken gzip file, or has more than {_MOST_MEMBERS} parts "
            "of gzip. Give the base64 text of a complete one, packed in one part."
        ) from None


def _unpacked(content: bytes) -> Iterator[bytes]:
    """Yield what a gzip file has, in pieces: a few KiB may expand to more than the memory.

    Members that hold nothing cost time as well, so their number is limited. Raise EOFError or zlib.error.
    """
    position = 0
    for _ in range(_MOST_MEMBERS):
        unpacker = zlib.decompressobj(_GZIP_FORMAT)
        while not unpacker.eof:
            packed = content[position : position + _PIECE]
            if not packed:
                raise EOFError
            yield unpacker.decompress(packed)
            position += len(packed) - len(unpacker.unused_data)
        if not content.startswith(_GZIP, position):
            # Zeros may fill up the last block of a tape.
            if content[position:].strip(b"\0"):
                raise EOFError
            return
    raise EOFError


def config_drive_of(node: Node) -> str | None:
    """Return the config drive as the agent takes it: a URL, or base64 text of a gzip file; None without one.

    With [deploy]configdrive_use_object_store the text is stored there and its URL returned, which is valid for as long
    as a deployment may take.
    """
    given = node.instance_info.get("configdrive")
    if not given or _is_url(given):
        return str(given) if given else None
    if isinstance(given, Mapping):
        text = build_config_drive(node, given)
    else:
        content = _bytes(node, str(given))
        text = str(given) if content.startswith(_GZIP) else _compressed(content)
    if not CONF.deploy.configdrive_use_object_store:
        return text
    seconds: int = (
        CONF.conductor.configdrive_swift_temp_url_duration or CONF.conductor.deploy_callback_timeout or _A_DAY
    )
    store, name = swift_container(CONF.conductor.configdrive_swift_container), f"configdrive-{node.uuid}"
    store.put(name, text.encode(), keep_seconds=seconds, content_type="text/plain")
    return store.temporary_url(name, seconds)


def config_drive_image(node: Node) -> bytes | None:
    """Return the config drive as an image, which is downloaded if a URL was given; None without one.

    Raise InvalidParameterValue for one that is too large or no gzip file, ImageDownloadFailed.
    """
    given = node.instance_info.get("configdrive")
    if not given:
        return None
    if isinstance(given, Mapping):
        return gzip.decompress(base64.b64decode(build_config_drive(node, given)))
    content = _downloaded(node, given) if _is_url(given) else _bytes(node, str(given))
    if content.startswith(_GZIP):
        _, size = _head_and_size(node, base64.b64encode(content).decode())
        content = content if size > _LARGEST else gzip.decompress(content)
    if len(content) > _LARGEST or content.startswith(_GZIP):
        raise InvalidParameterValue(err=f"The config drive of node {node.uuid} is larger than {_LARGEST >> 20} MiB.")
    return content


def _downloaded(node: Node, url: str) -> bytes:
    """Return what a URL of a config drive has: an image, or the base64 text of one."""
    content = bytearray()
    try:
        with image_servers.get(url) as answer:
            if not answer.is_good:
                raise CallFailed(f"the server of the config drive answers with status {answer.status}")
            for chunk in answer.chunks():
                content += chunk
                if len(content) > 2 * _LARGEST:
                    break
    except CallFailed as error:
        what = f"config drive of node {node.uuid}"
        raise ImageDownloadFailed(reason=f"{what}: {image_fault(node, what, error)}") from error
    try:
        return base64.b64decode(bytes(content), validate=True) if content.isascii() else bytes(content)
    except ValueError:
        return bytes(content)


def _is_url(given: object) -> bool:
    return isinstance(given, str) and "://" in given


def _bytes(node: Node, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=False)
    except ValueError:
        raise InvalidParameterValue(
            err=f"The config drive of node {node.uuid} is neither a URL, base64 text nor an object."
        ) from None


def _compressed(image: bytes) -> str:
    return base64.b64encode(gzip.compress(image, mtime=0)).decode()


def build_config_drive(node: Node, parts: Mapping[str, Any]) -> str:
    """Return a config drive built from its parts, as base64 text of a gzip file."""
    files = {"meta_data.json": orjson.dumps({"uuid": node.uuid, **(parts.get("meta_data") or {})})}
    if parts.get("network_data"):
        files["network_data.json"] = orjson.dumps(parts["network_data"])
    if parts.get("vendor_data"):
        files["vendor_data2.json"] = orjson.dumps(parts["vendor_data"])
    user_data = parts.get("user_data")
    if user_data:
        files["user_data"] = user_data.encode() if isinstance(user_data, str) else orjson.dumps(user_data)
    image = _iso_image({f"openstack/{version}/{name}": files[name] for version in _VERSIONS for name in files})
    return _compressed(image)


def _iso_image(files: Mapping[str, bytes]) -> bytes:
    """Return an ISO image; ISO 9660 requires short names, Joliet and Rock Ridge carry the real ones."""
    iso = pycdlib.PyCdlib()
    iso.new(interchange_level=3, vol_ident=_LABEL, joliet=3, rock_ridge="1.09")
    made: dict[str, str] = {"": ""}
    for number, (path, content) in enumerate(files.items()):
        parent, _, name = path.rpartition("/")
        short = f"{_directory(iso, parent, made)}/F{number}.;1"
        iso.add_fp(io.BytesIO(content), len(content), short, rr_name=name, joliet_path=f"/{parent}/{name}")
    written = io.BytesIO()
    iso.write_fp(written)
    iso.close()
    return written.getvalue()


def _directory(iso: Any, path: str, made: dict[str, str]) -> str:
    """Make a directory and its parents in the image; return its short path."""
    if path not in made:
        parent, _, name = path.rpartition("/")
        short = f"{_directory(iso, parent, made)}/D{len(made)}"
        iso.add_directory(short, rr_name=name, joliet_path=f"/{path}")
        made[path] = short
    return made[path]
