"""The lists of steps that callers send.

Types for the input reader: each item's keys and values are checked here, whether the node has such a step the conductor
will see. Source: doc/contract/steps.md#schemas.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Final

from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue
from ironic.core.steps import INTERFACES, RESERVED
from ironic.core.values import ValueType

_KINDS: Final = INTERFACES["clean"]
_EVERY: Final = sorted({interface for kinds in INTERFACES.values() for interface in kinds})
# As text may be anything in a request, a list: what is looked for in it need not be hashable.
_ANYWHERE: Final = sorted(RESERVED)
_DESCRIBED: Final[Mapping[str, dict[str, Any]]] = {
    "interface": {"type": "string", "enum": sorted(_KINDS)},
    "step": {"type": "string", "minLength": 1},
    "args": {"type": "object"},
    "order": {"type": "integer"},
    "priority": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}]},
    "execute_on_child_nodes": {"type": "boolean"},
    "limit_child_node_execution": {"type": "array", "items": {"type": "string", "format": "uuid"}},
}


class _Steps(ValueType):
    """A list of steps."""

    noun = "a list of steps"
    sortable = False
    required: frozenset[str] = frozenset({"interface", "step"})
    optional: frozenset[str] = frozenset()
    # What is described of the list as a whole, and of keys of a step, where that is more than of other lists.
    whole: ClassVar[dict[str, Any]] = {}
    more: ClassVar[Mapping[str, dict[str, Any]]] = {}

    def validate(self, value: object) -> list[dict[str, object]]:
        """Check every item."""
        if not isinstance(value, list):
            raise ValueError("must be a list of steps")
        for item in value:
            self._check_keys(item)
            self._check_values(item)
        return value

    def described(self) -> dict[str, object]:
        """Say what a step has, for descriptions of the API."""
        keys = self.required | self.optional
        described = {**_DESCRIBED, **self.more}
        properties = {name: described[name] for name in sorted(keys)}
        return {
            "type": "array",
            "items": {
                "type": "object",
                "properties": properties,
                "required": sorted(self.required),
                "additionalProperties": False,
            },
            **self.whole,
        }

    def _check_keys(self, item: object) -> None:
        if not isinstance(item, dict):
            raise ValueError("must be a list of objects")
        if missing := self.required - item.keys():
            raise ValueError(f"has a step without {', '.join(sorted(missing))}")
        if item.keys() - self.required - self.optional:
            raise ValueError(f"may have in a step only: {', '.join(sorted(self.required | self.optional))}")

    def _check_values(self, item: Mapping[str, object]) -> None:
        if item["interface"] not in _KINDS:
            raise ValueError(f"must name an interface out of: {', '.join(_KINDS)}")
        if not isinstance(item["step"], str) or not item["step"]:
            raise ValueError("must name each step by text")
        if not isinstance(item.get("args", {}), dict):
            raise ValueError("must have an object as args")


class AskedSteps(_Steps):
    """The steps of a cleaning or a service, run as listed."""

    optional = frozenset({"args", "order", "execute_on_child_nodes", "limit_child_node_execution"})

    def _check_values(self, item: Mapping[str, object]) -> None:
        super()._check_values(item)
        if not _is_number(item.get("order", 0)):
            raise ValueError("must have a whole number as order")
        if not isinstance(item.get("execute_on_child_nodes", False), bool):
            raise ValueError("must have true or false as execute_on_child_nodes")
        children = item.get("limit_child_node_execution", [])
        if not isinstance(children, list) or not all(map(syntax.is_uuid, children)):
            raise ValueError("must have a list of UUIDs as limit_child_node_execution")


class DeploySteps(_Steps):
    """Additional steps of a deployment; the priority is the step's place among the others."""

    required = frozenset({"interface", "step", "args", "priority"})

    def _check_values(self, item: Mapping[str, object]) -> None:
        super()._check_values(item)
        _check_place(item, "priority")


# Of lists that are stored; a column holds the names.
_WHOLE: Final[dict[str, Any]] = {"minItems": 1}
_NAME: Final[dict[str, Any]] = {**_DESCRIBED["step"], "maxLength": 255}


class TemplateSteps(DeploySteps):
    """The steps of a deploy template."""

    whole = _WHOLE
    more: ClassVar = {"step": _NAME}

    def validate(self, value: object) -> list[dict[str, object]]:
        """Check every item, and that there is one and none twice."""
        return _named_once(super().validate(value))


class RunbookSteps(_Steps):
    """The steps of a runbook; the order is the step's place among the others."""

    required = frozenset({"interface", "step", "order"})
    optional = frozenset({"args"})
    whole = _WHOLE
    more: ClassVar = {"step": _NAME, "order": _DESCRIBED["priority"]}

    def validate(self, value: object) -> list[dict[str, object]]:
        """Check every item, and that there is one and none twice; return each with arguments, perhaps none."""
        return [{"args": {}, **step} for step in _named_once(super().validate(value))]

    def _check_values(self, item: Mapping[str, object]) -> None:
        super()._check_values(item)
        _check_place(item, "order")


def _check_place(item: Mapping[str, Any], key: str) -> None:
    place = item[key]
    if isinstance(place, str) and place.isascii() and place.isdigit():
        return
    if not _is_number(place) or place < 0:
        raise ValueError(f"must have a whole number of at least 0 as {key}")


def _named_once(steps: list[dict[str, object]]) -> list[dict[str, object]]:
    if not steps:
        raise ValueError("must have at least one step")
    if len({(step["interface"], step["step"]) for step in steps}) < len(steps):
        raise ValueError("must not have a step of an interface twice")
    return steps


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def names(steps: Sequence[object]) -> list[str]:
    """Return the names of steps as options and rules write them; what is no step has none.

    A step that is performed whatever the interface has a name with each of them.
    """
    named = [step for step in steps if isinstance(step, dict) and {"interface", "step"} <= step.keys()]
    return [
        f"{interface}.{step['step']}"
        for step in named
        for interface in (_EVERY if step["step"] in _ANYWHERE else (step["interface"],))
    ]


def check_allowed(steps: Sequence[Mapping[str, object]], disallowed: Collection[str]) -> None:
    """Refuse steps the operator does not let callers ask for."""
    for name in names(steps):
        if name in disallowed:
            raise InvalidParameterValue(err=f"Step {name} is not allowed here.")
