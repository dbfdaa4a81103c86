"""Errors that interfaces raise about a machine: its BMC and networks, its agent, its images.

    IronicError 500 - NetworkError, FailedToGetSensorData, FailedToParseSensorData, VendorPassthruException
                    - ImageDownloadFailed, BootImageFailed
                    - ConsoleError - ConsoleSubprocessFailed; ConsoleContainerError
                    - DriverOperationError - RedfishError - RedfishConnectionError
                                           - IPMIFailure - IPMIConnectionFailure
                    - PasswordFileFailedToCreate
                    - AgentConnectionFailed, AgentNotCalled, AgentCommandTimeout, AgentCommandFailed
                    - AgentAPIError - AgentInProgress
                    - ImageUnacceptable, ImageConvertFailed, ImageCreationFailed, InsufficientDiskSpace
                    - InsufficientMemory
    Invalid 400 --- NoFreePhysicalPorts, VifNotAttached, UnsupportedHardwareFeature
                    - InvalidParameterValue - BootModeUnknown
    NotFound 404 -- BIOSSettingNotFound, FirmwareComponentNotFound
    Conflict 409 -- VifAlreadyAttached, VifInvalidForAttach
    TemporaryFailure 503 - NoFreeIPMITerminalPorts

Names and statuses are those of doc/contract/errors.md#errors-that-plug-ins-raise and
doc/contract/errors.md#errors-of-images.
"""

from typing import ClassVar

from ironic.core.errors import Conflict, Invalid, InvalidParameterValue, IronicError, NotFound, TemporaryFailure


class NoFreePhysicalPorts(Invalid):
    """The node has no free port for a virtual interface."""

    text = "Node {node} has no free port for virtual interface {vif}. Detach another virtual interface or add a port."


class VifNotAttached(Invalid):
    """The virtual interface is not attached to the node."""

    text = "Virtual interface {vif} is not attached to node {node}."


class VifAlreadyAttached(Conflict):
    """The virtual interface is attached to a port already."""

    text = "Virtual interface {vif} is attached to port {port} already. Detach it first."


class VifInvalidForAttach(Conflict):
    """The virtual interface does not fit any port of the node."""

    text = "Virtual interface {vif} can't be attached to node {node}: {reason}"


class NetworkError(IronicError):
    """Changing the networks of a machine failed."""

    text = "The networks of node {node} could not be changed: {reason}"


class BIOSSettingNotFound(NotFound):
    """The node has no such BIOS setting."""

    text = "Node {node} has no BIOS setting {name}."


class FirmwareComponentNotFound(NotFound):
    """The node has no such firmware component."""

    text = "Node {node} has no firmware component {name}."


class SubscriptionNotFound(NotFound):
    """The BMC of the node has no such subscription to events."""

    text = "The BMC of node {node} has no subscription {subscription}."


class ConsoleError(IronicError):
    """A console can't be opened or closed."""

    text = "The console of node {node} failed: {error}"


class ConsoleSubprocessFailed(ConsoleError):
    """The program that offers a console did not start."""


class NoFreeIPMITerminalPorts(TemporaryFailure):
    """All ports for serial consoles are in use."""

    text = (
        "No port of [console]port_range is free on conductor {host} for the console of node {node}. Close another "
        "console, or widen the range."
    )


class ConsoleContainerError(IronicError):
    """The container of a graphical console can't be started or stopped; ``provider`` is the one of [vnc]."""

    text = "The container of a graphical console failed (provider {provider}): {reason}"


class FailedToGetSensorData(IronicError):
    """Reading the sensors of a machine failed."""

    text = "The sensors of node {node} can't be read: {error}"


class FailedToParseSensorData(IronicError):
    """What a BMC reports as its sensors is none."""

    text = "The sensors of node {node} are reported in no known form: {error}"


class UnsupportedHardwareFeature(Invalid):
    """The machine lacks a feature that an interface needs."""

    text = "The machine of node {node} does not support {feature}. Choose another interface for it."


