"""The last release of this service, taken from the history of the repository into a directory, ready to run.

Its programs run in the environment of the tests: its tree stands first on their path, with entry points of its own. A
test of an upgrade runs it beside this tree.
"""

import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

from ironic.tests.repository import ROOT

RELEASE = "1.1.0"
# Where there are no tags: the commit of that release.
_COMMIT = "46a62269e59f0b0ad66405c20f35b56f7f9f7f93"


def lay_out(directory: Path, repository: Path = ROOT) -> Mapping[str, str]:
    """Write the tree below a directory; return the environment in which this environment's programs are that release.

    Fails where the history of the repository does not have it.
    """
    revision = next((one for one in (RELEASE, _COMMIT) if _is_known(one, repository)), None)
    assert revision, (
        f"The history of {repository} has neither a tag {RELEASE} nor commit {_COMMIT}, so that release can't be run. "
        "Fetch the whole history (git fetch --unshallow --tags)."
    )
    archive = directory / "release.tar"
    subprocess.run(["git", "archive", f"--output={archive}", revision], cwd=repository, check=True)
    tree = directory / "release"
    with tarfile.open(archive) as packed:
        packed.extractall(tree, filter="data")
    archive.unlink()
    # Programs find plug-ins by these; without them they would find those of this tree.
    subprocess.run([sys.executable, "setup.py", "-q", "egg_info"], cwd=tree, check=True)
    return {"PYTHONPATH": str(tree)}


def _is_known(revision: str, repository: Path) -> bool:
    command = ["git", "rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}"]
    return subprocess.run(command, cwd=repository, capture_output=True, check=False).returncode == 0
