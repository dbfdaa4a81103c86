"""Virtual drives of a Redfish BMC: which there are, what each takes, and whether an image is in it.

BMCs offer their drives below the system, below a manager, or both.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import sushy

from ironic.core.readings import ABSENT, Known, Seen
from ironic.drivers.modules.redfish.tree.certainty import Uncertain, target_of, value_at
from ironic.drivers.modules.redfish.tree.members import bmc_of, managers_of_none, seen_managers, seen_members
from ironic.drivers.modules.redfish.wire.bmc_system import System

Medium: TypeAlias = sushy.VirtualMediaType

CD: Final = Medium.CD
FLOPPY: Final = Medium.FLOPPY
USB_STICK: Final = Medium.USB_STICK
# Media that count as another one.
_ALSO: Final = {CD: (CD, Medium.DVD)}

_WORDS: Final = frozenset(kind.value for kind in Medium)
# How BMCs call media in words that are not those of the standard, and drives whose media they do not list.
_SPOKEN: Final = {
    CD: re.compile("cd|dvd", re.IGNORECASE),
    FLOPPY: re.compile("floppy", re.IGNORECASE),
    USB_STICK: re.compile("usb|removable", re.IGNORECASE),
}


class VirtualDrive:
    """A virtual drive as its BMC shows it; what it says is that of its last reading, and `refresh` reads it again."""

    def __init__(self, resource: Any) -> None:
        self._resource = resource
        self.path: str = resource.path
        self.name: str = resource.identity

    def refresh(self) -> None:
        """Read the drive again."""
        self._resource.refresh(force=True)

    def invalidate(self) -> None:
        """Have the next reader read it again."""
        self._resource.invalidate()

    # What is in it

    @property
    def shown(self) -> dict[str, object]:
        """What may be shown to people: ``media_types``, ``inserted`` and ``image``."""
        inserted, image = value_at(self._resource, "Inserted", bool), value_at(self._resource, "Image", str)
        return {"media_types": self.kinds, "inserted": inserted.shown(False), "image": image.shown("")}

    @property
    def is_empty(self) -> bool:
        """Whether it is empty for certain: it does not say that it is full, and has no image."""
        inserted, image = value_at(self._resource, "Inserted", bool), value_at(self._resource, "Image", str)
        has_no_image = image in (ABSENT, Known(""))
        return has_no_image and inserted in (ABSENT, Known(False))

    @property
    def says_empty(self) -> bool:
        """Whether it says that no image is in it; one that says nothing does not."""
        return value_at(self._resource, "Inserted", bool) == Known(False)

    @property
    def says_full(self) -> bool:
        """Whether it says that an image is in it."""
        return value_at(self._resource, "Inserted", bool) == Known(True)

    # What it takes

    @property
    def kinds(self) -> list[str]:
        """The media of the standard that it lists."""
        return [kind.value for kind in self._resource.media_types or ()]

    def takes(self, medium: Medium) -> bool:
        """Return whether it takes a medium by what it says, in words of its own or by its name where it must."""
        # What can be read of a list counts, whatever else is in it.
        kinds, listed = self.kinds, self._resource.json.get("MediaTypes") or []
        if any(kind.value in kinds for kind in _ALSO.get(medium, (medium,))):
            return True
        own_words = [word for word in listed if word not in _WORDS]
        names = own_words if own_words or kinds else [self.name, self._resource.name]
        return any(_SPOKEN[medium].search(str(name)) for name in names)

    @property
    def protocols(self) -> frozenset[str]:
        """The protocols that it lists; none where it lists none."""
        action = self._resource.json.get("Actions", {}).get("#VirtualMedia.InsertMedia", {})
        return frozenset(action.get("TransferProtocolType@Redfish.AllowableValues") or ())

    # Where orders go

    @property
    def insertion(self) -> str | None:
        """Where an insertion is ordered; None where the BMC has no such action."""
        return target_of(self._resource, "VirtualMedia.InsertMedia")

    @property
    def ejection(self) -> str | None:
        """Where an ejection is ordered; None where the BMC has no such action."""
        return target_of(self._resource, "VirtualMedia.EjectMedia")

    @property
    def tag(self) -> str | None:
        """The ETag in its document."""
        return value_at(self._resource, "@odata.etag", str).shown(None)

    def insert_by_patch(self, image: str, **more: object) -> None:
        """Insert an image by PATCH, where the BMC allows that; raise what sushy raises."""
        self._resource.insert_media(image, **more)


def drives_by_owner(system: System) -> Iterator[Seen[VirtualDrive]]:
    """Yield the drives of the system and of each manager, and what can't be read."""
    for owner in (system, *seen_managers(system).items):
        seen = seen_members(owner, "virtual_media")
        yield Seen(map(VirtualDrive, seen.items), seen.missing)


def drive_groups(system: System) -> Iterator[Sequence[VirtualDrive]]:
    """Yield the drives of the system and of each manager, where there are any."""
    return (seen.items for seen in drives_by_owner(system) if seen.items)


def doubts_about(system: System, seen: Sequence[Seen[VirtualDrive]], media: Iterable[Medium] | None) -> str:
    """Return why ``seen`` may not be all drives for some media, None means all; empty where it certainly is."""
    missing = [text for group in seen for text in group.missing if _may_matter(text, media)]
    if not any(group.items for group in seen):
        missing += seen_managers(system).missing or managers_of_none(system, "VirtualMedia")
    if missing:
        return "; ".join(missing)
    try:
        # Its drives count.
        bmc_of(system)
    except Uncertain as error:
        return error.fault
    return ""


def _may_matter(text: str, media: Iterable[Medium] | None) -> bool:
    """Return whether what can't be read may take one of the media: not if its name is that of another medium."""
    name = text.partition(" can't be read")[0].rpartition("/")[2]
    named = [kind for kind, pattern in _SPOKEN.items() if pattern.search(name)]
    return media is None or not named or any(kind in media for kind in named)
