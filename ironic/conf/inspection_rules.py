"""Options of [inspection_rules]: built-in rules, which inspections rules act on, what they may see."""

from oslo_config import cfg

from ironic.conf.types import RegularExpression

OPTIONS = [
    cfg.StrOpt(
        "built_in",
        deprecated_name="built_in_rules",
        help="YAML file of rules that are always there and that no user can change. Read and checked at start.",
    ),
    cfg.StrOpt("default_scope", help="Scope of stored rules that have none of their own."),
    cfg.StrOpt(
        "mask_secrets",
        default="always",
        choices=["always", "never", "sensitive"],
        help="Whether passwords in a node are hidden from rules: from all, from none, or from all but sensitive ones.",
    ),
    cfg.ListOpt(
        "call_hosts",
        default=[],
        mutable=True,
        help="The only servers that rules may call and proxies they may use: host, host:port or scheme://host[:port]. "
        "Empty: all that [outgoing] allows.",
    ),
    cfg.Opt(
        "supported_interfaces",
        type=RegularExpression(),
        default="^(agent|inspector)$",
        help="Regular expression for the inspect interfaces whose inspections rules act on; .* is all of them.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="inspection_rules")
