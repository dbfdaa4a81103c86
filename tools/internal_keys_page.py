"""The page of the keys of driver_internal_info, made from their declarations; `tools/pages.py` writes it."""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ironic.core.flows.flow import FLOWS
from ironic.core.flows.step_cursor import keys_of, step_keys_of
from ironic.core.keys.internal_keys import InternalKey

ROOT = Path(__file__).resolve().parent.parent

HEAD = """\
# What a node remembers

`driver_internal_info` has what the service and its drivers remember of a node between two steps of their work. Clients
see it, and only the service writes it. The API hides values whose key contains `secret`, `password` or `token`. Drivers
of other vendors have keys of their own.

| key | value | what it says |
| --- | --- | --- |
"""

OF_FLOWS = """
## The progress of flows

Each flow keeps its steps and its place in them under keys of its own; [Steps](steps.md) says how to read them.

| flow | keys |
| --- | --- |
"""

OF_AGENTS = """
The steps that the agent offers for a flow, and when they were fetched, are in `agent_cached_FLOW_steps` and
`agent_cached_FLOW_steps_refreshed`.
"""

_TYPES = {"str": "text", "bool": "true or false", "int": "number", "dict": "object", "list": "list", "object": "any"}


def declared() -> dict[str, InternalKey[object]]:
    """Return the keys that modules declare, by name; raises ValueError for a name that two of them declare."""
    found: dict[str, InternalKey[object]] = {}
    for module in _modules():
        for key in _keys_in(vars(importlib.import_module(module)).values()):
            if found.setdefault(key.name, key) is not key:
                raise ValueError(f"{module} declares the key {key.name}, which another module has declared")
    return found


def page() -> str:
    """Return the page: a row for each declared key in the order of their names, and one for each flow with steps."""
    rows = [
        f"| `{name}` | {_TYPES[(getattr(key.kind, '__origin__', None) or key.kind).__name__]} | {key.says} |"
        for name, key in sorted(declared().items())
    ]
    flows = []
    for flow in FLOWS:
        if flow.keeps_place:
            names = sorted({*keys_of(flow).values(), *step_keys_of(flow)})
            flows.append(f"| {flow.name} | {', '.join(f'`{name}`' for name in names)} |")
    return "\n".join([HEAD + "\n".join(rows), OF_FLOWS + "\n".join(flows), OF_AGENTS])


def _modules() -> Iterator[str]:
    for path in sorted((ROOT / "ironic").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if not name.startswith("ironic.tests.") and "InternalKey(" in path.read_text():
            yield name


def _keys_in(values: Iterable[object]) -> Iterator[InternalKey[object]]:
    for value in values:
        if isinstance(value, InternalKey):
            yield value
        elif isinstance(value, Mapping):
            yield from _keys_in([*value.keys(), *value.values()])
