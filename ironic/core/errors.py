"""What can go wrong, with the HTTP status each thing has and the facts it carries.

    IronicError 500
    +- Invalid 400 ---------- InvalidParameterValue -- MissingParameterValue, NoValidDefaultForInterface, ...
    +- NotAuthorized 403 ---- HTTPForbidden -- NodeProtected
    +- NotFound 404 --------- NodeNotFound, DriverNotFound, NoValidHost, ...
    +- NotAcceptable 406
    +- Conflict 409 --------- NodeLocked, InvalidState -- NodeAssociated, PowerStateFailure; duplicates
    +- TemporaryFailure 503 - NoFreeConductorWorker, ConcurrentActionLimit
    +- the failure of an operation: NodeCleaningFailure, InstanceDeployFailure, HardwareInspectionFailure, ...

Raise with facts, never with a ready sentence; ``text`` is the sentence. Plug-ins may hand one sentence instead.
Names and statuses that plug-ins and clients rely on are those of doc/contract/errors.md#errors-that-plug-ins-raise.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)[sdr]")


class IronicError(Exception):
    """Root of all errors of this service; ``status`` is the HTTP status of its answer."""

    status: ClassVar[int] = 500
    text: ClassVar[str] = "An unexpected error occurred; the log of the service has the details."

    def __init_subclass__(cls, **options: Any) -> None:
        """Understand plug-ins that say it in the words they know: ``_msg_fmt`` with %-placeholders, and ``code``."""
        super().__init_subclass__(**options)
        if "_msg_fmt" in vars(cls):
            escaped = vars(cls)["_msg_fmt"].replace("{", "{{").replace("}", "}}")
            cls.text = _PLACEHOLDER.sub(r"{\1}", escaped)
        if isinstance(status := vars(cls).get("code"), int):
            cls.status = status

    def __init__(self, message: str | None = None, **facts: Any) -> None:
        self.facts = self.kwargs = facts
        self.message = message if message is not None else self._render(facts)
        super().__init__(self.message)

    @classmethod
    def _render(cls, facts: Mapping[str, object]) -> str:
        try:
            return cls.text.format(**facts)
        except (KeyError, IndexError):
            return f"{cls.text} ({', '.join(f'{key}={value}' for key, value in facts.items())})"

    @property
    def code(self) -> int:
        """HTTP status under the name that plug-ins know."""
        return self.status


class Invalid(IronicError):
    """The caller asked for something that can't be."""

    status = 400
    text = "Unacceptable parameters."


class InvalidParameterValue(Invalid):
    """A value is of the right type but makes no sense; ``err`` says which and why."""

    text = "{err}"


class MissingParameterValue(InvalidParameterValue):
    """A value that is needed was not given; ``err`` names it."""


class InvalidUUID(Invalid):
    """Text that should be a UUID is not."""

    text = "Expected a UUID but received {uuid}."


class InvalidUuidOrName(Invalid):
    """Text is neither a UUID nor a logical name."""

    text = "Expected a logical name or UUID but received {name}."


class InvalidName(Invalid):
    """A name breaks the rules of names."""

    text = "{name} is no valid name: use 1 to 255 letters, digits, '-', '.', '_' or '~', not shaped like a UUID."


class InvalidMAC(Invalid):
    """Text that should be a MAC address is not."""

    text = "Expected a MAC address but received {mac}."


class InvalidStateRequested(Invalid):
    """A verb does not fit the state the node is in."""

    text = "The action {action} is not possible for node {node} while it is in state {state}."


class NodeInMaintenance(Invalid):
    """The operation is refused while the node is in maintenance."""

    text = "The action {op} is not possible for node {node} in maintenance. Take it out of maintenance first."


class NodeIsRetired(Invalid):
    """A retired node is not offered again."""

    text = "Node {node} is retired and can't be provided. Clear its retired flag first."


class UnsupportedDriverExtension(Invalid):
    """The driver has no such ability."""

    text = "Driver {driver} does not support {extension}."


class NodeNotLocked(Invalid):
    """A lock that should be held is not."""

    text = "Node {node} is not locked by this conductor."


class NoValidDefaultForInterface(InvalidParameterValue):
    """No default can be calculated for one kind of interface (S13)."""

    text = (
        "No default for the {kind} interface of hardware type {driver}: none of the enabled implementations is "
        "supported by it. Choose one in the request or change the enabled ones."
    )


class IncompatibleInterface(InvalidParameterValue):
    """A hardware type does not support the chosen implementation."""

    text = "The {kind} interface {name} is not supported by hardware type {driver}. It supports: {supported}."


class InterfaceNotFoundInEntrypoint(InvalidParameterValue):
    """An implementation is not enabled or not installed."""

    text = "No {kind} interface named {name} is enabled. Enabled ones: {enabled}."


class NotAuthorized(IronicError):
    """The caller may not do this."""

    status = 403
    text = "Not authorized."


class HTTPForbidden(NotAuthorized):
    """A rule refuses this to this caller; ``resource`` names what."""

    text = "Access was denied to the following resource: {resource}."


class NodeProtected(HTTPForbidden):
    """A protected node must stay as it is."""

    text = "Node {node} is protected and can't be undeployed, rebuilt or deleted."


class ExclusiveLockRequired(NotAuthorized):
    """A change needs an exclusive lock."""

    text = "An exclusive lock is needed, the task holds a shared one."


class NotFound(IronicError):
    """There is no such thing."""

    status = 404
    text = "The resource could not be found."


class NodeNotFound(NotFound):
    """There is no such node."""

    text = "Node {node} could not be found."


class InstanceNotFound(NotFound):
    """No node carries this instance."""

    text = "Instance {instance} could not be found."


