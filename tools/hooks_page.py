"""The page of inspection hooks, read off the modules of the hooks that are installed; `tools/docs.py` writes it."""

import inspect
import re
import sys
from collections.abc import Iterator

from ironic.conf import CONF
from ironic.inspection.hooks import loading
from ironic.inspection.hooks.base import InspectionHook

HEAD = """\
# Inspection hooks

Read off `ironic/inspection/hooks` by `make docs`. [inspection.md](inspection.md) tells how hooks are chosen. Hooks of
other packages are published under the entry point group `ironic.inspection.hooks`.

| hook | what it does | when | needs before it | options |
| --- | --- | --- | --- | --- |
"""


def page() -> str:
    """Return the page."""
    rows = (_row(name, point.load()) for name, point in sorted(loading.installed().items()) if _is_ours(point.value))
    return HEAD + "\n".join(rows) + "\n"


def _is_ours(value: str) -> bool:
    return value.startswith("ironic.inspection.hooks.")


def _row(name: str, hook: type[InspectionHook]) -> str:
    default = " (default)" if name in loading.names_of(CONF.inspector.default_hooks) else ""
    needs = ", ".join(f"`{one}`" for one in hook.dependencies)
    options = ", ".join(f"`[inspector]{one}`" for one in _options(hook))
    return f"| `{name}`{default} | {_meaning(hook)} | {', '.join(_phases(hook))} | {needs} | {options} |"


def _meaning(hook: type[InspectionHook]) -> str:
    """Return the first line of the module: what stands after the name and before the numbers of demands."""
    first = (sys.modules[hook.__module__].__doc__ or "").strip().splitlines()[0]
    return re.sub(r" \((S\d+[, ]*)+\)\.$", "", first.partition(": ")[2]) + "."


def _phases(hook: type[InspectionHook]) -> Iterator[str]:
    if hook.preprocess is not InspectionHook.preprocess:
        yield "preprocess"
    if (hook.__call__.__doc__ or "").partition(":")[0].rstrip(".") != "Do nothing":
        yield "main"


def _options(hook: type[InspectionHook]) -> list[str]:
    source = inspect.getsource(sys.modules[hook.__module__])
    return list(dict.fromkeys(re.findall(r"CONF\.inspector\.([a-z_]+)", source)))
