"""What rules get to know about a machine: plain copies of the node, its ports and port groups.

Secrets are still in them; the evaluation masks them for the rules that must not see them. Times become text, so that
all of it is plain data.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ironic.core.rules import Facts
from ironic.inspection.staged_task import StagedTask


def facts_of(task: StagedTask, inventory: Mapping[str, Any], plugin_data: Mapping[str, Any]) -> Facts:
    """Return the facts as they are now, what hooks have changed and not stored yet included."""
    return Facts(
        inventory=inventory,
        plugin_data=plugin_data,
        node=_plain(task.node.as_dict()) | {"traits": list(task.traits)},
        ports=[_plain(port.as_dict()) for port in task.ports],
        port_groups=[_plain(group.as_dict()) for group in task.portgroups],
    )


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in values.items()}
