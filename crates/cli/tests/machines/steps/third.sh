# shellcheck shell=sh source=/dev/null
# The units installed by the guide's commands, killed, restarted, and no power in the end.
. /steps/say.sh
cd /usr/src/ramp || exit
ip link set lo up

say control control
say install sh -eu /steps/install.sh
say active systemctl is-active ramp-attach@best ramp-export
say status ramp status --json
say attached-control control
say listens retry metrics
say metrics metrics

say crash-export systemctl kill -s KILL ramp-export
say crash-export-listens retry metrics
say crash-export-metrics metrics

say restart systemctl restart --no-block ramp-attach@best
attaching() { ramp status --json | grep -q interrupted; }
say crash-attaching retry attaching
say crash systemctl kill -s KILL ramp-attach@best
failed() { systemctl is-failed ramp-attach@best; }
say crash-failed retry failed
say crash-status ramp status --json
say crash-control control
say start systemctl start ramp-attach@best
say started ramp status --json
say boot boot
# An administrator's files have long been on the disk.
sync
cut_power
