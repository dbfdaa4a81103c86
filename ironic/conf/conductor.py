"""Options of [conductor]: its workers and locks, how long it waits, what it cleans, what it keeps.

A time that ends in `_timeout` is in seconds and 0 means for ever; an interval of 0 switches its job off.
"""

from oslo_config import cfg, types

from ironic.conf.option_types import ListOpt
from ironic.core.flows.flow import FLOWS

WORK = [
    cfg.IntOpt(
        "workers_pool_size",
        default=300,
        min=3,
        help="Maximum number of concurrent workers; a request that finds no free worker is refused with 503.",
    ),
    cfg.IntOpt(
        "reserved_workers_pool_percentage",
        default=5,
        min=0,
        max=50,
        help="Percentage of the workers reserved for requests of users, and not available to periodic tasks and "
        "calls of ramdisks.",
    ),
    cfg.IntOpt(
        "workers_percentage_per_owner",
        default=66,
        min=10,
        max=100,
        help="Percentage of the workers not in use for others that the nodes of one owner may have, so that slow "
        "machines of one project leave workers to all others; further operations on its nodes are refused with 503. "
        "A node without an owner counts for its lessee, without both for the site. The only owner may have all "
        "workers, and so may every owner with 100.",
    ),
    cfg.IntOpt(
        "work_deadline",
        default=21600,
        min=0,
        mutable=True,
        help="Seconds after which work that has not ended counts as lost: its worker is replaced, its node is "
        "unlocked and its operation fails with a reason. 0 is no limit. Uninterrupted work, such as a list of "
        "steps that need no agent, must not take longer.",
    ),
    cfg.IntOpt(
        "periodic_max_workers", default=8, min=1, help="Maximum number of periodic tasks that run concurrently."
    ),
    cfg.IntOpt(
        "node_locked_retry_attempts",
        min=0,
        default=3,
        help="Attempts to lock a node that is locked already, before the request is refused.",
    ),
    cfg.IntOpt("node_locked_retry_interval", default=1, min=0, help="Seconds between two attempts to lock a node."),
    cfg.IntOpt(
        "graceful_shutdown_timeout",
        min=0,
        default=60,
        deprecated_opts=[cfg.DeprecatedOpt("graceful_shutdown_timeout", group="DEFAULT")],
        help="Seconds that running work may take to finish when the service stops.",
    ),
    cfg.IntOpt(
        "max_concurrent_deploy",
        default=250,
        min=1,
        mutable=True,
        help="Maximum number of nodes that are deployed concurrently, over all conductors; further requests are "
        "refused.",
    ),
    cfg.IntOpt(
        "max_concurrent_clean",
        default=50,
        min=1,
        mutable=True,
        help="Maximum number of nodes that are cleaned or undeployed concurrently, over all conductors.",
    ),
    cfg.BoolOpt(
        "max_concurrent_per_conductor_group",
        default=False,
        mutable=True,
        help="Apply max_concurrent_deploy and max_concurrent_clean to each conductor group separately.",
    ),
]

MEMBERSHIP: list[cfg.Opt] = [
    cfg.StrOpt(
        "conductor_group",
        default="",
        help="Conductor group whose nodes this conductor serves; the empty name is a group, too.",
    ),
    cfg.IntOpt(
        "heartbeat_interval", default=10, min=1, help="Seconds between two heartbeats of a conductor in the database."
    ),
    cfg.IntOpt(
        "heartbeat_timeout",
        default=60,
        min=1,
        max=315576000,
        mutable=True,
        help="Seconds without a heartbeat after which a conductor counts as dead and others take over its nodes.",
    ),
]

MEMBERSHIP += [
    cfg.IntOpt(
        "conductor_cleanup_interval",
        default=86400,
        min=0,
        help="Seconds between two searches for conductors that have left permanently; 0 switches them off.",
    ),
    cfg.IntOpt(
        "conductor_cleanup_timeout",
        default=1209600,
        min=60,
        mutable=True,
        help="Seconds without a heartbeat after which the record of a conductor is deleted, unless it holds a node.",
    ),
    cfg.IntOpt(
        "conductor_cleanup_batch_size",
        default=50,
        min=1,
        mutable=True,
        help="Maximum number of such records deleted at once.",
    ),
]

