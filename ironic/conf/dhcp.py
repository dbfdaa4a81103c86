"""Options of [dhcp]: who answers the machines' DHCP requests."""

from oslo_config import cfg

OPTIONS = [
    cfg.StrOpt(
        "dhcp_provider",
        default="neutron",
        help="Plug-in that hands boot options to the DHCP server; none where somebody else cares for it.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="dhcp")