class ConductorNotFound(NotFound):
    """There is no such conductor."""

    text = "Conductor {conductor} could not be found."


class DriverNotFound(NotFound):
    """No live conductor serves this hardware type."""

    text = "Driver {driver} is not served by any live conductor."


class NoValidHost(NotFound):
    """No live conductor can take the work."""

    text = "No live conductor serves driver {driver} in conductor group '{group}'. Start one or enable the driver."


class MarkerNotFound(NotFound):
    """The item a page should start after is gone."""

    text = "Marker {marker} could not be found: start the listing again."


class NotAcceptable(IronicError):
    """The request needs another API version; ``what`` names the part, ``since`` the first version that has it."""

    status = 406
    text = "{what} needs API version {since} or later."


class Conflict(IronicError):
    """The thing is in a state that does not allow the request now."""

    status = 409
    text = "Conflict."


class NodeLocked(Conflict):
    """Another operation holds the node; trying again later may help. ``purpose`` says which, where that is known."""

    text = "Node {node} is locked by host {host}{purpose}, please retry after the current operation is completed."

    @classmethod
    def _render(cls, facts: Mapping[str, object]) -> str:
        purpose = facts.get("purpose")
        return super()._render({**facts, "purpose": f" ({purpose})" if purpose else ""})


class InvalidState(Conflict):
    """An event does not fit a state of the table."""

    text = "Event '{event}' is not possible in state '{state}'."


class NodeNotEditable(InvalidState):
    """A node on its way somewhere can't be changed."""

    text = "Node {node} can't be changed in state '{state}': {reason}."


class NodeAssociated(InvalidState):
    """An instance sits on the node."""

    text = "Node {node} is associated with instance {instance}."


class InstanceAssociated(Conflict):
    """The instance already sits on another node."""

    text = "Instance {instance} is already associated with another node."


class DuplicateName(Conflict):
    """The name is taken."""

    text = "The name {name} is already used by another {resource}."


class AlreadyExists(Conflict):
    """A value that has to be unique is taken."""

    text = "A {resource} with {field} {value} already exists."


class NodeAlreadyExists(AlreadyExists):
    """The UUID of a node is taken."""


class TemporaryFailure(IronicError):
    """Not now; the same request may succeed later."""

    status = 503
    text = "The service is busy, please retry."


class NoFreeConductorWorker(TemporaryFailure):
    """The conductor's worker pool is full."""

    text = "Conductor {host} has no free worker, please retry after a moment."


class ConcurrentActionLimit(TemporaryFailure):
    """As many nodes as allowed are in this kind of operation."""

    text = "{count} nodes are in {operation} already, which is the limit set by {option}. Please retry later."


class ConductorUnreachable(TemporaryFailure):
    """A call to a conductor got no answer."""

    text = "Conductor {host} did not answer {call} within {seconds} seconds."


class MessageBusFailure(TemporaryFailure):
    """The message bus itself can't be used; ``reason`` says why."""

    text = "The message bus could not carry {call} to conductor {host}: {reason}. Check the broker and transport_url."


class CallNotUnderstood(IronicError):
    """The two sides of a call run releases that don't fit."""

    text = "Conductor {host} can't make sense of {call}: {reason}. Bring all services to the same release."


class DriverLoadError(IronicError):
    """The conductor can't start with these drivers; ``faults`` lists everything that is wrong."""

    text = "The enabled drivers can't be loaded: {faults}"


class HookLoadError(IronicError):
    """The inspection hooks can't be loaded; ``faults`` lists everything that is wrong."""

    text = "The enabled inspection hooks can't be loaded: {faults}"


class PowerStateFailure(InvalidState):
    """A power change did not happen."""

    text = "Failed to set node power state to {target}: {reason}"


class NodeVerifyFailure(IronicError):
    """First contact failed."""

    text = "Verifying node {node} failed: {reason}"


class NodeCleaningFailure(IronicError):
    """Cleaning failed."""

    text = "Cleaning node {node} failed: {reason}"


class CleanStepFailed(NodeCleaningFailure):
    """One clean step failed (S64)."""

    text = "Clean step {step} failed on node {node}: {reason}"


class InstanceDeployFailure(IronicError):
    """A deployment failed."""

    text = "Deploying node {node} failed: {reason}"


class NodeServicingFailure(IronicError):
    """Servicing failed."""

    text = "Servicing node {node} failed: {reason}"


class InstanceRescueFailure(IronicError):
    """Rescuing failed."""

    text = "Rescuing node {node} failed: {reason}"


class InstanceUnrescueFailure(IronicError):
    """Leaving rescue mode failed."""

    text = "Unrescuing node {node} failed: {reason}"


class HardwareInspectionFailure(IronicError):
    """Inspection failed; ``error`` names the hook or rule and what it saw."""

    text = "Inspection failed: {error}"


class InspectionRuleFailure(HardwareInspectionFailure):
    """A rule failed the inspection."""

    text = "Inspection rule {rule} failed on {what}: {error}"


class TakenOver(IronicError):
    """This conductor no longer holds the node, so its write was refused."""

    status = 409
    text = "Node {node} is no longer held by conductor {host}; the change was dropped."


class ConductorSuperseded(TemporaryFailure):
    """This process is no longer the conductor of its name: a newer one has started under it."""

    text = "Conductor {host} was replaced by a newer process of the same name; please retry after a moment."


def all_errors() -> dict[str, type[IronicError]]:
    """Return every error class by name; what the RPC codec rebuilds errors from."""
    found: dict[str, type[IronicError]] = {}
    pending: list[type[IronicError]] = [IronicError]
    while pending:
        cls = pending.pop()
        found.setdefault(cls.__name__, cls)
        pending.extend(cls.__subclasses__())
    return found
