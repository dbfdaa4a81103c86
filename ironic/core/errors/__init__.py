"""Errors with their HTTP status and facts; those of calls to conductors are in call_errors.

    IronicError 500
    +- Invalid 400 ---------- InvalidParameterValue -- MissingParameterValue, NoValidDefaultForInterface, ...
    +- NotAuthorized 403 ---- HTTPForbidden -- NodeProtected
    +- NotFound 404 --------- NodeNotFound, DriverNotFound, NoValidHost, ...
    +- NotAcceptable 406
    +- Conflict 409 --------- NodeLocked, InvalidState -- NodeAssociated, PowerStateFailure; duplicates
    +- TemporaryFailure 503 - NoFreeConductorWorker (OwnersWorkersInUse), ConcurrentActionLimit; those of call_errors
    +- the failure of an operation: NodeCleaningFailure, InstanceDeployFailure, HardwareInspectionFailure, ...

Raise with facts as keyword arguments, not with a complete sentence; ``text`` is the sentence. An error that is the
reason is a fact as it is, see `failure_texts`. Plug-ins may pass one sentence instead. Names and statuses that plug-ins
and clients rely on: doc/contract/errors.md#errors-that-plug-ins-raise.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final, cast

from ironic.core.errors.failure_texts import FailureWithFacts, Said, places_of
from ironic.core.errors.plug_in_keywords import TEXTS

# Of a plug-in's text: the name, the form of a number, and its kind; or an escaped percent sign.
_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)[#+ -]*(\d*(?:\.\d+)?)([a-zA-Z])|%%")


class _Code:
    """The status under the name that plug-ins use, on a class and on an error."""

    def __get__(self, error: "IronicError | None", cls: "type[IronicError]") -> int:
        return cls.status if error is None else error.status

    def __set__(self, error: "IronicError", status: int) -> None:
        vars(error)["status"] = status


class IronicError(FailureWithFacts):
    """Root of all errors of this service; ``status`` is the HTTP status of its answer."""

    status: ClassVar[int] = 500
    text: ClassVar[str] = "An unexpected error occurred; the log of the service has the details."

    # Plug-ins read these, and `kwargs`; an answer of the API has no headers of an error.
    code: int = cast(int, _Code())
    headers: ClassVar[Mapping[str, str]] = {}
    safe: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Accept the class attributes of plug-ins: ``_msg_fmt`` (or ``message``) with %-placeholders, and ``code``."""
        super().__init_subclass__(**options)
        if isinstance(words := vars(cls).get("_msg_fmt", vars(cls).get("message")), str):
            escaped = words.replace("{", "{{").replace("}", "}}")
            cls.text, cls.shows_all_facts = _PLACEHOLDER.sub(_place, escaped), False
        if isinstance(status := vars(cls).get("code"), int):
            cls.status = status
            # So that what reads `code` reads the status.
            del cls.code

    def __init__(self, message: str | None = None, **facts: Any) -> None:
        """Make an error of facts, or of one sentence; ``code``, where it is no fact, is the status."""
        if isinstance(facts.get("code"), int) and "code" not in places_of(self.text):
            self.code = facts.pop("code")
        super().__init__(message, facts)
        self.kwargs = facts

    @classmethod
    def text_for(cls, facts: Mapping[str, object]) -> str:
        """Return the text of the class, or the one for the keywords of plug-ins if the facts fit only that, or exactly.

        A class that derives from one of ours has both from it, unless it has a text of its own.
        """
        nearest = next(one for one in cls.__mro__ if "text" in vars(one) or one.__name__ in TEXTS)
        if (text := TEXTS.get(nearest.__name__)) is None:
            return cls.text
        given, places = facts.keys(), places_of(text)
        fits_only_this = places <= given and not places_of(cls.text) <= given
        return text if fits_only_this or given == places else cls.text


def _place(found: re.Match[str]) -> str:
    """Return the place of our texts for a placeholder of a plug-in's text."""
    name, form, kind = found.groups()
    if name is None:
        return "%"
    if kind == "r":
        return f"{{{name}!r}}"
    kind = {"i": "d", "u": "d"}.get(kind, kind)
    return f"{{{name}:{form}{kind}}}" if kind in "deEfFgGoxX" else f"{{{name}}}"


class Invalid(IronicError):
    """The request is not acceptable."""

    status = 400
    text = "The request is not valid."


class InvalidParameterValue(Invalid):
    """A value is not acceptable; ``err`` says which one and why."""

    text = "{err}"


class MissingParameterValue(InvalidParameterValue):
    """A required value is missing; ``err`` names it."""


