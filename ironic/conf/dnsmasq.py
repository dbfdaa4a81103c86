"""Options of [dnsmasq]: the directories through which a dnsmasq on this host is told about machines."""

from oslo_config import cfg

OPTIONS = [
    cfg.StrOpt(
        "dhcp_hostsdir",
        default="/etc/dnsmasq.d/hostsdir.d",
        help="Directory that dnsmasq watches for hosts, its dhcp-hostsdir.",
    ),
    cfg.StrOpt(
        "dhcp_optsdir",
        default="/etc/dnsmasq.d/optsdir.d",
        help="Directory that dnsmasq watches for options of those hosts, its dhcp-optsdir.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="dnsmasq")
