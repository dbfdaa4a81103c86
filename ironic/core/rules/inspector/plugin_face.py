"""The modules that plug-ins of the standalone inspector import, where that package is not installed.

Such a plug-in is a subclass of `ironic_inspector.plugins.base.RuleConditionPlugin` or `RuleActionPlugin`, and may raise
`ironic_inspector.utils.Error` and mark its messages with `ironic_inspector.common.i18n._`. `provide` makes these names
importable, and nothing else of that package. Source: demand S186.
"""

import importlib.util
import sys
import types
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Final

_PACKAGE: Final = "ironic_inspector"


class Error(Exception):
    """An error that a plug-in raises on purpose; other arguments than the message are accepted and dropped."""

    def __init__(self, msg: object, *args: object, **more: object) -> None:
        super().__init__(str(msg))


class WithValidation:
    """Parameters of a plug-in, and the usual check of them."""

    REQUIRED_PARAMS: ClassVar[Collection[str]] = frozenset()
    OPTIONAL_PARAMS: ClassVar[Collection[str]] = frozenset()

    def validate(self, params: Mapping[str, Any], **kwargs: object) -> None:
        """Raise ValueError if a required parameter is missing or empty, or if there is an unknown one."""
        check_parameters(self, params)


class RuleConditionPlugin(WithValidation):
    """An operator: `check` compares one value of the field; ALLOW_NONE asks for None where the field is missing."""

    REQUIRED_PARAMS: ClassVar[Collection[str]] = frozenset({"value"})
    ALLOW_NONE: ClassVar[bool] = False

    def check(self, node_info: Any, field: Any, params: Mapping[str, Any]) -> bool:
        """Return whether the condition holds."""
        raise NotImplementedError(f"{type(self).__name__} has no check")


class RuleActionPlugin(WithValidation):
    """An action; the values of the parameters in FORMATTED_PARAMS are filled in before `apply`.

    A method `cleanup` with the arguments of `apply`, if there is one, takes back what `apply` did with these
    parameters, once the rule does not match any more.
    """

    FORMATTED_PARAMS: ClassVar[Collection[str]] = ()

    def apply(self, node_info: Any, params: Mapping[str, Any], **kwargs: object) -> None:
        """Perform the action."""
        raise NotImplementedError(f"{type(self).__name__} has no apply")


def check_parameters(plugin: object, params: Mapping[str, Any], required: Collection[str] = ()) -> None:
    """Check parameters against REQUIRED_PARAMS and OPTIONAL_PARAMS; raises ValueError that names them."""
    needed = set(getattr(plugin, "REQUIRED_PARAMS", required))
    given = {name for name, value in params.items() if value is not None}
    if missing := needed - given:
        raise ValueError(f"the rule has to give {', '.join(sorted(missing))}")
    known = needed | set(getattr(plugin, "OPTIONAL_PARAMS", ()))
    if unknown := given - known:
        raise ValueError(f"it takes no {', '.join(sorted(unknown))}; known: {', '.join(sorted(known)) or 'none'}")


def _message(text: str) -> str:
    return text


_MODULES: Final[Mapping[str, Mapping[str, object]]] = {
    "": {},
    ".plugins": {},
    ".plugins.base": {
        "WithValidation": WithValidation,
        "RuleConditionPlugin": RuleConditionPlugin,
        "RuleActionPlugin": RuleActionPlugin,
    },
    ".utils": {"Error": Error},
    ".common": {},
    ".common.i18n": {"_": _message},
}


def provide() -> None:
    """Make the modules importable unless the standalone inspector is installed."""
    if _PACKAGE in sys.modules or importlib.util.find_spec(_PACKAGE) is not None:
        return
    for tail, names in _MODULES.items():
        module = types.ModuleType(_PACKAGE + tail)
        module.__path__ = []
        vars(module).update(names)
        sys.modules[module.__name__] = module
        above, _, name = module.__name__.rpartition(".")
        if above:
            setattr(sys.modules[above], name, module)