class InvalidUUID(Invalid):
    """A text is not a UUID."""

    text = "{uuid} is not a UUID."


class InvalidUuidOrName(Invalid):
    """A text is neither a UUID nor a logical name."""

    text = "{name} is neither a UUID nor a name."


class InvalidName(Invalid):
    """A name is not a logical name."""

    text = "{name} is not a valid name: use 1 to 255 letters, digits, '-', '.', '_' or '~', not shaped like a UUID."


class InvalidMAC(Invalid):
    """A text is not a MAC address."""

    text = "{mac} is not a MAC address."


class InvalidStateRequested(Invalid):
    """The state of the node does not allow the verb."""

    text = "The action {action} is not possible for node {node} while it is in state {state}."


class NodeInMaintenance(Invalid):
    """The operation is refused while the node is in maintenance."""

    text = "The action {op} is not possible for node {node} in maintenance. Take it out of maintenance first."


class NodeIsRetired(Invalid):
    """A retired node can't become available."""

    text = "Node {node} is retired and can't be provided. Clear its retired flag first."


class UnsupportedDriverExtension(Invalid):
    """The driver does not support a feature."""

    text = "Driver {driver} does not support {extension}."


class ChosenInterfaceLacksFeature(UnsupportedDriverExtension):
    """The interface that was chosen for the node stands for a missing feature."""

    text = "The node uses {interface}, which does not support {extension}. {remedy}"


class NodeNotLocked(Invalid):
    """The node is not locked although it has to be."""

    text = "Node {node} is not locked by this conductor."


class NoValidDefaultForInterface(InvalidParameterValue):
    """There is no default for one kind of interface (S13)."""

    text = (
        "No default for the {kind} interface of hardware type {driver}: it supports none of the enabled "
        "implementations. Name one in the request, or enable a supported one."
    )


class IncompatibleInterface(InvalidParameterValue):
    """A hardware type does not support the chosen implementation."""

    text = (
        "The {kind} interface {name} is not supported by hardware type {driver}. It supports: {supported}. With "
        "reset_interfaces all interfaces get the defaults of the driver."
    )


class FixedInterface(InvalidParameterValue):
    """An interface of a classic driver can't be chosen (S23)."""

    text = (
        "{driver} is a classic driver, whose {kind} interface is fixed: {kind}_interface must be null. Leave it out, "
        "or choose a hardware type as driver."
    )


class InterfaceNotFoundInEntrypoint(InvalidParameterValue):
    """An implementation is not enabled or not installed."""

    text = "No {kind} interface named {name} is enabled. Enabled ones: {enabled}."


class NotAuthorized(IronicError):
    """The caller may not do this."""

    status = 403
    text = "Not authorized."


class HTTPForbidden(NotAuthorized):
    """A policy rule denies the request; ``resource`` names the resource."""

    text = "The policy {resource} does not allow this request."


class NodeProtected(HTTPForbidden):
    """A protected node must not be undeployed, rebuilt or deleted."""

    text = "Node {node} is protected against undeploying, rebuilding and deleting. Clear its protected flag first."


class ExclusiveLockRequired(NotAuthorized):
    """A change needs an exclusive lock."""

    text = "The change needs an exclusive lock of the node, but the task holds a shared one."


class NotFound(IronicError):
    """The resource does not exist."""

    status = 404
    text = "There is no such resource."


class NodeNotFound(NotFound):
    """The node does not exist."""

    text = "There is no node {node}."


class InstanceNotFound(NotFound):
    """No node has this instance."""

    text = "There is no instance {instance}."


class ConductorNotFound(NotFound):
    """The conductor does not exist."""

    text = "There is no conductor {conductor}."


class DriverNotFound(NotFound):
    """No live conductor serves this hardware type."""

    text = "Driver {driver} is not served by any live conductor. Enable it on a conductor, or start one that has it."


class NoValidHost(NotFound):
    """No live conductor can take the work."""

    text = "No live conductor serves driver {driver} in conductor group '{group}'. Start one or enable the driver."


class MarkerNotFound(NotFound):
    """The marker of a page does not exist any more."""

    text = "There is no resource with the marker {marker}. Start the list again."


class NotAcceptable(IronicError):
    """The request needs another API version; ``what`` names the part, ``since`` the first version that has it."""

    status = 406
    text = "{what} needs API version {since} or later."


class Conflict(IronicError):
    """The state of the resource does not allow the request now."""

    status = 409
    text = "The request conflicts with the state of the resource."


