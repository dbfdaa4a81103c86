"""Every operation that keeps a conductor at work on a fake machine, and what is true once its conductor is gone."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ironic.core.flows import states
from ironic.db import Store
from ironic.tests.site import Site, eventually

# How long each action of a fake machine takes, so that there is time to kill a conductor.
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
    values: Mapping[str, Any] = field(default_factory=dict)  # what its node is created with


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


WAIT = {"interface": "deploy", "step": "wait"}

# What waits for a ramdisk that never comes.
WAITS = (
    Work(states.CLEANWAIT, states.MANAGEABLE, {"target": "clean", "clean_steps": [WAIT]}),
    Work(states.SERVICEWAIT, states.ACTIVE, {"target": "service", "service_steps": [WAIT]}),
    Work(states.DEPLOYWAIT, states.AVAILABLE, {"target": "active"}, {"deploy_interface": "custom-agent"}),
    Work(states.INSPECTWAIT, states.MANAGEABLE, {"target": "inspect"}, {"inspect_interface": "agent"}),
)

# The agent family on machines that boot nothing.
WAITING_MACHINES: Mapping[str, Mapping[str, object]] = {
    "DEFAULT": {
        **FAKES,
        "enabled_deploy_interfaces": "fake, custom-agent",
        "default_deploy_interface": "fake",
        "enabled_inspect_interfaces": "fake, agent",
        "default_inspect_interface": "fake",
    },
    "service_catalog": {"endpoint_override": "http://127.0.0.1:9"},
    "inspector": {"require_managed_boot": False},
}

Ask = Callable[[str, str, Any], Any]


def create(ask: Ask, store: Store, works: tuple[Work, ...] = WORKS) -> dict[str, Work]:
    """Create a node for each operation, in the state where it begins; return the UUIDs."""
    created = {}
    for work in works:
        answer = ask("POST", "/v1/nodes", {"driver": "fake-hardware", **work.values})
        assert answer.status_code == 201, answer.text
        uuid = answer.json()["uuid"]
        place(store, uuid, work)
        created[uuid] = work
    return created


def create_at(site: Site, store: Store, name: str, works: tuple[Work, ...]) -> dict[str, Work]:
    """Do the same with nodes that a certain conductor serves."""
    created = {}
    for work in works:
        (node,) = site.nodes_of(name, **work.values)
        place(store, node["uuid"], work)
        created[node["uuid"]] = work
    return created


def place(store: Store, uuid: str, work: Work) -> None:
    """Bring a node to where an operation begins."""
    store.nodes.update(uuid, {"provision_state": work.begins, "power_state": states.POWER_ON})


def begin(ask: Ask, store: Store, nodes: Mapping[str, Work]) -> None:
    """Ask for all operations and wait until a conductor is at work on each."""
    with ThreadPoolExecutor(6) as askers:
        # What is over after one action comes last, so that all are at work at the same time.
        in_order = sorted(nodes.items(), key=lambda each: each[1].state in _SHORT)
        asked = [askers.submit(_begin, ask, uuid, work) for uuid, work in in_order]
    for each in asked:
        each.result()
    eventually(lambda: [row(store, uuid)[0] for uuid in nodes], [work.state for work in nodes.values()])


_SHORT = frozenset({states.VERIFYING, states.INSPECTING, states.RESCUING, states.UNRESCUING, states.CLEANING})


def _begin(ask: Ask, uuid: str, work: Work) -> None:
    """Ask as clients do: a conductor that was out of reach a moment ago is asked again."""
    until = time.monotonic() + 60
    while True:
        answer = ask("PUT", f"/v1/nodes/{uuid}/states/provision", dict(work.body))
        if answer.status_code != 503 or time.monotonic() > until:
            break
        time.sleep(0.2)
    assert answer.status_code == 202, answer.text


def row(store: Store, uuid: str) -> tuple[Any, ...]:
    """Return state, holder and error as they are stored."""
    return store.nodes.row(("provision_state", "reservation", "last_error"), uuid)


def is_over(store: Store, uuid: str) -> bool:
    """Return whether the node has no work in progress and no lock."""
    state, holder, _ = row(store, uuid)
    return holder is None and state not in states.WORKING


def check_failed(store: Store, uuid: str, caught: str, why: str) -> str:
    """Check that the operation ended as its death demands, and return the state it ended in."""
    state, holder, error = row(store, uuid)
    assert (state, holder) == (states.after(caught, "fail"), None), (caught, state, holder, error)
    assert f"The operation in state '{caught}' was lost" in error and why in error, error
    return str(state)
