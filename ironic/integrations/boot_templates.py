"""Templates of the files of boot programs: Jinja2 files of the package, which operators replace by options.

Templates are trusted as the configuration is; the values that go in are not, and their callers have checked and quoted
them for the program that reads the file (`ironic.core.boot_file_quoting`).
"""

import functools
import os
from pathlib import Path
from typing import Any, Final

import jinja2

from ironic.core.errors import InvalidParameterValue
from ironic.core.operator_files import content_of

_ENVIRONMENT: Final = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)


class OptionalVariables(dict[str, object]):
    """Variables under one name; one that is missing is empty, where others that are missing make a template fail."""

    def __missing__(self, name: str) -> jinja2.Undefined:
        return jinja2.Undefined(name=name)


def render(path: str, **values: Any) -> str:
    """Return the rendered template, or raise InvalidParameterValue that names the file and its fault."""
    try:
        template = _template(path, os.stat(path).st_mtime_ns)
    except OSError as error:
        raise InvalidParameterValue(err=f"Boot template {path} can't be read: {error.strerror}.") from error
    except (ValueError, jinja2.TemplateError) as error:
        raise InvalidParameterValue(err=f"Boot template {path} can't be used: {error}.") from error
    try:
        return template.render(**values)
    except Exception as error:
        # An expression in a template may raise anything.
        raise InvalidParameterValue(err=f"Boot template {path} can't be used: {error}.") from error


@functools.lru_cache(maxsize=64)
def _template(path: str, modified: int) -> jinja2.Template:
    """Return the compiled template, cached until its file changes."""
    return _ENVIRONMENT.from_string(content_of(Path(path)).decode())
