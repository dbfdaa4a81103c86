"""Options of [conductor]: its workers and locks, how long it waits, what it cleans, what it keeps.

A time that ends in `_timeout` is in seconds and 0 means for ever; an interval of 0 switches its job off.
"""

from oslo_config import cfg, types

from ironic.core.flow import FLOWS

WORK = [
    cfg.IntOpt(
        "workers_pool_size",
        default=300,
        min=3,
        help="Most pieces of work that run at once; a request that finds no free worker is told to come back.",
    ),
    cfg.IntOpt(
        "reserved_workers_pool_percentage",
        default=5,
        min=0,
        max=50,
        help="Share of the workers kept for what users ask for; periodic jobs and ramdisk calls can't have it.",
    ),
    cfg.IntOpt(
        "work_deadline",
        default=21600,
        min=0,
        mutable=True,
        help="Seconds after which work that has not ended counts as lost, whatever it waits for: its worker is "
        "replaced, its node is freed and what was under way fails with a reason. 0 waits for ever. No work that goes "
        "on without a pause, such as a list of steps that are done without the agent, may take longer.",
    ),
    cfg.IntOpt("periodic_max_workers", default=8, help="Most periodic jobs that run at once."),
    cfg.IntOpt("node_locked_retry_attempts", default=3, help="How often a busy node is tried again before giving up."),
    cfg.IntOpt("node_locked_retry_interval", default=1, help="Seconds between two tries for a busy node."),
    cfg.IntOpt(
        "graceful_shutdown_timeout",
        default=60,
        deprecated_opts=[cfg.DeprecatedOpt("graceful_shutdown_timeout", group="DEFAULT")],
        help="Seconds that running work is given to finish when the service is told to stop.",
    ),
    cfg.IntOpt(
        "max_concurrent_deploy",
        default=250,
        min=1,
        mutable=True,
        help="Most nodes that may be deploying at once, over all conductors; further requests are refused.",
    ),
    cfg.IntOpt(
        "max_concurrent_clean",
        default=50,
        min=1,
        mutable=True,
        help="Most nodes that may be cleaning or on the way there at once, over all conductors.",
    ),
    cfg.BoolOpt(
        "max_concurrent_per_conductor_group",
        default=False,
        mutable=True,
        help="Count the two limits above for every conductor group by itself.",
    ),
]

MEMBERSHIP: list[cfg.Opt] = [
    cfg.StrOpt("conductor_group", default="", help="Group of nodes this conductor serves; empty is a group, too."),
    cfg.IntOpt("heartbeat_interval", default=10, help="Seconds between two signs of life in the table of conductors."),
    cfg.IntOpt(
        "heartbeat_timeout",
        default=60,
        max=315576000,
        mutable=True,
        help="Seconds without a sign of life after which a conductor counts as dead and others take its nodes.",
    ),
]

MEMBERSHIP += [
    cfg.IntOpt(
        "conductor_cleanup_interval",
        default=86400,
        min=0,
        help="Seconds between two looks for conductors that have left for good.",
    ),
    cfg.IntOpt(
        "conductor_cleanup_timeout",
        default=1209600,
        min=60,
        mutable=True,
        help="Seconds without a sign of life after which the row of a conductor is removed, unless it holds a node.",
    ),
    cfg.IntOpt(
        "conductor_cleanup_batch_size", default=50, min=1, mutable=True, help="Most such rows removed at one look."
    ),
]

WAITS = [
    cfg.IntOpt(
        flow.wait.option,
        default=1800,
        min=0,
        help=f"Seconds to wait for the ramdisk of a node in state '{flow.waiting}' before the operation is failed.",
    )
    for flow in FLOWS
    if flow.wait
] + [
    cfg.IntOpt(
        "check_provision_state_interval",
        default=60,
        min=0,
        help="Seconds between two looks for nodes whose wait is over or whose conductor is gone.",
    ),
    cfg.IntOpt(
        "check_allocations_interval",
        default=60,
        min=0,
        help="Seconds between two looks for allocations whose conductor is gone; 0: none is taken up again.",
    ),
    cfg.IntOpt(
        "max_conductor_wait_step_seconds",
        default=30,
        min=0,
        max=1800,
        mutable=True,
        help="Most seconds that a wait step in a list lasts; a longer one is cut to this.",
    ),
    cfg.BoolOpt(
        "permit_child_node_step_async_result",
        default=False,
        mutable=True,
        help="Let a step on child nodes go on in the background, where nobody waits for its end or hears of a failure. "
        "Otherwise such a step fails.",
    ),
]

POWER = [
    cfg.IntOpt(
        "power_state_change_timeout",
        default=60,
        min=2,
        mutable=True,
        help="Seconds a machine has to reach the power state it was told to.",
    ),
    cfg.IntOpt(
        "soft_power_off_timeout",
        default=600,
        min=1,
        mutable=True,
        help="The same for a shutdown through the operating system.",
    ),
    cfg.IntOpt(
        "sync_power_state_interval",
        default=120,
        min=0,
        help="Seconds within which the power state of every machine is compared with the recorded one; the readings "
        "are spread over this time.",
    ),
    cfg.IntOpt(
        "sync_power_state_workers", default=8, min=1, help="Most machines whose power is read at once for that."
    ),
    cfg.FloatOpt(
        "sync_power_state_bmc_interval",
        default=0.5,
        min=0,
        mutable=True,
        help="Least seconds between two such readings from the same BMC address (a chassis with several machines).",
    ),
    cfg.IntOpt(
        "sync_power_state_agreeing_readings",
        default=3,
        min=1,
        mutable=True,
        help="How many readings in a row must show the same difference before anything is done about it.",
    ),
    cfg.BoolOpt(
        "force_power_state_during_sync",
        default=True,
        mutable=True,
        help="Bring a machine back into its recorded power state; otherwise the record follows the machine.",
    ),
    cfg.IntOpt(
        "power_state_sync_max_retries",
        default=3,
        min=0,
        mutable=True,
        help="How often in a row reading the power state, or bringing it back, may fail before the node is taken into "
        "maintenance with fault 'power failure'.",
    ),
    cfg.IntOpt(
        "power_failure_recovery_interval",
        default=300,
        min=0,
        help="Seconds between two looks whether nodes with fault 'power failure' can be read again.",
    ),
    cfg.BoolOpt("poweroff_in_cleanfail", default=False, help="Power a machine off when its cleaning fails."),
    cfg.BoolOpt("poweroff_in_servicefail", default=False, help="Power a machine off when its servicing fails."),
]

