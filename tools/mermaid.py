"""Fetch the script that draws the diagrams of the documentation site, from mermaid's package for npm.

python tools/mermaid.py        prints the directory of the script
"""

import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

PLACE = Path(__file__).resolve().parent.parent / ".cache" / "mermaid"
PACKAGE = "mermaid@12"
SCRIPT = "mermaid.min.js"


def fetch() -> Path:
    """Return the directory of the script; without it, the package is fetched, which needs npm and a registry."""
    if not (PLACE / SCRIPT).exists():
        if not shutil.which("npm"):
            raise SystemExit(
                "The diagrams need npm, which fetches mermaid once: apt-get install npm, then run it again."
            )
        with tempfile.TemporaryDirectory() as directory:
            # The archive has no dependencies to install: the script contains them.
            command = ["npm", "pack", "--loglevel=error", PACKAGE]
            if subprocess.run(command, cwd=directory, stdout=subprocess.DEVNULL).returncode:
                raise SystemExit(f"npm can't fetch {PACKAGE}; the site needs it once, see the lines above.")
            (archive,) = Path(directory).glob("*.tgz")
            with tarfile.open(archive) as files:
                script = files.extractfile(f"package/dist/{SCRIPT}")
                if script is None:
                    raise SystemExit(
                        f"{archive.name} has no file dist/{SCRIPT}; name another version in tools/mermaid.py."
                    )
                PLACE.mkdir(parents=True, exist_ok=True)
                (PLACE / SCRIPT).write_bytes(script.read())
    return PLACE


if __name__ == "__main__":
    print(fetch())
