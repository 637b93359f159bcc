#!/bin/sh
# The boot after the power cut, on a machine that does not know the time at first.
# shellcheck source=/dev/null
. /steps/say.sh
# The records that have survived it.
kept=/var/lib/ramp
mount_all
date -u -s @40 >/dev/null
echo reno >/proc/sys/net/ipv4/tcp_congestion_control

say boot boot
say control control
say status ramp status --json --records "$kept"
say text ramp status --records "$kept"
say metrics ramp export --records "$kept"
say kept cp -r "$kept" /run/copy

say detach ramp detach --records "$kept"
say detached-control control
say detached-left left
say detached ramp status --json --records "$kept"

cp /run/copy/*.json "$kept"
say attach ramp attach hystart --yes --records "$kept"
say attached-control control
say attached ramp status --json --records "$kept"
# By now it has learned it.
date -u -s "2026-06-02 00:00:00" >/dev/null
say learned-now date +%s
say learned ramp status --json --records "$kept"
say learned-detach ramp detach --records "$kept"
say learned-control control
say learned-left left

# A disk that has lost the record's end.
for file in /run/copy/*.json; do
	head -c 100 "$file" >"$kept/${file##*/}"
done
say torn ramp status --json --records "$kept"
say torn-detach ramp detach --records "$kept"
say torn-control control
say torn-left left
poweroff -f
