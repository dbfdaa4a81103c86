"""Options of the API of the standalone inspector: [inspector_api]. What it shares with the other API is in [api]."""

from oslo_config import cfg

from ironic.conf.option_types import Url

OPTIONS = {
    "inspector_api": [
        cfg.BoolOpt(
            "enabled",
            default=False,
            help="Have the all-in-one service serve the API of the standalone inspector as well. The program "
            "ironic-inspector-api serves it in any case.",
        ),
        cfg.HostAddressOpt("host_ip", default="0.0.0.0", help="Address to listen on."),
        cfg.PortOpt("port", default=5050, help="TCP port to listen on."),
        cfg.Opt(
            "public_endpoint",
            type=Url(),
            mutable=True,
            help="Base URL of the links in responses. By default links begin like the URL of the request.",
        ),
    ]
}
