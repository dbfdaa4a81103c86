"""Options of [pxe_filter]: the program that tells a dnsmasq which machines to serve."""

from oslo_config import cfg

OPTIONS = [
    cfg.StrOpt("dhcp_hostsdir", help="Directory that dnsmasq watches, its dhcp-hostsdir. It must exist."),
    cfg.ListOpt(
        "supported_inspect_interfaces",
        default=["agent"],
        mutable=True,
        help="Inspect interfaces whose inspections need DHCP.",
    ),
    cfg.IntOpt("sync_period", default=45, min=1, mutable=True, help="Seconds between two looks at the database."),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="pxe_filter")
