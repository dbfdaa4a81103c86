"""Errors that only third-party plug-ins raise or catch; this service raises none of them.

One table has them all: base, name, text. The places of a text are the keywords of the error. The classes are real ones:
plug-ins derive from them, and catch them by their bases. An error travels to the API like any other, with its status;
there it is of the nearest class of this service.

`ClientSideError` and its kin, which the API of plug-ins' time took from another library, are RuntimeErrors as well.
"""

from collections.abc import Mapping
from typing import Any, Final

from ironic.core import errors
from ironic.core.errors import Invalid, IronicError, call_errors, hardware_errors, resource_errors

# By base, which stands in the table before its children or is an error of this service.
_TABLE: Final[Mapping[str, Mapping[str, str]]] = {
    "IronicError": {
        "AllocationFailed": "Allocation {uuid} failed: {error}",
        "BadRequest": "The request is not valid.",
        "CatalogNotFound": "The service catalog has no {endpoint_type} endpoint of the type {service_type}.",
        "CommunicationError": "Another service can't be reached.",
        "ConductorAlreadyRegistered": "Another conductor is registered under the name {conductor}.",
        "ConductorHardwareInterfacesAlreadyRegistered": "Interfaces of a conductor are registered already: {row}",
        "ConfigDriveRegenerationFailure": "The config drive can't be made again.",
        "ConfigInvalid": "The configuration is not valid: {error_msg}",
        "ConfigNotFound": "There is no configuration file {path}.",
        "DHCPLoadError": "DHCP provider {dhcp_provider_name} can't be loaded: {reason}",
        "DatabaseVersionTooOld": "The schema of the database is too old. Run ironic-dbsync upgrade.",
        "DirectoryNotWritable": "Directory {dir} is not writable.",
        "Duplicate": "The resource exists already.",
        "FailedToCleanDHCPOpts": "The DHCP options of node {node} can't be removed.",
        "FailedToGetIPAddressOnPort": "The IP address of port {port_id} can't be read.",
        "FailedToUpdateDHCPOptOnPort": "The DHCP options of port {port_id} can't be set.",
        "FailedToUpdateMacOnPort": "The MAC address of port {port_id} can't be set.",
        "FileSystemNotSupported": "File system {fs} is not supported.",
        "GlanceConnectionFailed": "Glance at {endpoint} can't be reached: {reason}",
        "HTTPNotFound": "There is no such path.",
        "ImageRefValidationFailed": "Image {image_href} can't be used: {reason}",
        "ImageUploadFailed": "Image {image_name} can't be sent to the web server {web_server}: {reason}",
        "IncorrectConfiguration": "The configuration is not correct: {error}",
        "InputFileError": "File {file_name} can't be used: {reason}",
        "InspectionRuleValidationFailure": "The inspection rule is not valid: {reason}",
        "InvalidEndpoint": "The endpoint of a service is not valid.",
        "InvalidIPAddress": "The IP address is not valid.",
        "InvalidIPv4Address": "{ip_address} is not an IPv4 address.",
        "KeystoneFailure": "Keystone failed.",
        "KeystoneUnauthorized": "Keystone does not accept the login of this service.",
        "MetricsNotSupported": "The metrics backend has no such feature.",
        "NoDriversLoaded": "Conductor {conductor} has loaded no drivers. Enable one.",
        "NodeTagNotFound": "Node {node_id} has no tag {tag}.",
        "NotificationPayloadError": "The payload of a notification of class {class_name} is not filled.",
        "NotificationSchemaKeyError": "A notification takes field {field} from {key} of {obj}, which has none.",
        "NotificationSchemaObjectError": "A notification takes a field from {source}, but was given {obj}.",
        "PathNotFound": "There is no directory {dir}.",
        "PortgroupPhysnetInconsistent": (
            "The ports of port group {portgroup} are in several physical networks: {physical_networks}."
        ),
        "RFBAuthHandshakeFailed": "The login to the screen failed: {reason}",
        "RFBAuthNoAvailableScheme": "The screen offers the logins {desired_types}; allowed are {allowed_types}.",
        "SecurityProxyNegotiationFailed": "The login to the screen could not be agreed on: {reason}",
        "ServiceLookupFailure": "Service {service} can't be found.",
        "ServiceRegistrationFailure": "Service {service} can't be registered: {error}",
        "ServiceUnavailable": "The service is not available.",
        "StorageError": "The storage of a volume failed.",
        "SwiftObjectStillExists": "Object {obj} of node {node} is still in Swift.",
        "SwiftOperationError": "Swift failed to {operation}: {error}",
        "TraitBasedNetworkingException": "The networks by traits can't be planned.",
        "Unauthorized": "The request needs a valid login.",
    },
    "Invalid": {
        "BootModeNotAllowed": "Boot mode {mode} is not allowed for {op}.",
        "IncompleteLookup": "A lookup needs the UUID of the node, or MAC addresses.",
        "InvalidConductorGroup": "{group} is not a valid conductor group.",
        "InvalidContent": "The content is not valid.",
        "InvalidDatapathID": "{datapath_id} is not a datapath ID.",
        "InvalidDeployTemplate": "The deploy template is not valid: {err}",
        "InvalidIdentity": "{identity} is neither a UUID nor an integer.",
        "InvalidKickstartFile": "The kickstart file is not valid.",
        "InvalidKickstartTemplate": "The kickstart template is not valid.",
        "InvalidMetricConfig": "The configuration of metrics is not valid.",
        "InvalidNodeInventory": "The inventory of node {node} is not valid: {reason}",
        "InvalidSwitchID": "{switch_id} is not the ID of a switch: it has to be a MAC address or a datapath ID.",
        "MalformedRequestURI": "The address of the request is malformed.",
        "NodeConsoleNotEnabled": "The console of node {node} is not enabled.",
        "NodeMaintenanceFailure": "Node {node} can't be put into maintenance: {reason}",
        "PatchError": "The patch {patch} can't be applied: {reason}",
        "StepNotAllowed": "The {step_type} step {step} is not allowed.",
    },
    "InvalidParameterValue": {
        "InvalidImageRef": "{image_href} is not the reference of an image.",
    },
    "NotAuthorized": {
        "ImageNotAuthorized": "Image {image_id} must not be used by this caller.",
        "OperationNotPermitted": "The operation is not permitted.",
    },
    "NotFound": {
        "BIOSSettingListNotFound": "Node {node} lacks some of the BIOS settings {names}.",
        "ImageNotFound": "There is no image {image_id}.",
        "RunbookTraitNotFound": "Runbook {runbook_id} has no trait {trait}.",
        "SwitchNotFound": "There is no switch {switch_id}.",
    },
    "DriverNotFound": {
        "DriverNotFoundInEntrypoint": "There is no driver {names} among the entry points {entrypoint}.",
    },
    "NodeNotFound": {
        "DuplicateNodeOnLookup": "Several nodes were found where one was expected: {node}",
    },
    "ImageNotFound": {
        "OciImageTagNotFound": "The registry has no such tag for {image_url}; it has {tags}.",
    },
    "Conflict": {
        "AllocationDuplicateName": "Another allocation has the name {name}.",
        "BIOSSettingAlreadyExists": "Node {node} has the BIOS setting {name} already.",
        "ChildNodeLocked": "Child node {child} of node {node} is in use. Try again later.",
        "DeployTemplateDuplicateName": "Another deploy template has the name {name}.",
        "FirmwareComponentAlreadyExists": "Node {node} has the firmware component {name} already.",
        "NodeInventoryAlreadyExists": "An inventory with the ID {id} exists already.",
        "ParentNodeLocked": "Parent node {parent} of node {node} is in use. Try again later.",
        "PortDuplicateName": "Another port has the name {name}.",
        "PortgroupDuplicateName": "Another port group has the name {name}.",
        "RunbookDuplicateName": "Another runbook has the name {name}.",
    },
    "TemporaryFailure": {
        "ImageHostRateLimitFailure": "The host of image {image_ref} answers too many requests. Try again later.",
    },
    "ConsoleError": {
        "NoConsolePid": "There is no process ID of a console in {pid_path}.",
    },
    "DriverOperationError": {
        "DracOperationError": "A DRAC operation failed: {error}",
        "SNMPFailure": "The SNMP operation {operation} failed: {error}",
    },
    "HardwareInspectionFailure": {
        "InspectionRuleExecutionFailure": "An inspection rule failed: {reason}",
    },
    "InspectionRuleExecutionFailure": {
        "RuleActionExecutionFailure": "An action of an inspection rule failed: {reason}",
        "RuleConditionCheckFailure": "A condition of an inspection rule can't be checked: {reason}",
    },
    "SwiftOperationError": {
        "SwiftObjectNotFoundError": "Swift failed to {operation}: container {container} has no object {obj}.",
    },
    "ImageUnacceptable": {
        "ImageServiceAuthenticationRequired": "The server of image {image_ref} asks for a login.",
        "InvalidImage": "The image is not valid.",
    },
    "InvalidImage": {
        "ImageChecksumAlgorithmFailure": "The algorithm of the image's checksum is not known or not allowed.",
        "ImageChecksumError": "The image has another checksum than declared.",
        "ImageChecksumFileReadFailure": "The file with the image's checksum can't be read.",
        "ImageChecksumURLNotSupported": "A URL is not supported as the image's checksum.",
        "ImageMatchFailure": "The image has another format than declared.",
        "OciImageNotSpecific": "Image {image_ref} is not named exactly: give a digest or a tag.",
    },
    "TraitBasedNetworkingException": {
        "TBNAttributeRetrievalException": "A port has no attribute {attr_name} to be compared.",
        "TBNComparatorCollectionTypeMismatch": "What is compared is no collection.",
        "TBNComparatorPrefixMatchTypeMismatch": "The beginning of what is no text can't be compared.",
        "TBNNoPortMatchesFound": "No port matches the traits.",
        "TBNNoTraitsApplicableToNode": "No trait for networks applies to node {node}.",
    },
}

