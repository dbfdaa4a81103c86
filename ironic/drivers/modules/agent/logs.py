"""The logs of a ramdisk, fetched from its agent before it is gone and kept for whoever looks for a reason.

Failing to get them is logged and nothing more: it must not cover what has gone wrong.
"""

import base64
import functools
import logging
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ironic.conf import CONF
from ironic.core.agent_memory import KnownAgent
from ironic.core.errors import IronicError
from ironic.drivers.modules.agent.client import Agent
from ironic.drivers.task import Node, Task
from ironic.integrations.object_store import ObjectStore

LOG = logging.getLogger(__name__)

_SECONDS_A_DAY: Final = 86400


def collect(task: Task, label: str, *, failed: bool) -> None:
    """Fetch and keep the logs, when [agent]deploy_logs_collect wants that."""
    if _are_wanted(failed=failed) and KnownAgent(task.node.driver_internal_info).is_known:
        _keep_quietly(task, label, lambda: _fetched(task.node))


def _fetched(node: Node) -> object:
    found = Agent(node).ask("log.collect_system_logs")
    if not isinstance(found, Mapping):
        raise TypeError("the agent's answer holds none")
    return found["system_logs"]


def keep(task: Task, label: str, posted: object, *, failed: bool) -> None:
    """Keep logs that a ramdisk has posted, as base64, when [agent]deploy_logs_collect wants that."""
    if posted and _are_wanted(failed=failed):
        _keep_quietly(task, label, lambda: posted)


def _are_wanted(*, failed: bool) -> bool:
    wanted = CONF.agent.deploy_logs_collect
    return bool(wanted == "always" or (wanted == "on_failure" and failed))


def _keep_quietly(task: Task, label: str, encoded: Callable[[], object]) -> None:
    try:
        archive = encoded()
        if not isinstance(archive, str):
            raise TypeError("they are no text in base64")
        place = _keep(task.node, label, base64.b64decode(archive, validate=True))
    except (IronicError, OSError, KeyError, TypeError, ValueError) as error:
        LOG.warning("Node %s: the ramdisk's logs could not be fetched: %s", task.node.uuid, error)
    else:
        LOG.info("Node %s: the ramdisk's logs are in %s", task.node.uuid, place)


def _keep(node: Node, label: str, archive: bytes) -> str:
    """Put the archive where logs are kept; return that place in words."""
    name = _name(node, label)
    if CONF.agent.deploy_logs_storage_backend == "swift":
        return _keep_in_store(CONF.agent.deploy_logs_swift_container, name, archive)
    return _keep_here(Path(CONF.agent.deploy_logs_local_path, name), archive)


def _name(node: Node, label: str) -> str:
    """Name an archive by node, instance if there is one, work and time."""
    now = datetime.now(UTC).strftime("%Y-%m-%d-%H-%M-%S")
    parts = (node.uuid, node.instance_uuid, re.sub(r"[^\w.-]", "_", label), now)
    return "_".join(part for part in parts if part) + ".tar.gz"


def _keep_here(path: Path, archive: bytes) -> str:
    """Write the archive where only the service can read it: what a ramdisk logs may hold secrets."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(archive)
    return str(path)


def _keep_in_store(container: str, name: str, archive: bytes) -> str:
    days: int = CONF.agent.deploy_logs_swift_days_to_expire
    _store(container).put(name, archive, keep_seconds=days * _SECONDS_A_DAY or None, content_type="application/gzip")
    return f"container {container} of the object store, as {name}"


@functools.cache
def _store(container: str) -> ObjectStore:
    # Whoever keeps logs in files should not load a client for something else.
    from ironic.integrations.swift import SwiftContainer

    return SwiftContainer.from_conf(container)
