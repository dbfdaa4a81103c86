"""All options of the service, registered on the global object of oslo.config.

Each module lists the options of one subject by group; this one registers them and exports `CONF` and `prepare`. The
import reads no file. Options of the message bus belong to oslo.messaging and are registered when a bus is used.
"""

from oslo_config import cfg

from ironic.conf import (
    agent,
    api,
    bmc,
    checked_values,
    conductor,
    console,
    database,
    default,
    deploy,
    drivers,
    external_services,
    images,
    inspection,
    inspector_api,
    ipmi,
    library_options,
    logging_setup,
    metrics,
    pxe,
    sensor_data,
    virtual_media,
    vnc,
)
from ironic.conf.config_files import prepare, prepare_command, read

# A module has options by group: own ones (``OPTIONS``) and those of libraries (``BORROWED``). ``register`` has others.
_MODULES = (
    default,
    drivers,
    bmc,
    ipmi,
    agent,
    metrics,
    api,
    inspector_api,
    inspection,
    conductor,
    database,
    deploy,
    pxe,
    virtual_media,
    console,
    vnc,
    images,
    external_services,
    sensor_data,
    logging_setup,
)

CONF = cfg.CONF
CONF._env_driver = checked_values.Environment()

library_options.use_native_threads()

# The own options by group, in the order of the reference page, and those of libraries that the service reads.
OPTIONS: dict[str, list[cfg.Opt]] = {}
BORROWED: dict[str, list[cfg.Opt]] = {}

for _module in _MODULES:
    for _group, _options in getattr(_module, "OPTIONS", {}).items():
        OPTIONS.setdefault(_group, []).extend(_options)
    BORROWED |= getattr(_module, "BORROWED", {})
    if hasattr(_module, "register"):
        _module.register(CONF)

for _group, _options in (*OPTIONS.items(), *BORROWED.items()):
    CONF.register_opts(_options, group=None if _group == "DEFAULT" else _group)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return options by group for the sample generator of oslo.config (namespace `ironic`)."""
    return [*OPTIONS.items(), *BORROWED.items(), *external_services.credentials()]


__all__ = ["BORROWED", "CONF", "OPTIONS", "list_opts", "prepare", "prepare_command", "read"]
