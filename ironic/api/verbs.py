"""Since when verbs of provision requests and what may come with them are known; below that a 406.

Source: doc/contract/states.md#verbs and doc/contract/versions.md#what-is-refused-how.
"""

from collections.abc import Mapping
from typing import Final

from ironic.core import states

# First version of a verb; refused before the state is looked at. undeploy never had a check of its own.
SINCE: Final[Mapping[str, int]] = {
    "manage": 4,
    "provide": 4,
    "inspect": 6,
    "abort": 13,
    "clean": 15,
    "available": 15,
    "adopt": 17,
    "rescue": 38,
    "unrescue": 38,
    "deploy": 73,
    # No verb, but checked with them: clients of old versions know it as a 406.
    "delete": 73,
}
# The same, but refused only once the state would allow the verb.
SINCE_AFTER_STATE: Final[Mapping[str, int]] = {"unhold": 85, "service": 87}
ABORT_SINCE: Final[Mapping[str, int]] = {states.INSPECTWAIT: 41, states.DEPLOYWAIT: 110}
RAMDISK_SINCE: Final[Mapping[str, int]] = {"clean": 70, "service": 108}
DEPLOY_STEPS_SINCE: Final = 69
RUNBOOK_SINCE: Final = 92
# Since then runbooks have traits and descriptions, and any logical name; before, the name of one was its trait.
RUNBOOK_NAMES_SINCE: Final = 112