class ChangedMeanwhile(Conflict):
    """Another request has changed what new values were made from; the API makes them again."""

    text = "Another request has changed {what} meanwhile. Send this one again."


class NodeLocked(Conflict):
    """Another operation has locked the node; retry later. ``purpose`` names the operation if it is known."""

    text = "Node {node} is in use by conductor {host}{purpose}. Try again when that has ended."

    @classmethod
    def sentence(cls, facts: Mapping[str, object], said: Said = ()) -> str:
        purpose = facts.get("purpose")
        return super().sentence({**facts, "purpose": f" ({purpose})" if purpose else ""}, said)


class InvalidState(Conflict):
    """The state table has no such event in this state."""

    text = "Event '{event}' is not possible in state '{state}'."


class NodeNotEditable(InvalidState):
    """A node can't be changed in its state."""

    text = "Node {node} can't be changed in state '{state}': {reason}."


class NodeAssociated(InvalidState):
    """The node has an instance."""

    text = "Node {node} has the instance {instance}. Remove the instance from the node first."


class InstanceAssociated(Conflict):
    """The instance is on another node already."""

    text = "Another node has the instance {instance}."


class DuplicateName(Conflict):
    """Another resource has the name."""

    text = "The name {name} is already used by another {resource}."


class AlreadyExists(Conflict):
    """Another resource has a value that has to be unique."""

    text = "A {resource} with {field} {value} already exists."


class NodeAlreadyExists(AlreadyExists):
    """Another node has the UUID."""


class TemporaryFailure(IronicError):
    """The request can't be served now; the same request may succeed later.

    ``retry_after`` is the number of seconds to wait before that (header Retry-After); None: not to be repeated blindly.
    """

    status = 503
    retry_after: ClassVar[int | None] = 5
    text = "The service is busy. Try again in a moment."


class NoFreeConductorWorker(TemporaryFailure):
    """The conductor's worker pool is full."""

    text = "Conductor {host} has no free worker. Try again in a moment."


class OwnersWorkersInUse(NoFreeConductorWorker):
    """The nodes of one owner have their share of the conductor's workers."""

    text = (
        "Operations on nodes of the same owner have {count} workers of conductor {host} already, which is their share "
        "([conductor]workers_percentage_per_owner). Try again when some of them have ended."
    )


class ConcurrentActionLimit(TemporaryFailure):
    """The limit of nodes in this kind of operation is reached."""

    text = "{count} nodes are in {operation} already, which is the limit set by {option}. Try again later."


class RowLimit(NotAuthorized):
    """A project has as many nodes, or other things of one kind, as it may have; or a node as many parts."""

    text = (
        "{whose} {count} {kind}, which is the limit set by {option}. Delete one of them first, or ask an administrator "
        "for more."
    )


class DriverLoadError(IronicError):
    """The enabled drivers can't be loaded; ``faults`` lists every problem."""

    text = "The enabled drivers can't be loaded: {faults}"


class PowerStateFailure(InvalidState):
    """A power change failed."""

    text = "{reason} (changing the power state to '{target}' failed)"


class NodeVerifyFailure(IronicError):
    """Verifying failed."""

    text = "Verifying node {node} failed: {reason}"


class NodeCleaningFailure(IronicError):
    """Cleaning failed."""

    text = "Cleaning node {node} failed: {reason}"


class CleanStepFailed(NodeCleaningFailure):
    """One clean step failed (S64)."""

    text = "{reason}. Clean step {step} failed on node {node}."


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
    """Inspection failed; ``error`` names the hook or rule and the reason."""

    text = "Inspection failed: {error}"


class HookLoadError(HardwareInspectionFailure):
    """The enabled inspection hooks can't be loaded; ``faults`` lists every problem."""

    text = "The enabled inspection hooks can't be loaded: {faults}"


class InspectionRuleFailure(HardwareInspectionFailure):
    """A rule failed the inspection."""

    text = "Inspection rule {rule} failed on {what}: {error}"


class TakenOver(IronicError):
    """This conductor has lost the lock of the node, so its write was refused."""

    status = 409
    text = "Node {node} is no longer held by conductor {host}; the change was dropped."


def all_errors() -> dict[str, type[IronicError]]:
    """Return every error class by name; the RPC codec rebuilds errors from it."""
    found: dict[str, type[IronicError]] = {}
    pending: list[type[IronicError]] = [IronicError]
    while pending:
        cls = pending.pop()
        # A plug-in may call an error of its own like one of ours.
        if cls.__name__ not in found or cls.__module__.startswith("ironic."):
            found[cls.__name__] = cls
        pending.extend(cls.__subclasses__())
    return found