# Statuses that are not those of the base.
_STATUSES: Final = {"BadRequest": 400, "Unauthorized": 401, "HTTPNotFound": 404, "ImageChecksumFileReadFailure": 503}


def _classes() -> dict[str, type[IronicError]]:
    rooms = (errors, hardware_errors, resource_errors, call_errors)
    known = {name: found for room in rooms for name, found in vars(room).items() if isinstance(found, type)}
    made: dict[str, type[IronicError]] = {}
    for base, texts in _TABLE.items():
        for name, text in texts.items():
            inside: dict[str, Any] = {"__module__": __name__, "__doc__": text, "text": text, "shows_all_facts": True}
            if name in _STATUSES:
                inside["status"] = _STATUSES[name]
            made[name] = known[name] = type(name, (known[base],), inside)
    return made


class ClientSideError(Invalid, RuntimeError):
    """A caller's mistake; ``status_code`` is the HTTP status, ``faultstring`` the text."""

    def __init__(self, msg: object = None, status_code: int = Invalid.status, faultcode: str = "Client") -> None:
        super().__init__(None if msg is None else str(msg), code=status_code)
        self.msg, self.faultcode = msg, faultcode

    @property
    def faultstring(self) -> str:
        """Return the text under the name that plug-ins use."""
        return self.message


