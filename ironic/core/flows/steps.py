"""Steps and plans: which steps run, in which order, with which arguments.

Drivers and agents offer steps, users request them; a plan is the list of steps that one flow will run. Plans are
computed from lists: nothing is executed or stored here. A user's list is refused as a whole, and the error names every
fault. Sources: doc/contract/steps.md#order, demands S43 to S49.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from ironic.core.errors import InvalidParameterValue
from ironic.core.flows.flow import FLOWS

Number = int | float
Key = tuple[str, str]

# Steps that the engine performs itself, with any interface; never dropped from a user's list.
RESERVED: Final = frozenset({"power_on", "power_off", "reboot", "hold", "wait"})

# The reserved steps that stop the flow itself, also when they are requested for child nodes.
_STOPS: Final = frozenset({"hold", "wait"})

# The step of every deployment; it can be switched off but not replaced.
CORE_DEPLOY: Final = ("deploy", "deploy")

# The interfaces that offer steps, by flow; the first one wins among equal priorities (S47).
INTERFACES: Final[Mapping[str, tuple[str, ...]]] = {flow.name: flow.interfaces for flow in FLOWS if flow.has_steps}


@dataclass(frozen=True, slots=True)
class Step:
    """One step; values that were not given are None and left out of the stored and shown form."""

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
    # The child nodes to which the caller had the right, by `mark_of_child`; None: no right was needed.
    judged_children: Sequence[str] | None = None
    abort_after: bool | None = None

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "Step":
        """Parse the form that drivers, users and stored plans use; unknown keys are ignored."""
        known = {name: document[name] for name in _FIELDS if document.get(name) is not None}
        if not known.get("step"):
            raise InvalidParameterValue(err=f"A step has no name: {dict(document)!r}. Set its key 'step'.")
        if "priority" in known:
            known["priority"] = number(known["priority"])
        return cls(**known)

    def as_dict(self) -> dict[str, Any]:
        """Return the stored and shown form: step, priority and interface first (S44)."""
        given = {name: getattr(self, name) for name in _FIELDS}
        return {name: value for name, value in given.items() if value is not None and value != ""}

    @property
    def key(self) -> Key:
        """Interface and name, which identify a step of a node."""
        return self.interface, self.step

    @property
    def name(self) -> str:
        """The name in messages and options, ``interface.step``."""
        return f"{self.interface}.{self.step}" if self.interface else self.step

    @property
    def is_reserved(self) -> bool:
        """Return whether the engine performs this step itself."""
        return self.step in RESERVED

    @property
    def is_for_children(self) -> bool:
        """Return whether the step runs on the node's child nodes instead of the node."""
        return bool(self.execute_on_child_nodes) and self.step not in _STOPS

    @property
    def has_empty_limit(self) -> bool:
        """Return whether limit_child_node_execution is set without effect."""
        return self.limit_child_node_execution is not None and not (
            self.limit_child_node_execution and self.execute_on_child_nodes
        )

    @property
    def is_enabled(self) -> bool:
        """Return whether the step runs without being requested."""
        return bool(self.priority)

    @property
    def needs_ramdisk(self) -> bool:
        """Return whether an agent must run on the machine; the default is yes."""
        return not self.is_reserved and not self.execute_on_child_nodes and self.requires_ramdisk is not False

    @property
    def may_abort(self) -> bool:
        """Return whether a wait in this step may be aborted; in a reserved step nothing is running."""
        return self.is_reserved or bool(self.abortable)


_FIELDS: Final = tuple(entry.name for entry in fields(Step))


@dataclass(frozen=True)
class _OfferedSteps:
    """The steps that a node offers; requested steps are checked against them, and every fault is collected."""

    offered: Mapping[Key, Step]
    complete: bool
    disable_ramdisk: bool = False
    faults: list[str] = field(default_factory=list)

    def match(self, asked: Step) -> Step | None:
        """Return the offered step for a requested one; None if the engine or a child node performs it, or on a fault.

        Without the agent's steps (not ``complete``) an unknown step is no fault.
        """
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

    def needs_agent_steps(self, step: Step) -> bool:
        """Return whether only the agent, whose steps are not known yet, can offer this step."""
        return not self.complete and not step.is_reserved and step.key not in self.offered

    def raise_faults(self) -> None:
        """Refuse the list if it has faults; raises InvalidParameterValue with all of them."""
        if self.faults:
            raise InvalidParameterValue(err=f"The list of steps is refused: {'; '.join(self.faults)}.")


def mark_of_child(uuid: str, owner: str | None, lessee: str | None) -> str:
    """Return a digest of a child node with its owner and lessee, which a step can show without disclosing them."""
    return hashlib.sha256(json.dumps([uuid, owner, lessee]).encode()).hexdigest()


def number(value: object) -> Number:
    """Parse a priority: an integer or a float (S45), or its text; raises InvalidParameterValue."""
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
    """Parse a list of steps."""
    return [Step.parse(document) for document in documents]


def in_order(flow: str, steps: Iterable[Step]) -> list[Step]:
    """Sort by priority, then by interface, else keep the order; drop steps of interfaces that the flow does not use."""
    rank = {interface: position for position, interface in enumerate(INTERFACES[flow])}
    mine = [step for step in steps if step.interface in rank or step.is_reserved]
    return sorted(mine, key=lambda step: (-(step.priority or 0), rank.get(step.interface, len(rank))))


