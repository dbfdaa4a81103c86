"""What can go wrong with volumes, deploy templates, runbooks and allocations, beside what can with anything.

    NotFound 404 - VolumeConnectorNotFound, VolumeTargetNotFound, DeployTemplateNotFound, RunbookNotFound
    Conflict 409 - AlreadyExists - VolumeConnectorAlreadyExists, VolumeTargetAlreadyExists, ...
                 - AllocationImpossible
    Invalid 400 -- InvalidRunbook
    TemporaryFailure 503 - NoLiveConductor

Names and statuses that plug-ins and clients rely on are those of facts/driver_api.yaml.
"""

from ironic.core.errors import AlreadyExists, Conflict, Invalid, NotFound, TemporaryFailure


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
