#!/usr/bin/env bash
# Builds the Debian package from a directory of wheels (wheels.sh), without a network and without root.
#   deb.sh WHEELS DIRECTORY
# The service and its libraries are an environment of Debian's Python below /usr/lib/ironic; etc/debian has the rest.
set -euo pipefail
wheels=$(realpath "$1") directory=$(realpath --canonicalize-missing "$2")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PYTHONDONTWRITEBYTECODE=1
umask 022
python=/usr/bin/python3
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
root=$work/root home=/usr/lib/ironic
mkdir -p "$root$home" "$directory"
# The directory of mktemp is for its owner only, and the root of the package takes its mode.
chmod 0755 "$root"

"$python" -m venv --without-pip "$root$home"
"$python" -m venv "$work/pip"
wheel=("$wheels"/ironic-*.whl)
"$work/pip/bin/pip" --quiet --disable-pip-version-check --python "$root$home/bin/python" install \
    --no-index --find-links "$wheels" --no-compile "${wheel[0]}[memcached,mysql,postgresql,validation]"
# What names the place of the build names the place of the installation now.
grep -rlIZ --fixed-strings "$root" "$root$home" | xargs -0 --no-run-if-empty sed -i "s#$root##g"
"$python" -m compileall -q -s "$root" -p / --invalidation-mode unchecked-hash "$root$home/lib"

mkdir -p "$root/usr/bin" "$root/lib/systemd/system" "$root/etc/ironic" "$root/etc/logrotate.d" \
    "$root/usr/share/doc/ironic" "$root/DEBIAN"
for program in "$root$home"/bin/ironic*; do
    ln -s "../lib/ironic/bin/${program##*/}" "$root/usr/bin/${program##*/}"
done
install -m 0644 etc/systemd/*.service "$root/lib/systemd/system"
install -m 0644 etc/logrotate/ironic "$root/etc/logrotate.d/ironic"
install -m 0640 etc/debian/ironic.conf "$root/etc/ironic"
install -m 0644 etc/debian/copyright "$root/usr/share/doc/ironic"

install -m 0644 etc/debian/conffiles "$root/DEBIAN"
# A template (NAME@.service) is stopped by the pattern, and can't be disabled without a name.
units=$(cd etc/systemd && printf '%s\n' *.service | grep -v @ | paste -sd ' ')
for script in postinst prerm postrm; do
    sed "s/@UNITS@/$units/" "etc/debian/$script" > "$root/DEBIAN/$script"
    chmod 0755 "$root/DEBIAN/$script"
done
number=$(sed -n 's/^version = \(.*!\)\?//p' setup.cfg)
minor=$("$python" -c 'import sys; print(sys.version_info.minor)')
sed -e "s/@VERSION@/$number-1/" -e "s/@ARCHITECTURE@/$(dpkg --print-architecture)/g" -e "s/@PYTHON@/3.$minor/" \
    -e "s/@NEXT_PYTHON@/3.$((minor + 1))/" -e "s/@SIZE@/$(du -sk "$root" | cut -f1)/" \
    etc/debian/control.in > "$root/DEBIAN/control"
dpkg-deb --root-owner-group -Zxz -z1 --build "$root" "$directory" > /dev/null
