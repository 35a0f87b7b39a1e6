#!/usr/bin/env bash
# Boots a machine in the namespaces that this process was given: its disk is an image that stays as it is, under what the machine writes.
# boot.sh IMAGE DISK MEDIA PACKAGES BOOTID HOSTNAME. DISK/written is what it wrote; MEDIA is its /media, PACKAGES its /srv; BOOTID is a file.
set -euo pipefail
# Not every shell of root has these.
export PATH=$PATH:/usr/sbin:/sbin
image=$1 disk=$2 media=$3 packages=$4 boot_id=$5 name=$6
mount --make-rprivate /
mkdir -p "$disk/written" "$disk/work" "$disk/root"
# `volatile` never syncs: a sync would wait for everything that the host has to write. The marker that it leaves would prevent a second boot.
rm -rf "$disk/work/work/incompat"
mount -t overlay overlay -o "volatile,lowerdir=$image,upperdir=$disk/written,workdir=$disk/work" "$disk/root"
cd "$disk/root"
mount --bind "$media" media
mount --bind -o ro "$packages" srv
mount -t proc proc proc
# The kernel is the host's: nothing of it is changed from here.
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount --bind "$boot_id" proc/sys/kernel/random/boot_id
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mknod -m 666 dev/null c 1 3
mknod -m 666 dev/zero c 1 5
mknod -m 666 dev/full c 1 7
mknod -m 666 dev/random c 1 8
mknod -m 666 dev/urandom c 1 9
mknod -m 666 dev/tty c 5 0
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
# ProtectProc gives a service a /proc of its own, in which the boot id would be the host's again.
settings=run/systemd/system/scheduled-events-bridge.service.d
mkdir -p "$settings" run/this-boot
cp "$boot_id" run/this-boot/boot_id
chmod 444 run/this-boot/boot_id
printf '[Service]\nBindReadOnlyPaths=/run/this-boot/boot_id:/proc/sys/kernel/random/boot_id\n' >"$settings/boot-id.conf"
hostname "$name"
echo "$name" >etc/hostname
pivot_root . mnt
umount -l /mnt
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=host-test /lib/systemd/systemd --log-target=journal --show-status=no </dev/null
