"""A config drive made from its parts: a small ISO image, in the layout that cloud-init and ignition know."""

import io
from collections.abc import Mapping
from typing import Any, Final

import orjson
import pycdlib

_LABEL: Final = "config-2"
_VERSIONS: Final = ("2015-10-15", "latest")


def made_of(node_uuid: str, parts: Mapping[str, object]) -> bytes:
    """Return the image with these parts: ``meta_data``, ``network_data``, ``user_data``, ``vendor_data``."""
    files = _files(node_uuid, parts).items()
    return _image({f"openstack/{version}/{name}": content for version in _VERSIONS for name, content in files})


def _files(node_uuid: str, parts: Mapping[str, Any]) -> dict[str, bytes]:
    meta_data = {"uuid": node_uuid, **(parts.get("meta_data") or {})}
    files = {"meta_data.json": orjson.dumps(meta_data)}
    if parts.get("network_data"):
        files["network_data.json"] = orjson.dumps(parts["network_data"])
    if parts.get("vendor_data"):
        files["vendor_data2.json"] = orjson.dumps(parts["vendor_data"])
    user_data = parts.get("user_data")
    if user_data:
        files["user_data"] = user_data.encode() if isinstance(user_data, str) else orjson.dumps(user_data)
    return files


def _image(files: Mapping[str, bytes]) -> bytes:
    """Write an ISO image; ISO 9660 wants short names, Joliet and Rock Ridge carry the real ones."""
    iso = pycdlib.PyCdlib()
    iso.new(interchange_level=3, vol_ident=_LABEL, joliet=3, rock_ridge="1.09")
    made: dict[str, str] = {"": ""}
    for number, (path, content) in enumerate(files.items()):
        parent, _, name = path.rpartition("/")
        place = _directory(iso, parent, made)
        iso.add_fp(
            io.BytesIO(content), len(content), f"{place}/F{number}.;1", rr_name=name, joliet_path=f"/{parent}/{name}"
        )
    written = io.BytesIO()
    iso.write_fp(written)
    iso.close()
    return written.getvalue()


def _directory(iso: Any, path: str, made: dict[str, str]) -> str:
    """Make a directory with those above it; return its short path."""
    if path not in made:
        parent, _, name = path.rpartition("/")
        short = f"{_directory(iso, parent, made)}/D{len(made)}"
        iso.add_directory(short, rr_name=name, joliet_path=f"/{path}")
        made[path] = short
    return made[path]
