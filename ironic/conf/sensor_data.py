"""Options of [sensor_data]: readings of sensors, sent as notifications."""

from oslo_config import cfg

from ironic.conf.option_types import ListOpt


def _once(suffix: str) -> list[cfg.DeprecatedOpt]:
    """Return the name of an option before it had a group of its own; tools still write these."""
    return [cfg.DeprecatedOpt(f"send_sensor_data{suffix}", group="conductor")]


SENSOR_DATA_OPTIONS = [
    cfg.BoolOpt(
        "send_sensor_data",
        deprecated_opts=_once(""),
        default=False,
        help="Read the sensors of machines and send the readings as notifications. They go where "
        "[oslo_messaging_notifications] says; without a driver there nothing is read.",
    ),
    cfg.IntOpt(
        "interval",
        deprecated_opts=_once("_interval"),
        default=600,
        min=1,
        help="Seconds in which each machine is read once. The readings are spread over this time.",
    ),
    cfg.IntOpt(
        "workers",
        deprecated_opts=_once("_workers"),
        default=4,
        min=1,
        help="Machines that one conductor reads at the same time. While some answer slowly and others wait, up to four "
        "times as many readings are under way.",
    ),
    cfg.IntOpt(
        "wait_timeout",
        deprecated_opts=_once("_wait_timeout"),
        default=300,
        min=1,
        help="Seconds that a machine may wait for its reading because others are slow, at most the interval. Then it "
        "is left for its next turn, and a warning has the number of such machines.",
    ),
    ListOpt(
        "data_types",
        deprecated_opts=_once("_types"),
        default=["ALL"],
        help="Types of sensors whose readings are sent, such as Temperature,Fan, in any case. ALL sends every type. "
        "The metrics of a conductor are filtered by their names in the same way.",
    ),
    cfg.BoolOpt("enable_for_nodes", default=True, help="Send the readings of nodes."),
    cfg.BoolOpt(
        "enable_for_undeployed_nodes",
        deprecated_opts=_once("_for_undeployed_nodes"),
        default=False,
        help="Read the nodes of all provision states except enroll, not only those that are active.",
    ),
    cfg.BoolOpt(
        "enable_for_conductor",
        default=True,
        help="Send the metrics of the conductor too, if [metrics]backend is collector.",
    ),
]

OPTIONS = {"sensor_data": SENSOR_DATA_OPTIONS}
