#!/usr/bin/env bash
# Builds the ramdisk of the lab: Debian, a kernel and the released ironic-python-agent. Needs root and a Debian 12 host.
#
#   tools/lab/ramdisk.sh OUT_FOLDER KERNEL_PACKAGE_TREE
#
# Writes OUT_FOLDER/agent.kernel and OUT_FOLDER/agent.initramfs. The base system is kept in OUT_FOLDER/base.tar.zst for
# the next time.
set -euo pipefail
out=$(realpath -m "${1:?OUT_FOLDER}")
tree=$(realpath "${2:?KERNEL_PACKAGE_TREE}")
agent=${AGENT:-ironic-python-agent>=13,<14}
mkdir -p "$out"
work=$(mktemp -d "$out/build.XXXXXX")
chmod 755 "$work"
root=$work/root
mkdir "$root"
end() {
    for name in proc sys dev; do mountpoint -q "$root/$name" && umount "$root/$name"; done
    rm -rf --one-file-system "$work"
}
trap end EXIT
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

# The base system, with the programs that the agent runs.
packages=python3,python3-venv,udev,kmod,iproute2,busybox-static,ca-certificates,qemu-utils,gdisk,parted,dosfstools
packages+=,mdadm,hdparm,nvme-cli,lshw,dmidecode,pciutils,ethtool,efibootmgr,psmisc,procps,smartmontools
packages+=,util-linux-extra,bsdextrautils
if [[ -e "$out/base.tar.zst" ]]; then
    tar -C "$root" --zstd -xpf "$out/base.tar.zst"
else
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' |
        awk '$2 == "bookworm" && $3 == "main" {print $1; exit}')
    debootstrap --variant=minbase --include="$packages" bookworm "$root" "$mirror" > "$out/debootstrap.log"
    tar -C "$root" -I 'zstd -3' -cpf "$out/base.tar.zst" .
fi

# The agent, in an environment made by the Python that will run it; proxies and indexes are those of this host.
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/host-ca.crt"
for name in proc sys dev; do mount --bind "/$name" "$root/$name"; done
chroot "$root" python3 -m venv /opt/agent
settings=(PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ PIP_CERT=/etc/ssl/host-ca.crt)
for name in http_proxy https_proxy no_proxy PIP_INDEX_URL; do
    [[ -z "${!name:-}" ]] || settings+=("$name=${!name}")
done
chroot "$root" env -i "${settings[@]}" /opt/agent/bin/pip install -q --no-cache-dir "$agent"
for name in proc sys dev; do umount "$root/$name"; done

# The kernel, and its modules for disks, networks and file systems.
version=$(ls "$tree/lib/modules")
cp "$tree"/boot/vmlinuz-* "$out/agent.kernel"
depmod -b "$tree" "$version"
wanted='^kernel/(drivers/(virtio|block/(virtio_blk|loop)|scsi/(virtio_scsi|sd_mod|sr_mod|sg|scsi_)|ata|nvme|cdrom|md'
wanted+='|net/(virtio_net|net_failover|ethernet/intel/e1000)|char/hw_random|usb/(host|storage|core|common))'
wanted+='|fs/(isofs|fat|nls|ext4|jbd2|mbcache|efivarfs)|net/core|crypto|lib/crypto)'
awk -F: -v wanted="$wanted" '$1 ~ wanted {print $1; n = split($2, more, " "); for (i = 1; i <= n; i++) print more[i]}' \
    "$tree/lib/modules/$version/modules.dep" | sort -u > "$work/modules"
mkdir -p "$root/lib/modules/$version"
cp "$tree/lib/modules/$version"/modules.{order,builtin,builtin.modinfo} "$root/lib/modules/$version/"
(cd "$tree/lib/modules/$version" && xargs -a "$work/modules" cp --parents -t "$root/lib/modules/$version")
depmod -b "$root" "$version"

