"""The page of the names of metrics, made from routes, calls and interfaces; `tools/pages.py` writes it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ironic.api.app import BARE_METAL
from ironic.api.route_timers import timer_name
from ironic.api.routes import Refusing
from ironic.conductor.provisioning import ACTIONS
from ironic.drivers.composition.measured_calls import measured_methods
from ironic.drivers.contract.interfaces import BASES
from ironic.integrations import metric_table
from ironic.rpc.rpc_api import CALLS

HEAD = """\
# Names of metrics

What they measure, and how to collect them: [metrics.md](metrics.md).
"""


def page() -> str:
    """Return the page: all metrics and families, then requests, calls of conductors and methods of interfaces."""
    return "\n".join([HEAD, *_all(), *_requests(), *_calls(), *_methods()])


def _all() -> Iterator[str]:
    yield "## All metrics\n"
    yield "| what | name | kind |\n| --- | --- | --- |"
    for row in metric_table.ROWS:
        yield f"| {row.words} | `{row.name}` | {row.kind} |"
    yield ""


def _requests() -> Iterator[str]:
    paths: dict[str, list[str]] = defaultdict(list)
    for row in BARE_METAL.rows:
        if not isinstance(row.handler, Refusing):
            paths[timer_name(row.method, row.path)].append(f"`{'any' if row.method == '*' else row.method} {row.path}`")
    yield f"## Requests\n\nEach name follows `{metric_table.REQUESTS.of()}`.\n"
    yield "| timer | request |\n| --- | --- |"
    for name, requests in sorted(paths.items()):
        yield f"| `{name}` | {', '.join(requests)} |"
    yield ""


def _calls() -> Iterator[str]:
    yield f"## Calls of conductors\n\nEach name follows `{metric_table.CALLS.of()}`.\n"
    yield "| timers | |\n| --- | --- |"
    yield f"| calls of the API | {_listed(sorted(CALLS))} |"
    yield f"| what `change_provision_state` began | {_listed(f'do_node_{event}' for event in sorted(ACTIONS))} |"
    yield ""


def _methods() -> Iterator[str]:
    yield "## Methods of interfaces\n"
    yield "Each name follows the module and class of the implementation, which has its steps and vendor methods too.\n"
    yield "| kind | timers |\n| --- | --- |"
    for kind, base in BASES.items():
        yield f"| {kind} | {_listed(['validate', *measured_methods(base)])} |"
    yield ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
