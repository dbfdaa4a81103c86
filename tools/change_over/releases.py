"""The releases of the reference whose databases are taken over, each in an environment of its own.

An environment lies below the directory of the variable CHANGE_OVER_CACHE, or below the temporary directory. Only the
programs of a release are run.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import environments

CACHE = Path(os.environ.get("CHANGE_OVER_CACHE") or Path(tempfile.gettempdir()) / "change-over-cache")
DRIVERS = ("pymysql", "psycopg2-binary")


@dataclass(frozen=True)
class Release:
    """One release: its version, its series, the revision of its database, and pins that pip does not know of."""

    version: str
    series: str
    revision: str
    pins: tuple[str, ...] = ()

    @property
    def home(self) -> Path:
        """The directory of its environment."""
        return CACHE / self.version

    def install(self) -> None:
        """Make its environment unless it is there."""
        wanted = (f"ironic=={self.version}", *DRIVERS, *self.pins)
        self.home.mkdir(parents=True, exist_ok=True)
        environments.ensure(
            self.home, [one.encode() for one in wanted], lambda home: environments.install(home, wanted)
        )

    def program(self, name: str) -> Path:
        """Return the path of one of its programs."""
        return self.home / "bin" / name


RELEASES = (
    Release("24.1.5", "2024.1", "01f21d5e5195"),
    Release("26.1.6", "2024.2", "66bd9c5604d5"),
    Release("29.0.6", "2025.1", "21c48150dea9"),
    # Newer libraries refuse an argument of these two, or define an option twice.
    Release("32.0.1", "2025.2", "3ef27505c9fb", ("oslo.service==4.3.0",)),
    Release("35.0.1", "2026.1", "2a3b4c5d6e7f"),
    Release("38.0.0", "2026.1", "16990309ad9d", ("keystoneauth1==5.14.0",)),
    Release("39.0.0", "2026.2", "9fb44677ef15"),
)
