# One row of draw.py: flow 0, and perhaps something beside it, over side link - bottleneck - side link.
# usage: ns row.tcl key=value ...      every key of draw.py's columns, and drops=FILE
foreach argument $argv { regexp {^([a-z_]+)=(.*)$} $argument -> key value; set P($key) $value }

remove-all-packet-headers
add-packet-header Common IP TCP Flags UDP RTP
set sim [new Simulator]
Simulator instproc nodes-in-reset-order {} { $self instvar Node_; return [array names Node_] }
Agent/TCP set window_ 1000000
Agent/TCP set packetSize_ $P(packet)
Agent/TCP set windowInit_ $P(iw)
Agent/TCP set maxburst_ $P(maxburst)
if {$P(agent) eq "Newreno-steady"} { Agent/TCP/Newreno set newreno_changes1_ 0 }

set left [$sim node]
set right [$sim node]
proc join-nodes {a b kbps ns forth back} {
    global sim
    $sim duplex-link $a $b ${kbps}kb [expr {$ns / 1e9}] DropTail
    $sim queue-limit $a $b $forth
    $sim queue-limit $b $a $back
}
join-nodes $left $right $P(rate_kbps) [expr {1000 * $P(delay_us)}] $P(buffer) $P(return_buffer)

# A connection from a new node beside `from` to a new node beside `to`.
proc connection {id from to near far start packets} {
    global sim P tcp sink node
    set a [$sim node]
    set b [$sim node]
    join-nodes $a $from $P(side_kbps) $near 1000000 1000000
    join-nodes $to $b $P(side_kbps) $far 1000000 1000000
    set class [lindex [split $P(agent) -] 0]
    set tcp($id) [new Agent/TCP/$class]
    $tcp($id) set fid_ $id
    set kind [expr {$class eq "Sack1" ? "/Sack1" : ""}][expr {$P(delack) ? "/DelAck" : ""}]
    set sink($id) [new Agent/TCPSink$kind]
    $sim attach-agent $a $tcp($id)
    $sim attach-agent $b $sink($id)
    $sim connect $tcp($id) $sink($id)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($id)
    # `run` resets ssthresh, so it is set at the start.
    if {$P(ssthresh) ne ""} { $sim at $start "$tcp($id) set ssthresh_ $P(ssthresh)" }
    if {$packets eq ""} { $sim at $start "$ftp start" } else { $sim at $start "$tcp($id) advanceby $packets" }
    set node([$a id]) $id
}
connection 0 $left $right $P(near_ns) $P(far_ns) $P(start) $P(packets)
set done ""
$tcp(0) proc done {} { global sim done; set done [$sim now] }

switch $P(cross) {
    flow { connection 1 $left $right $P(cross_near_ns) $P(cross_far_ns) $P(cross_start) "" }
    reverse { connection 1 $right $left $P(cross_near_ns) $P(cross_far_ns) $P(cross_start) "" }
    cbr - onoff - cbr-reverse {
        foreach {from to} [expr {$P(cross) eq "cbr-reverse" ? [list $right $left] : [list $left $right]}] {}
        set a [$sim node]
        set b [$sim node]
        join-nodes $a $from $P(side_kbps) $P(cross_near_ns) 1000000 1000000
        join-nodes $to $b $P(side_kbps) $P(cross_far_ns) 1000000 1000000
        set udp [new Agent/UDP]
        $udp set packetSize_ 1000
        $udp set fid_ 99
        $sim attach-agent $a $udp
        set null [new Agent/Null]
        $sim attach-agent $b $null
        $sim connect $udp $null
        # An own source for each time that it is on.
        foreach {on off} [split $P(cross_times) ";"] {
            set cbr [new Application/Traffic/CBR]
            $cbr set packetSize_ 1000
            $cbr set rate_ $P(cross_kbps)kb
            $cbr set random_ 0
            $cbr attach-agent $udp
            $sim at $on "$cbr start"
            if {$off ne ""} { $sim at $off "$cbr stop" }
        }
    }
}

set file [open $P(drops) w]
set head [[$sim link $left $right] set drophead_]
set trace [$sim create-trace Drop $file $left $right]
$trace target [$head target]
$head target $trace

proc finish {} {
    global sim tcp sink done file phases P
    close $file
    # What is in order at the receiver, the SYN not counted.
    set received [expr {[$sink(0) set bytes_] > 40 ? ([$sink(0) set bytes_] - [header 0]) / [header 1] : 0}]
    puts "received=$received done=$done timeouts=[$tcp(0) set nrexmit_] sent=[$tcp(0) set ndatapack_] phases=$phases"
    exit 0
}
# Bytes of a SYN or of a data packet; Vegas' agent adds no headers.
proc header {data} {
    global P
    if {$P(agent) eq "Vegas"} { return $P(packet) }
    return [expr {$data ? $P(packet) + 40 : 40}]
}
$sim at $P(duration) finish

# `run` resets the agents, each of which draws where between two ticks its clock is: the same numbers, drawn before.
ns-random $P(clock_seed)
foreach id [$sim nodes-in-reset-order] {
    if {[info exists node($id)]} { set phase($node($id)) [$defaultRNG uniform 0 0.01] }
}
set phases $phase(0)
if {[info exists phase(1)]} { append phases ";" $phase(1) }
ns-random $P(clock_seed)
$sim run
