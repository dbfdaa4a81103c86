"""What a virtual drive says of itself, and what follows from that."""

from types import SimpleNamespace
from typing import Any

import pytest

from ironic.drivers.modules.redfish.tree.virtual_drives import CD, USB_STICK, Medium, VirtualDrive
from ironic.drivers.modules.redfish.wire.document_repair import repaired

PATH = "/redfish/v1/Managers/1/VirtualMedia/CD"


def drive(**document: Any) -> VirtualDrive:
    return VirtualDrive(SimpleNamespace(path=PATH, identity="CD", json=repaired({"Id": "CD", **document}, PATH)))


@pytest.mark.parametrize(
    ("document", "is_empty", "says_empty", "says_full"),
    [
        ({}, True, False, False),
        ({"Inserted": None, "Image": None}, True, False, False),
        ({"Inserted": False, "Image": ""}, True, True, False),
        ({"Inserted": False, "Image": "http://a/b.iso"}, False, True, False),
        ({"Inserted": True}, False, False, True),
        ({"Image": "http://a/b.iso"}, False, False, False),
        # What can't be read may be an image.
        ({"Inserted": "perhaps"}, False, False, False),
        ({"Inserted": False, "Image": ["http://a/b.iso"]}, False, True, False),
    ],
)
def test_a_drive_is_empty_only_for_certain(
    document: dict[str, Any], is_empty: bool, says_empty: bool, says_full: bool
) -> None:
    found = drive(**document)
    assert (found.is_empty, found.says_empty, found.says_full) == (is_empty, says_empty, says_full)


@pytest.mark.parametrize("tag", [None, 5, [], {}])
def test_an_odd_tag_is_none(tag: Any) -> None:
    assert drive(**{"@odata.etag": tag}).tag in (None, "5")


@pytest.mark.parametrize(
    ("media", "name", "medium", "takes"),
    [
        (["Removable Disk", None], "2", USB_STICK, True),
        (["cdrom", None], "EXT1", CD, True),
        (["Floppy-like", None], "VirtualCD", CD, False),
        (None, "VirtualCD", CD, True),
        ([5], "EXT1", CD, False),
    ],
)
def test_words_of_its_own_count_beside_what_can_not_be_read(media: Any, name: str, medium: Medium, takes: bool) -> None:
    path = f"/redfish/v1/Managers/1/VirtualMedia/{name}"
    document = repaired({"Id": name, "Name": name, "MediaTypes": media}, path)
    resource = SimpleNamespace(path=path, identity=name, name=name, json=document, media_types=None)
    assert VirtualDrive(resource).takes(medium) is takes
