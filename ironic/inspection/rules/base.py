"""Base class of actions of third parties, published under the entry point group `ironic.inspection_rules.actions`.

The arguments of an action are the parameters of `__call__` behind `task` and `rule`; those without a default are
required, and annotations (`str`, `bool`, `int`, `list`, `dict`) are checked when a rule is posted. An action changes
`task.node`, `task.ports` and `task.plugin_data` and nothing else: the service stores the changes, or shows them in a
dry run. An exception fails the inspection.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar


class InspectionRuleActionBase(ABC):
    """One action of the rule language."""

    # The arguments in which expressions are replaced by values. In the others a brace is a character like any other,
    # as the specification's class has it: the author decides which arguments see data that a machine has reported.
    formatted_params: ClassVar[Collection[str]] = []

    # Whether rules of the early phase may use it; there is no node then, and call_early is called.
    supports_early: ClassVar[bool] = False

    # Values written by an action that has read the inventory or the plug-in data count as reported by the machine: they
    # can't become the owner of a node, nor an address that gets a stored password. True: the action itself ensures
    # that.
    vouches: ClassVar[bool] = False

    def call_early(self, rule: object, *args: Any, **kwargs: Any) -> None:
        """Perform the action before the node is known, on `rule.inventory` and `rule.plugin_data`."""
        raise TypeError(f"{type(self).__name__} can't run before the node is known")

    @abstractmethod
    def __call__(self, task: object, rule: object, *args: Any, **kwargs: Any) -> None:
        """Perform the action of a rule that applies."""
