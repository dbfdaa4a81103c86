"""The metrics of the service, a row for each or for each family; code sends by its row, and a page lists the rows.

A name says in brackets what it ends with for one of a family, as ``ConductorManager.<call>``. Those of dashboards that
operators have are kept. Source: doc/contract/drivers.md#metrics
"""

from dataclasses import dataclass
from typing import ClassVar, Final

from ironic.integrations.metrics import METRICS, Timer

_OF_CONDUCTORS: Final = "ironic.conductor.manager.ConductorManager."


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric, or one family: ``words`` say what is measured."""

    kind: ClassVar[str]

    name: str
    words: str

    def of(self, one: str = "") -> str:
        """Return the full name, that of ``one`` for a family."""
        return self.name.partition("<")[0] + one


class TimerRow(MetricRow):
    """How long something takes, in milliseconds; what ends with an error is not measured."""

    kind = "timer"

    def timer(self, one: str = "") -> Timer:
        """Return a decorator and context manager that measures."""
        return Timer(self.of(one))

    def send(self, milliseconds: float, one: str = "") -> None:
        """Send a time."""
        METRICS.timer(self.of(one), milliseconds)


class GaugeRow(MetricRow):
    """A number as it is now."""

    kind = "gauge"

    def send(self, value: float, one: str = "") -> None:
        """Send the present value."""
        METRICS.gauge(self.of(one), value)


REQUESTS: Final = TimerRow("ironic.api.<controller>.<action>", "a request that was answered")
CALLS: Final = TimerRow(f"{_OF_CONDUCTORS}<call>", "a call of a conductor, such as the beginning of a power change")
VERBS: Final = TimerRow(f"{_OF_CONDUCTORS}do_node_<event>", "the beginning of a provision verb")
PERIODIC_TASKS: Final = TimerRow(f"{_OF_CONDUCTORS}<task>", "a run of a periodic task, such as `power_synchronisation`")
INTERFACES: Final = TimerRow(
    "<module>.<class>.<method>",
    "a call of an interface, such as `ironic.drivers.modules.redfish.power.RedfishPower.get_power_state`",
)
SYNCHRONISED_NODES: Final = GaugeRow(
    f"{_OF_CONDUCTORS}PowerSyncNodesCount", "nodes that take part in power synchronisation"
)
POWER_FAILURES: Final = GaugeRow(f"{_OF_CONDUCTORS}PowerSyncRecoveryNodeCount", "nodes with a power failure")
VISITED_NODES: Final = GaugeRow("<module>.<name that it declares>", "nodes that a driver's periodic task visited")
INTERFACE_DIFFERENCES: Final = GaugeRow(
    "conductor.interface_differences", "differences between the interfaces of conductors, when one starts"
)
ROWS: Final = tuple(row for row in list(globals().values()) if isinstance(row, MetricRow))
