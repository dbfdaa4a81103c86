"""Rendering what boot programs read. Templates are Jinja2 files; an operator may give other ones by options."""

import functools
import os
from pathlib import Path
from typing import Any

import jinja2

from ironic.core.errors import InvalidParameterValue

_ENVIRONMENT = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)


def render(path: str, **values: Any) -> str:
    """Render the template in a file, or raise InvalidParameterValue that names the file and what is wrong with it."""
    try:
        return _template(path, os.stat(path).st_mtime_ns).render(**values)
    except OSError as error:
        raise InvalidParameterValue(err=f"Boot template {path} can't be read: {error.strerror}.") from error
    except jinja2.TemplateError as error:
        raise InvalidParameterValue(err=f"Boot template {path} can't be used: {error}.") from error


@functools.lru_cache(maxsize=64)
def _template(path: str, modified: int) -> jinja2.Template:
    """Keep compiled templates until their files change."""
    return _ENVIRONMENT.from_string(Path(path).read_text())
