#!/usr/bin/env bash
# Installs the Debian packages that the tests need and that are missing; the list is bindep.txt. Needs root only then.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
missing=()
while read -r package _; do
    [[ -z "$package" || "$package" == \#* ]] && continue
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done < bindep.txt
((${#missing[@]})) || exit 0
echo "Installing Debian packages: ${missing[*]}"
# A server must not start by itself: the tests start it on a port of their own, if none answers.
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
apt-get -qq update
apt-get -qq install --yes --no-install-recommends "${missing[@]}" > /dev/null
