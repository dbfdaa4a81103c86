"""The page of inspection hooks, made from the docstrings of the installed hooks; `tools/pages.py` writes it."""

import inspect
import re
from collections.abc import Iterator

from ironic.conf import CONF
from ironic.inspection.hooks import base
from ironic.inspection.hooks.base import InspectionHook

HEAD = """\
# Inspection hooks

How to choose hooks: [inspection.md](inspection.md#hooks). How to write one:
[write-inspection-plugins.md](write-inspection-plugins.md).

| hook | what it does | when | needs before it | options | plug-in data |
| --- | --- | --- | --- | --- | --- |
"""


def page() -> str:
    """Return the page: a row for each hook of the project, in the order of their names."""
    rows = []
    for name, point in sorted(base.installed_hooks().items()):
        if not point.value.startswith("ironic.inspection.hooks."):
            continue
        hook: type[InspectionHook] = point.load()
        default = " (default)" if name in base.hook_names(CONF.inspector.default_hooks) else ""
        # The first line of the docstring, without the numbers of demands.
        meaning = re.sub(r" \((S\d+[, ]*)+\)\.$", ".", (hook.__doc__ or "").splitlines()[0])
        needs = ", ".join(f"`{one}`" for one in hook.dependencies)
        read = dict.fromkeys(re.findall(r"CONF\.inspector\.([a-z_]+)", inspect.getsource(hook)))
        options = ", ".join(f"`[inspector]{one}`" for one in read)
        keys = ", ".join(f"`{key}`" for key in hook.plugin_data_keys)
        rows.append(f"| `{name}`{default} | {meaning} | {', '.join(_phases(hook))} | {needs} | {options} | {keys} |")
    return HEAD + "\n".join(rows) + "\n"


def _phases(hook: type[InspectionHook]) -> Iterator[str]:
    if hook.preprocess is not InspectionHook.preprocess:
        yield "preprocess"
    if not (hook.__call__.__doc__ or "").startswith("Do nothing"):
        yield "main"
