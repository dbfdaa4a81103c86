"""Reading configuration: the command line, the files, and what the environment says about where they are.

A file written for another release must start this one, so unknown options never refuse the start; `unknown` finds
them and they are said once here, because a misspelt option would otherwise go unnoticed for ever.
"""

import logging
import os
import stat
from collections.abc import Sequence
from importlib.metadata import version

from oslo_config import cfg

from ironic.conf import logging_setup, unknown, written
from ironic.core.secrets import is_secret

LOG = logging.getLogger(__name__)

PROJECT = "ironic"

# A URL with a login in it.
_HOLDS_LOGIN = "transport_url"


def prepare(argv: Sequence[str], *, default_config_files: Sequence[str] | None = None) -> None:
    """Read the command line (without the program's name) and the files, set up logging, tell what is unknown.

    When neither the command line nor the caller names files, the environment is asked (IRONIC_CONFIG_FILE and
    IRONIC_CONFIG_DIR), and then the usual places such as /etc/ironic/ironic.conf. `--version` is answered, and no more.
    """
    conf = cfg.CONF
    named = list(default_config_files) if default_config_files is not None else _named_by("IRONIC_CONFIG_FILE")
    conf(
        list(argv),
        project=PROJECT,
        version=version(PROJECT),
        default_config_files=named,
        default_config_dirs=_named_by("IRONIC_CONFIG_DIR"),
    )
    logging_setup.set_up(conf)
    _report(unknown.find(conf))
    _report_readable(conf)


def _named_by(variable: str) -> list[str] | None:
    value = os.environ.get(variable)
    return [value] if value else None


def _report_readable(conf: cfg.ConfigOpts) -> None:
    """Warn of files with passwords that every user of the host can read."""
    holds_passwords = any(is_secret(name) or name == _HOLDS_LOGIN for _, name in written.names(conf))
    for path in conf.config_file if holds_passwords else ():
        if os.path.isfile(path) and os.stat(path).st_mode & stat.S_IROTH:
            LOG.warning("Every user of this host can read %s, which may hold passwords: chmod o-r it.", path)


def _report(names: dict[str, list[str]]) -> None:
    if names:
        listing = "; ".join(f"[{group}] {', '.join(options)}" for group, options in names.items())
        LOG.warning(
            "The configuration holds options that this release does not know or does not use yet; they have no "
            "effect. Check their spelling and remove what is not needed: %s",
            listing,
        )