class InvalidInput(ClientSideError):
    """A field has a value that is not acceptable."""

    def __init__(self, fieldname: str, value: object, msg: str = "") -> None:
        self.fieldname, self.value = fieldname, value
        super().__init__(f"Field {fieldname} can't have the value {value!r}{_because(msg)}")


class UnknownArgument(ClientSideError):
    """The request has an argument that it does not take."""

    def __init__(self, argname: str, msg: str = "") -> None:
        self.argname = argname
        super().__init__(f"There is no argument {argname}{_because(msg)}")


class UnknownAttribute(ClientSideError):
    """The document has attributes that its type does not have."""

    def __init__(self, fieldname: str | None, attributes: object, msg: str = "") -> None:
        self.fieldname, self.attributes = fieldname, attributes
        names = ", ".join(sorted(map(str, attributes))) if isinstance(attributes, list | tuple | set) else attributes
        where = f" of {fieldname}" if fieldname else ""
        super().__init__(f"There are no such attributes{where}: {names}{_because(msg)}")


def _because(msg: str) -> str:
    return f": {msg}" if msg else "."


_MADE: Final = _classes()
globals().update(_MADE)

__all__ = ["ClientSideError", "InvalidInput", "UnknownArgument", "UnknownAttribute"]
__all__ += sorted(_MADE)


def __getattr__(name: str) -> Any:
    """Refuse a name; this is here for type checkers, which can't see what the table makes."""
    raise AttributeError(f"There is no error {name}.", name=name, obj=__name__)
