"""What can go wrong with the things of the API other than nodes, beside what can with anything.

    NotFound 404 - PortNotFound, ChassisNotFound, VolumeConnectorNotFound, RunbookNotFound, ...
    Conflict 409 - AlreadyExists - PortAlreadyExists, MACAlreadyExists, VolumeConnectorAlreadyExists, ...
                 - AllocationImpossible
    Invalid 400 -- InvalidRunbook, ChassisNotEmpty, PortgroupNotEmpty
                 - InvalidStateRequested - NotPoweredOff
    TemporaryFailure 503 - NoLiveConductor

Names and statuses that plug-ins and clients rely on are those of doc/contract/errors.md#errors-that-plug-ins-raise.
"""

from ironic.core.errors import AlreadyExists, Conflict, Invalid, InvalidStateRequested, NotFound, TemporaryFailure


class PortNotFound(NotFound):
    """There is no such port."""

    text = "Port {port} could not be found."


class PortgroupNotFound(NotFound):
    """There is no such port group."""

    text = "Port group {portgroup} could not be found."


class ChassisNotFound(NotFound):
    """There is no such chassis."""

    text = "Chassis {chassis} could not be found."


class AllocationNotFound(NotFound):
    """There is no such allocation."""

    text = "Allocation {allocation} could not be found."


class InspectionRuleNotFound(NotFound):
    """There is no such inspection rule."""

    text = "Inspection rule {rule} could not be found."


class NodeTraitNotFound(NotFound):
    """The node has no such trait."""

    text = "Node {node} has no trait {trait}."


class NodeInventoryNotFound(NotFound):
    """No inspection has left an inventory."""

    text = "Node {node} has no stored inventory. Inspect it first."


class NodeRuleRunNotFound(NotFound):
    """No inspection rule has run on the node."""

    text = "No inspection rule has run on node {node} yet."


class NodeHistoryNotFound(NotFound):
    """There is no such history entry."""

    text = "History entry {entry} could not be found."


class PortAlreadyExists(AlreadyExists):
    """The UUID of a port is taken."""


class MACAlreadyExists(AlreadyExists):
    """The MAC address is taken by another port."""

    text = "A port with MAC address {value} already exists."


class PortgroupAlreadyExists(AlreadyExists):
    """The UUID of a port group is taken."""


class PortgroupMACAlreadyExists(AlreadyExists):
    """The MAC address is taken by another port group."""

    text = "A port group with MAC address {value} already exists."


class ChassisAlreadyExists(AlreadyExists):
    """The UUID of a chassis is taken."""


class InspectionRuleAlreadyExists(AlreadyExists):
    """The UUID of a rule is taken."""


class ChassisNotEmpty(Invalid):
    """A chassis that still holds nodes can't go."""

    text = "Chassis {chassis} still holds nodes. Move or delete them first."


class PortgroupNotEmpty(Invalid):
    """A port group that still has ports can't go."""

    text = "Port group {portgroup} still has ports. Move or delete them first."


class VolumeConnectorNotFound(NotFound):
    """There is no such volume connector."""

    text = "Volume connector {connector} could not be found."


class VolumeTargetNotFound(NotFound):
    """There is no such volume target."""

    text = "Volume target {target} could not be found."


class DeployTemplateNotFound(NotFound):
    """There is no such deploy template."""

    text = "Deploy template {template} could not be found."


class RunbookNotFound(NotFound):
    """There is no such runbook."""

    text = "Runbook {runbook} could not be found."


class VolumeConnectorAlreadyExists(AlreadyExists):
    """The UUID of a volume connector is taken."""


class VolumeConnectorTypeAndIdAlreadyExists(AlreadyExists):
    """Type and identifier of a volume connector are taken together."""

    text = "A volume connector of this type with this connector_id already exists."


class VolumeTargetAlreadyExists(AlreadyExists):
    """The UUID of a volume target is taken."""


class VolumeTargetBootIndexAlreadyExists(AlreadyExists):
    """The node has a volume target at this place of the boot order."""

    text = "The node already has a volume target with this boot_index."


class NotPoweredOff(InvalidStateRequested):
    """What a running machine may be using can't be touched."""

    text = "The action {action} needs node {node} powered off, and its power is {state}. Power it off first."


class DeployTemplateAlreadyExists(AlreadyExists):
    """The UUID of a deploy template is taken."""


class RunbookAlreadyExists(AlreadyExists):
    """The UUID of a runbook is taken."""


class AllocationAlreadyExists(AlreadyExists):
    """The UUID of an allocation is taken."""


class InvalidRunbook(Invalid):
    """A runbook can't be used for this node."""

    text = "Runbook {runbook} can't be used for node {node}: {reason}."


class AllocationImpossible(Conflict):
    """The node that an allocation asks for can't be the one."""

    text = "Node {node} can't be allocated: {reason}."


class NoLiveConductor(TemporaryFailure):
    """Nobody is there to do the work."""

    text = "No conductor is alive. Start one, then try again."