CLEANING: list[cfg.Opt] = [
    cfg.BoolOpt(
        "automated_clean",
        default=True,
        mutable=True,
        help="Clean a machine before it is offered. A node's own automated_clean field wins over this.",
    ),
    cfg.MultiOpt(
        "clean_step_priority_override",
        item_type=types.Dict(),
        default={},
        help="interface.step:priority, to change the order of automated cleaning; 0 leaves the step out. "
        "May be given several times.",
    ),
    cfg.MultiOpt(
        "verify_step_priority_override",
        item_type=types.Dict(),
        default={},
        mutable=True,
        help="The same for the steps that run when a node is verified.",
    ),
]

CLEANING += [
    cfg.StrOpt(
        "automated_cleaning_step_source",
        default="autogenerated",
        choices=["autogenerated", "runbook", "hybrid"],
        mutable=True,
        help="Where automated cleaning has its steps from: the drivers (autogenerated), a runbook, or (hybrid) a "
        "runbook for the nodes that one is named for and the drivers for the others.",
    ),
    cfg.StrOpt("automated_cleaning_runbook", mutable=True, help="Name or UUID of the runbook that cleans nodes."),
    cfg.DictOpt(
        "automated_cleaning_runbook_by_resource_class",
        default={},
        mutable=True,
        help="resource class:runbook, for classes with a runbook of their own.",
    ),
    cfg.BoolOpt(
        "automated_cleaning_runbook_from_node",
        default=False,
        mutable=True,
        help="Let a node name its runbook in driver_info, as cleaning_runbook; that wins over the options. Whoever may "
        "write driver_info decides then how the machine is cleaned.",
    ),
    cfg.BoolOpt(
        "automated_cleaning_runbook_validate_traits",
        default=True,
        mutable=True,
        help="Clean only nodes by a runbook that have one of its traits.",
    ),
]

RULES = [
    cfg.BoolOpt(
        "allow_deleting_available_nodes",
        default=True,
        mutable=True,
        help="Let an available node be deleted; otherwise it must be made manageable first.",
    ),
    cfg.BoolOpt(
        "allow_provisioning_in_maintenance",
        default=True,
        mutable=True,
        help="Let a node in maintenance be deployed and undeployed.",
    ),
]

IMAGES = [
    cfg.ListOpt(
        "permitted_image_formats",
        default=["raw", "gpt", "qcow2", "iso"],
        mutable=True,
        help="Formats an image may have, here and in the ramdisk.",
    ),
    cfg.BoolOpt(
        "disable_deep_image_inspection",
        default=False,
        help="Do not look into images for content that does not fit their format, here and in the ramdisk.",
    ),
]

HISTORY: list[cfg.Opt] = [
    cfg.BoolOpt("node_history", default=True, mutable=True, help="Keep a history of each node's errors and moves."),
    cfg.BoolOpt("record_step_flows_in_history", default=True, help="Write begin and end of every step there."),
    cfg.BoolOpt("log_step_flows_to_syslog", default=False, help="Tell syslog of them too."),
]

HISTORY += [
    cfg.IntOpt(
        "node_history_cleanup_interval", default=86400, min=0, help="Seconds between two trimmings of that history."
    ),
    cfg.IntOpt(
        "node_history_max_entries",
        default=300,
        min=0,
        mutable=True,
        help="Entries of a node that a trimming leaves, the newest ones; 0 keeps all.",
    ),
    cfg.IntOpt(
        "node_history_minimum_days",
        default=0,
        min=0,
        mutable=True,
        help="Days for which an entry is kept however many there are.",
    ),
    cfg.IntOpt(
        "node_history_cleanup_batch_count",
        default=1000,
        min=0,
        help="Most entries removed by one trimming; 0: no limit.",
    ),
]

RESCUE = [
    cfg.StrOpt(
        "rescue_password_hash_algorithm",
        default="sha256",
        choices=["sha256", "sha512"],
        mutable=True,
        help="How a rescue password is hashed before it is handed to a ramdisk.",
    ),
    cfg.BoolOpt(
        "require_rescue_password_hashed",
        default=True,
        mutable=True,
        help="Hand rescue passwords to agents as hashes only. Otherwise the password itself is kept with the instance "
        "until the agent has come, and given to one that can't take the hash.",
    ),
]

FILES = [
    cfg.ListOpt(
        "file_url_allowed_paths",
        default=["/var/lib/ironic"],
        help="Directories on this host below which an image may lie that is named by a file:// URL, which only "
        "administrators of the whole site may do. Files of the service itself are never taken for images; a directory "
        "that is set here and has some of them below it is refused at start.",
    ),
]

OPTIONS = WORK + MEMBERSHIP + WAITS + POWER + CLEANING + RESCUE + RULES + IMAGES + FILES + HISTORY


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="conductor")
