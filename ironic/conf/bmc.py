"""Options of [bmc]: how BMCs are treated, whatever protocol they speak."""

from oslo_config import cfg

BMC_OPTIONS = [
    cfg.IntOpt(
        "concurrent_requests",
        default=4,
        min=2,
        help="Requests that one conductor has under way at one BMC. One place is kept for changes of power; a BMC that "
        "answers slowly gets one other request at a time.",
    ),
    cfg.IntOpt(
        "slow_seconds",
        default=5,
        min=1,
        help="A BMC is slow while its answers take longer than this many seconds.",
    ),
    cfg.IntOpt(
        "workers_at_slow_bmc",
        default=4,
        min=2,
        help="Workers of one conductor that may be busy with one slow BMC. Further operations on its machines fail at "
        "once; sensors and power synchronisation may use half of these workers.",
    ),
    cfg.IntOpt(
        "telemetry_timeout",
        default=20,
        min=1,
        help="Seconds that a reading of sensors, health or, in power synchronisation, of the power state may wait for "
        "its turn and for each answer.",
    ),
    cfg.IntOpt(
        "operation_timeout",
        default=600,
        min=10,
        help="Seconds that all requests of one operation at a BMC may take together. For sensors and power "
        "synchronisation it is a fifth of this.",
    ),
    cfg.IntOpt(
        "verify_timeout",
        default=120,
        min=10,
        mutable=True,
        help="Seconds that the power check of a node that is verified may take at its BMC, if operation_timeout allows "
        "as many. It is the first contact with a machine: nothing has begun there, and what is at the address may be "
        "no BMC, which must not keep a worker for as long as an operation on a known machine.",
    ),
    cfg.IntOpt(
        "validation_timeout",
        default=10,
        min=0,
        help="Seconds that a validation of a node may take at its BMC. With 0 only the node's settings are checked.",
    ),
    cfg.IntOpt(
        "refused_logins",
        default=3,
        min=1,
        help="After this many refused log-ins in a row no conductor logs in to the BMC with these credentials again, "
        "until the address or the credentials of the node change. BMCs lock accounts after a few attempts.",
    ),
    cfg.IntOpt(
        "largest_answer",
        default=8,
        min=1,
        max=64,
        help="MiB that an answer of a BMC may have; a larger one is an error.",
    ),
]

OPTIONS = {"bmc": BMC_OPTIONS}