def automated_plan(
    flow: str,
    offered: Iterable[Step],
    overrides: Mapping[str, object] | None = None,
    disallowed: Collection[str] = (),
) -> list[Step]:
    """Return the plan of a flow that no user has given a list: the enabled steps, highest priority first."""
    priorities = overrides or {}
    steps = [
        replace(step, priority=number(priorities[step.name])) if step.name in priorities else step
        for step in offered
        if step.name not in disallowed
    ]
    return in_order(flow, (step for step in steps if step.is_enabled))


def deploy_plan(
    offered: Iterable[Step],
    asked: Sequence[Step] = (),
    *,
    templates: Mapping[str, Sequence[Step]] | None = None,
    complete: bool = True,
    disallowed: Collection[str] = (),
) -> list[Step]:
    """Return the plan of a deployment: the driver's steps, overridden by deploy templates and those by the user's list.

    Priority 0 switches a step off. ``complete`` is false while the agent's steps are not known: steps that only the
    agent can offer are then placed behind the core step, which starts the agent, whatever their priority.
    Raises InvalidParameterValue.
    """
    merged = {step.key: step for step in offered if step.name not in disallowed}
    known = _OfferedSteps(dict(merged), complete)
    for name, times in Counter(step.name for step in asked).items():
        if times > 1:
            known.faults.append(f"step {name} is given {times} times")
    by_user = {step.key: step for step in asked}
    by_template = {step.key: step for step in _of_templates(templates or {}, known, by_user, disallowed)}
    for key, step in (by_template | by_user).items():
        if key == CORE_DEPLOY and step.is_enabled:
            known.faults.append("the core step deploy.deploy can be switched off but not replaced")
        merged[key] = _completed(step, known.match(step) if step.is_enabled else merged.get(key))
    known.raise_faults()
    plan = in_order("deploy", (step for step in merged.values() if step.is_enabled))
    return _behind_core(plan, [step for step in plan if known.needs_agent_steps(step)])


def requested_plan(
    offered: Iterable[Step],
    asked: Sequence[Step],
    *,
    disable_ramdisk: bool = False,
    complete: bool = True,
) -> list[Step]:
    """Return the plan of manual cleaning or servicing: the user's list in its order, after every step is checked.

    ``complete`` is false while the agent's steps are not known: a step that is not offered may then be the agent's.
    Raises InvalidParameterValue.
    """
    known = _OfferedSteps({step.key: step for step in offered}, complete, disable_ramdisk)
    plan = [_completed(step, known.match(step)) for step in asked]
    known.raise_faults()
    return plan


def plan_needs_ramdisk(offered: Iterable[Step], asked: Iterable[Step]) -> bool:
    """Return whether any step of a user's list needs an agent; a step that is not offered yet does."""
    known = {step.key: step for step in offered}
    return any(step.needs_ramdisk and known.get(step.key, step).needs_ramdisk for step in asked)


def _of_templates(
    templates: Mapping[str, Sequence[Step]],
    known: _OfferedSteps,
    by_user: Collection[Key],
    disallowed: Collection[str],
) -> Iterable[Step]:
    """Return the steps of all templates; if two differ about a step, the user's list has to contain it."""
    found: dict[Key, tuple[str, Step]] = {}
    for template, steps in templates.items():
        for step in steps:
            if step.name in disallowed:
                continue
            other, same = found.setdefault(step.key, (template, step))
            if same != step and step.key not in by_user:
                known.faults.append(f"deploy templates {other} and {template} define step {step.name} differently")
    return (step for _template, step in found.values())


def _behind_core(plan: Sequence[Step], of_agent: Sequence[Step]) -> list[Step]:
    """Move the steps of the agent behind the core step, which starts the agent; their order stays."""
    place = next((place for place, step in enumerate(plan) if step.key == CORE_DEPLOY), None)
    if place is None:
        return list(plan)
    core = plan[place]
    before = [step for step in plan[:place] if step not in of_agent]
    return [*before, core, *(step for step in plan if step not in before and step != core)]


def _completed(asked: Step, offered: Step | None) -> Step:
    """Complete a requested step with values of the offered one; the requested priority wins."""
    if offered is None:
        return asked
    priority = offered.priority if asked.priority is None else asked.priority
    return replace(asked, priority=priority, abortable=bool(offered.abortable))


def _reserved_faults(step: Step) -> list[str]:
    """Return the faults of a reserved step; only ``wait`` has an argument, its duration in seconds."""
    args = dict(step.args or {})
    seconds = args.pop("seconds", 0) if step.step == "wait" else 0
    faults = [f"step {step.name} takes no argument {name}" for name in sorted(args)]
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
        faults.append(f"step {step.name} needs seconds to be a number of at least 0")
    return faults


def _argument_faults(asked: Step, offered: Step) -> list[str]:
    given, described = set(asked.args or ()), offered.argsinfo or {}
    required = {name for name, about in described.items() if about.get("required")}
    faults = [f"step {asked.name} takes no argument {name}" for name in sorted(given - described.keys())]
    faults += [f"step {asked.name} needs the argument {name}" for name in sorted(required - given)]
    return faults
