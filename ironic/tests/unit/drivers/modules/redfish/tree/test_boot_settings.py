"""What a machine shows of how it boots: known, absent or unreadable."""

from typing import Any

import pytest
import sushy

from ironic.core.readings import ABSENT, Known, Unreadable
from ironic.drivers.modules.redfish.tree.boot_settings import boot_of
from ironic.drivers.modules.redfish.tree.certainty import Document, Uncertain
from ironic.drivers.modules.redfish.wire.document_repair import repaired

PATH = "/redfish/v1/Systems/1"


def system(**document: Any) -> Document:
    return Document(PATH, repaired({"Id": "1", **document}, PATH))


def test_words_are_known_in_any_case() -> None:
    boot = boot_of(system(Boot={"BootSourceOverrideMode": "uefi", "BootSourceOverrideTarget": "PXE"}))
    assert boot.mode == Known(sushy.BootSourceOverrideMode.UEFI)
    assert boot.target == Known(sushy.BootSource.PXE)
    assert boot.enabled is ABSENT and boot.names_device


@pytest.mark.parametrize("document", [{}, {"Boot": {}}, {"Boot": {"BootSourceOverrideMode": None}}])
def test_a_mode_that_is_not_shown_is_absent(document: dict[str, Any]) -> None:
    assert boot_of(system(**document)).mode is ABSENT
    assert not boot_of(system(**document)).names_device


@pytest.mark.parametrize("boot", [None, "UEFI", 5, {"BootSourceOverrideMode": "Fast"}, {"BootSourceOverrideMode": []}])
def test_an_odd_mode_is_not_an_absent_one(boot: Any) -> None:
    mode = boot_of(system(Boot=boot)).mode
    assert isinstance(mode, Unreadable) and mode.shown(None) is None
    with pytest.raises(Uncertain, match="Boot"):
        mode.certain()
