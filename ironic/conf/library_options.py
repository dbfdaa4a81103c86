"""Options of the libraries in use, and the choice of native threads that all of them share.

Reading the options of a library imports it, so it is done on demand only.
"""

import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from types import ModuleType
from typing import cast

from oslo_config import cfg
from oslo_service import backend

Name = tuple[str, str]

# Those that read their options themselves, of oslo.middleware the parts in use; of oslo.db's options, this service
# registers the ones that it passes on.
LIBRARIES = frozenset(
    {
        "keystonemiddleware.audit",
        "keystonemiddleware.auth_token",
        "oslo.config",
        "oslo.log",
        "oslo.messaging",
        "oslo.middleware.cors",
        "oslo.middleware.healthcheck",
        "oslo.middleware.http_proxy_to_wsgi",
        "oslo.policy",
    }
)


def use_native_threads() -> None:
    """Make the libraries use native threads; call this before they are imported.

    oslo.service installs eventlet, and futurist and others import it if it is there: 0.1 seconds, some MiB and a
    warning at every start. None in `sys.modules` makes Python treat a module as not installed.
    """
    sys.modules.setdefault("eventlet", cast(ModuleType, None))
    backend.register_backend_default_hook(lambda: backend.BackendType.THREADING)


def known(conf: cfg.ConfigOpts) -> Iterator[Name]:
    """Yield the name of every option of those libraries."""
    for group, option in options():
        yield from spellings(group, option)


def options() -> Iterator[tuple[str, cfg.Opt]]:
    """Yield every option of those libraries with the name of its group."""
    for entry in entry_points(group="oslo.config.opts"):
        if entry.name in LIBRARIES:
            for group, listed in entry.load()():
                yield from ((str(group or "DEFAULT"), option) for option in listed)


def notification_drivers() -> set[str]:
    """Return the names of the notification drivers that oslo.messaging brings."""
    found = entry_points(group="oslo.messaging.notify.drivers")
    return {entry.name for entry in found if entry.module.startswith("oslo_messaging.")}


def spellings(group: str, option: cfg.Opt) -> Iterator[Name]:
    """Yield each (group, name) under which a file may set the option."""
    yield group, option.dest
    yield from ((older.group or group, older.name or option.dest) for older in option.deprecated_opts)
