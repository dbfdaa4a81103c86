"""Since when verbs and their arguments are known; below that a 406, for heartbeats a 400.

Source: facts/state_machine.yaml and microversions.yaml.
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

# Arguments that came with a verb or later; only descriptions need all of them in one place.
ARGUMENTS_SINCE: Final[Mapping[str, int]] = {
    "clean_steps": SINCE["clean"],
    "deploy_steps": DEPLOY_STEPS_SINCE,
    "service_steps": SINCE_AFTER_STATE["service"],
    "rescue_password": SINCE["rescue"],
    "disable_ramdisk": min(RAMDISK_SINCE.values()),
    "runbook": RUNBOOK_SINCE,
}
SOFT_POWER_SINCE: Final = 27

# Arguments of heartbeats that came later than those.
HEARTBEAT_SINCE: Final[Mapping[str, int]] = {
    "agent_version": 36,
    "agent_verify_ca": 68,
    "agent_status": 72,
    "agent_status_message": 72,
}
