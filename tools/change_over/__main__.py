"""The change-over, tried with the releases of the reference as they are in the package index: `make change-over`.

    PYTHONPATH=tools:. .venv/bin/python tools/change_over [--record] [RELEASE ...]

For each release its database is restored on every kind of server from its record, taken over, compared by all recorded
answers, and given back: then the release's own service starts on it and leads a node on. With --record, the release
fills a database anew first. CHANGE_OVER_CACHE names the directory of the releases' environments.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import requests
from change_over.recording import record
from change_over.releases import RELEASES, Release
from change_over.service import Reference

from ironic.conf import CONF
from ironic.db.takeover import TakeOver
from ironic.tests.databases import empty_database
from ironic.tests.functional.db.test_takeover import compare, engine_of, quiet, take_over
from ironic.tests.reference_databases import restore

KINDS = ("sqlite", "mariadb", "postgresql")


def there_and_back(release: Release, kind: str) -> list[str]:
    """Take a database over, compare, give it back and have the release's service use it; return what is wrong."""
    with tempfile.TemporaryDirectory(prefix="change-over-") as home, empty_database(kind, Path(home)) as url:
        recorded = restore(url, release.version)
        take_over(url)
        faults = compare(url, recorded)
        with engine_of(url) as engine:
            TakeOver(engine, quiet).go_back(["written"])
        reference = Reference(release, Path(home), url)
        reference.start()
        try:
            faults += list(_used_by(reference, recorded.answers))
        finally:
            reference.kill()
    return faults


def _used_by(reference: Reference, answers: Any) -> list[str]:
    """Return what is wrong with a service of the reference on the database that came back."""
    expected = {node["uuid"]: node["name"] for node in answers["/v1/nodes/detail"][1]["nodes"]}
    found = {node["uuid"]: node["name"] for node in reference.get("/v1/nodes")["nodes"]}
    if found != expected:
        return [f"the nodes are {json.dumps(found)}"]
    try:
        reference.call("PUT", "/v1/nodes/enrolled/states/provision", {"target": "manage"})
    except requests.HTTPError as refused:
        return [str(refused)]
    return []


def main() -> int:
    """Try the releases that the command line names, or all; return the exit status."""
    parser = argparse.ArgumentParser(description="Try the change-over with releases of the reference.")
    parser.add_argument("--record", action="store_true", help="Fill and record the databases anew first.")
    parser.add_argument("releases", nargs="*", default=[release.version for release in RELEASES])
    chosen = parser.parse_args()
    CONF([])
    wrong = 0
    for release in RELEASES:
        if release.version not in chosen.releases:
            continue
        release.install()
        if chosen.record:
            print(f"{release.version}: recorded in {record(release)}", flush=True)
        for kind in KINDS:
            faults = there_and_back(release, kind)
            wrong += len(faults)
            print(f"{release.version} on {kind}: {'; '.join(faults[:5]) or 'taken over and given back'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
