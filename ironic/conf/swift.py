"""Options of [swift]: the object store, with keystoneauth's own options (session, adapter, credentials)."""

from keystoneauth1 import loading
from oslo_config import cfg

GROUP = "swift"


def register(conf: cfg.ConfigOpts) -> None:
    """Register keystoneauth's options in the group, with the service type preset."""
    adapter = loading.get_adapter_conf_options()
    cfg.set_defaults(adapter, service_type="object-store", valid_interfaces=["internal", "public"])
    conf.register_opts(adapter, group=GROUP)
    loading.register_auth_conf_options(conf, GROUP)
    loading.register_session_conf_options(conf, GROUP)
