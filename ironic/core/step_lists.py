"""Named lists of steps: for which nodes a runbook is, and in which order its steps run.

Pure. Source: doc/contract/steps.md#where-steps-come-from, doc/contract/versions.md#runbooks.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

# Where a node names the runbook that cleans it, in driver_info.
OF_NODE: Final = "cleaning_runbook"


def have_trait_in_common(traits: Iterable[str], present: Collection[str]) -> bool:
    """Tell whether a runbook with these traits is for a node with those; one without any is for none."""
    return any(trait in present for trait in traits)


def in_order(steps: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps of a runbook as they are to run."""
    return [dict(step) for step in sorted(steps, key=lambda step: int(step["order"]))]
