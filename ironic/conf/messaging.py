"""Options of [DEFAULT] about what is said between processes and to the outside: releases side by side, leaving,
notifications.

How messages are carried ([DEFAULT]transport_url, [oslo_messaging_*]) is oslo.messaging's.
"""

from oslo_config import cfg

# Our own releases first; then those of the reference, which an operator's file may name. They pin nothing here.
OWN_RELEASES = ("1.0", "1.1")
_OTHER_RELEASES = """
    2026.2 2026.1 2025.2 2025.1 2024.2 2024.1 2023.2 2023.1 antelope zed yoga
    39.0 38.0 37.0 36.0 35.0 34.0 33.0 32.0 31.0 30.0 29.0 28.0 27.0 26.1 26.0 25.0 24.1 24.0 23.1 23.0 22.1 22.0
    21.4 21.3 21.2 21.1 21.0 20.2 20.1 20.0 19.0 18.2 18.1 18.0 17.0 16.2 16.1 16.0 15.1 15.0 14.0 13.0 12.2 12.1 12.0
    11.1 11.0 10.1 10.0 9.2
"""

OPTIONS = [
    cfg.StrOpt(
        "pin_release_version",
        choices=[*OWN_RELEASES, *_OTHER_RELEASES.split()],
        mutable=True,
        help="Oldest release whose conductors are still running: calls keep to what that release understands. "
        "Set during a rolling upgrade only; unset, the present release is spoken.",
    ),
    cfg.IntOpt(
        "drain_shutdown_timeout",
        default=1800,
        min=0,
        mutable=True,
        help="Seconds a service that was told to drain (SIGUSR2) may take until its work has ended. 0 is for ever.",
    ),
    cfg.StrOpt(
        "notification_level",
        choices=["debug", "info", "warning", "error", "critical"],
        help="Least important notifications that are sent. Unset, none is.",
    ),
    cfg.ListOpt(
        "versioned_notifications_topics",
        default=["ironic_versioned_notifications"],
        help="Topics of the message bus that notifications are sent to; each gets every one.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options in DEFAULT."""
    conf.register_opts(OPTIONS)
