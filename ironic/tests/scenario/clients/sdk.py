"""The OpenStack SDK against one service, remembering which of its methods ended well."""

import functools
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openstack
import pytest
from openstack import proxy
from openstack.baremetal.v1._proxy import Proxy
from openstack.cloud._baremetal import BaremetalCloudMixin
from openstack.connection import Connection

# What the library will remove from itself one day is its own affair.
QUIET = [
    pytest.mark.filterwarnings(f"ignore::openstack.warnings.{name}")
    for name in ("RemovedInSDK50Warning", "RemovedInSDK60Warning", "LegacyAPIWarning")
]


class Recorder:
    """Stands in front of a part of the SDK and remembers what was called and returned."""

    def __init__(self, part: Any) -> None:
        self._part, self.exercised = part, set[str]()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)
        if not callable(method):
            return method

        @functools.wraps(method)
        def call(*arguments: Any, **named: Any) -> Any:
            result = method(*arguments, **named)
            # A generator has done nothing yet.
            result = list(result) if inspect.isgenerator(result) else result
            self.exercised.add(name)
            return result

        return call


def proxy_methods() -> set[str]:
    """Return every public method that the SDK has for bare metal in particular."""
    return _methods(Proxy) - _methods(proxy.Proxy)


def cloud_methods() -> set[str]:
    """Return every public method of the SDK's cloud layer for machines."""
    inherited = {name for base in BaremetalCloudMixin.__mro__[1:] for name in vars(base)}
    return _methods(BaremetalCloudMixin) - inherited


def _methods(cls: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")}


@contextmanager
def connection(url: str) -> Iterator[Connection]:
    """Connect without credentials, and without settings of another cloud in the environment."""
    cloud = openstack.connect(auth_type="none", endpoint=url, load_envvars=False, load_yaml_config=False)
    try:
        yield cloud
    finally:
        cloud.close()
