"""The actions of rules in the dialect of the standalone inspector, as they are posted: parameters and their checks.

An action says which effect its rule wants (`Effect`): the name of the action, the place, the value. `effects` makes the
effect, and takes it back when the rule does not match any more. Posted values are checked as far as they do not depend
on inspection data. Sources: demands S182 to S185, doc/contract/inspection.md#rules-of-the-standalone-inspector.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ironic.core.rules.actions import capability, check_trait
from ironic.core.rules.argument_kinds import KINDS, BadArgument, Name, NodePath
from ironic.core.rules.documents import NODE, checked_value
from ironic.core.rules.inspector.data_texts import DataText, data_text, literal
from ironic.core.rules.interpolation import BadExpression
from ironic.core.rules.limits import Budget, RuleFault
from ironic.core.rules.paths import APPEND, Path, pointer
from ironic.core.rules.rule_outcomes import Effect

Params = Mapping[str, Any]

SET, EXTEND, CAPABILITY, ADD_TRAIT, REMOVE_TRAIT, FAIL = (
    "set-attribute", "extend-attribute", "set-capability", "add-trait", "remove-trait", "fail",
)  # fmt: skip
# The blueprint's name of an action that was released under another.
APPEND_ATTRIBUTE: Final = "append-attribute"

DRIVER: Final[Path] = ("driver",)
_NOTHING: Final = data_text(None)
# A capability without a value.
_PRESENT: Final = "true"


@dataclass(frozen=True, slots=True)
class BoundAction:
    """One checked action of a rule."""

    action: str
    at: str
    value: DataText = _NOTHING
    more: Params = field(default_factory=dict)

    @property
    def is_reported(self) -> bool:
        """Whether the value comes from what a machine reported."""
        return not self.value.is_constant

    def wanted(self, data: object, budget: Budget) -> Effect:
        """Return the effect that the rule wants on these inspection data; raises RuleFault."""
        return {"action": self.action, "at": self.at, "value": self.value.render(data, budget), **self.more}


@dataclass(frozen=True, slots=True)
class ActionForm:
    """The parameters of an action; ``bind`` checks them and raises RuleFault or BadExpression."""

    required: tuple[str, ...]
    optional: tuple[str, ...]
    bind: Callable[[Params], BoundAction]
    # What the blueprint calls some parameters.
    aliases: Params = field(default_factory=dict)

    def bound(self, given: Params) -> BoundAction:
        """Return the checked action; raises BadArgument that names the parameter."""
        params: dict[str, Any] = {}
        for name, value in given.items():
            known = self.aliases.get(name, name)
            if known not in self.required + self.optional:
                raise BadArgument(f"there is no parameter '{name[:80]}'; known: {', '.join(self._known())}")
            if known in params:
                raise BadArgument(f"parameters '{known}' and '{name}' are the same: give one of them")
            params[known] = value
        for name in self.required:
            if name not in params:
                raise BadArgument(f"parameter '{name}' is missing")
        return self.bind(params)

    def _known(self) -> list[str]:
        return [*self.required, *self.optional, *self.aliases]


def _checked(name: str, check: Callable[[Any], Any], value: Any) -> Any:
    """Return what a check makes of a parameter; a fault names the parameter."""
    try:
        return check(value)
    except (RuleFault, BadExpression) as error:
        raise BadArgument(f"parameter '{name}': {error}") from None


def _path(params: Params) -> Path:
    path = params["path"]
    if isinstance(path, str) and path and not path.startswith("/"):
        path = f"/{path}"
    keys: Path = _checked("path", KINDS[NodePath].accept, path)
    return keys


def _flag(params: Params, name: str) -> bool:
    value = params.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise BadArgument(f"parameter '{name}' must be true or false")


def _value_at(name: str, path: Path, value: Any) -> DataText:
    """Compile the value for a path; a whole field is checked already here when nothing is to be filled in."""
    made: DataText = _checked(name, data_text, value)
    if len(path) == 1 and made.is_constant:
        _checked(name, lambda one: checked_value(NODE[path[0]], one), made.value)
    return made


def _set(params: Params) -> BoundAction:
    path = _path(params)
    if path[-1] == APPEND and len(path) > 1:
        return BoundAction(EXTEND, pointer(path[:-1]), _checked("value", data_text, params["value"]))
    more: dict[str, Any] = {}
    if "cleanup" in params:
        if len(path) == 1:
            _checked("cleanup", lambda one: checked_value(NODE[path[0]], one), params["cleanup"])
        more["cleanup"] = params["cleanup"]
    if path == DRIVER:
        more["reset_interfaces"] = params.get("reset_interfaces") is None or _flag(params, "reset_interfaces")
    elif _flag(params, "reset_interfaces"):
        raise BadArgument("parameter 'reset_interfaces' belongs to the path /driver")
    return BoundAction(SET, pointer(path), _value_at("value", path, params["value"]), more)


def _extend(params: Params) -> BoundAction:
    value = _checked("value", data_text, params["value"])
    return BoundAction(EXTEND, pointer(_path(params)), value, {"unique": _flag(params, "unique")})


def _capability(params: Params) -> BoundAction:
    name = _checked("name", KINDS[Name].accept, params["name"])
    value = params.get("value")
    made = _checked("value", data_text, _PRESENT if value is None else value)
    if made.is_constant:
        made = literal(_checked("value", lambda one: capability(Budget(), name, one), made.value))
    else:
        _checked("name", lambda one: capability(Budget(), one, _PRESENT), name)
    return BoundAction(CAPABILITY, name, made)


def _trait(action: str) -> Callable[[Params], BoundAction]:
    def bind(params: Params) -> BoundAction:
        name = _checked("name", KINDS[Name].accept, params["name"])
        _checked("name", check_trait, name)
        return BoundAction(action, name)

    return bind


def _fail(params: Params) -> BoundAction:
    message = params["message"]
    if not isinstance(message, str) or not message:
        raise BadArgument("parameter 'message' must be text")
    return BoundAction(FAIL, "", literal(message), {"maintenance": _flag(params, "maintenance")})


_KEY: Final = {"key": "path"}
_EXTENDING: Final = ActionForm(("path", "value"), ("unique",), _extend, _KEY)

FORMS: Final[Mapping[str, ActionForm]] = {
    SET: ActionForm(("path", "value"), ("cleanup", "reset_interfaces"), _set, _KEY),
    EXTEND: _EXTENDING,
    APPEND_ATTRIBUTE: _EXTENDING,
    CAPABILITY: ActionForm(("name",), ("value",), _capability),
    ADD_TRAIT: ActionForm(("name",), (), _trait(ADD_TRAIT)),
    REMOVE_TRAIT: ActionForm(("name",), (), _trait(REMOVE_TRAIT)),
    FAIL: ActionForm(("message",), ("maintenance",), _fail),
}
