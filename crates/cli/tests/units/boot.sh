#!/bin/sh
# Starts this machine's systemd on this machine's files, in namespaces of its own: processes, mounts, network, control
# groups. What it writes stays in memory. The kernel is the real one; of its settings only the network's can be written.
# Usage: boot.sh SCRATCH [RAMP PACKAGING] (an empty directory, the command, the directory of its units). BASE names another root.
set -e
scratch=$1 ramp=${2:-} packaging=${3:-} base=${BASE:-/}
# Whoever reads it sees the process as this machine does; `exec` keeps it.
read -r init _ </proc/self/stat
mount --make-rprivate /
mount -t tmpfs tmpfs "$scratch"
mkdir "$scratch/upper" "$scratch/work" "$scratch/root"
mount -t overlay -o "lowerdir=$base,upperdir=$scratch/upper,workdir=$scratch/work" overlay "$scratch/root"
root=$scratch/root
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount --bind "$root/proc/sys/net" "$root/proc/sys/net"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t bpf -o mode=0700 bpf "$root/sys/fs/bpf"
mount -t tmpfs -o mode=0755 tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
	touch "$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
# None of this machine's services, and nothing that looks after its hardware.
rm -rf "$root/etc/systemd/system" "$root/etc/ramp"
mkdir -p "$root/etc/systemd/system"
for unit in dev-hugepages.mount dev-mqueue.mount sys-fs-fuse-connections.mount sys-kernel-config.mount \
	sys-kernel-debug.mount sys-kernel-tracing.mount systemd-logind.service systemd-modules-load.service \
	systemd-pstore.service systemd-remount-fs.service systemd-sysctl.service systemd-udevd.service \
	systemd-update-utmp.service; do
	ln -s /dev/null "$root/etc/systemd/system/$unit"
done
if [ -n "$ramp" ]; then
	cp "$ramp" "$root/usr/bin/ramp"
	# systemd empties /tmp, where the repository may be.
	mkdir -p "$root/usr/src/ramp" "$root/etc/ramp"
	cp -r "$packaging" "$root/usr/src/ramp/packaging"
fi
ip link set lo up
cd "$root"
mkdir -p "$root/old"
pivot_root . old
echo "$init"
umount -l /old
exec env -i container=ramp PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=basic.target \
	--log-target=journal --show-status=no
