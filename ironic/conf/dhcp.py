"""Options of [dhcp]: who tells machines what to boot from the network."""

from oslo_config import cfg

OPTIONS = [
    cfg.StrOpt(
        "dhcp_provider",
        default="neutron",
        help="Who answers machines that boot from the network: none (a DHCP server that the operator has set up), "
        "dnsmasq (one that is told through files, see [dnsmasq]), or the name of a plug-in. neutron is known and not "
        "built yet: nodes that boot from the network are refused with it.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="dhcp")
