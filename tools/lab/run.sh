#!/usr/bin/env bash
# `make lab`: builds what the lab needs, once, and leads a machine through its life. Needs root.
#
#   tools/lab/run.sh [LIFE ...]
#
# A life is BOOT_INTERFACE:MODE, or BOOT_INTERFACE:MODE:HARDWARE_TYPE, or with the steps to take as a fourth part:
# redfish-virtual-media:uefi, ipxe:bios:ipmi, ipxe:uefi:redfish:deploy,take-over. tutorial:NAME types
# doc/tutorial-NAME.md and compares what is printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tools/packages.sh tools/lab/packages.txt
.venv/bin/pip install -q --disable-pip-version-check -r tools/lab/requirements.txt
images=.run/lab-images
mkdir -p "$images"
if [[ ! -d $images/kernel ]]; then
    package=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image/ {print $2; exit}')
    (cd "$images" && apt-get download -qq "$package" && dpkg -x "$package"_*.deb kernel.new && mv kernel.new kernel)
fi
[[ -e $images/agent.initramfs ]] || tools/lab/ramdisk.sh "$images" "$images/kernel"
[[ -e $images/disk.qcow2 ]] || tools/lab/disk_image.sh "$images/kernel" "$images/disk.qcow2"
lives=(
    redfish-virtual-media:uefi redfish-virtual-media:bios:redfish:deploy redfish-https:uefi:redfish:inspect,deploy
    ipxe:bios:redfish:deploy,restart ipxe:uefi:redfish:deploy,take-over
    pxe:bios:redfish:inspect pxe:uefi:redfish:inspect http-ipxe:uefi:redfish:inspect
    ipxe:bios:ipmi:inspect,clean,deploy pxe:bios:ipmi:inspect,clean,deploy
)
(($#)) || set -- "${lives[@]}"
status=0
for each in "$@"; do
    if [[ $each == tutorial:* ]]; then
        unshare --net .venv/bin/python tools/lab/tutorials.py --images "$images" "doc/tutorial-${each#*:}.md" || status=1
        continue
    fi
    IFS=: read -r boot mode hardware steps <<< "$each"
    # A network of its own, which ends with the programs in it.
    unshare --net .venv/bin/python tools/lab/life.py --images "$images" --boot "$boot" --mode "$mode" \
        --hardware "${hardware:-redfish}" ${steps:+--steps "$steps"} || status=1
done
exit "$status"
