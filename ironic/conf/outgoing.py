"""Options of [outgoing]: the calls this service makes to addresses that a user, a machine or a rule has named."""

from oslo_config import cfg, types

from ironic.conf.types import IPNetwork

OPTIONS = [
    cfg.BoolOpt(
        "allow_loopback",
        default=False,
        mutable=True,
        help="Contact addresses of the loopback as well. For development and for sites whose web server with images "
        "listens there only: whoever may name an image reaches every service on this host's loopback then.",
    ),
    cfg.Opt(
        "networks",
        type=types.List(item_type=IPNetwork()),
        default=[],
        mutable=True,
        help="The only networks (address/prefix) that are contacted: those of image servers, of the agents and of "
        "whatever inspection rules call. Empty: all, but those that are never contacted (link-local, multicast and "
        "reserved addresses, metadata services, this service itself, its database and its message bus).",
    ),
    cfg.BoolOpt(
        "use_environment_proxies",
        default=False,
        mutable=True,
        help="Fetch images and lists of checksums through the proxies that the environment of the service names "
        "(http_proxy, https_proxy, no_proxy). A proxy looks up names by itself, so it has to refuse what must not be "
        "reached.",
    ),
    cfg.IntOpt(
        "download_timeout",
        default=7200,
        min=1,
        mutable=True,
        help="Seconds that fetching an image may take in all. For the first bytes and between any two pieces, "
        "webserver_connection_timeout holds.",
    ),
    cfg.IntOpt(
        "download_max_size",
        default=102400,
        min=1,
        mutable=True,
        help="MiB of the largest image that is fetched, copied or converted.",
    ),
    cfg.IntOpt(
        "min_free_space",
        default=512,
        min=0,
        mutable=True,
        help="MiB that images leave free on the disk they are stored on; one that would take them is refused.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="outgoing")
