# One row of classes.py: up to three flows over side link - bottleneck - side link, perhaps with listed losses.
# usage: ns classes.tcl key=value ...      every key of classes.py's columns, and drops=FILE
foreach argument $argv { regexp {^([a-z_0-9]+)=(.*)$} $argument -> key value; set P($key) $value }

remove-all-packet-headers
add-packet-header Common IP TCP Flags UDP RTP
set sim [new Simulator]
Simulator instproc nodes-in-reset-order {} { $self instvar Node_; return [array names Node_] }
Agent/TCP set window_ $P(window)
Agent/TCP set packetSize_ $P(packet)
Agent/TCP set windowInit_ $P(iw)
Agent/TCP set maxburst_ $P(maxburst)
Agent/TCP set minrto_ $P(minrto)
Agent/TCP set tcpTick_ $P(tick)
Agent/TCP set singledup_ $P(singledup)
Agent/TCPSink/DelAck set interval_ $P(delack_s)
Agent/TCPSink/Sack1/DelAck set interval_ $P(delack_s)

proc one-way {from to kbps delay queue} {
    global sim
    $sim simplex-link $from $to ${kbps}kb $delay DropTail
    $sim queue-limit $from $to $queue
}
proc both-ways {a b kbps delay} {
    one-way $a $b $kbps $delay 1000000
    one-way $b $a $kbps $delay 1000000
}

set left [$sim node]
set right [$sim node]
set delay [expr {$P(delay_us) / 1e6}]
one-way $left $right $P(rate_kbps) $delay $P(buffer)
one-way $right $left $P(return_kbps) $delay $P(return_buffer)

foreach name {agents nears fars starts sizes} { set L($name) [split $P($name) ";"] }
set flows [llength $L(agents)]
for {set id 0} {$id < $flows} {incr id} {
    set a [$sim node]
    set b [$sim node]
    both-ways $a $left $P(side_kbps) [expr {[lindex $L(nears) $id] / 1e9}]
    both-ways $right $b $P(side_kbps) [expr {[lindex $L(fars) $id] / 1e9}]
    set agent [lindex $L(agents) $id]
    if {$agent eq "Tahoe"} {
        set tcp($id) [new Agent/TCP]
    } else {
        set tcp($id) [new Agent/TCP/[lindex [split $agent -] 0]]
    }
    if {$agent eq "Newreno-steady"} { $tcp($id) set newreno_changes1_ 0 }
    $tcp($id) set fid_ $id
    set kind [expr {$agent eq "Sack1" ? "/Sack1" : ""}][expr {$P(delack) ? "/DelAck" : ""}]
    set sink($id) [new Agent/TCPSink$kind]
    $sim attach-agent $a $tcp($id)
    $sim attach-agent $b $sink($id)
    $sim connect $tcp($id) $sink($id)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($id)
    set start [lindex $L(starts) $id]
    $sim at $start "$tcp($id) set ssthresh_ [expr {$P(ssthresh) ne "" ? $P(ssthresh) : 1000000}]"
    set size [lindex $L(sizes) $id]
    if {$size eq "-"} { $sim at $start "$ftp start" } else { $sim at $start "$tcp($id) advanceby $size" }
    set node([$a id]) $id
    set done($id) "-"
    $tcp($id) proc done {} "global sim done; set done($id) \[\$sim now\]"
}

# Everything that the bottleneck's queue drops, or a list loses.
set file [open $P(drops) w]
set head [[$sim link $left $right] set drophead_]
set trace [$sim create-trace Drop $file $left $right]
$trace target [$head target]
$head target $trace
foreach {name from to} [list loss $left $right ackloss $right $left] {
    if {$P($name) eq ""} continue
    set errors [new ErrorModel/List]
    $errors droplist [split $P($name) ";"]
    $sim lossmodel $errors $from $to
    $errors drop-target [$sim create-trace Drop $file $from $to]
}

# The SYN has a header only, and bytes_ counts headers.
proc packets {bytes} {
    global P
    return [expr {$bytes > 40 ? ($bytes - 40) / ($P(packet) + 40) : 0}]
}
proc finish {} {
    global sim tcp sink done file phases flows
    close $file
    for {set i 0} {$i < $flows} {incr i} {
        puts "FLOW received=[packets [$sink($i) set bytes_]] done=$done($i) timeouts=[$tcp($i) set nrexmit_] phase=$phases($i)"
    }
    exit 0
}
$sim at $P(duration) finish

# Agents draw the phases of their clocks when they are reset: the same draws once before, to know them.
ns-random $P(clock_seed)
foreach id [$sim nodes-in-reset-order] {
    if {[info exists node($id)]} { set phases($node($id)) [$defaultRNG uniform 0 $P(tick)] }
}
ns-random $P(clock_seed)
$sim run
