"""Templates of the files of boot programs: Jinja2 files of the package, which operators replace by options.

Templates are trusted as the configuration is; the values that go in are not, and their callers have checked and quoted
them for the program that reads the file (`ironic.core.texts.boot_file_quoting`).
"""

import functools
import os
from pathlib import Path
from typing import Any, Final

import jinja2

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.texts.operator_files import content_of

_ENVIRONMENT: Final = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)


# Files below $pybasedir by the names that upstream's have and that tools write into configurations, and ours.
_NETBOOT: Final = "drivers/modules/netboot/templates"
OTHER_NAMES: Final = {
    "drivers/modules/ipxe_config.template": f"{_NETBOOT}/ipxe.j2",
    "drivers/modules/pxe_config.template": f"{_NETBOOT}/pxelinux.j2",
    "drivers/modules/pxe_grub_config.template": f"{_NETBOOT}/grub.j2",
    "drivers/modules/initial_grub_cfg.template": f"{_NETBOOT}/initial_grub.j2",
    "drivers/modules/boot.ipxe": f"{_NETBOOT}/boot_ipxe.j2",
    "common/grub_conf.template": "integrations/templates/iso_grub.j2",
    "common/isolinux_config.template": "integrations/templates/iso_isolinux.j2",
}


class OptionalVariables(dict[str, object]):
    """Variables under one name; one that is missing is empty, where others that are missing make a template fail."""

    def __missing__(self, name: str) -> jinja2.Undefined:
        return jinja2.Undefined(name=name)


def render(path: str, **values: Any) -> str:
    """Return the rendered template, or raise InvalidParameterValue that names the file and its fault."""
    try:
        found = path if os.path.exists(path) else _by_our_name(path)
        template = _template(found, os.stat(found).st_mtime_ns)
    except OSError as error:
        raise InvalidParameterValue(err=f"Boot template {path} can't be read: {error.strerror}.") from error
    except (ValueError, jinja2.TemplateError) as error:
        raise InvalidParameterValue(err=f"Boot template {path} can't be used: {error}.") from error
    try:
        return template.render(**values)
    except Exception as error:
        # An expression in a template may raise anything.
        raise InvalidParameterValue(err=f"Boot template {path} can't be used: {error}.") from error


def _by_our_name(path: str) -> str:
    """Return the path of our file for one that upstream's package has; any other path as it is."""
    ours = OTHER_NAMES.get(os.path.relpath(path, CONF.pybasedir))
    return path if ours is None else os.path.join(CONF.pybasedir, ours)


@functools.lru_cache(maxsize=64)
def _template(path: str, modified: int) -> jinja2.Template:
    """Return the compiled template, cached until its file changes."""
    return _ENVIRONMENT.from_string(content_of(Path(path)).decode())
