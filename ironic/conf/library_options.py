"""Options of the libraries in use, and the choice of native threads that all of them share.

Reading the options of a library imports it, so it is done on demand only.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import entry_points
from types import ModuleType
from typing import Final, cast

from keystoneauth1 import exceptions, loading
from oslo_config import cfg
from oslo_service import backend

from ironic.conf.option_types import HttpUrl

Name = tuple[str, str]

# Those that read their options themselves, of oslo.middleware the parts in use; of oslo.db's options, this service
# registers the ones that it passes on.
LIBRARIES = frozenset(
    {
        "keystonemiddleware.audit",
        "keystonemiddleware.auth_token",
        "oslo.concurrency",  # of the queue manager of oslo.messaging
        "oslo.config",
        "oslo.log",
        "oslo.messaging",
        "oslo.middleware.cors",
        "oslo.middleware.healthcheck",
        "oslo.middleware.http_proxy_to_wsgi",
        "oslo.policy",
    }
)


# How the options of keystoneauth end that are URLs.
_URLS: Final = ("auth_url", "endpoint")


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


def credentials(conf: cfg.ConfigOpts, texts: Iterable[tuple[Name, str]]) -> Iterator[tuple[str, cfg.Opt]]:
    """Yield the options of the keystoneauth plug-ins that groups have selected by auth_type, with their groups.

    Those options are in the group itself, or in the group that its auth_section names. ``texts`` are what the files
    set. Of an option that has to be a URL, any other text is a wrong value.
    """
    given = list(texts)
    common = loading.get_auth_common_conf_options()
    for group in [name for name in conf._groups if "auth_section" in conf[name]]:
        try:
            section, registered = conf[group].auth_section or group, conf[group].auth_type
        except (ValueError, cfg.Error):
            continue  # it is a wrong value itself
        choices = {(section, "auth_type"), (section, "auth_plugin")}
        chosen = {text for name, text in given if name in choices} | {registered}
        yield from ((section, option) for option in common)
        for name in chosen - {None}:
            # A service that needs a plug-in which is not installed reports that when it uses it.
            with suppress(exceptions.NoMatchingPlugin):
                yield from ((section, _checked(option)) for option in loading.get_auth_plugin_conf_options(name))


def _checked(option: cfg.Opt) -> cfg.Opt:
    if option.dest.endswith(_URLS):
        option.type = HttpUrl()
    return option


def notification_drivers() -> set[str]:
    """Return the names of the notification drivers that oslo.messaging brings."""
    found = entry_points(group="oslo.messaging.notify.drivers")
    return {entry.name for entry in found if entry.module.startswith("oslo_messaging.")}


def spellings(group: str, option: cfg.Opt) -> Iterator[Name]:
    """Yield each (group, name) under which a file may set the option."""
    yield group, option.dest
    yield from ((older.group or group, older.name or option.dest) for older in option.deprecated_opts)
