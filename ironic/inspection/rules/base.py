"""What a third party's action is made from; published as an entry point of `ironic.inspection_rules.actions`.

The arguments that rules may give, and which of them they must, are read off the signature of `__call__` behind `task`
and `rule`; annotations (`str`, `bool`, `int`, `list`, `dict`) are checked when a rule is posted. An action changes
`task.node`, `task.ports` and `task.plugin_data` and nothing else: the service stores what it changed, or, in a dry run,
shows it. An exception fails the inspection.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar


class InspectionRuleActionBase(ABC):
    """One action."""

    # The arguments in which expressions are filled in; None: all of them.
    formatted_params: ClassVar[Collection[str] | None] = None

    # Whether rules of the early phase may have it, where there is no node; then call_early is called.
    supports_early: ClassVar[bool] = False

    # What an action writes after it has looked at the inventory or the plug-in data counts as reported by the machine:
    # it can't be the owner of a node, nor an address beside a stored password. True: its code makes sure of that.
    vouches: ClassVar[bool] = False

    def call_early(self, rule: object, *args: Any, **kwargs: Any) -> None:
        """Act when no node is known yet, on `rule.inventory` and `rule.plugin_data`."""
        raise TypeError(f"{type(self).__name__} can't act before the node is known")

    @abstractmethod
    def __call__(self, task: object, rule: object, *args: Any, **kwargs: Any) -> None:
        """Act on a rule that applies."""
