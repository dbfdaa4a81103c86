"""Fetch the files of noVNC from Debian's package, without the packages that it needs for its own proxy.

python tools/novnc.py        prints the directory with the pages
"""

import subprocess
import tempfile
from pathlib import Path

PLACE = Path(__file__).resolve().parent.parent / ".cache" / "novnc"
PAGES = PLACE / "usr" / "share" / "novnc"


def fetch() -> Path:
    """Return the directory with the pages; it is made when it is missing."""
    if not (PAGES / "vnc_lite.html").exists():
        PLACE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as directory:
            # The user who downloads for apt must be able to write here.
            Path(directory).chmod(0o777)
            subprocess.run(["apt-get", "-qq", "download", "novnc"], check=True, cwd=directory)
            (package,) = Path(directory).glob("*.deb")
            subprocess.run(["dpkg", "-x", package, PLACE], check=True)
    return PAGES


if __name__ == "__main__":
    print(fetch())
