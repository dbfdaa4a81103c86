#!/usr/bin/env bash
# Builds the image that the lab deploys: a whole disk that boots by itself, from BIOS and from UEFI, and says on its
# serial console what it found. Needs no privileges.
#
#   tools/lab/disk_image.sh KERNEL_PACKAGE_TREE OUT.qcow2
#
# KERNEL_PACKAGE_TREE is a Debian kernel package, unpacked. The console shows lines that begin with TINY-IMAGE: up with
# firmware and disks, config-drive with the host name of its meta data, ready.
set -euo pipefail
tree=$(realpath "${1:?KERNEL_PACKAGE_TREE}")
out=$(realpath -m "${2:?OUT.qcow2}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(ls "$tree/lib/modules")
modules="virtio_pci virtio_blk ahci sd_mod isofs vfat nls_cp437 nls_ascii"

# The root file system: busybox, a few modules with those they need, and /init.
root=$work/root
mkdir -p "$root"/{bin,proc,sys,dev,mnt,lib/modules/"$version"}
cp /bin/busybox "$root/bin/"
depmod -b "$tree" "$version"
for module in $modules; do
    modprobe --dirname "$tree" --set-version "$version" --show-depends "$module" | awk '$1 == "insmod" {print $2}'
done | sort -u | while read -r path; do
    (cd "$tree" && cp --parents "${path#"$tree"/}" "$root")
done
cp "$tree/lib/modules/$version"/modules.{order,builtin,builtin.modinfo} "$root/lib/modules/$version/"
depmod -b "$root" "$version"
cat > "$root/init" <<END
#!/bin/busybox sh
modules="$modules"
END
cat >> "$root/init" <<'END'
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev
dmesg -n 1
for module in $modules; do modprobe $module 2> /dev/null; done
sleep 2
say() { echo "TINY-IMAGE $*" > /dev/ttyS0; }
text_at() { dd if="$1" bs=1 skip="$2" count="$3" 2> /dev/null | tr -d '\000' | sed 's/ *$//'; }
firmware=bios
[ -d /sys/firmware/efi ] && firmware=uefi
say "up firmware=$firmware disks=$(ls /sys/class/block | tr '\n' ',')"
drive=none
for name in $(ls /sys/class/block); do
    # An ISO 9660 file system has its label here; this busybox has no blkid.
    [ "$(text_at /dev/$name 32769 5)" = CD001 ] && [ "$(text_at /dev/$name 32808 32)" = config-2 ] && drive=/dev/$name
done
host=
if [ $drive != none ] && mount -t iso9660 -o ro $drive /mnt; then
    host=$(tr -d '\n' < /mnt/openstack/latest/meta_data.json | sed -n 's/.*"hostname": *"\([^"]*\)".*/\1/p')
    say "user-data: $(head -1 /mnt/openstack/latest/user_data)"
fi
say "config-drive=$drive hostname=$host"
say ready
while :; do sleep 3600; done
END
chmod +x "$root/init"
(cd "$root" && find . | busybox cpio -o -H newc 2> /dev/null | gzip) > "$work/initrd"

# The disk: GRUB's core for BIOS in a partition of its own, the rest is the EFI system partition.
cat > "$work/grub.cfg" <<'END'
serial --unit=0 --speed=115200
terminal_output serial
linux /vmlinuz console=ttyS0,115200 panic=10
initrd /initrd
boot
END
cat > "$work/early.cfg" <<'END'
search --no-floppy --label LABDISK --set root
set prefix=($root)/grub
configfile /grub/grub.cfg
END
parts=(part_gpt fat search search_label configfile normal linux serial terminal boot gzio)
grub-mkimage -O x86_64-efi -o "$work/bootx64.efi" -p /grub -c "$work/early.cfg" "${parts[@]}"
grub-mkimage -O i386-pc -o "$work/core.img" -p /grub -c "$work/early.cfg" "${parts[@]}" biosdisk
kernel=("$tree"/boot/vmlinuz-*)
esp=$((($(stat -c %s "${kernel[0]}") + $(stat -c %s "$work/initrd")) / 1048576 + 10))
((esp >= 36)) || esp=36
truncate -s "${esp}M" "$work/esp"
mkfs.vfat -F 32 -n LABDISK "$work/esp" > /dev/null
mmd -i "$work/esp" ::EFI ::EFI/BOOT ::grub
mcopy -i "$work/esp" "$work/bootx64.efi" ::EFI/BOOT/BOOTX64.EFI
mcopy -i "$work/esp" "$work/grub.cfg" ::grub/grub.cfg
mcopy -i "$work/esp" "${kernel[0]}" ::vmlinuz
mcopy -i "$work/esp" "$work/initrd" ::initrd
truncate -s "$((esp + 3))M" "$work/disk"
sgdisk -o -n 1:2048:4095 -t 1:ef02 -n "2:4096:$((4096 + esp * 2048 - 1))" -t 2:ef00 "$work/disk" > /dev/null
dd if="$work/esp" of="$work/disk" bs=1M seek=2 conv=notrunc status=none
# grub-install needs a mounted disk, so GRUB's two lists of blocks are written here: sector 2048, and those behind it.
python3 - "$work/disk" /usr/lib/grub/i386-pc/boot.img "$work/core.img" <<'END'
import struct
import sys
from pathlib import Path

disk, boot, core = (Path(path) for path in sys.argv[1:])
first, rest = bytearray(boot.read_bytes()), bytearray(core.read_bytes())
rest += bytes(-len(rest) % 512)
if len(rest) > 2048 * 512:
    raise SystemExit("GRUB's core does not fit into its partition")
struct.pack_into("<Q", first, 0x5C, 2048)
struct.pack_into("<QH", rest, 0x1F4, 2049, len(rest) // 512 - 1)
with disk.open("r+b") as file:
    file.write(first[:440])
    file.seek(2048 * 512)
    file.write(rest)
END
qemu-img convert -q -f raw -O qcow2 -c "$work/disk" "$out"
