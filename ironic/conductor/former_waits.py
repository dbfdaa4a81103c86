"""Waits that a release before table node_waits has begun: its keys of driver_internal_info become rows.

A conductor looks for them when it starts and every minute, as conductors of that release may run beside it during an
upgrade and hand their nodes over. This module stays for one release.
"""

import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from ironic.conductor.locking import LockMode
from ironic.conductor.periodic_tasks import PeriodicTask
from ironic.conductor.tasks import TaskFactory
from ironic.conf import CONF
from ironic.core.context import service_context
from ironic.core.errors import NodeLocked, NodeNotFound
from ironic.core.flows import node_waits
from ironic.core.flows.flow import FLOWS, in_state
from ironic.core.flows.node_waits import Follows, NodeWait
from ironic.core.texts import syntax
from ironic.rpc.hash_ring import HashRingManager

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

_SECONDS: Final = 60.0
_PURPOSE: Final = "taking over what a former release waits for"

# The interface that looks, by the key, which is the kind of the wait now.
_STEPS: Final = {
    "raid_configs": "raid",
    "redfish_bios_state": "bios",
    "redfish_fw_updates": "firmware",
    "firmware_updates": "management",
}
_SETTING: Final = "awaited_setting"
_SHUTDOWN: Final = "awaited_shutdown"
_INSPECTION: Final = "standalone_inspection"
_PAUSE: Final = "pause"
_PAUSES: Final = [f"{flow.name}_step_waits_until" for flow in FLOWS if flow.keeps_place]
KEYS: Final = (*_STEPS, _SETTING, _SHUTDOWN, _INSPECTION, *_PAUSES)
_RUN: Final = "step_began"


def jobs(tasks: TaskFactory, hash_ring: HashRingManager) -> tuple[PeriodicTask, ...]:
    """Return the periodic task that looks for them."""

    def take_over() -> None:
        found = tasks.store.nodes.rows(("uuid", "driver", "conductor_group"), filters={"remembers_any": KEYS})
        for uuid, *where in found:
            if hash_ring.is_mine(tasks.host, uuid, *where):
                _take_over(tasks, uuid)

    return (PeriodicTask("waits of a former release", _SECONDS, take_over, at_once=True),)


def _take_over(tasks: TaskFactory, uuid: str) -> None:
    try:
        with tasks.acquire(service_context(), uuid, LockMode.PERIODIC, purpose=_PURPOSE) as task:
            convert(task.node)
            task.node.save()
    except (NodeLocked, NodeNotFound) as error:
        LOG.debug("Node %s: what it waits for is taken over later: %s", uuid, error)
    except Exception:
        LOG.exception("Node %s: what a former release waits for can't be taken over", uuid)


def convert(node: "NodeRecord") -> None:
    """Make rows of what a node remembers, but for what its present operation does not know; the caller saves it."""
    words, until = _words_of(node)
    for kind in KEYS:
        known = node.del_driver_internal_info(kind)
        try:
            found = _wait(node, kind, known, words, until) if known else None
        except (AttributeError, KeyError, TypeError) as error:
            LOG.warning("Node %s: %s of a former release is odd, and not awaited any more: %r", node.uuid, kind, error)
            continue
        if found is not None:
            node_waits.put(node, found)
            LOG.info("Node %s: it goes on waiting for %s", node.uuid, found.text)


def _wait(node: "NodeRecord", kind: str, known: Any, words: str, until: datetime | None) -> NodeWait | None:
    now, run, flow = node.now(), node_waits.run_of(node), in_state(node.provision_state)
    wait = NodeWait(
        kind=kind, interface=None, words=words, since=node.provision_updated_at or now, until=until, next_look=now,
        follows=Follows.FLOW, run=run, changed=now,
    )  # fmt: skip
    more: dict[str, Any] | None = None
    if kind in _PAUSES and run is not None:
        over = syntax.moment_of(known) or now
        more = {"kind": _PAUSE, "words": "the end of a pause", "until": over, "next_look": over}
    elif kind in _STEPS and run is not None and known.get(_RUN) and run.endswith(known[_RUN]):
        memory = {name: value for name, value in known.items() if name != _RUN and value is not None}
        more = {"interface": _STEPS[kind], "memory": memory}
    elif kind == _SETTING and known["flow"] == (flow.name if flow else None):
        follows = Follows.STEP if known.get("in_step") else Follows.REQUEST if flow is None else Follows.WORK
        memory = {name: known[name] for name in ("column", "wanted", "power")}
        last = syntax.moment_of(known["until"]) or now + timedelta(seconds=CONF.redfish.boot_mode_config_timeout)
        more = {"interface": "management", "until": last, "follows": follows, "memory": memory}
    elif kind == _SHUTDOWN and node.target_power_state:
        end = syntax.moment_of(known["until"])
        more = {"words": "the machine to shut down", "until": end, "run": None, "memory": {"target": known["target"]}}
        more["follows"] = Follows.REQUEST
    elif kind == _INSPECTION and flow is not None and node.provision_state == flow.waiting:
        more = {"interface": "inspect", "words": "the standalone inspector to end its introspection"}
    return None if more is None else replace(wait, **more)


def _words_of(node: "NodeRecord") -> tuple[str, datetime | None]:
    """Return the words that the node shows, and the end that they name."""
    words, _, end = (node_waits.text_of(node) or "the BMC").partition(", until ")
    try:
        return words, datetime.strptime(end, "%Y-%m-%d %H:%M:%S UTC")
    except ValueError:
        return words, None
