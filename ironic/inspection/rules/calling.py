"""Making the calls that the rules of a phase asked for, before what they changed is stored and outside of transactions.

A dry run never gets here. The first call that fails fails its rule, and with it the inspection.
"""

import logging
import math
import time

from ironic.core.permit import PERMIT
from ironic.core.rules import Failure, Outcome, PlannedCall
from ironic.integrations import rule_calls

LOG = logging.getLogger(__name__)


def make_calls(outcome: Outcome, what: str, within: float = math.inf) -> None:
    """Make the calls in their order, all of them within so many seconds.

    Raises InspectionRuleFailure, of which the explanation tells as well.
    """
    until = time.monotonic() + within
    for planned in outcome.calls:
        with PERMIT.waiting():
            reason = rule_calls.make(planned.call, until - time.monotonic()).failure
        if reason:
            failure = _failure(planned, reason)
            told = next(one for one in outcome.explanation if one["uuid"] == planned.rule)
            told["error"] = str(failure)
            raise failure.error(what)
        LOG.info("Inspection rule %s on %s: the call of actions[%d] is made", planned.rule, what, planned.index)


def _failure(planned: PlannedCall, reason: str) -> Failure:
    text = None if planned.sensitive else reason
    return Failure(planned.rule, planned.phase, "actions", planned.index, "CallFailed", text)
