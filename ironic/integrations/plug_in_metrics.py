"""Metrics of third-party plug-ins, which go where those of this service go."""

from typing import Final

from ironic.core.plug_ins.plug_in_errors import InvalidMetricConfig
from ironic.integrations.metrics import Metrics

_BACKENDS: Final = (None, "noop", "statsd", "collector")


def get_metrics_logger(
    prefix: str = "", backend: str | None = None, host: str | None = None, delimiter: str = "."
) -> Metrics:
    """Return metrics below a prefix; its parts may be separated by another ``delimiter`` than a dot.

    ``backend`` and ``host`` are what plug-ins pass on: where metrics of this process go, and whether its host stands in
    their names, is said by the options of [metrics] alone. Raises InvalidMetricConfig for an unknown backend.
    """
    if backend not in _BACKENDS:
        raise InvalidMetricConfig(f"There is no metrics backend {backend!r}; [metrics]backend chooses the one in use.")
    return Metrics(prefix.replace(delimiter, ".") if delimiter else prefix)
