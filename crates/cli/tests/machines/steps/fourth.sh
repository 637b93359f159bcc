# shellcheck shell=sh source=/dev/null
# The boot after that, at which the units have attached by themselves; then they are removed by the guide's commands.
. /steps/say.sh
cd /usr/src/ramp || exit
ip link set lo up

say boot boot
say active systemctl is-active ramp-attach@best ramp-export
say status ramp status --json
say attached-control control
say listens retry metrics
say metrics metrics
say remove sh -eu /steps/remove.sh
say removed-control control
say removed-status ramp status --json
say removed-left left
say removed-files find /etc/systemd /usr/lib /run /sys/fs/bpf -path /run/systemd -prune -o -name "*ramp*" -print
say removed-units systemctl --no-legend --no-pager list-unit-files "ramp*"
poweroff -f
