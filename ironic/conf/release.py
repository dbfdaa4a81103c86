"""The number of this release, as programs print it and operators write it.

The version of the package begins with an epoch, `1!1.2.0`, by which it is above every version of OpenStack's package of
the same name. The epoch is for package managers only; `doc/package-index.md` explains it.
"""

from importlib.metadata import version
from typing import Final

PACKAGE: Final = "ironic"


def release() -> str:
    """Return the number of this release without the epoch, as 1.2.0."""
    return without_epoch(version(PACKAGE))


def without_epoch(package_version: str) -> str:
    """Return the version of a package without its epoch: 1.2.0 for 1!1.2.0, and for 1.2.0."""
    return package_version.rpartition("!")[2]
