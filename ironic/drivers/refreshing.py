"""Decorators for methods after which what is stored about BIOS settings or firmware is no longer true."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def cache_bios_settings(func: Method) -> Method:
    """Have the interface read the BIOS settings again when the method has ended well."""
    return _followed_by("cache_bios_settings", func)


def cache_firmware_components(func: Method) -> Method:
    """Have the interface read the firmware components again when the method has ended well."""
    return _followed_by("cache_firmware_components", func)


def _followed_by(refresh: str, function: Method) -> Method:
    @functools.wraps(function)
    def call(self: object, task: object, *args: Any, **kwargs: Any) -> object:
        result = function(self, task, *args, **kwargs)
        getattr(self, refresh)(task)
        return result

    return call  # type: ignore[return-value]
