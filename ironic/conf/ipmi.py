"""Options of [ipmi]: how the service speaks to BMCs with ipmitool."""

from oslo_config import cfg

from ironic.conf.option_types import ListOpt

IPMI_OPTIONS = [
    cfg.IntOpt(
        "command_retry_timeout",
        default=60,
        min=1,
        mutable=True,
        help="Seconds that one IPMI command may take, attempts that fail and are repeated included. ipmitool is killed "
        "when its attempt takes longer. Power synchronisation and sensors have [bmc]telemetry_timeout instead.",
    ),
    cfg.IntOpt(
        "min_command_interval",
        default=5,
        min=0,
        mutable=True,
        help="Seconds from the end of one IPMI command to the start of the next one at the same BMC. Also how long "
        "ipmitool waits for an answer before it asks again.",
    ),
    cfg.BoolOpt(
        "kill_on_timeout",
        default=True,
        mutable=True,
        help="With False an ipmitool that hangs is not killed after command_retry_timeout, but when the operation at "
        "the BMC must end ([bmc]operation_timeout).",
    ),
    cfg.BoolOpt(
        "use_ipmitool_retries",
        default=False,
        help="With True ipmitool repeats requests itself, and a command that failed is repeated only for the errors of "
        "additional_retryable_ipmi_errors and those that BMCs report while they are busy.",
    ),
    cfg.MultiStrOpt(
        "additional_retryable_ipmi_errors",
        default=[],
        mutable=True,
        help="Texts in errors of ipmitool after which a command is repeated. May be given several times.",
    ),
    ListOpt(
        "cipher_suite_versions",
        default=[],
        help="Cipher suites to try, from the last one to the first, when a BMC refuses that of ipmitool and the node "
        "has no ipmi_cipher_suite.",
    ),
    cfg.BoolOpt(
        "disable_boot_timeout",
        default=True,
        mutable=True,
        help="Whether the BMC keeps a boot device for longer than a minute, unless the node determines it by "
        "ipmi_disable_boot_timeout.",
    ),
    cfg.BoolOpt(
        "store_cred_in_env",
        default=False,
        help="Pass the password to ipmitool in its environment instead of a private file.",
    ),
    cfg.BoolOpt(
        "debug", default=False, mutable=True, help="Log what ipmitool reports about each command, at level DEBUG."
    ),
]

OPTIONS = {"ipmi": IPMI_OPTIONS}
