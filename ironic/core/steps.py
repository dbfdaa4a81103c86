"""Steps and plans: which steps run, in which order, with which arguments.

A step is offered by a driver or an agent and may be asked for by a user; a plan is the list that one flow will run.
Everything here is computed from lists, nothing is executed and nothing is stored. A plan that a user asked for is
refused as a whole, with every fault of the list named at once. Sources: doc/contract/steps.md#order, demands S43 to
S49.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from ironic.core.errors import InvalidParameterValue
from ironic.core.flow import FLOWS

Number = int | float
Key = tuple[str, str]

# What the engine performs itself, whatever the interface; never dropped from a user's list.
RESERVED: Final = frozenset({"power_on", "power_off", "reboot", "hold", "wait"})

# Those of them that stop the flow itself, so that whether they are meant for child nodes makes no difference.
_STOPS: Final = frozenset({"hold", "wait"})

# The step that every deployment has; it can be switched off but not replaced.
CORE_DEPLOY: Final = ("deploy", "deploy")

# The interfaces that are asked for steps, by flow; the first one wins when priorities are equal (S47).
INTERFACES: Final[Mapping[str, tuple[str, ...]]] = {flow.name: flow.interfaces for flow in FLOWS if flow.has_steps}


@dataclass(frozen=True, slots=True)
class Step:
    """One step; what was not given is None and is left out of the stored and shown form."""

    step: str
    priority: Number | None = None
    interface: str = ""
    args: Mapping[str, Any] | None = None
    abortable: bool | None = None
    argsinfo: Mapping[str, Mapping[str, Any]] | None = None
    requires_ramdisk: bool | None = None
    order: int | None = None
    execute_on_child_nodes: bool | None = None
    limit_child_node_execution: Sequence[str] | None = None
    # Which child nodes the caller had the right to, as `mark_of_child` writes them; None: no right was needed.
    judged_children: Sequence[str] | None = None
    abort_after: bool | None = None

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "Step":
        """Read the form that drivers, users and stored plans use; keys of others are left out."""
        known = {name: document[name] for name in _FIELDS if document.get(name) is not None}
        if not known.get("step"):
            raise InvalidParameterValue(err=f"A step without a name: {dict(document)!r}.")
        if "priority" in known:
            known["priority"] = number(known["priority"])
        return cls(**known)

    def as_dict(self) -> dict[str, Any]:
        """Return the stored and shown form: step, priority and interface first (S44)."""
        given = {name: getattr(self, name) for name in _FIELDS}
        return {name: value for name, value in given.items() if value is not None and value != ""}

    @property
    def key(self) -> Key:
        """What tells one step of a node from another."""
        return self.interface, self.step

    @property
    def name(self) -> str:
        """Name for people and options, ``interface.step``."""
        return f"{self.interface}.{self.step}" if self.interface else self.step

    @property
    def is_reserved(self) -> bool:
        """Tell whether the engine performs this step itself."""
        return self.step in RESERVED

    @property
    def is_for_children(self) -> bool:
        """Tell whether the step is done to the node's children instead of the node."""
        return bool(self.execute_on_child_nodes) and self.step not in _STOPS

    @property
    def has_empty_limit(self) -> bool:
        """Tell whether child nodes are named in a way that does not limit anything."""
        return self.limit_child_node_execution is not None and not (
            self.limit_child_node_execution and self.execute_on_child_nodes
        )

    @property
    def is_enabled(self) -> bool:
        """Tell whether the step runs without being asked for."""
        return bool(self.priority)

    @property
    def needs_ramdisk(self) -> bool:
        """Tell whether an agent must run on the machine; who doesn't say no means yes."""
        return not self.is_reserved and not self.execute_on_child_nodes and self.requires_ramdisk is not False

    @property
    def may_abort(self) -> bool:
        """Tell whether a wait in this step may be interrupted; nothing is under way in a reserved one."""
        return self.is_reserved or bool(self.abortable)


_FIELDS: Final = tuple(entry.name for entry in fields(Step))


@dataclass(frozen=True)
class _Known:
    """The steps a node offers, and the judgement of what a user asks of them."""

    offered: Mapping[Key, Step]
    complete: bool
    disable_ramdisk: bool = False
    faults: list[str] = field(default_factory=list)

    def judge(self, asked: Step) -> Step | None:
        """Return the offered step, None when the engine or a child node performs it, and note every fault."""
        if asked.is_reserved:
            self.faults.extend(_reserved_faults(asked))
        if asked.is_reserved or asked.execute_on_child_nodes:
            return None
        offered = self.offered.get(asked.key)
        if offered is None:
            if self.complete:
                self.faults.append(f"the node has no step {asked.name}")
            return None
        self.faults.extend(_argument_faults(asked, offered))
        if self.disable_ramdisk and offered.needs_ramdisk:
            self.faults.append(f"step {asked.name} needs the ramdisk, which the request switches off")
        return offered

    def is_awaited(self, step: Step) -> bool:
        """Tell whether only an agent that has not come yet can have this step."""
        return not self.complete and not step.is_reserved and step.key not in self.offered

    def finish(self) -> None:
        """Refuse the list when anything is wrong with it."""
        if self.faults:
            raise InvalidParameterValue(err=f"The list of steps is refused: {'; '.join(self.faults)}.")


def mark_of_child(uuid: str, owner: str | None, lessee: str | None) -> str:
    """Return what stands for a child node and whose it is; who sees the step reads neither from it."""
    return hashlib.sha256(json.dumps([uuid, owner, lessee]).encode()).hexdigest()


