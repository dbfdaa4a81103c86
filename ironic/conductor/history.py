"""Node history: lines about a node that users can read later, if the operator wants them kept."""

from typing import TYPE_CHECKING, Protocol

from ironic.conf import CONF

if TYPE_CHECKING:
    from ironic.drivers import task

    class Task(task.Task, Protocol):
        """A task that knows its conductor."""

        @property
        def host(self) -> str: ...


def remember(task: "Task", topic: str, event: str, severity: str = "INFO", *, seconds: int | None = None) -> None:
    """Write one line into node history, if one is kept."""
    if not CONF.conductor.node_history:
        return
    task.store.history.add(
        task.node.id,
        event=event,
        event_type=topic,
        severity=severity,
        conductor=task.host,
        user=task.context.user_id,
        project=task.context.project_id,
        state=task.node.provision_state,
        target=task.node.target_provision_state,
        seconds=seconds,
    )
