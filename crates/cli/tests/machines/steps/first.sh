#!/bin/sh
# The first boot: commands, kills, a clock that jumps, and no power in the end.
# shellcheck source=/dev/null
. /steps/say.sh
# Whoever made the disk need not have been root.
chown -R 0:0 /
mount_all

say release uname -r
say doctor ramp doctor --json
say control control
httpd -p 127.0.0.1:80 -h /served

# kill_at STEP SECONDS COMMAND...: kills the command when it has said that it takes this step.
kill_at() {
	step=$1 after=$2
	shift 2
	rm -f /run/steps
	mkfifo /run/steps
	# Behind whoever kills it.
	# shellcheck disable=SC2016
	sh -c 'renice -n 19 -p $$; exec "$@"' sh "$@" -v >/dev/null 2>/run/steps &
	victim=$!
	while read -r line; do
		if [ "$line" = "- $step" ]; then
			[ "$after" = 0 ] || sleep "$after"
			kill -9 $victim
			break
		fi
	done </run/steps
	wait $victim
}

# killed NAME STEP SECONDS COMMAND...
killed() {
	what=$1
	shift
	say "killed-$what" kill_at "$@"
	say "killed-$what-control" control
	say "killed-$what-fetch" fetch 80 file
	say "killed-$what-status" ramp status --json
}

undone() {
	say "undone-$1" ramp detach
	say "undone-$1-control" control
	say "undone-$1-left" left
	say "undone-$1-status" ramp status --json
}

say attach ramp attach slow_start --yes
say pins find /sys/fs/bpf/ramp
say attached-control control
say attached-fetch fetch 80 file
say attached ramp status --json
say replace ramp attach hystart --yes
say replaced-control control
say replaced-fetch fetch 80 file
say replaced ramp status --json
killed detaching "put back what was before" 0 ramp detach
undone detaching

killed pinning "make the directory of the pins" 0 ramp attach slow_start --yes
undone pinning
# The one on which the verifier works longest.
killed loading "load the algorithm" 1 ramp attach best --yes
undone loading
# Here the next attachment recovers.
killed verifying "verify that it is in force" 0 ramp attach slow_start --yes
say recovered ramp attach slow_start --yes
killed replacing "put it in force" 0 ramp attach hystart --yes
undone replacing

# A path on which start-ups end: its queue counts single packets, and a file is many times what it holds. busybox would
# take its own ip and tc.
/usr/bin/ip link set lo mtu 1500 gso_max_segs 1
/usr/bin/tc qdisc add dev lo root netem delay 5ms rate 20mbit limit 40
mkdir /sys/fs/cgroup/shop
# shellcheck disable=SC2016
sh -c 'echo $$ >/sys/fs/cgroup/shop/cgroup.procs; exec httpd -f -p 127.0.0.1:81 -h /served' &
# The kernel's own congestion control, seen from outside, by a process that is killed.
ramp watch --all --json >/run/all 2>/run/all.said &
all=$!
seen() { fetch 81 file; grep -q '"exit"' /run/all; }
say all-seen retry seen
say all-table ramp watch --all --once --json
kill -9 $all
wait $all
say all cat /run/all /run/all.said
say all-left left
say clock-attach ramp attach best --yes
ramp export --listen 127.0.0.1:9641 >/run/export 2>&1 &
exporter=$!
ramp watch --json >/run/watch 2>&1 &
watcher=$!
ramp trial hystart --cgroup /sys/fs/cgroup/shop --for 20s --block 5s --drain 5s --alpha 0.1 --json >/run/trial 2>/run/trial.said &
trial=$!
begun() { grep -q trying /run/trial.said; }
say trial-begun retry begun

# look NAME: what the commands say by the clock as it is now.
look() {
	for file in 1 2 3; do
		say "$1-shop-$file" fetch 81 file
		say "$1-fetch-$file" fetch 80 file
	done
	say "$1-now" date +%s
	say "$1-status" ramp status --json
	say "$1-text" ramp status
	say "$1-watch" ramp watch --once --json
	say "$1-metrics" metrics
}
look set
say ahead date -u -s "2027-06-01 12:00:00"
look ahead
say back date -u -s "2017-06-01 12:00:00"
look back

say trial-ended wait $trial
say trial cat /run/trial
say trial-said cat /run/trial.said
kill -TERM $watcher $exporter
wait $watcher $exporter
say watch cat /run/watch
say clock-detach ramp detach
say clock-control control
say clock-left left
/usr/bin/tc qdisc del dev lo root

# An attachment inside another: each counts what it gives, and the outer one what it leaves to the inner one.
outer=/sys/fs/cgroup/outer
mkdir $outer $outer/inner
# within PORT GROUP: a server in it.
within() {
	# shellcheck disable=SC2016
	sh -c 'echo $$ >"$1/cgroup.procs"; exec httpd -f -p "127.0.0.1:$0" -h /served' "$1" "$2" &
}
within 82 $outer
within 83 $outer/inner
say nested-outer ramp attach hystart --yes --scope cgroup $outer
say nested-inner ramp attach slow_start --yes --scope cgroup $outer/inner
say nested-fetch-1 retry fetch 82 file
say nested-fetch-2 retry fetch 83 file
say nested-fetch-3 fetch 83 file
say nested ramp status --json
say nested-detach ramp detach --scope cgroup $outer/inner
say nested-fetch-4 fetch 83 file
say unnested ramp status --json
say unnested-detach ramp detach
say unnested-control control
say unnested-left left

# Records there survive a power cut, as those in /run do not.
say power-attach ramp attach slow_start --yes --records /var/lib/ramp
say power-status ramp status --json --records /var/lib/ramp
say power-boot boot
cut_power
