"""What can go wrong with a call to a conductor, beside what can with anything.

    TemporaryFailure 503 - CallHeldBack
                         - ConductorUnreachable - ConductorSilent, ConductorAbsent, CallCameTooLate

The last two say for certain that nothing was begun, so that the call may be made again, of another conductor too.
"""

from ironic.core.errors import ConductorUnreachable, TemporaryFailure


class ConductorSilent(ConductorUnreachable):
    """A conductor gives no sign of life; whether it has begun the call is not known."""

    text = (
        "Conductor {host} gave no sign of life for {seconds} seconds while it was asked for {call}. Look at the node."
    )


class ConductorAbsent(ConductorUnreachable):
    """Nobody takes calls under this name at the moment; ``reason`` says what is known of it."""

    text = "Conductor {host} takes no calls ({reason}), so {call} was not begun. Please retry after a moment."


class CallCameTooLate(ConductorUnreachable):
    """A call arrived after its caller had been told that it failed, so it was not carried out."""

    text = "Conductor {host} received {call} {seconds} seconds after its caller had given up, and did not begin it."


class CallHeldBack(TemporaryFailure):
    """An older release is still being served, which has no such call; ``what`` names the call or its argument."""

    text = "{what} needs conductors of a later release than pin_release_version allows. Finish the upgrade, then retry."
