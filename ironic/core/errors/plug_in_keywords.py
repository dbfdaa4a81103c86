"""Texts of our errors for the facts by which third-party plug-ins raise them, where we name the facts otherwise.

By the name of the class. Such a text is used when the facts are exactly its places, or fill only this text.
"""

from collections.abc import Mapping
from typing import Final

# Resources with a class of errors for a UUID that another one has.
_WITH_UUID: Final = {
    "Node": "node",
    "Allocation": "allocation",
    "Chassis": "chassis",
    "DeployTemplate": "deploy template",
    "InspectionRule": "inspection rule",
    "Port": "port",
    "Portgroup": "port group",
    "Runbook": "runbook",
    "VolumeConnector": "volume connector",
    "VolumeTarget": "volume target",
}

TEXTS: Final[Mapping[str, str]] = {
    **{f"{name}AlreadyExists": f"Another {noun} has the UUID {{uuid}}." for name, noun in _WITH_UUID.items()},
    "AgentAPIError": "The agent of node {node} answered a call with status {status}: {error}",
    "AgentConnectionFailed": "The agent can't be reached: {reason}",
    "ConcurrentActionLimit": "The limit of nodes in the operation {task_type} is reached. Try again later.",
    "ConsoleError": "The console failed.",
    "ConsoleSubprocessFailed": "The program of the console did not start: {error}",
    "DriverLoadError": "Driver {driver} can't be loaded: {reason}",
    "DriverNotFound": "No live conductor serves driver {driver_name}.",
    "DriverOperationError": "An operation of driver {driver} failed: {reason}",
    "DuplicateName": "The name {name} is used already.",
    "IPMIFailure": "The IPMI call failed: {cmd}",
    "ImageConvertFailed": "Image {image_id} can't be converted: {reason}",
    "ImageDownloadFailed": "Image {image_href} can't be downloaded: {reason}",
    "ImageUnacceptable": "Image {image_id} can't be used: {reason}",
    "IncompatibleInterface": (
        "The {interface_type} interface {interface_impl} is not supported by hardware type {hardware_type}."
    ),
    "InstanceAssociated": "Instance {instance_uuid} is on another node, so node {node} can't have it.",
    "InstanceDeployFailure": "Deploying an instance failed: {reason}",
    "InstanceRescueFailure": "Rescuing instance {instance} on node {node} failed: {reason}",
    "InstanceUnrescueFailure": "Unrescuing instance {instance} on node {node} failed: {reason}",
    "InterfaceNotFoundInEntrypoint": "There is no {iface} among the entry points {entrypoint}. Known ones: {valid}.",
    "InvalidRunbook": "The runbook is not valid: {err}",
    "InvalidState": "The state of the resource does not allow this.",
    "MACAlreadyExists": "Another port has the MAC address {mac}.",
    "NetworkError": "A change of networks failed.",
    "NoFreeConductorWorker": "This conductor has no free worker. Try again in a moment.",
    "NoFreeIPMITerminalPorts": "No port for another serial console is free on host {host}.",
    "NoFreePhysicalPorts": "No port is free for virtual interface {vif}.",
    "NoValidDefaultForInterface": (
        "There is no default for the {interface_type} interface of hardware type {driver}{node_info}."
    ),
    "NoValidHost": "No conductor can take the work: {reason}",
    "NodeHistoryNotFound": "There is no history entry {history}.",
    "NodeIsRetired": "Node {node} is retired, which does not allow {op}.",
    "NodeTraitNotFound": "Node {node_id} has no trait {trait}.",
    "NotAcceptable": "The request can't be answered in the version or form that was asked for.",
    "PortgroupMACAlreadyExists": "Another port group has the MAC address {mac}.",
    "PowerStateFailure": "The machine could not be brought to the power state '{pstate}'.",
    "RedfishConnectionError": "The Redfish BMC of node {node} can't be reached: {error}",
    "RedfishError": "A Redfish operation failed: {error}",
    "VendorPassthruException": "A vendor method failed.",
    "VifAlreadyAttached": "Virtual interface {vif} is attached to {object_type} {object_uuid} already.",
    "VolumeConnectorTypeAndIdAlreadyExists": (
        "Another volume connector has the type {type} and the connector_id {connector_id}."
    ),
    "VolumeTargetBootIndexAlreadyExists": "A volume target with the boot_index {boot_index} already exists.",
}
