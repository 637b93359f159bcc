# shellcheck shell=sh
# What the steps of every boot begin with. The other side reads the serial console.

export PATH=/usr/bin:/bin:/applets RUST_BACKTRACE=0

# say NAME COMMAND...: what the command says, and its exit code.
say() {
	name=$1
	shift
	printf '\n<<< %s\n' "$name"
	"$@" 2>&1
	printf '\n>>> %s\n' $?
}

# What a service manager would have mounted.
mount_all() {
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mount -t tmpfs tmpfs /run
	mount -t tmpfs tmpfs /tmp
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	dmesg -n 1
	for module in /modules/*.ko; do insmod "$module"; done
	ip link set lo up
}

control() {
	cat /proc/sys/net/ipv4/tcp_congestion_control
}

boot() {
	cat /proc/sys/kernel/random/boot_id
}

# Pins, and records with their drafts. The lock's file stays.
left() {
	find /sys/fs/bpf/ramp /run/ramp /var/lib/ramp ! -type d ! -name lock 2>/dev/null
	true
}

fetch() {
	wget -q -O /dev/null "http://127.0.0.1:$1/$2"
}

metrics() {
	wget -q -O - http://127.0.0.1:9641/metrics
}

# retry COMMAND...: until it succeeds.
retry() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 60 ] || return 1
		sleep 1
	done
}

# Nothing is written back or told to anybody.
cut_power() {
	echo b >/proc/sysrq-trigger
	sleep 60
}
