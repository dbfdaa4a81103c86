"""A whole conductor in a clock that jumps: hours of real time-outs take seconds, and a seed decides the order.

The seed is printed; IRONIC_SEED sets it.

Ten machines are inspected, cleaned and deployed at the same time. Three of them have a ramdisk that never answers, one
for each of these operations, and the cleaning of a fourth one fails.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from ironic.command import wiring
from ironic.command.conductor_name import ConductorName
from ironic.conf import CONF
from ironic.core.context import RequestContext
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.rpc.client import ConductorClients
from ironic.rpc.hash_ring import HashRingManager
from ironic.rpc.in_process import InProcess
from ironic.rpc.notifications.notifier import NOTIFIER, Notification
from ironic.tests.conftest import Setter
from ironic.tests.databases import sqlite_store
from ironic.tests.jumping_clock import JumpingClock, JumpingThreads

# What a machine takes for each action, in seconds; the time-outs are those of a default configuration.
TIMES: Final = {"power": "1,20", "management": "1,5", "boot": "5,60", "inspect": "300,900", "deploy": "60,1500"}

WHOLE: Final = ("manage", "inspect", "provide", "deploy")
ODD_STEP: Final = {"interface": "bios", "step": "apply_configuration", "args": {"settings": ["odd"]}}
ODD: Final[dict[str, Any]] = {"clean_steps": [ODD_STEP]}

# Per machine what differs from a fake one, the verbs that it gets, and the state that it ends in.
USUAL: Final[tuple[dict[str, Any], tuple[str, ...], str]] = ({}, WHOLE, "active")
MACHINES: Final = {
    **{f"usual-{number}": USUAL for number in range(6)},
    "failing": ({}, ("manage", "inspect", "clean"), "clean failed"),
    "silent-in-inspection": ({"inspect_interface": "agent"}, ("manage", "inspect"), "inspect failed"),
    "silent-in-cleaning": ({"deploy_interface": "custom-agent"}, ("manage", "provide"), "clean failed"),
    "silent-in-deployment": (
        {"deploy_interface": "custom-agent", "automated_clean": False},
        ("manage", "inspect", "provide", "deploy"),
        "deploy failed",
    ),
}
ENDS: Final = {end for _differences, _verbs, end in MACHINES.values()}
HOUR: Final = 3600
# Seconds of CPU that an hour without work may cost: some 1,900 runs of periodic tasks, on a machine with other work.
MOST_CPU: Final = 20
LONGEST: Final = 4 * HOUR

Event = tuple[float, str, str, str]


class Notes:
    """Gets the notifications: when, of which machine, what, and its state."""

    def __init__(self, clock: JumpingClock) -> None:
        self._clock, self.events = clock, list[Event]()

    def put(self, notification: Notification) -> None:
        data: Any = notification.payload["ironic_object.data"]
        self.events.append((self._clock.monotonic(), data["name"], notification.event_type, data["provision_state"]))

    def close(self) -> None:
        """Keep them."""


class House:
    """A conductor, its machines, and their user."""

    def __init__(self, seed: int, directory: Path) -> None:
        self.clock, self.context = JumpingClock(seed), RequestContext()
        self.store = sqlite_store(directory, clock=self.clock)
        self.notes = Notes(self.clock)
        hash_ring = HashRingManager(self.store, heartbeat_timeout=60, clock=self.clock.monotonic)
        transport = InProcess(self.clock)
        self.name = ConductorName(self.store, CONF, lambda seconds: not self.clock.sleep(seconds or 0))
        threads = JumpingThreads(self.clock)
        self.conductor = wiring.conductor_of(CONF, self.store, hash_ring, transport, self.name, threads)
        self.seconds = self.seconds_idle = 0.0
        self.clients = ConductorClients(transport, hash_ring, clock=self.clock)

    def live(self) -> None:
        """Begin, bring every machine as far as it comes, and end."""
        self.name.start()
        self.conductor.start()
        for number, (name, (differences, _verbs, _end)) in enumerate(MACHINES.items()):
            fakes = {interface_field(kind): "fake" for kind in KINDS}
            fakes |= {"network_interface": "noop", "storage_interface": "noop"}
            uuid = f"00000000-0000-4000-8000-{number:012}"
            self.store.nodes.create({"driver": "fake-hardware", **fakes, "name": name, "uuid": uuid, **differences})
        left = {name: list(verbs) for name, (_differences, verbs, _end) in MACHINES.items()}
        while self.are_busy(left):
            assert self.clock.monotonic() < LONGEST, self.states()
            self.clock.delay(10)

    def are_busy(self, left: dict[str, list[str]]) -> bool:
        """Send the next verb to each machine that is not at work; return whether any is, or has a verb to come."""
        columns = ("name", "uuid", "provision_state", "target_provision_state", "reservation")
        rows = self.store.nodes.rows(columns)
        for name, uuid, _state, target, reservation in rows:
            if left[name] and not target and not reservation:
                verb = left[name].pop(0)
                conductor = self.clients.serving(self.store.nodes.get(uuid))
                conductor.change_provision_state(self.context, uuid, verb, ODD if verb == "clean" else {})
        return any(left[row[0]] or row[2] not in ENDS or row[4] for row in rows)

    def end(self) -> None:
        """End the conductor."""
        self.conductor.stop()
        self.name.stop()

    def states(self) -> dict[str, str]:
        """Return the states of all machines."""
        return dict(self.store.nodes.rows(("name", "provision_state")))

    def history(self) -> list[tuple[Any, ...]]:
        """Return the events of all machines in their order."""
        return self.store.history.rows(("created_at", "node_id", "event_type", "severity", "event"))


@pytest.fixture(autouse=True)
def usual_options(conf: Setter, tmp_path: Path) -> None:
    conf(enabled_hardware_types=["fake-hardware"], default_network_interface="noop", host="jumping")
    for kind in KINDS:
        conf(**{f"enabled_{kind}_interfaces": ["noop"] if kind in ("network", "storage") else ["fake"]})
    conf(enabled_deploy_interfaces=["fake", "custom-agent"], enabled_inspect_interfaces=["fake", "agent"])
    conf(**{f"fake__{kind}_delay": seconds for kind, seconds in TIMES.items()})
    conf(inspector__require_managed_boot=False)
    conf(api__public_endpoint="http://192.0.2.1:6385", deploy__http_root=str(tmp_path / "http"))


def lived(seed: int, directory: Path, idle: float = 0) -> House:
    """Return a house after its life, and so many seconds without work."""
    directory.mkdir()
    house = House(seed, directory)
    NOTIFIER.open(house.notes, host=CONF.host, least="debug")
    try:
        house.seconds = seconds_of_cpu(house.live)
        house.seconds_idle = seconds_of_cpu(lambda: house.clock.delay(idle))
        house.end()
        return house
    finally:
        NOTIFIER.close()


def seconds_of_cpu(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return time.process_time() - begun


def test_hours_of_ten_machines_take_seconds_and_a_seed_gives_their_order(tmp_path: Path) -> None:
    seed = int(os.environ.get("IRONIC_SEED", time.time_ns() % 1_000_000))
    sys.stdout.write(f"seed {seed}\n")
    first = lived(seed, tmp_path / "first", idle=HOUR)
    assert first.states() == {name: end for name, (_differences, _verbs, end) in MACHINES.items()}
    errors: dict[str, str] = dict(first.store.nodes.rows(("name", "last_error")))
    assert all("Timed out after 1800 seconds" in errors[name] for name in MACHINES if name.startswith("silent"))
    hours = first.clock.monotonic() / HOUR
    sys.stdout.write(f"{hours:.2f} hours, {first.seconds:.1f} seconds of CPU; {first.seconds_idle:.1f} an hour\n")
    assert first.seconds_idle < MOST_CPU
    again = lived(seed, tmp_path / "again")
    assert again.notes.events == first.notes.events
    assert again.history() == first.history()
    assert len(first.notes.events) > 50
    other = lived(seed + 1, tmp_path / "other")
    assert other.states() == first.states()
    assert other.notes.events != first.notes.events
    for house in (first, again, other):
        house.store.close()
