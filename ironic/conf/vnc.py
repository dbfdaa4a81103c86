"""Options of [vnc]: graphical consoles, the containers that show them, and the proxy for browsers."""

from oslo_config import cfg, types

from ironic.conf.option_types import ListOpt, PublishedPort, Url

_SHIPPED = "$pybasedir/drivers/modules/graphical/templates"

PROXY = [
    cfg.BoolOpt(
        "enabled",
        default=False,
        help="Run the proxy for browsers in the all-in-one service; with separate programs it is ironic-novncproxy.",
    ),
    cfg.HostAddressOpt("host_ip", default="0.0.0.0", help="Address on which the proxy listens."),
    cfg.PortOpt("port", default=6090, help="Port on which the proxy listens."),
    cfg.Opt(
        "public_url",
        type=Url(),
        mutable=True,
        help="URL of the proxy's page for browsers, to which the path with node and token is added. By default "
        "vnc_lite.html on my_ip and port.",
    ),
    cfg.StrOpt("novnc_web", default="/usr/share/novnc", help="Directory with the files of noVNC, which are served."),
    cfg.StrOpt(
        "novnc_record",
        help="Prefix of files in which the proxy records what the screens show, one per session. Recordings are as "
        "secret as the screens.",
    ),
    ListOpt(
        "novnc_auth_schemes",
        item_type=types.String(choices=["none"]),
        default=["none"],
        help="How the proxy logs in to the VNC server of a console.",
    ),
]

TLS = [
    cfg.BoolOpt("enable_ssl", default=False, help="Serve HTTPS; needs cert_file and key_file."),
    cfg.StrOpt("cert_file", deprecated_name="ssl_cert_file", help="Certificate (chain) in PEM format."),
    cfg.StrOpt("key_file", deprecated_name="ssl_key_file", help="Private key in PEM format."),
    cfg.StrOpt(
        "tls_minimum_version",
        default="1.2",
        choices=["1.2", "1.3"],
        deprecated_name="ssl_minimum_version",
        help="Oldest TLS version for browsers.",
    ),
    cfg.StrOpt("tls_ciphers", deprecated_name="ssl_ciphers", help="TLS 1.2 ciphers, in OpenSSL notation."),
]

SESSIONS = [
    cfg.IntOpt("token_timeout", default=600, min=10, help="Seconds for which the token of an open console is valid."),
    cfg.IntOpt(
        "expire_console_session_interval",
        default=120,
        min=1,
        help="Seconds between two looks for consoles whose token has expired; they are closed.",
    ),
    cfg.BoolOpt("read_only", default=False, help="Have the containers ignore keyboard and mouse of the viewers."),
]

CONTAINERS = [
    cfg.StrOpt(
        "container_provider",
        default="fake",
        help="What starts the container of a graphical console: systemd, container (a program like docker or podman), "
        "kubernetes, or fake, which starts none. A package of a third party may add others.",
    ),
    cfg.StrOpt("console_image", mutable=True, help="Image of the containers."),
    cfg.IntOpt(
        "wait_for_ready_timeout",
        default=10,
        min=1,
        help="Seconds that the VNC server of a new container may take until it answers.",
    ),
    cfg.StrOpt(
        "systemd_container_template",
        default=f"{_SHIPPED}/systemd-container.j2",
        mutable=True,
        help="Template of the unit of provider systemd.",
    ),
    cfg.Opt(
        "systemd_container_publish_port",
        type=PublishedPort(),
        default="$my_ip::5900",
        help="Where provider systemd publishes the port of VNC: address, port and port in the container. By default a "
        "random port.",
    ),
    cfg.StrOpt("container_executable", default="docker", help="Program of provider container."),
    cfg.StrOpt(
        "container_host",
        help="Socket of the service that this program uses, such as unix:///run/user/1000/podman/podman.sock.",
    ),
    cfg.StrOpt(
        "container_command_template",
        default=f"{_SHIPPED}/container-command.j2",
        mutable=True,
        help="Template of the arguments of that program which start a container. It is split into words first, so a "
        "value is always one word.",
    ),
    cfg.Opt(
        "container_publish_port",
        type=PublishedPort(),
        default="$my_ip::5900",
        help="Where provider container publishes the port of VNC: address, port and port in the container. By default "
        "a random port.",
    ),
    cfg.StrOpt(
        "kubernetes_container_template",
        default=f"{_SHIPPED}/kubernetes-pod.yaml.j2",
        mutable=True,
        help="Template of the manifest of provider kubernetes.",
    ),
    cfg.IntOpt("kubernetes_pod_timeout", default=120, min=1, help="Seconds until a pod must be ready."),
]

OPTIONS = {"vnc": PROXY + TLS + SESSIONS + CONTAINERS}
