"""Ramdisk logs: fetched from the agent and stored on this host or in an object store.

A failure to fetch or store them is only logged: it must not hide the failure that they document.
"""

import base64
import logging
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import IronicError
from ironic.core.memory.agent_memory import KnownAgent
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.agent.agent_client import Agent
from ironic.integrations.object_store import swift_container

LOG = logging.getLogger(__name__)

_SECONDS_A_DAY: Final = 86400


def collect(task: Task, label: str, *, failed: bool) -> None:
    """Fetch the logs from the agent and store them, if [agent]deploy_logs_collect requires it."""

    def fetch() -> object:
        found = Agent(task.node).execute("log.collect_system_logs")
        if not isinstance(found, Mapping):
            raise TypeError("the agent's answer contains no logs")
        return found["system_logs"]

    if _is_enabled(failed=failed) and KnownAgent(task.node.driver_internal_info).is_known:
        _store_quietly(task, label, fetch)


def keep(task: Task, label: str, posted: object, *, failed: bool) -> None:
    """Store logs that a ramdisk has posted, as base64 text, if [agent]deploy_logs_collect requires it."""
    if posted and _is_enabled(failed=failed):
        _store_quietly(task, label, lambda: posted)


def store(node: Node, label: str, encoded: str) -> str:
    """Store logs, base64 of an archive, and return where they are; raises ValueError, OSError or the store's error."""
    return _store(_name(node, label), base64.b64decode(encoded, validate=True))


def _is_enabled(*, failed: bool) -> bool:
    when = CONF.agent.deploy_logs_collect
    if not CONF.agent.deploy_logs_local_path and CONF.agent.deploy_logs_storage_backend == "local":
        return False  # an empty option turns it off
    return bool(when == "always" or (when == "on_failure" and failed))


def _store_quietly(task: Task, label: str, fetch: Callable[[], object]) -> None:
    """Fetch logs and store them; log where they are, or why they could not be fetched."""
    try:
        encoded = fetch()
        if not isinstance(encoded, str):
            raise TypeError("they are no base64 text")
        location = store(task.node, label, encoded)
    except (IronicError, OSError, KeyError, TypeError, ValueError) as error:
        LOG.warning("Node %s: the ramdisk's logs could not be fetched: %s", task.node.uuid, error)
    else:
        LOG.info("Node %s: the ramdisk's logs are in %s", task.node.uuid, location)


def _name(node: Node, label: str) -> str:
    """Return the file name of an archive: node, instance if there is one, label and time."""
    now = node.now().strftime("%Y-%m-%d-%H-%M-%S")
    parts = (node.uuid, node.instance_uuid, re.sub(r"[^\w.-]", "_", label), now)
    return "_".join(part for part in parts if part) + ".tar.gz"


def _store(name: str, archive: bytes) -> str:
    """Store the archive in the configured backend; return its location in words."""
    if CONF.agent.deploy_logs_storage_backend == "swift":
        container, days = CONF.agent.deploy_logs_swift_container, CONF.agent.deploy_logs_swift_days_to_expire
        store = swift_container(container)
        store.put(name, archive, keep_seconds=days * _SECONDS_A_DAY or None, content_type="application/gzip")
        return f"container {container} of the object store, as {name}"
    path = Path(CONF.agent.deploy_logs_local_path, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Readable by the service only: a ramdisk may log secrets.
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(archive)
    return str(path)
