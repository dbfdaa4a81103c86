"""The lists of steps that users send or store: types that validate them, disallowed steps, and the order of runbooks.

The types check the keys and values of each step; the conductor checks whether the node offers such a step. Sources:
doc/contract/steps.md#schemas, doc/contract/steps.md#where-steps-come-from, doc/contract/versions.md#runbooks.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from ironic.core.errors import InvalidParameterValue
from ironic.core.flows.steps import INTERFACES, RESERVED
from ironic.core.texts import syntax
from ironic.core.values.value_types import ValueType

_KINDS: Final = INTERFACES["clean"]
_EVERY: Final = sorted({interface for kinds in INTERFACES.values() for interface in kinds})
# A list, not a set: the step in a request may be of an unhashable type.
_RESERVED: Final = sorted(RESERVED)
_SCHEMAS: Final[Mapping[str, dict[str, Any]]] = {
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
    # Additions to the JSON schema: of the list as a whole, and of keys of a step.
    list_schema: ClassVar[dict[str, Any]] = {}
    key_schemas: ClassVar[Mapping[str, dict[str, Any]]] = {}

    @property
    def is_endless(self) -> bool:
        """Return whether its values may be as long as a request."""
        return True

    def validate(self, value: object) -> list[dict[str, object]]:
        """Check every item."""
        if not isinstance(value, list):
            raise ValueError("must be a list of steps")
        for item in value:
            self._check_keys(item)
            self._check_values(item)
        return value

    def described(self) -> dict[str, object]:
        """Return the JSON schema of the list."""
        schemas = {**_SCHEMAS, **self.key_schemas}
        properties = {name: schemas[name] for name in sorted(self.required | self.optional)}
        return {
            "type": "array",
            "items": {
                "type": "object",
                "properties": properties,
                "required": sorted(self.required),
                "additionalProperties": False,
            },
            **self.list_schema,
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
            raise ValueError(f"must name one of these interfaces in each step: {', '.join(_KINDS)}")
        if not isinstance(item["step"], str) or not item["step"]:
            raise ValueError("must have text as the name of each step")
        if not isinstance(item.get("args", {}), dict):
            raise ValueError("must have an object as args")


class AskedSteps(_Steps):
    """The steps of a cleaning or a service, which run in the order of the list."""

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
    """Additional steps of a deployment, which run by priority."""

    required = frozenset({"interface", "step", "args", "priority"})

    def _check_values(self, item: Mapping[str, object]) -> None:
        super()._check_values(item)
        _check_position(item, "priority")


# For stored lists; the column of names is limited.
_NOT_EMPTY: Final[dict[str, Any]] = {"minItems": 1}
_NAME: Final[dict[str, Any]] = {**_SCHEMAS["step"], "maxLength": 255}


class TemplateSteps(DeploySteps):
    """The steps of a deploy template."""

    list_schema = _NOT_EMPTY
    key_schemas: ClassVar = {"step": _NAME}

    def validate(self, value: object) -> list[dict[str, object]]:
        """Check every item; there must be at least one, and none twice."""
        return _named_once(super().validate(value))


class RunbookSteps(_Steps):
    """The steps of a runbook, which run by their order."""

    required = frozenset({"interface", "step", "order"})
    optional = frozenset({"args"})
    list_schema = _NOT_EMPTY
    key_schemas: ClassVar = {"step": _NAME, "order": _SCHEMAS["priority"]}

    def validate(self, value: object) -> list[dict[str, object]]:
        """Check every item; there must be at least one, and none twice. Return each with args, empty by default."""
        return [{"args": {}, **step} for step in _named_once(super().validate(value))]

    def _check_values(self, item: Mapping[str, object]) -> None:
        super()._check_values(item)
        _check_position(item, "order")


def _check_position(item: Mapping[str, Any], key: str) -> None:
    position = item[key]
    if isinstance(position, str) and position.isascii() and position.isdigit():
        return
    if not _is_number(position) or position < 0:
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
    """Return the names of steps as options and policies spell them; items that are no step are skipped.

    A reserved step, which runs with any interface, has a name with each of them.
    """
    named = [step for step in steps if isinstance(step, dict) and {"interface", "step"} <= step.keys()]
    return [
        f"{interface}.{step['step']}"
        for step in named
        for interface in (_EVERY if step["step"] in _RESERVED else (step["interface"],))
    ]


def check_allowed(steps: Sequence[Mapping[str, object]], disallowed: Collection[str]) -> None:
    """Refuse steps that the operator has disallowed; raises InvalidParameterValue."""
    for name in names(steps):
        if name in disallowed:
            raise InvalidParameterValue(err=f"Step {name} is not allowed here.")


# The key of driver_info that names the runbook for automated cleaning.
CLEANING_RUNBOOK_KEY: Final = "cleaning_runbook"


def have_trait_in_common(traits: Iterable[str], present: Collection[str]) -> bool:
    """Return whether a runbook with these traits is for a node with the traits ``present``; without traits for none."""
    return any(trait in present for trait in traits)


def in_run_order(steps: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps of a runbook in the order in which they run."""
    return [dict(step) for step in sorted(steps, key=lambda step: int(step["order"]))]
