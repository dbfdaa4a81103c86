"""What can go wrong with a machine's management, beside what can with anything: BMCs, networks,
firmware, sensors, vendors.

Names and statuses are those of doc/contract/errors.md#errors-that-plug-ins-raise; interfaces raise them.
"""

from ironic.core.errors import Conflict, Invalid, IronicError, NotFound


class NoFreePhysicalPorts(Invalid):
    """No port of the node is left for a virtual interface."""

    text = "Node {node} has no free port for virtual interface {vif}. Detach another one or add a port."


class VifNotAttached(Invalid):
    """A virtual interface is not bound to the node."""

    text = "Virtual interface {vif} is not attached to node {node}."


class VifAlreadyAttached(Conflict):
    """A virtual interface is bound to a port already."""

    text = "Virtual interface {vif} is attached to port {port} already."


class VifInvalidForAttach(Conflict):
    """A virtual interface does not fit any port of the node."""

    text = "Virtual interface {vif} can't be attached to node {node}: {reason}"


class NetworkError(IronicError):
    """The networks of a machine could not be changed."""

    text = "The networks of node {node} could not be changed: {reason}"


class BIOSSettingNotFound(NotFound):
    """The node has no such BIOS setting."""

    text = "BIOS setting {name} of node {node} could not be found."


class FirmwareComponentNotFound(NotFound):
    """The node has no such firmware component."""

    text = "Firmware component {name} of node {node} could not be found."


class FailedToGetSensorData(IronicError):
    """The sensors of a machine can't be read."""

    text = "The sensors of node {node} can't be read: {error}"


class ImageDownloadFailed(IronicError):
    """An image can't be fetched."""

    text = "The image for a virtual drive can't be fetched: {reason}"


class BootImageFailed(IronicError):
    """A kernel or ramdisk can't be brought to where machines fetch it."""

    text = "Image {image} can't be offered to machines: {reason}"


class VendorPassthruException(IronicError):
    """A vendor method failed with an error that is none of ours."""

    text = "Vendor method {method} failed with {error}; the log of the conductor has the details."


class DriverOperationError(IronicError):
    """A BMC refused or failed; ``operation`` and ``error`` say what."""

    text = "{operation} failed: {error}"


class RedfishError(DriverOperationError):
    """A Redfish BMC refused or failed."""

    text = "Redfish {operation} failed for node {node}: {error}"


class RedfishConnectionError(RedfishError):
    """A Redfish BMC can't be reached."""

    text = "The Redfish BMC of node {node} at {address} can't be reached: {error}"
