"""The resources, one module each; the route table is the rows of all of them together."""

from ironic.api.resources import (
    conductors,
    drivers,
    node_actions,
    node_states,
    node_writes,
    nodes,
    port_writes,
    ports,
    root,
)
from ironic.api.routes import Route

ROUTES: tuple[Route, ...] = (
    *root.ROUTES,
    *nodes.ROUTES,
    *node_writes.ROUTES,
    *node_states.ROUTES,
    *node_actions.ROUTES,
    *ports.ROUTES,
    *port_writes.ROUTES,
    *drivers.ROUTES,
    *conductors.ROUTES,
)
