"""Since when verbs of provision requests and what may come with them are known; below that a 406.

Those of the flows stand in their records. Source: doc/contract/states.md#verbs and
doc/contract/versions.md#what-is-refused-how.
"""

from collections.abc import Mapping
from typing import Final

from ironic.core.flow import DEPLOY, FLOWS

_VERBS: Final = [verb for flow in FLOWS for verb in flow.verbs]

# First version of a verb; refused before the state is looked at. undeploy never had a check of its own.
SINCE: Final[Mapping[str, int]] = {
    **{verb.word: verb.since for verb in _VERBS if verb.since > 1 and not verb.is_late},
    "abort": 13,
    "available": 15,
    # No verb, but checked with them: clients of old versions know it as a 406.
    "delete": 73,
}
# The same, but refused only once the state would allow the verb.
SINCE_AFTER_STATE: Final[Mapping[str, int]] = {"unhold": 85} | {
    verb.word: verb.since for verb in _VERBS if verb.is_late
}
ABORT_SINCE: Final[Mapping[str, int]] = {
    flow.waiting: flow.abort_since for flow in FLOWS if flow.waiting and flow.abort_since > 1
}
RAMDISK_SINCE: Final[Mapping[str, int]] = {
    verb.word: since for verb in _VERBS if (since := verb.takes.get("disable_ramdisk")) is not None
}
DEPLOY_STEPS_SINCE: Final = max(verb.takes.get("deploy_steps") or 1 for verb in DEPLOY.verbs)
RUNBOOK_SINCE: Final = 92
# Since then runbooks have traits and descriptions, and any logical name; before, the name of one was its trait.
RUNBOOK_NAMES_SINCE: Final = 112
