"""For third-party plug-ins: the decorators of periodic methods under the path they import them from."""

from ironic.drivers.contract.driver_periodics import node_periodic, periodic

__all__ = ["node_periodic", "periodic"]
