"""Nodes whose steps write down that they begin (stepping_vendor.py), and the flows in which they do."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ironic.core.flows import states
from ironic.tests.live_service import Options

PACKAGE = Path(__file__).with_name("stepping_vendor.py")
ENTRY_POINTS = "[ironic.hardware.interfaces.vendor]\nstepping = stepping_vendor:SteppingVendor\n"
STEPS = ["first", "second", "third"]
REQUESTED = [{"interface": "vendor", "step": name, "args": {}} for name in STEPS]


@dataclass(frozen=True)
class Kind:
    """A flow: how it is asked for, the states it goes through, and how the rest of it is asked for after a failure."""

    name: str
    begins: str
    body: Mapping[str, Any]
    working: str
    waiting: str
    ends: str
    again: str


KINDS = (
    Kind("clean", states.MANAGEABLE, {"target": "provide"}, states.CLEANING, states.CLEANWAIT, "available", "clean"),
    Kind("deploy", states.AVAILABLE, {"target": "active"}, states.DEPLOYING, states.DEPLOYWAIT, "active", "active"),
    Kind(
        "service",
        states.ACTIVE,
        {"target": "service", "service_steps": REQUESTED},
        states.SERVICING,
        states.SERVICEWAIT,
        "active",
        "service",
    ),
)


@dataclass(frozen=True)
class Case:
    """A node in a flow, with the place at which its conductor dies; ``waits`` for a second step that goes on elsewhere.

    Without a place it dies while the node waits.
    """

    uuid: str
    kind: Kind
    directory: Path
    waits: bool
    place: str | None

    @property
    def begun(self) -> list[str]:
        """The steps that were begun, in order."""
        journal = self.directory / "journal"
        return journal.read_text().split() if journal.exists() else []

    def let_go(self) -> None:
        """Let every step end."""
        (self.directory / "stop").unlink(missing_ok=True)
        (self.directory / "go").touch()


def driver_info(directory: Path, *, waits: bool) -> dict[str, Any]:
    """Return what the interface needs; ``waits`` has the second step go on elsewhere."""
    return {"stepping_directory": str(directory), "stepping_waits": waits}


def options() -> Options:
    """Return the options with which the interface can be used, and lost conductors are noticed soon."""
    fakes = ("boot", "deploy", "management", "power")
    without = ("bios", "console", "firmware", "inspect", "raid", "rescue")
    return {
        "DEFAULT": {
            "auth_strategy": "noauth",
            "enabled_hardware_types": "fake-hardware",
            "enabled_network_interfaces": "noop",
            "enabled_storage_interfaces": "noop",
            "enabled_vendor_interfaces": "stepping",
            **{f"enabled_{kind}_interfaces": "fake" for kind in fakes},
            **{f"enabled_{kind}_interfaces": f"no-{kind}" for kind in without},
        },
        "conductor": {"heartbeat_interval": 1, "heartbeat_timeout": 5, "check_provision_state_interval": 2},
    }
