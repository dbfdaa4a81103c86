"""Options of a server's certificate and TLS versions, which [api] and [json_rpc] have alike."""

from oslo_config import cfg


def options(clients: str) -> list[cfg.Opt]:
    """Return the options; ``clients`` is what help texts call those who connect."""
    return [
        # Older releases and deployment tools have these in [ssl].
        cfg.StrOpt("cert_file", deprecated_group="ssl", help="Certificate (chain) in PEM format."),
        cfg.StrOpt("key_file", deprecated_group="ssl", help="Private key in PEM format."),
        cfg.StrOpt(
            "server_tls_minimum_version",
            default="1.3",
            choices=["1.2", "1.3"],
            deprecated_name="tls_minimum_version",
            help=f"Oldest TLS version that {clients} may use.",
        ),
        cfg.StrOpt(
            "server_tls_ciphers",
            deprecated_name="tls_ciphers",
            help="TLS 1.2 ciphers to offer, in OpenSSL notation. By default OpenSSL decides.",
        ),
    ]
