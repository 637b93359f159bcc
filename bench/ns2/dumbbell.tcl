# Paced Start §5.2: 102 sources and 102 sinks on each side of one 20 Mbit/s link: the baseline of `make bench`.
# usage: ns dumbbell.tcl FLOWS_CSV          (id,start_s,src_router,src_idx,dst_router,dst_idx,size_pkts)
# prints: flows finished, data packets sent, retransmissions
# Packets carry ns-2's default headers; nearly all of the time goes into making nodes and agents either way.

set sim [new Simulator]
set router(0) [$sim node]
set router(1) [$sim node]
$sim duplex-link $router(0) $router(1) 20Mb 20ms DropTail
$sim queue-limit $router(0) $router(1) 100
$sim queue-limit $router(1) $router(0) 100
foreach side {0 1} {
    foreach role {source sink} {
        for {set i 0} {$i < 102} {incr i} {
            set host [$sim node]
            $sim duplex-link $host $router($side) 50Mb 0ms DropTail
            $sim queue-limit $host $router($side) 1000000
            $sim queue-limit $router($side) $host 1000000
            set node($role,$side,$i) $host
        }
    }
}

set flows 0
set finished 0
set file [open [lindex $argv 0]]
gets $file
while {[gets $file line] >= 0} {
    lassign [split $line ,] id start from_side from to_side to size
    set tcp [new Agent/TCP/Sack1]
    $tcp set window_ 20000
    $tcp set packetSize_ 1000
    $tcp set windowInit_ 2
    set sink [new Agent/TCPSink/Sack1]
    $sim attach-agent $node(source,$from_side,$from) $tcp
    $sim attach-agent $node(sink,$to_side,$to) $sink
    $sim connect $tcp $sink
    $tcp proc done {} { incr ::finished; if {$::finished == $::flows} report }
    $sim at $start "$tcp advanceby $size"
    lappend senders $tcp
    incr flows
    set last $start
}
proc report {} {
    set sent 0
    set again 0
    foreach tcp $::senders { incr sent [$tcp set ndatapack_]; incr again [$tcp set nrexmitpack_] }
    puts "$::finished $sent $again"
    exit 0
}
$sim at [expr {$last + 120}] report
$sim run