class BootModeUnknown(InvalidParameterValue):
    """A BMC does not report the boot mode of its machine, and can't set the wanted one."""

    text = (
        "The BMC of node {node} reports no boot mode, and it can't be set to {wanted}: {reason}. Set the mode {wanted} "
        "in the firmware setup of the machine, remove boot_mode from the capabilities in properties and "
        "instance_info, and set [deploy]default_boot_mode to {wanted}."
    )


class ImageDownloadFailed(IronicError):
    """Fetching an image failed."""

    text = "The image for a virtual media device can't be downloaded: {reason}"


class BootImageFailed(IronicError):
    """Publishing a kernel or ramdisk for machines failed."""

    text = "Image {image} can't be published for machines: {reason}"


class VendorPassthruException(IronicError):
    """A vendor method failed with an error of an unknown class."""

    text = "Vendor method {method} failed with {error}; the log of the conductor has the details."


class DriverOperationError(IronicError):
    """A BMC operation failed; ``operation`` names it, ``error`` says why."""

    text = "{operation} failed: {error}"

    # Whether the BMC can't be reached, so that further calls would only wait for the same time-out.
    is_unreachable: ClassVar[bool] = False


class RedfishError(DriverOperationError):
    """An operation of a Redfish BMC failed."""

    text = "{error} (Redfish {operation} failed for node {node})"


class RedfishConnectionError(RedfishError):
    """A Redfish BMC can't be reached."""

    text = "The Redfish BMC of node {node} at {address} can't be reached: {error}"
    is_unreachable: ClassVar[bool] = True


class IPMIFailure(DriverOperationError):
    """An operation of an IPMI BMC failed; the error has no part of a login."""

    text = "{error} (IPMI {operation} failed for node {node})"


class IPMIConnectionFailure(IPMIFailure):
    """An IPMI BMC does not answer, or has no room for the request."""

    text = "The IPMI BMC of node {node} at {address} can't be reached for {operation}: {error}"
    is_unreachable: ClassVar[bool] = True


class PasswordFileFailedToCreate(IronicError):
    """A private file for the password of a BMC can't be written."""

    text = "The file with the password for ipmitool can't be written: {error}. Check option [DEFAULT]tempdir."


class AgentConnectionFailed(IronicError):
    """The agent can't be reached and has not begun the command; normal after a restart of the machine."""

    text = "The agent of node {node} can't be reached for {command}: {reason}. Check that the ramdisk still runs."


class AgentNotCalled(IronicError):
    """The agent reported an address that this service must not call."""

    text = "The agent of node {node} must not be called for {command}: {reason}. See the options of [outgoing]."


class AgentAPIError(IronicError):
    """The agent refused a call or returned an invalid answer."""

    text = "The agent of node {node} answered {command} with status {status}: {error}"


class AgentInProgress(AgentAPIError):
    """The agent is busy with another command; the same call can be made again later."""

    text = "The agent of node {node} is busy and did not take {command}: {error}"


class AgentCommandTimeout(IronicError):
    """The result of a command is unknown: no answer came in time."""

    text = "The agent of node {node} did not report the result of {command} in time. Check the log of the ramdisk."


class AgentCommandFailed(IronicError):
    """The agent executed a command, which failed."""

    text = "Command {command} of the agent of node {node} failed: {error}"


class ImageUnacceptable(IronicError):
    """An image has another format than declared, is not allowed, or is not safe."""

    text = "The image can't be used: {reason}"


class ImageConvertFailed(IronicError):
    """Converting an image to raw format failed."""

    text = "The image of format {format} can't be converted to raw format: {reason}"


class ImageCreationFailed(IronicError):
    """Making an image that a machine boots failed."""

    text = "The {image_type} image can't be made: {error}"


class InsufficientDiskSpace(IronicError):
    """There is not enough disk space for an image."""

    text = "There is not enough disk space for the image: it needs {required} MiB, {path} has {actual} MiB free."


class InsufficientMemory(IronicError):
    """The conductor's host has too little memory for the conversion of an image."""

    text = (
        "This conductor's host has {free} MiB of memory available, and [DEFAULT]minimum_required_memory asks for "
        "{required} before an image is converted. Try again later, or give the host more memory."
    )
