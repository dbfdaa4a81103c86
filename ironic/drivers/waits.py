"""Import path for third-party plug-ins: waits of a node for an event of its hardware."""

from ironic.core.flows.node_waits import Follows, decoded, put, remembering
from ironic.drivers.contract.step_declarations import StepDone, StepFailed
from ironic.drivers.contract.waits import SOON, Ended, begin, of

__all__ = ["SOON", "Ended", "Follows", "StepDone", "StepFailed", "begin", "decoded", "of", "put", "remembering"]
