"""Options of [agent_containers]: containers a ramdisk may run as steps; it is told them when it looks up."""

from oslo_config import cfg

OPTIONS = [
    cfg.BoolOpt("allow_arbitrary_containers", default=False, help="Let the ramdisk run any image."),
    cfg.ListOpt("allowed_containers", default=[], help="Images that the ramdisk may run when it may not run any."),
    cfg.StrOpt(
        "container_steps_file",
        default="/etc/ironic-python-agent.d/mysteps.yaml",
        help="File in the ramdisk that describes the steps.",
    ),
    cfg.StrOpt(
        "runner",
        default="podman",
        choices=["podman", "docker"],
        help="Program in the ramdisk that runs containers.",
    ),
    cfg.ListOpt("pull_options", default=[], help="Options for fetching an image."),
    cfg.ListOpt("run_options", default=["--rm", "--network=host"], help="Options for running an image."),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="agent_containers")
