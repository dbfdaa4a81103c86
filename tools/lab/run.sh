#!/usr/bin/env bash
# `make lab`: builds what the lab needs, once, and leads a machine through its life. Needs root.
#
#   tools/lab/run.sh [BOOT:MODE ...]       such as redfish-virtual-media:uefi redfish-virtual-media:bios ipxe:bios
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tools/packages.sh tools/lab/packages.txt
images=.run/lab-images
mkdir -p "$images"
if [[ ! -d $images/kernel ]]; then
    package=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image/ {print $2; exit}')
    (cd "$images" && apt-get download -qq "$package" && dpkg -x "$package"_*.deb kernel.new && mv kernel.new kernel)
fi
[[ -e $images/agent.initramfs ]] || tools/lab/ramdisk.sh "$images" "$images/kernel"
[[ -e $images/disk.qcow2 ]] || tools/lab/disk_image.sh "$images/kernel" "$images/disk.qcow2"
(($#)) || set -- redfish-virtual-media:uefi redfish-virtual-media:bios ipxe:bios
status=0
for each in "$@"; do
    .venv/bin/python tools/lab/life.py --images "$images" --boot "${each%:*}" --mode "${each#*:}" || status=1
done
exit "$status"
