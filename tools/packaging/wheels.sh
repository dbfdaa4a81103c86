#!/usr/bin/env bash
# Makes the wheel of this tree, and fetches or makes those of all that it needs, into a directory.
#   wheels.sh DIRECTORY
# PYTHON names the interpreter that they are for. The image and the Debian package are made of this directory alone.
set -euo pipefail
directory=$(realpath --canonicalize-missing "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# What the packages contain beyond the service: the drivers of the database servers, of memcached, and of answers' types.
extras=memcached,mysql,postgresql,validation
# An older wheel of the service would be found as well.
rm -f "$directory"/ironic-*.whl
# From a copy, as setuptools leaves what it builds in the tree, also modules that the tree does not have any more.
copy=$(mktemp --directory)
trap 'rm -rf "$copy"' EXIT
cp -r ironic etc setup.cfg setup.py pyproject.toml requirements.txt README.md LICENSE "$copy"
"${PYTHON:-python3}" -m venv "$copy/pip"
"$copy/pip/bin/pip" -qq --disable-pip-version-check wheel --wheel-dir "$directory" "${copy}[$extras]"
