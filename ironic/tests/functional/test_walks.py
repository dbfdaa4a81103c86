"""The walks of the architecture page lead where the operation goes: it calls what the stops name, in their order."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from ironic.core import states
from ironic.tests.functional.inspection.whole import Preparing, Whole, whole
from ironic.tests.unit.inspection.lab import MAC, inventory
from ironic.tests.unit.test_architecture import LINK, NAME, PAGE, WALKS, functions

# File and name of a function -> how many others were called before its first call.
Calls = dict[tuple[Path, str], int]


def patch(service: Whole, uuid: str) -> None:
    changes = [{"op": "add", "path": "/extra/a", "value": 1}, {"op": "add", "path": "/name", "value": "other"}]
    assert service.api.call("PATCH", f"/v1/nodes/{uuid}", body=changes).status == 200


def inspect(service: Whole, uuid: str) -> None:
    body = {"target": "inspect"}
    assert service.api.call("PUT", f"/v1/nodes/{uuid}/states/provision", body=body).status == 202
    query = Preparing.parameters["ipa-inspection-callback-url"].partition("?")[2]
    assert service.post({"inventory": inventory(MAC)}, query=f"?{query}").status == 200
    assert service.state(uuid) == states.MANAGEABLE


OPERATIONS = {"A PATCH of a node": patch, "An inspection": inspect}


def calls_of(operation: Callable[[Whole, str], None], directory: Path) -> Calls:
    """Return what an operation calls."""
    called: Calls = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
            called.setdefault((Path(frame.f_code.co_filename), name), len(called))

    with whole(directory) as service:
        uuid = service.node(MAC, state=states.MANAGEABLE, boot_interface="scripted", power_state="power on")
        sys.setprofile(note)
        try:
            operation(service, uuid)
        finally:
            sys.setprofile(None)
    return called


@pytest.mark.parametrize("title", OPERATIONS)
def test_the_operation_goes_from_stop_to_stop(title: str, tmp_path: Path) -> None:
    called = calls_of(OPERATIONS[title], tmp_path)
    reached = []
    for stop in re.split(r"^\d\. ", WALKS[title], flags=re.MULTILINE)[1:]:
        files = [(PAGE.parent / path).resolve() for path in LINK.findall(stop)]
        named = set(NAME.findall(LINK.sub("", stop))) & set().union(*map(functions, files))
        turns = {
            name: turn
            for (path, full_name), turn in called.items()
            for name in (full_name, full_name.rpartition(".")[2])
            if path in files and name in named
        }
        assert turns.keys() == named, stop
        reached.append(min(turns.values()))
    assert reached == sorted(reached)
