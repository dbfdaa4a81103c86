"""Words and sets of states that only third-party plug-ins use, under the names by which they know them.

The sets are those of the state machine, wherever it has them.
"""

from typing import Final

from ironic.core.allocation_matching import ALLOCATING as ALLOCATING
from ironic.core.flows import flow, states
from ironic.core.memory import agent_memory

# No state is known, or wanted.
NOSTATE: Final = None

# Words for what is to be done with an instance or a node.
DEPLOY: Final = "deploy"
UNDEPLOY: Final = "undeploy"
REBUILD: Final = "rebuild"
SERVICE: Final = "service"
VERIFY: Final = "verify"

# Types of events in the history of a node.
PROVISIONING: Final = "provisioning"
TAKEOVER: Final = "takeover"
INTROSPECTION: Final = flow.INSPECT.topic
CONDUCTOR: Final = "conductor"
TRANSITION: Final = "transition"
STARTFAIL: Final = "startup failure"
UNPROVISION: Final = flow.TEAR_DOWN.topic
ADOPTION: Final = flow.ADOPT.topic
CONSOLE: Final = "console"
MONITORING: Final = "monitoring"

# The verbs of users, with their events; also those that plug-ins of older releases do not look for.
VERBS: Final = dict(states.VERBS)

ALL_STATES: Final = states.ALL
STABLE_STATES: Final = states.STABLE
UNSTABLE_STATES: Final = states.TRANSIENT
FAILURE_STATES: Final = states.FAILED
DELETE_ALLOWED_STATES: Final = states.DELETABLE
UPDATE_ALLOWED_STATES: Final = states.EDITABLE_WITH_TARGET | {SERVICE}
INSPECTION_STATES: Final = frozenset({*flow.INSPECT.states, flow.INSPECT.failed})
SERVICING_STATES: Final = frozenset({*flow.SERVICE.states, flow.SERVICE.failed})
STUCK_STATES_TREATED_AS_FAIL: Final = states.WORKING
LOOKUP_ALLOWED_STATES: Final = states.LOOKUP_ALLOWED
FASTTRACK_LOOKUP_ALLOWED_STATES: Final = LOOKUP_ALLOWED_STATES | agent_memory.FAST_TRACK_LOOKUP_ALLOWED
# The same for plug-ins that were written when these names were private.
_LOOKUP_ALLOWED_STATES: Final = LOOKUP_ALLOWED_STATES
_FASTTRACK_LOOKUP_ALLOWED_STATES: Final = FASTTRACK_LOOKUP_ALLOWED_STATES
