"""Setting capabilities in a node's properties, which several hooks do."""

from collections.abc import Mapping
from typing import Final

from ironic.core import capabilities
from ironic.core.errors import HardwareInspectionFailure
from ironic.inspection.staged_task import StagedTask

_PROPERTY: Final = "capabilities"


def set_capabilities(task: StagedTask, changes: Mapping[str, str]) -> None:
    """Set these capabilities and keep the others; text that can't be read is left alone and fails the inspection."""
    try:
        text = capabilities.updated(task.node.properties.get(_PROPERTY), changes)
    except ValueError as error:
        raise HardwareInspectionFailure(
            error=f"property {_PROPERTY} of node {task.node.uuid} can't be added to: {error}. Correct it first"
        ) from None
    task.node.set_property(_PROPERTY, text)
    task.node.save()
