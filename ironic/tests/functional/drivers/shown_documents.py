"""The documents of a machine, read without the product: what it has, and what a played BMC has stored."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ironic.tests.functional.drivers.played_bmc import ADDRESS


@dataclass(frozen=True)
class Documents:
    """The documents of a machine, read without the product."""

    all: Mapping[str, Any]
    path: str

    @property
    def system(self) -> Mapping[str, Any]:
        """The document of the machine itself."""
        return self.object_at(self.path)

    @property
    def boot(self) -> Mapping[str, Any]:
        """Its settings of the next boot."""
        return object_of(self.system.get("Boot"))

    def object_at(self, path: object) -> Mapping[str, Any]:
        """Return the document at a path, empty where there is none."""
        return object_of(self.all.get(path.rstrip("/") if isinstance(path, str) else ""))

    def behind(self, document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """Return the document to which a link of another one leads."""
        return self.object_at(object_of(document.get(name)).get("@odata.id"))

    def below(self, pattern: str) -> dict[str, Mapping[str, Any]]:
        """Return the documents whose path ends so."""
        return {path: object_of(found) for path, found in self.all.items() if re.search(f"{pattern}$", path)}

    def target(self, action: str) -> str | None:
        """Return where an action is ordered, of the machine and its BIOS first."""
        for document in (self.system, self.bios, *self.all.values()):
            found = object_of(object_of(object_of(document).get("Actions")).get(action))
            if "target" in found:
                return str(found["target"]).removeprefix(ADDRESS).rstrip("/")
        return None

    @cached_property
    def text(self) -> str:
        """All of them as a text."""
        return json.dumps(dict(self.all), ensure_ascii=False)

    @property
    def bios(self) -> Mapping[str, Any]:
        """The document of the BIOS settings."""
        return self.behind(self.system, "Bios")

    def members(self, document: Mapping[str, Any], name: str) -> dict[str, Mapping[str, Any]]:
        """Return the documents of a collection, or of a list of links, by path."""
        given = document.get(name)
        links = given if isinstance(given, list) else self.behind(document, name).get("Members")
        paths = [str(object_of(link).get("@odata.id")).rstrip("/") for link in links or ()]
        return {path: self.object_at(path) for path in paths}

    @property
    def drives(self) -> dict[str, Mapping[str, Any]]:
        """The virtual drives of the machine, and of what manages it."""
        managers = self.members(object_of(self.system.get("Links")), "ManagedBy") or self.below("/Managers/[^/]+")
        owners = [self.system, *managers.values()]
        return {path: drive for owner in owners for path, drive in self.members(owner, "VirtualMedia").items()}

    @property
    def chassis(self) -> dict[str, Mapping[str, Any]]:
        """What the machine is in."""
        return self.members(object_of(self.system.get("Links")), "Chassis")

    @property
    def disks(self) -> dict[str, Mapping[str, Any]]:
        """The drives of its controllers."""
        owners = self.members(self.system, "Storage").values()
        return {path: drive for owner in owners for path, drive in self.members(owner, "Drives").items()}

    @property
    def storages(self) -> dict[str, Mapping[str, Any]]:
        """The controllers that may have volumes."""
        found = self.members(self.system, "Storage")
        return {path: storage for path, storage in found.items() if "Volumes" in storage}

    @property
    def volumes(self) -> set[str]:
        """The paths of volumes, without those that stand for a drive."""
        found = {
            path: volume
            for storage in self.storages.values()
            for path, volume in self.members(storage, "Volumes").items()
        }
        return {path for path, volume in found.items() if volume.get("VolumeType") != "RawDevice"}


def object_of(value: object) -> Mapping[str, Any]:
    """Return an object, an empty one in the place of anything else."""
    return value if isinstance(value, Mapping) else {}
