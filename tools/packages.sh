#!/usr/bin/env bash
# Installs the Debian packages that the tests need and that are missing; the list is bindep.txt, or the file that is
# named. Where it may not, it names the command to run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
list=${1:-bindep.txt}
if ! command -v dpkg-query > /dev/null; then
    echo "This is not Debian: install what $list lists under the names of your system." >&2
    exit 0
fi
missing=()
while read -r package _; do
    [[ -z "$package" || "$package" == \#* ]] && continue
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done < "$list"
((${#missing[@]})) || exit 0
as_root=()
if ((EUID != 0)); then
    if ! sudo --non-interactive true 2> /dev/null; then
        echo "The tests need Debian packages that are missing here. Install them, then run this again:" >&2
        echo "    sudo apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo --non-interactive)
fi
echo "Installing Debian packages: ${missing[*]}"
# A server must not start by itself: the tests start it on a port of their own, if none answers.
settings=(env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1)
"${as_root[@]}" "${settings[@]}" apt-get -qq update
"${as_root[@]}" "${settings[@]}" apt-get -qq install --yes --no-install-recommends "${missing[@]}" > /dev/null
