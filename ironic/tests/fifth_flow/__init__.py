"""A flow that is no part of the service, polishing, as another project might add it: one record with its moves.

It is registered when this package is imported, which a program does first. What it does is in `polishing`; the product
is not changed.
"""

from ironic.core.flows import flow
from ironic.core.flows.flow import Flow, Verb, Wait
from ironic.core.flows.state_names import MANAGEABLE

POLISHING, POLISHWAIT, POLISHHOLD, POLISHFAIL = "polishing", "polish wait", "polish hold", "polish failed"

POLISH = Flow(
    name="polish",
    verbs=(Verb(word="polish", event="polish", since=90, needs={"polish_steps": 90}),),
    working=POLISHING,
    waiting=POLISHWAIT,
    held=POLISHHOLD,
    failed=POLISHFAIL,
    done=MANAGEABLE,
    moves=(
        (MANAGEABLE, "polish", POLISHING),
        (POLISHING, "done", MANAGEABLE),
        (POLISHING, "fail", POLISHFAIL),
        (POLISHING, "wait", POLISHWAIT),
        (POLISHING, "hold", POLISHHOLD),
        (POLISHWAIT, "resume", POLISHING),
        (POLISHWAIT, "fail", POLISHFAIL),
        (POLISHWAIT, "abort", POLISHFAIL),
        (POLISHHOLD, "unhold", POLISHWAIT),
        (POLISHHOLD, "abort", POLISHFAIL),
        (POLISHFAIL, "polish", POLISHING),
        (POLISHFAIL, "manage", MANAGEABLE),
    ),
    interfaces=("vendor", "power"),
    keeps_place=True,
    gerund="polishing",
    topic="polishing",
    failure="Polishing node {node} failed: {reason}",
    fault="polish failure",
    wait=Wait(option="polish_callback_timeout"),
)

flow.register(POLISH)