def number(value: object) -> Number:
    """Read a priority: an integer or a float (S45), or its text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
    raise InvalidParameterValue(err=f"The priority of a step must be a number, not {value!r}.")


def parse_all(documents: Iterable[Mapping[str, Any]]) -> list[Step]:
    """Read a list of steps."""
    return [Step.parse(document) for document in documents]


def in_order(flow: str, steps: Iterable[Step]) -> list[Step]:
    """Sort by priority, then by interface, then as they were found; other interfaces have no say in this flow."""
    rank = {interface: position for position, interface in enumerate(INTERFACES[flow])}
    mine = [step for step in steps if step.interface in rank or step.is_reserved]
    return sorted(mine, key=lambda step: (-(step.priority or 0), rank.get(step.interface, len(rank))))


def automated_plan(
    flow: str,
    offered: Iterable[Step],
    overrides: Mapping[str, object] | None = None,
    disallowed: Collection[str] = (),
) -> list[Step]:
    """Return what runs when nobody asks for anything in particular: enabled steps, highest priority first."""
    steps = [_overridden(step, overrides or {}) for step in offered if step.name not in disallowed]
    return in_order(flow, (step for step in steps if step.is_enabled))


def deploy_plan(
    offered: Iterable[Step],
    asked: Sequence[Step] = (),
    *,
    templates: Mapping[str, Sequence[Step]] | None = None,
    complete: bool = True,
    disallowed: Collection[str] = (),
) -> list[Step]:
    """Return the steps of a deployment: the driver's, overridden by those of deploy templates, these by the user's.

    Priority 0 switches a step off. ``complete`` is false while an agent is still to come: what only it can have stands
    behind the step that brings it up then, however high its priority.
    """
    merged = {step.key: step for step in offered if step.name not in disallowed}
    known = _Known(dict(merged), complete)
    known.faults.extend(_repeated(asked))
    by_user = {step.key: step for step in asked}
    by_template = {step.key: step for step in _of_templates(templates or {}, known, by_user, disallowed)}
    for key, step in (by_template | by_user).items():
        if key == CORE_DEPLOY and step.is_enabled:
            known.faults.append("the core step deploy.deploy can be switched off but not replaced")
        merged[key] = _completed(step, known.judge(step) if step.is_enabled else merged.get(key))
    known.finish()
    plan = in_order("deploy", (step for step in merged.values() if step.is_enabled))
    return _behind_core(plan, [step for step in plan if known.is_awaited(step)])


def requested_plan(
    offered: Iterable[Step],
    asked: Sequence[Step],
    *,
    disable_ramdisk: bool = False,
    complete: bool = True,
) -> list[Step]:
    """Return a user's list for manual cleaning or servicing, in the given order, once every step of it is approved.

    ``complete`` is false while the agent's steps are not known yet: a step nobody has offered so far may still come.
    """
    known = _Known({step.key: step for step in offered}, complete, disable_ramdisk)
    plan = [_completed(step, known.judge(step)) for step in asked]
    known.finish()
    return plan


def plan_needs_ramdisk(offered: Iterable[Step], asked: Iterable[Step]) -> bool:
    """Tell whether any step of a user's list needs an agent; a step that is not known yet does."""
    known = {step.key: step for step in offered}
    return any(step.needs_ramdisk and known.get(step.key, step).needs_ramdisk for step in asked)


def _of_templates(
    templates: Mapping[str, Sequence[Step]], known: _Known, by_user: Collection[Key], disallowed: Collection[str]
) -> Iterable[Step]:
    """Return the steps of all templates; two that want the same step differently need the user's word on it."""
    found: dict[Key, tuple[str, Step]] = {}
    for template, steps in templates.items():
        for step in steps:
            if step.name in disallowed:
                continue
            other, same = found.setdefault(step.key, (template, step))
            if same != step and step.key not in by_user:
                known.faults.append(f"deploy templates {other} and {template} want step {step.name} differently")
    return (step for _template, step in found.values())


def _behind_core(plan: Sequence[Step], awaited: Sequence[Step]) -> list[Step]:
    """Move the steps that are awaited with the agent behind the step that brings it, in their order."""
    place = next((place for place, step in enumerate(plan) if step.key == CORE_DEPLOY), None)
    if place is None:
        return list(plan)
    core = plan[place]
    before = [step for step in plan[:place] if step not in awaited]
    return [*before, core, *(step for step in plan if step not in before and step != core)]


def _overridden(step: Step, overrides: Mapping[str, object]) -> Step:
    if step.name not in overrides:
        return step
    return replace(step, priority=number(overrides[step.name]))


def _completed(asked: Step, offered: Step | None) -> Step:
    """Add what the driver says about the step to what the user said; the user's word wins."""
    if offered is None:
        return asked
    priority = offered.priority if asked.priority is None else asked.priority
    return replace(asked, priority=priority, abortable=bool(offered.abortable))


def _repeated(steps: Iterable[Step]) -> list[str]:
    counted = Counter(step.name for step in steps)
    return [f"step {name} is given {times} times" for name, times in counted.items() if times > 1]


def _reserved_faults(step: Step) -> list[str]:
    """Only a wait takes an argument: how many seconds it lasts."""
    args = dict(step.args or {})
    seconds = args.pop("seconds", 0) if step.step == "wait" else 0
    faults = [f"step {step.name} takes no argument {name}" for name in sorted(args)]
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
        faults.append(f"step {step.name} needs seconds to be a number from 0 on")
    return faults


def _argument_faults(asked: Step, offered: Step) -> list[str]:
    given, described = set(asked.args or ()), offered.argsinfo or {}
    required = {name for name, about in described.items() if about.get("required")}
    faults = [f"step {asked.name} takes no argument {name}" for name in sorted(given - described.keys())]
    faults += [f"step {asked.name} needs the argument {name}" for name in sorted(required - given)]
    return faults
