"""All options of the service, registered on oslo.config's one global object.

One module per group lists its options; this one registers them all and hands out `CONF` and `prepare`. Importing it
reads no file. Message bus options belong to oslo.messaging and appear once a bus is used.
"""

from oslo_config import cfg

from ironic.conf import (
    agent,
    agent_containers,
    api,
    auto_discovery,
    conductor,
    database,
    default,
    deploy,
    dhcp,
    dnsmasq,
    fake,
    healthcheck,
    inspection_rules,
    inspector,
    instance_images,
    interfaces,
    inventory,
    library_options,
    logging_setup,
    messaging,
    metrics,
    metrics_statsd,
    outgoing,
    pxe,
    pxe_filter,
    ramdisk_images,
    redfish,
    service_catalog,
    swift,
)
from ironic.conf.files import prepare

GROUPS = (
    default,
    interfaces,
    agent,
    agent_containers,
    api,
    auto_discovery,
    conductor,
    database,
    deploy,
    dhcp,
    dnsmasq,
    fake,
    healthcheck,
    inspection_rules,
    inspector,
    instance_images,
    inventory,
    messaging,
    metrics,
    metrics_statsd,
    outgoing,
    pxe,
    pxe_filter,
    ramdisk_images,
    redfish,
    service_catalog,
    swift,
    logging_setup,
)

CONF = cfg.CONF

library_options.use_native_threads()

for _group in GROUPS:
    _group.register(CONF)

__all__ = ["CONF", "prepare"]
