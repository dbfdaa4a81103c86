"""Every operation that keeps a conductor at work on a fake machine, and what is true once its conductor is gone."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ironic.core import states
from ironic.db import Store

# How long each action of a fake machine takes, so that there is time to kill somebody.
SLOW = 4.0
DELAYS = {f"{kind}_delay": SLOW for kind in ("boot", "deploy", "inspect", "management", "power", "rescue", "vendor")}

FAKES = {
    f"enabled_{kind}_interfaces": "fake"
    for kind in ("boot", "deploy", "inspect", "management", "power", "rescue", "vendor")
}


@dataclass(frozen=True)
class Work:
    """An operation: the state in which the conductor works, where it begins, and how it is asked for."""

    state: str
    begins: str
    body: Mapping[str, Any]


WORKS = (
    Work(states.VERIFYING, states.ENROLL, {"target": "manage"}),
    Work(states.INSPECTING, states.MANAGEABLE, {"target": "inspect"}),
    Work(states.CLEANING, states.MANAGEABLE, {"target": "provide"}),
    Work(states.ADOPTING, states.MANAGEABLE, {"target": "adopt"}),
    Work(states.DEPLOYING, states.AVAILABLE, {"target": "active"}),
    Work(states.DELETING, states.ACTIVE, {"target": "deleted"}),
    Work(states.RESCUING, states.ACTIVE, {"target": "rescue", "rescue_password": "four words for rescue"}),
    Work(states.UNRESCUING, states.RESCUE, {"target": "unrescue"}),
    Work(
        states.SERVICING,
        states.ACTIVE,
        {"target": "service", "service_steps": [{"interface": "power", "step": "power_off", "args": {}}]},
    ),
)


Ask = Callable[[str, str, Any], Any]


def create(ask: Ask, store: Store, works: tuple[Work, ...] = WORKS) -> dict[str, Work]:
    """Create a node for each operation, in the state where it begins; return the UUIDs."""
    created = {}
    for work in works:
        answer = ask("POST", "/v1/nodes", {"driver": "fake-hardware"})
        assert answer.status_code == 201, answer.text
        uuid = answer.json()["uuid"]
        store.nodes.update(uuid, {"provision_state": work.begins, "power_state": states.POWER_ON})
        created[uuid] = work
    return created


def begin(ask: Ask, store: Store, nodes: Mapping[str, Work]) -> None:
    """Ask for all operations and wait until a conductor is at work on each."""
    with ThreadPoolExecutor(6) as askers:
        answers = [
            askers.submit(ask, "PUT", f"/v1/nodes/{uuid}/states/provision", dict(work.body))
            for uuid, work in nodes.items()
        ]
    for answer in (each.result() for each in answers):
        assert answer.status_code == 202, answer.text
    wait_for(lambda: [row(store, uuid)[0] for uuid in nodes], [work.state for work in nodes.values()])


def row(store: Store, uuid: str) -> tuple[Any, ...]:
    """Return state, holder and error as they are stored."""
    return store.nodes.row(("provision_state", "reservation", "last_error"), uuid)


def is_over(store: Store, uuid: str) -> bool:
    """Tell whether nobody works on the node, nor seems to."""
    state, holder, _ = row(store, uuid)
    return holder is None and state not in states.WORKING


def check_failed(store: Store, uuid: str, caught: str, why: str) -> str:
    """Check that the operation ended as its death demands, and return the state it ended in."""
    state, holder, error = row(store, uuid)
    assert (state, holder) == (states.after(caught, "fail"), None), (caught, state, holder, error)
    assert f"The operation in state '{caught}' was lost" in error and why in error, error
    return str(state)


def wait_for(look: Callable[[], Any], wanted: Any, seconds: float = 15) -> None:
    """Look until it is as wanted."""
    until = time.monotonic() + seconds
    while (seen := look()) != wanted:
        assert time.monotonic() < until, f"it is {seen}, not {wanted}, after {seconds} s"
        time.sleep(0.05)
