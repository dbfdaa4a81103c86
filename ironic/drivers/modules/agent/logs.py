"""The logs of a ramdisk, fetched from its agent before it is gone and kept for whoever looks for a reason.

Failing to get them is logged and nothing more: it must not cover what has gone wrong.
"""

import base64
import logging
import os
import re
from datetime import UTC, datetime
from pathlib import Path

from ironic.conf import CONF
from ironic.core.errors import IronicError
from ironic.drivers.modules.agent.client import Agent
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)


def collect(task: Task, label: str, *, failed: bool) -> None:
    """Fetch and keep the logs, when [agent]deploy_logs_collect wants that."""
    wanted = CONF.agent.deploy_logs_collect
    if wanted == "never" or (wanted == "on_failure" and not failed):
        return
    if not task.node.driver_internal_info.get("agent_url"):
        return
    try:
        result = Agent(task.node).ask("log.collect_system_logs") or {}
        path = _keep(task.node, label, base64.b64decode(result["system_logs"], validate=True))
    except (IronicError, OSError, KeyError, TypeError, ValueError) as error:
        LOG.warning("Node %s: the ramdisk's logs could not be fetched: %s", task.node.uuid, error)
    else:
        LOG.info("Node %s: the ramdisk's logs are in %s", task.node.uuid, path)


def _keep(node: Node, label: str, archive: bytes) -> Path:
    """Write the archive where only the service can read it: what a ramdisk logs may hold secrets."""
    now = datetime.now(UTC).strftime("%Y-%m-%d-%H-%M-%S")
    step = re.sub(r"[^\w.-]", "_", label)
    path = Path(CONF.agent.deploy_logs_local_path, f"{node.uuid}_{step}_{now}.tar.gz")
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(archive)
    return path
