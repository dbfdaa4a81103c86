"""The node in the API: the model, and what is computed of it."""

from ironic.api import computed
from ironic.api.resources.nodes import views
from ironic.core.model.node import Node

__all__ = ["Node"]

computed.bind(Node, traits=views.traits, conductor=views.hosts)
