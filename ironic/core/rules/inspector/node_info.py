"""The node as plug-ins of the standalone inspector see it.

A plug-in reads copies, with secrets masked as for its rule, and writes through the methods here: each change is checked
like that of any rule, and stored with all others when the phase ends. Arguments for a client (`ironic`) are accepted
and ignored.
"""

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from ironic.core.rules import actions
from ironic.core.rules.argument_kinds import KINDS, NodePath
from ironic.core.rules.limits import RuleFault, copied
from ironic.core.rules.paths import Path, find
from ironic.core.rules.workspace import Workspace


class NodeInfo:
    """One node during its inspection."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def uuid(self) -> str:
        """The UUID of the node."""
        return str(self._workspace.node.data["uuid"])

    def node(self, ironic: object = None) -> SimpleNamespace:
        """Return a copy of the node, with its fields as attributes; changes of it have no effect."""
        return SimpleNamespace(**copied(self._workspace.node.data, self._workspace.budget))

    def ports(self, ironic: object = None) -> dict[str, SimpleNamespace]:
        """Return copies of the node's ports by MAC address."""
        ports = (copied(port.data, self._workspace.budget) for port in self._workspace.ports)
        return {port["address"]: SimpleNamespace(**port) for port in ports}

    def get_by_path(self, path: str, ironic: object = None) -> Any:
        """Return the value at a path of the node; raises KeyError if there is none."""
        if (value := find(self._workspace.node.data, _keys(path))) is None:
            raise KeyError(path)
        return copied(value, self._workspace.budget)

    def replace_field(self, path: str, func: Callable[[Any], Any], default: Any = None, ironic: object = None) -> None:
        """Replace the value at a path by what a function makes of it, or of the default."""
        value = find(self._workspace.node.data, _keys(path))
        self._workspace.node.set(_keys(path), func(copied(default if value is None else value, self._workspace.budget)))

    def patch(self, patches: Sequence[Mapping[str, Any]], ironic: object = None, **kwargs: object) -> None:
        """Apply a JSON patch of add, replace and remove to the node."""
        for operation in patches:
            path = _keys(operation["path"])
            if operation["op"] in ("add", "replace"):
                self._workspace.node.set(path, operation["value"])
            elif operation["op"] == "remove":
                self._workspace.node.remove(path)
            else:
                raise RuleFault(f"a plug-in can't patch the node with '{str(operation['op'])[:80]}'")

    def update_properties(self, ironic: object = None, **props: Any) -> None:
        """Set properties of the node."""
        for name, value in props.items():
            self._workspace.node.set(("properties", name), value)

    def update_capabilities(self, ironic: object = None, **caps: Any) -> None:
        """Set capabilities of the node."""
        for name, value in caps.items():
            actions.set_capability(self._workspace, name, value)  # type: ignore[arg-type]  # checked there

    def add_trait(self, trait: Any, ironic: object = None) -> None:
        """Add a trait to the node."""
        actions.add_trait(self._workspace, trait)

    def remove_trait(self, trait: Any, ironic: object = None) -> None:
        """Remove a trait from the node, if it has it."""
        actions.remove_trait(self._workspace, trait)


def _keys(path: str) -> Path:
    keys: Path = KINDS[NodePath].accept(path if path.startswith("/") else f"/{path}")
    return keys
