"""Derive the argument schema of an operator or action from its signature.

Missing, unknown and ill-typed arguments are refused when a rule is posted, so that the form of a stored rule can't fail
an inspection. Arguments are given by position (a list) or by name (an object). The values of expressions are checked at
run time.
"""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

from ironic.core.rules.argument_kinds import KINDS, BadArgument, Kind, VarArgs
from ironic.core.rules.interpolation import BadExpression, Constant, Lookup, Scope, Template
from ironic.core.rules.limits import Budget, RuleFault


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operator or action."""

    name: str
    kind: Kind
    required: bool
    positional: bool
    several: bool
    default: Any = None
    is_template: bool = True


@dataclass(frozen=True, slots=True)
class Argument:
    """One compiled argument of a rule."""

    name: str
    kind: Kind
    template: Template
    lookups: tuple[Lookup, ...]

    def value(self, scope: Scope, budget: Budget) -> Any:
        """Return the value for the function; raises RuleFault."""
        if isinstance(self.template, Constant):
            return self.template.value
        try:
            found = self.template.render(scope, budget)
            budget.spend(self.kind.steps(found))
            strictly = self.kind.checks_origin and self.is_reported(scope)
            return self.kind.accept_reported(found) if strictly else self.kind.accept(found)
        except RuleFault as fault:
            raise type(fault)(f"argument '{self.name}': {fault}") from None

    def is_reported(self, scope: Scope) -> bool:
        """Return whether the value may come from what a machine reported."""
        return any(scope.is_reported(lookup) for lookup in self.lookups)


Arguments = tuple[Argument, ...]


class Signature:
    """The parameters of an operator or action."""

    def __init__(
        self, function: Callable[..., object], skip: int = 0, templates: Collection[str] | None = None
    ) -> None:
        """Read the signature of a function without its first ``skip`` parameters.

        ``templates`` names the arguments that may have expressions, by default all. Raises TypeError for parameters
        that no rule can pass.
        """
        hints = get_type_hints(function)
        declared = list(inspect.signature(function).parameters.values())[skip:]
        self.parameters = tuple(
            _parameter(one, hints.get(one.name, Any), templates is None or one.name in templates) for one in declared
        )
        self._by_name = {one.name: one for one in self.parameters}

    @property
    def names(self) -> list[str]:
        """The names of all arguments."""
        return list(self._by_name)

    def bind(self, args: object, names: Collection[str]) -> Arguments:
        """Return the compiled arguments, or raise BadArgument."""
        given = self._by_position(args) if isinstance(args, list) else self._named(args)
        for parameter in self.parameters:
            if parameter.required and parameter.name not in given:
                raise BadArgument(f"argument '{parameter.name}' is missing")
        return tuple(_prepared(self._by_name[name], value, names) for name, value in given.items())

    def _named(self, args: object) -> Mapping[str, object]:
        if not isinstance(args, dict):
            raise BadArgument("args must be a list or an object")
        for name in args:
            if name not in self._by_name:
                raise BadArgument(f"argument '{str(name)[:80]}' is unknown; {self._known()}")
        return args

    def _by_position(self, args: Sequence[object]) -> Mapping[str, object]:
        positional = [one for one in self.parameters if one.positional]
        if positional and positional[0].several:
            return {positional[0].name: args} if args else {}
        if len(args) > len(positional):
            raise BadArgument(f"{len(args)} arguments are too many by position; {self._known()}")
        return {parameter.name: value for parameter, value in zip(positional, args, strict=False)}

    def _known(self) -> str:
        return f"known: {', '.join(self._by_name) or 'none'}"


def values_of(arguments: Arguments, scope: Scope, budget: Budget) -> dict[str, object]:
    """Return the arguments for the function, by name."""
    return {one.name: one.value(scope, budget) for one in arguments}


def _parameter(declared: inspect.Parameter, annotation: object, is_template: bool) -> Parameter:
    if declared.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise TypeError(f"argument '{declared.name}' collects any number of arguments: declare each one by name")
    if annotation not in KINDS:
        raise TypeError(f"argument '{declared.name}' has the type {annotation}, which rules can't pass")
    return Parameter(
        name=declared.name,
        kind=KINDS[annotation],
        default=declared.default,
        is_template=is_template,
        required=declared.default is inspect.Parameter.empty,
        positional=declared.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD,
        several=annotation is VarArgs,
    )


def _prepared(parameter: Parameter, value: object, names: Collection[str]) -> Argument:
    try:
        prepare = parameter.kind.prepare if parameter.is_template else parameter.kind.prepare_literal
        made = prepare(value, names)
        return Argument(parameter.name, parameter.kind, made, tuple(made.lookups))
    except (BadArgument, BadExpression) as error:
        raise BadArgument(f"argument '{parameter.name}': {error}") from None
