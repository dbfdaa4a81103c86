"""Options that belong to the libraries we stand on, and the one choice all of them must share: native threads.

Asking a library for its options imports it, so this is done only when somebody wants to know.
"""

import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from types import ModuleType
from typing import cast

from oslo_config import cfg
from oslo_service import backend

Name = tuple[str, str]

LIBRARIES = frozenset(
    {
        "keystonemiddleware.auth_token",
        "oslo.config",
        "oslo.db",
        "oslo.log",
        "oslo.messaging",
        "oslo.middleware",
        "oslo.middleware.cors",
        "oslo.policy",
    }
)


def use_native_threads() -> None:
    """Make the libraries choose threads; must be called before the first of them looks round.

    oslo.service drags eventlet in, and futurist and others load it for being there: 0.1 seconds, some MiB and a
    warning at every start. None in `sys.modules` is Python's way of saying that a module is not to be had.
    """
    sys.modules.setdefault("eventlet", cast(ModuleType, None))
    backend.register_backend_default_hook(lambda: backend.BackendType.THREADING)


def known(conf: cfg.ConfigOpts) -> Iterator[Name]:
    """Yield the name of every option of those libraries."""
    for entry in entry_points(group="oslo.config.opts"):
        if entry.name in LIBRARIES:
            for group, options in entry.load()():
                for option in options:
                    yield from spellings(str(group or "DEFAULT"), option)


def spellings(group: str, option: cfg.Opt) -> Iterator[Name]:
    """Yield each (group, name) under which a file may set the option."""
    yield group, option.dest
    yield from ((older.group or group, older.name or option.dest) for older in option.deprecated_opts)
