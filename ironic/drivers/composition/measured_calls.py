"""Times of the calls of interfaces: which methods of an implementation are measured, and under which name.

Every public method that takes a task is, because a flow, an RPC method, a step or a periodic task may call it; what all
interfaces inherit only leads to such methods. The timer is ``<module>.<class>.<method>`` of the implementation, so that
two implementations of a kind can be compared. A conductor that measures nothing keeps the implementations as they are,
and a call of them costs nothing more.
"""

import inspect
from collections.abc import Iterator

from ironic.drivers.contract.interfaces import base_interface
from ironic.drivers.contract.interfaces.kinds import BaseInterface
from ironic.integrations import metric_table
from ironic.integrations.metrics import METRICS


def measure(interface: BaseInterface) -> None:
    """Measure the calls of an implementation from now on, if this process measures."""
    if not METRICS.on:
        return
    cls = type(interface)
    for name in measured_methods(cls):
        # A classic driver may have one object for two kinds.
        if name not in vars(interface):
            timer = metric_table.INTERFACES.timer(f"{cls.__module__}.{cls.__name__}.{name}")
            setattr(interface, name, timer(getattr(interface, name)))


def measured_methods(cls: type[BaseInterface]) -> Iterator[str]:
    """Yield the names of the methods of a class that are measured."""
    inherited = vars(base_interface.BaseInterface)
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        if not name.startswith("_") and inspect.isfunction(method) and method is not inherited.get(name):
            parameters = list(inspect.signature(method).parameters)
            if parameters[1:2] == ["task"]:
                yield name
