"""Options that stand in configuration files and mean nothing to anyone here.

An option is known when it is registered under that name or an older one, or when a library that we use owns it:
some libraries register theirs only when they are used, and importing them just to ask is worth it only for a name
that nobody else knows. Walks the registry of oslo.config, which has no public view of it.
"""

from collections.abc import Iterator

from keystoneauth1 import loading
from oslo_config import cfg

from ironic.conf import library_options, written


def find(conf: cfg.ConfigOpts) -> dict[str, list[str]]:
    """Return the unknown options of the parsed files by group, in the order of the files."""
    left = list(dict.fromkeys(written.names(conf)))
    for source in (_registered, _credentials, library_options.known):
        if left:
            names = set(source(conf))
            left = [name for name in left if name not in names]
    unknown: dict[str, list[str]] = {}
    for group, option in left:
        unknown.setdefault(group, []).append(option)
    return unknown


def _registered(conf: cfg.ConfigOpts) -> Iterator[written.Name]:
    """Yield every registered option under each of its names."""
    for info, group in conf._all_opt_infos():
        yield from library_options.spellings(group.name if group else "DEFAULT", info["opt"])


def _credentials(conf: cfg.ConfigOpts) -> Iterator[written.Name]:
    """Yield the options of the keystoneauth plug-ins that some groups have chosen."""
    for group in (name for name in conf._groups if "auth_section" in conf[name]):
        if chosen := conf[group].auth_type:
            for option in loading.get_auth_plugin_conf_options(chosen):
                yield from library_options.spellings(group, option)
