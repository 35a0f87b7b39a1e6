#!/usr/bin/env bash
# Starts Windows in the namespaces that this process was given: its disk is an image that stays as it is, under what the machine writes.
# boot.sh IMAGE DISK. It runs for as long as standard input is open, because Wine ends the services when no other program runs.
set -euo pipefail
# Not every shell of root has these.
export PATH=$PATH:/usr/sbin:/sbin
image=$1 disk=$2
mount --make-rprivate /
mkdir -p "$disk/written" "$disk/work" "$disk/root"
mount -t overlay overlay -o "volatile,lowerdir=$image,upperdir=$disk/written,workdir=$disk/work" "$disk/root"
cd "$disk/root"
mount -t proc proc proc
mount -t tmpfs -o mode=1777 tmpfs tmp
cp /etc/hosts /etc/resolv.conf etc/
exec chroot . env -i -C /prefix/drive_c PATH=/usr/bin:/bin HOME=/root WINEPREFIX=/prefix WINEDEBUG=-all bash -c '/usr/lib/wine/wine64 cmd >/dev/null 2>&1; exit'
