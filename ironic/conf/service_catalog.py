"""Options of [service_catalog]: how this service finds its own address, which it tells to ramdisks.

These are keystoneauth's own options (session, adapter, credentials) with our defaults. `endpoint_override` alone is
enough where there is no Keystone.
"""

from keystoneauth1 import loading
from oslo_config import cfg

GROUP = "service_catalog"


def register(conf: cfg.ConfigOpts) -> None:
    """Register keystoneauth's options in the group, with the service type preset."""
    adapter = loading.get_adapter_conf_options()
    cfg.set_defaults(adapter, service_type="baremetal", valid_interfaces=["internal", "public"])
    conf.register_opts(adapter, group=GROUP)
    loading.register_auth_conf_options(conf, GROUP)
    loading.register_session_conf_options(conf, GROUP)
