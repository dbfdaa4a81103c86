"""Errors about the resources of the API other than nodes.

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
    """The port does not exist."""

    text = "There is no port {port}."


class PortgroupNotFound(NotFound):
    """The port group does not exist."""

    text = "There is no port group {portgroup}."


class ChassisNotFound(NotFound):
    """The chassis does not exist."""

    text = "There is no chassis {chassis}."


class AllocationNotFound(NotFound):
    """The allocation does not exist."""

    text = "There is no allocation {allocation}."


class InspectionRuleNotFound(NotFound):
    """The inspection rule does not exist."""

    text = "There is no inspection rule {rule}."


class NodeTraitNotFound(NotFound):
    """The node does not have the trait."""

    text = "Node {node} has no trait {trait}."


class NodeInventoryNotFound(NotFound):
    """The node has no stored inventory."""

    text = "Node {node} has no stored inventory. Inspect it first."


class NodeRuleRunNotFound(NotFound):
    """No inspection rule has run on the node."""

    text = "No inspection rule has run on node {node} yet."


class NodeHistoryNotFound(NotFound):
    """The history entry does not exist."""

    text = "There is no history entry {entry}."


class PortAlreadyExists(AlreadyExists):
    """Another port has the UUID."""


class MACAlreadyExists(AlreadyExists):
    """Another port has the MAC address."""

    text = "Another port has the MAC address {value}."


class PortgroupAlreadyExists(AlreadyExists):
    """Another port group has the UUID."""


class PortgroupMACAlreadyExists(AlreadyExists):
    """Another port group has the MAC address."""

    text = "Another port group has the MAC address {value}."


class ChassisAlreadyExists(AlreadyExists):
    """Another chassis has the UUID."""


class InspectionRuleAlreadyExists(AlreadyExists):
    """Another rule has the UUID."""


class ChassisNotEmpty(Invalid):
    """A chassis with nodes can't be deleted."""

    text = "Chassis {chassis} still holds nodes. Move or delete them first."


class PortgroupNotEmpty(Invalid):
    """A port group with ports can't be deleted."""

    text = "Port group {portgroup} still has ports. Move or delete them first."


class VolumeConnectorNotFound(NotFound):
    """The volume connector does not exist."""

    text = "There is no volume connector {connector}."


class VolumeTargetNotFound(NotFound):
    """The volume target does not exist."""

    text = "There is no volume target {target}."


class DeployTemplateNotFound(NotFound):
    """The deploy template does not exist."""

    text = "There is no deploy template {template}."


class RunbookNotFound(NotFound):
    """The runbook does not exist."""

    text = "There is no runbook {runbook}."


class VolumeConnectorAlreadyExists(AlreadyExists):
    """Another volume connector has the UUID."""


class VolumeConnectorTypeAndIdAlreadyExists(AlreadyExists):
    """Another volume connector has the same type and identifier."""

    text = "A volume connector of this type with this connector_id already exists."


class VolumeTargetAlreadyExists(AlreadyExists):
    """Another volume target has the UUID."""


class VolumeTargetBootIndexAlreadyExists(AlreadyExists):
    """The node has another volume target with the same boot index."""

    # Clients look for "A volume target ... already exists".
    text = "A volume target with this boot_index already exists on the node."


class NotPoweredOff(InvalidStateRequested):
    """The change needs the machine powered off."""

    # Clients look for this beginning.
    text = (
        'The requested action "{action}" can not be performed on node {node}: it needs the machine powered off, and '
        "the power state is {state}."
    )


class DeployTemplateAlreadyExists(AlreadyExists):
    """Another deploy template has the UUID."""


class RunbookAlreadyExists(AlreadyExists):
    """Another runbook has the UUID."""


class AllocationAlreadyExists(AlreadyExists):
    """Another allocation has the UUID."""


class InvalidRunbook(Invalid):
    """The runbook can't be used for this node."""

    text = "Runbook {runbook} can't be used for node {node}: {reason}."


class AllocationImpossible(Conflict):
    """The node that an allocation names can't be allocated."""

    text = "Node {node} can't be allocated: {reason}."


class NoLiveConductor(TemporaryFailure):
    """No conductor is alive."""

    text = "No conductor is alive. Start one, then try again."
