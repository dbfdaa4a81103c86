"""Options of [pxe]: where boot files are put for the machines to fetch."""

from oslo_config import cfg

OPTIONS = [
    cfg.StrOpt("tftp_root", default="/tftpboot", help="Directory that a TFTP server offers to the machines."),
    cfg.StrOpt("tftp_server", default="$my_ip", help="Address at which the machines find that TFTP server."),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="pxe")