# What runs in it. init is busybox, which starts the agent anew whenever it ends.
ln -sf /bin/busybox "$root/init"
for name in poweroff reboot halt udhcpc; do ln -sf /bin/busybox "$root/usr/sbin/$name"; done
echo agent > "$root/etc/hostname"
printf '127.0.0.1 localhost agent\n' > "$root/etc/hosts"
mkdir -p "$root/etc/ironic-python-agent.d" "$root/etc/ipa-rescue-config"
printf '[DEFAULT]\ndebug = false\n' > "$root/etc/ironic-python-agent.d/00-defaults.conf"
cat > "$root/etc/inittab" <<'END'
::sysinit:/etc/rc.boot
::respawn:/usr/local/sbin/run-agent
::ctrlaltdel:/sbin/reboot
::shutdown:/bin/umount -a -r
END
cat > "$root/etc/rc.boot" <<'END'
#!/bin/sh
export PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc; mount -t sysfs sysfs /sys
mountpoint -q /dev || mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm; mount -t devpts devpts /dev/pts; mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs -o mode=755 tmpfs /run; mount -t tmpfs -o mode=1777,size=60% tmpfs /tmp
hostname -F /etc/hostname; ip link set lo up
[ ! -d /sys/firmware/efi ] || { modprobe -q efivarfs; mount -t efivarfs efivarfs /sys/firmware/efi/efivars; }
/lib/systemd/systemd-udevd --daemon 2> /dev/null
# Only what finds disks and network cards: each event costs an emulated machine a moment.
udevadm trigger --action=add --subsystem-match=pci --subsystem-match=virtio --subsystem-match=usb
udevadm settle --timeout=60
udevadm trigger --action=add --subsystem-match=block --subsystem-match=net
udevadm settle --timeout=60
modprobe -qa isofs vfat nls_cp437 nls_ascii nls_utf8
for card in /sys/class/net/*; do
    [ -e "$card/device" ] || continue
    ip link set "${card##*/}" up
    busybox udhcpc -b -S -i "${card##*/}" -s /etc/udhcpc.script -t 20 -T 2 > /dev/null 2>&1 &
done
for second in $(seq 60); do ip -4 -o addr show scope global | grep -q . && break; sleep 0.5; done
echo "RAMDISK network after $(cut -d' ' -f1 /proc/uptime) s"
END
cat > "$root/etc/udhcpc.script" <<'END'
#!/bin/sh
PATH=/usr/sbin:/usr/bin:/sbin:/bin
case $1 in
deconfig) ip -4 addr flush dev "$interface"; ip link set "$interface" up ;;
bound | renew)
    ip addr replace "$ip/${mask:-24}" broadcast + dev "$interface"
    for router in $router; do ip route replace default via "$router" dev "$interface"; break; done ;;
esac
END
cat > "$root/usr/local/sbin/run-agent" <<'END'
#!/bin/sh
# For a rescue the agent leaves a hashed password and ends; the machine waits for its user then.
export PATH=/opt/agent/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
while [ -s /etc/ipa-rescue-config/ipa-rescue-password ]; do
    echo "RAMDISK rescue" > /dev/console
    sleep 3600
done
ironic-python-agent --config-dir /etc/ironic-python-agent.d > /dev/console 2>&1
sleep 2
END
chmod 755 "$root/etc/rc.boot" "$root/etc/udhcpc.script" "$root/usr/local/sbin/run-agent"

# What the agent does not use at run time: a smaller ramdisk starts sooner.
chroot "$root" /opt/agent/bin/pip uninstall -q -y pip setuptools tzdata
find "$root/opt/agent" "$root/usr/lib/python3" -type d -name tests -prune -exec rm -rf {} +
rm -rf "$root"/usr/share/{doc,man,locale,info,lintian,zoneinfo,python-wheels,perl5,bash-completion} "$root"/boot/*
rm -rf "$root"/var/{cache,lib/apt,lib/dpkg,lib/smartmontools,log}/* "$root"/usr/lib/{apt,terminfo,locale}
rm -rf "$root"/usr/lib/udev/hwdb.* "$root"/usr/lib/x86_64-linux-gnu/{gconv,perl-base} "$root"/usr/bin/{perl*,apt*}
(cd "$root" && find . -xdev -print0 | cpio --null -o -H newc --quiet | zstd -q -T0 -12 -f -o "$out/agent.initramfs.new")
mv "$out/agent.initramfs.new" "$out/agent.initramfs"