WAITS = [
    cfg.IntOpt(
        flow.wait.option,
        default=1800,
        min=0,
        help=f"Seconds that a node may stay in state '{flow.waiting}' before the operation fails; 0 is no limit.",
    )
    for flow in FLOWS
    if flow.wait
] + [
    cfg.IntOpt(
        "check_provision_state_interval",
        default=60,
        min=0,
        help="Seconds between two searches for nodes whose wait has timed out or whose conductor is gone; 0 switches "
        "them off.",
    ),
    cfg.IntOpt(
        "check_allocations_interval",
        default=60,
        min=0,
        help="Seconds between two searches for allocations whose conductor is gone; 0 switches them off.",
    ),
    cfg.IntOpt(
        "max_conductor_wait_step_seconds",
        default=30,
        min=0,
        max=1800,
        mutable=True,
        help="Maximum number of seconds of a wait step; a longer step is shortened to this.",
    ),
    cfg.BoolOpt(
        "permit_child_node_step_async_result",
        default=False,
        mutable=True,
        help="Allow asynchronous steps on child nodes, whose end is not awaited and whose failure is not reported. "
        "Otherwise such a step fails.",
    ),
]

POWER = [
    cfg.IntOpt(
        "power_state_change_timeout",
        default=60,
        min=2,
        mutable=True,
        help="Seconds a machine may take to reach the requested power state.",
    ),
    cfg.IntOpt(
        "soft_power_off_timeout",
        default=600,
        min=1,
        mutable=True,
        help="Seconds a machine may take to shut down through its operating system.",
    ),
    cfg.IntOpt(
        "sync_power_state_interval",
        default=120,
        min=-1,
        help="Seconds within which the power state of every machine is compared with the recorded one; the readings "
        "are spread over this time. 0 switches the comparison off, and so does -1, which deployment tools write.",
    ),
    cfg.IntOpt(
        "sync_power_state_workers",
        default=8,
        min=1,
        help="Maximum number of machines whose power state is read concurrently by the synchronization. While BMCs do "
        "not answer, up to four times as many readings are under way.",
    ),
    cfg.FloatOpt(
        "sync_power_state_bmc_interval",
        default=0.5,
        min=0,
        mutable=True,
        help="Minimum number of seconds between two readings from the same BMC address, such as that of a chassis "
        "with several machines.",
    ),
    cfg.IntOpt(
        "sync_power_state_agreeing_readings",
        default=3,
        min=1,
        mutable=True,
        help="How many consecutive readings must show the same difference before it is acted on.",
    ),
    cfg.BoolOpt(
        "force_power_state_during_sync",
        default=True,
        mutable=True,
        help="Bring a machine back into its recorded power state; otherwise the record is set to the state of the "
        "machine.",
    ),
    cfg.IntOpt(
        "power_state_sync_max_retries",
        default=3,
        min=0,
        mutable=True,
        help="How many consecutive times reading or restoring the power state may fail before the node is set to "
        "maintenance with fault 'power failure'.",
    ),
    cfg.IntOpt(
        "power_failure_recovery_interval",
        default=300,
        min=0,
        help="Seconds between two attempts to read the power state of nodes with fault 'power failure'; 0 switches "
        "them off.",
    ),
    cfg.BoolOpt(
        "automatic_lessee",
        default=True,
        mutable=True,
        deprecated_for_removal=True,
        deprecated_reason="automatic_lessee_source = none does the same as false.",
        help="Make the project of an instance the lessee of a node without one, until the instance is removed.",
    ),
    cfg.StrOpt(
        "automatic_lessee_source",
        default="instance",
        choices=["instance", "request", "none"],
        mutable=True,
        help="Which project becomes the lessee: project_id of instance_info (instance), the project of the user who "
        "deploys (request), or none.",
    ),
    cfg.BoolOpt(
        "enable_health_monitoring",
        default=True,
        mutable=True,
        help="Read the health of machines with their power state, and store it with the nodes.",
    ),
    cfg.BoolOpt("poweroff_in_cleanfail", default=False, help="Power a machine off when its cleaning fails."),
    cfg.BoolOpt("poweroff_in_servicefail", default=False, help="Power a machine off when its servicing fails."),
]

CLEANING: list[cfg.Opt] = [
    cfg.BoolOpt(
        "automated_clean",
        default=True,
        mutable=True,
        help="Clean a node before it becomes available. The field automated_clean of a node overrides this.",
    ),
    cfg.MultiOpt(
        "clean_step_priority_override",
        item_type=types.Dict(),
        default={},
        help="Priority of a step of automated cleaning, as interface.step:priority; 0 disables the step. May be "
        "given several times.",
    ),
    cfg.MultiOpt(
        "verify_step_priority_override",
        item_type=types.Dict(),
        default={},
        mutable=True,
        help="Priority of a step that runs when a node is verified, as interface.step:priority; 0 disables the step. "
        "May be given several times.",
    ),
]

