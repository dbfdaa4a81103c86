"""Base classes for BIOS interfaces and firmware interfaces.

Decorate a method that changes BIOS settings or firmware: the stored settings or versions are read again after it.
"""

import functools
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from ironic.drivers.contract.contract_types import Task
from ironic.drivers.contract.interfaces.base_interface import BaseInterface

Method = TypeVar("Method", bound=Callable[..., Any])


def cache_bios_settings(func: Method) -> Method:
    """Make the interface read the BIOS settings again after the method has succeeded."""
    return _followed_by("cache_bios_settings", func)


def cache_firmware_components(func: Method) -> Method:
    """Make the interface read the firmware components again after the method has succeeded."""
    return _followed_by("cache_firmware_components", func)


def _followed_by(refresh: str, function: Method) -> Method:
    @functools.wraps(function)
    def call(self: object, task: object, *args: Any, **kwargs: Any) -> object:
        result = function(self, task, *args, **kwargs)
        getattr(self, refresh)(task)
        return result

    return call  # type: ignore[return-value]  # it has the signature of the method that it wraps


class BIOSInterface(BaseInterface[Task]):
    """BIOS settings. Decorate methods that change them with ``cache_bios_settings``."""

    interface_type: ClassVar[str] = "bios"

    @abstractmethod
    def apply_configuration(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        """Apply settings, each with ``name`` and ``value``; return the flow's wait state or None. May be repeated."""

    @abstractmethod
    def factory_reset(self, task: Task) -> str | None:
        """Reset all settings to the factory defaults; return the flow's wait state or None. May be repeated."""

    @abstractmethod
    def cache_bios_settings(self, task: Task) -> None:
        """Read the settings and store them with the node, in a ``task.writing()`` block."""


class FirmwareInterface(BaseInterface[Task]):
    """Firmware updates. Decorate methods that change versions with ``cache_firmware_components``."""

    interface_type: ClassVar[str] = "firmware"

    @abstractmethod
    def update(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        """Update components, each with ``component``, ``url`` and optionally ``wait`` (seconds).

        Return the flow's wait state or None.
        """

    @abstractmethod
    def cache_firmware_components(self, task: Task) -> None:
        """Read the versions and store them with the node, in a ``task.writing()`` block."""
