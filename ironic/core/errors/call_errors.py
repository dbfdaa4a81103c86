"""Errors of calls to conductors and other services, and of requests that wait for them.

ConductorAbsent and CallCameTooLate guarantee that nothing was begun, so the call may be repeated, to another conductor
too.
"""

from typing import ClassVar

from ironic.core.errors import IronicError, TemporaryFailure


class ConductorUnreachable(TemporaryFailure):
    """A call to a conductor was not answered; whether it was begun is not known."""

    retry_after: ClassVar[int | None] = None
    text = "Conductor {host} did not answer {call} within {seconds} seconds."


class MessageBusFailure(TemporaryFailure):
    """The message bus failed; ``reason`` says why."""

    text = "The message bus could not carry {call} to conductor {host}: {reason}. Check the broker and transport_url."


class CallNotUnderstood(IronicError):
    """The two sides of a call run incompatible releases."""

    text = "Conductor {host} can't process {call}: {reason}. Upgrade all services to the same release."


class ConductorSilent(ConductorUnreachable):
    """A conductor stopped responding during a call; whether the call was begun is not known."""

    text = (
        "Conductor {host} did not respond for {seconds} seconds during {call}. Check the state of the node before you "
        "retry."
    )


class ConductorAbsent(ConductorUnreachable):
    """No process takes calls under this name now; ``reason`` says what is known."""

    retry_after = 5
    text = "Conductor {host} takes no calls ({reason}), so {call} was not begun. Try again in a moment."


class ConductorOutOfReach(ConductorAbsent):
    """The host of a conductor does not respond, so no connection was made and the call was not begun."""


class ConnectionBroken(ConductorUnreachable):
    """The connection to a conductor broke during a call; whether the call was begun is not known."""

    text = (
        "The connection to conductor {host} broke during {call}: {reason}. Check the state of the node before you "
        "retry."
    )


class CallRefused(TemporaryFailure):
    """A conductor, or what answers at its address, does not take calls of this service; ``reason`` says why."""

    retry_after = None
    text = (
        "Conductor {host} refused {call} before it was begun: {reason}. Compare [json_rpc] of this service and of the "
        "conductor."
    )


class CallCameTooLate(ConductorUnreachable):
    """A call arrived after its caller had timed out, so it was not executed."""

    retry_after = 5
    text = "Conductor {host} received {call} {seconds} seconds after its caller had given up, and did not begin it."


class CallHeldBack(TemporaryFailure):
    """The pinned release has no such call; ``what`` names the call or its argument."""

    retry_after = None
    text = "{what} needs conductors of a later release than pin_release_version allows. Finish the upgrade, then retry."


class ReportNotTaken(TemporaryFailure):
    """The service that inspects a machine does not take the report of its ramdisk now."""

    text = "The report of node {node} can't be handed on to the service that inspects it. Post it again in a moment."


class ProjectsCallsWait(TemporaryFailure):
    """The requests of one project that wait have its share of the threads of the API."""

    text = (
        "{count} requests of the same project wait for conductors or locked nodes already, which is its share of this "
        "API ([api]waiting_percentage_per_project). Try again when some of them have ended."
    )


class ConductorSuperseded(TemporaryFailure):
    """A newer process has started under this conductor's name."""

    text = "Conductor {host} was replaced by a newer process of the same name. Try again in a moment."


class ObjectStoreError(IronicError):
    """The object store can't be reached, or refuses a request."""

    text = "The object store can't {operation}: {error}"