CLEANING += [
    cfg.StrOpt(
        "automated_cleaning_step_source",
        default="autogenerated",
        choices=["autogenerated", "runbook", "hybrid"],
        mutable=True,
        help="Source of the steps of automated cleaning: the drivers (autogenerated), a runbook, or (hybrid) a "
        "runbook for nodes that have one and the drivers for the others.",
    ),
    cfg.StrOpt("automated_cleaning_runbook", mutable=True, help="Name or UUID of the runbook for automated cleaning."),
    cfg.DictOpt(
        "automated_cleaning_runbook_by_resource_class",
        default={},
        mutable=True,
        help="Runbooks for automated cleaning by resource class, as class:runbook; they override "
        "automated_cleaning_runbook.",
    ),
    cfg.BoolOpt(
        "automated_cleaning_runbook_from_node",
        default=False,
        mutable=True,
        help="Let a node name its runbook as cleaning_runbook in driver_info, which overrides the options. Users "
        "with the right to change driver_info can then decide how the machine is cleaned.",
    ),
    cfg.BoolOpt(
        "automated_cleaning_runbook_validate_traits",
        default=True,
        mutable=True,
        help="Use a runbook for automated cleaning only on nodes that have one of its traits.",
    ),
]

RULES = [
    cfg.BoolOpt(
        "allow_deleting_available_nodes",
        default=True,
        mutable=True,
        help="Allow available nodes to be deleted; otherwise they must be made manageable first.",
    ),
    cfg.BoolOpt(
        "allow_provisioning_in_maintenance",
        default=True,
        mutable=True,
        help="Allow nodes in maintenance to become available by the verbs provide and available. Otherwise an "
        "operation that waits for the agent of such a node also fails at the next heartbeat.",
    ),
]

IMAGES = [
    ListOpt(
        "permitted_image_formats",
        default=["raw", "gpt", "qcow2", "iso"],
        mutable=True,
        help="Image formats that are accepted by the conductor and the ramdisk.",
    ),
    cfg.BoolOpt(
        "disable_deep_image_inspection",
        default=False,
        help="Disable the inspection of image contents for a mismatch with their format, in the conductor and in the "
        "ramdisk.",
    ),
]

HISTORY: list[cfg.Opt] = [
    cfg.BoolOpt(
        "node_history",
        default=True,
        mutable=True,
        help="Record the errors and state changes of each node in its history.",
    ),
    cfg.BoolOpt(
        "record_step_flows_in_history",
        default=True,
        help="Record the begin and the end of every step in the node history.",
    ),
    cfg.BoolOpt("log_step_flows_to_syslog", default=False, help="Log the begin and the end of every step to syslog."),
]

HISTORY += [
    cfg.IntOpt(
        "node_history_cleanup_interval",
        default=86400,
        min=0,
        help="Seconds between two clean-ups of the node history; 0 switches them off.",
    ),
    cfg.IntOpt(
        "node_history_max_entries",
        default=300,
        min=0,
        mutable=True,
        help="How many entries of a node a clean-up keeps, the newest ones; 0 keeps all.",
    ),
    cfg.IntOpt(
        "node_history_minimum_days",
        default=0,
        min=0,
        mutable=True,
        help="Days for which an entry is kept, whatever the number of entries.",
    ),
    cfg.IntOpt(
        "node_history_cleanup_batch_count",
        default=1000,
        min=0,
        help="Maximum number of entries deleted by one clean-up; 0 is no limit.",
    ),
]

RESCUE = [
    cfg.StrOpt(
        "rescue_password_hash_algorithm",
        default="sha256",
        choices=["sha256", "sha512"],
        mutable=True,
        help="Hash algorithm for rescue passwords sent to a ramdisk.",
    ),
    cfg.BoolOpt(
        "require_rescue_password_hashed",
        default=True,
        mutable=True,
        help="Send rescue passwords to agents as hashes only. Otherwise the password is stored in plain text until "
        "the agent starts, and sent to an agent that does not support hashes.",
    ),
]

FILES = [
    ListOpt(
        "file_url_allowed_paths",
        default=["/var/lib/ironic"],
        help="Directories on this host for images with a file:// URL, which only administrators of the whole system "
        "may use. Files of the service itself are never used as images; the conductor does not start with a "
        "directory that contains some of them.",
    ),
]

OPTIONS = {"conductor": WORK + MEMBERSHIP + WAITS + POWER + CLEANING + RESCUE + RULES + IMAGES + FILES + HISTORY}
