"""Options about agents in ramdisks: [agent] and [agent_containers].

The containers that an agent may run as steps are sent to the ramdisk when it looks up its node.
"""

from oslo_config import cfg, types

from ironic.conf.option_types import ListOpt

TRUST = [
    cfg.BoolOpt(
        "require_tls",
        default=True,
        mutable=True,
        help="Refuse an agent whose callback URL does not use HTTPS.",
    ),
    cfg.StrOpt(
        "callback_source",
        default="warn",
        choices=[
            ("off", "nothing is compared"),
            ("warn", "a difference is logged"),
            ("strict", "a heartbeat from elsewhere is refused"),
        ],
        mutable=True,
        help="What to do with a heartbeat whose source address differs from the address in its callback URL, or from "
        "the address that looked up the node and got the token. Behind a proxy this needs "
        "[oslo_middleware]enable_proxy_headers_parsing.",
    ),
    cfg.StrOpt(
        "verify_ca",
        default="True",
        help="How to verify the certificate of an agent that sent none of its own: True, False or the path of a CA "
        "file.",
    ),
    cfg.StrOpt(
        "certificates_path",
        default="/var/lib/ironic/certificates",
        help="Directory in which OpenStack Ironic has stored certificates of agents. They are read there for nodes "
        "of its database; what agents send to this service is stored with their nodes.",
    ),
    cfg.StrOpt(
        "tls_minimum_version",
        default="1.3",
        choices=["1.2", "1.3"],
        help="Oldest TLS version for calls to an agent.",
    ),
    ListOpt(
        "project_kernel_parameters",
        default=[],
        item_type=types.String(regex=r"(?i)^ipa[-_]\S+$"),
        mutable=True,
        help="Names of the agent's kernel parameters (ipa-...) that projects may give among the kernel parameters of "
        "their nodes, such as ipa-debug. Administrators may give all.",
    ),
    ListOpt(
        "extra_lookup_keys",
        default=[],
        item_type=types.String(regex=r"^(instance_info|driver_internal_info)\.\S+$"),
        help="Additional keys of the node that a look-up returns, such as instance_info.raid_level or "
        "driver_internal_info.rack, for custom hardware managers that read them before the first command. A "
        "look-up needs no credentials while the node waits for its ramdisk, so values that look like secrets "
        "are masked.",
    ),
    cfg.StrOpt("tls_ciphers", help="TLS 1.2 ciphers for calls to an agent, in OpenSSL notation."),
]

COMMANDS = [
    cfg.StrOpt(
        "agent_api_version",
        default="v1",
        help="Version of the agent API, the first part of its paths.",
    ),
    cfg.IntOpt(
        "command_timeout",
        default=60,
        min=1,
        mutable=True,
        help="Seconds to wait for a connection to an agent, and again for its answer.",
    ),
    cfg.IntOpt("max_command_attempts", default=3, min=1, help="Attempts to call an agent that can't be reached."),
    cfg.IntOpt(
        "command_wait_attempts",
        default=100,
        min=1,
        help="Times command_wait_interval, the seconds after which an agent must have installed the boot loader.",
    ),
    cfg.IntOpt(
        "command_wait_interval",
        default=6,
        min=0,
        help="See command_wait_attempts. An agent is not asked at intervals, but after each of its heartbeats.",
    ),
]

LOGS = [
    cfg.StrOpt(
        "deploy_logs_collect",
        default="on_failure",
        choices=["always", "on_failure", "never"],
        mutable=True,
        help="When to fetch and store the logs of a ramdisk.",
    ),
    cfg.StrOpt(
        "deploy_logs_local_path",
        default="/var/log/ironic/deploy",
        mutable=True,
        help="Directory for fetched logs.",
    ),
    cfg.StrOpt(
        "deploy_logs_storage_backend",
        default="local",
        choices=["local", "swift"],
        mutable=True,
        help="Where to store fetched logs: in deploy_logs_local_path, or in the object store of [swift].",
    ),
    cfg.StrOpt(
        "deploy_logs_swift_container",
        default="ironic_deploy_logs_container",
        mutable=True,
        help="Container of the object store for fetched logs.",
    ),
    cfg.IntOpt(
        "deploy_logs_swift_days_to_expire",
        default=30,
        min=0,
        mutable=True,
        help="Days after which the object store deletes logs; 0 keeps them forever.",
    ),
]

POWER = [
    cfg.IntOpt(
        "post_deploy_get_power_state_retries",
        default=6,
        min=0,
        help="For how many intervals to wait until a machine is off that its agent was asked to power off; then the "
        "BMC does it.",
    ),
    cfg.IntOpt(
        "post_deploy_get_power_state_retry_interval",
        default=5,
        min=0,
        help="Length of the interval in seconds: the power state is read so often at last, and sooner at first.",
    ),
]

IMAGES = [
    cfg.StrOpt(
        "image_download_source",
        default="http",
        choices=["swift", "http", "local"],
        mutable=True,
        help="Where ramdisks download images from, unless driver_info of the node overrides it: the server of the "
        "image (http), or this host, which caches a copy (local). swift applies to images of the image service "
        "only.",
    ),
    cfg.BoolOpt(
        "stream_raw_images",
        default=True,
        mutable=True,
        help="Let the ramdisk write a raw image to the disk while downloading it, without buffering it in memory.",
    ),
    cfg.BoolOpt("allow_md5_checksum", default=True, help="Let the ramdisk accept images with an MD5 checksum."),
    cfg.BoolOpt(
        "enable_bios_bootloader_install",
        default=False,
        help="Let the ramdisk install a boot loader on machines that boot in BIOS mode.",
    ),
]

AGENT_OPTIONS = TRUST + COMMANDS + LOGS + POWER + IMAGES


AGENT_CONTAINERS_OPTIONS = [
    cfg.BoolOpt("allow_arbitrary_containers", default=False, help="Let the ramdisk run any container image."),
    ListOpt(
        "allowed_containers",
        default=[],
        help="Container images that the ramdisk may run, unless allow_arbitrary_containers is set.",
    ),
    cfg.StrOpt(
        "container_steps_file",
        default="/etc/ironic-python-agent.d/mysteps.yaml",
        help="File in the ramdisk that describes the steps run in containers.",
    ),
    cfg.StrOpt(
        "runner",
        default="podman",
        choices=["podman", "docker"],
        help="Program in the ramdisk that runs containers.",
    ),
    ListOpt("pull_options", default=[], help="Options for pulling a container image."),
    ListOpt("run_options", default=["--rm", "--network=host"], help="Options for running a container."),
]


OPTIONS = {
    "agent": AGENT_OPTIONS,
    "agent_containers": AGENT_CONTAINERS_OPTIONS,
}
