# One bulk SACK flow over side link, bottleneck, side link: the baseline of `make bench`.
# usage: ns bulk.tcl RATE RTT_MS SECONDS QUEUE_PACKETS SSTHRESH_PACKETS
# prints: data packets sent, retransmissions, packets acknowledged
remove-all-packet-headers
add-packet-header Common IP TCP Flags

lassign $argv rate rtt_ms seconds queue ssthresh
set sim [new Simulator]
foreach name {sender left right receiver} { set $name [$sim node] }

# 0.1 ms on each side link and the rest of the round trip on the bottleneck
set bottleneck_ms [expr {$rtt_ms / 2.0 - 0.2}]
$sim duplex-link $sender $left 1000Mb 0.1ms DropTail
$sim duplex-link $left $right $rate ${bottleneck_ms}ms DropTail
$sim duplex-link $right $receiver 1000Mb 0.1ms DropTail
foreach {from to} [list $sender $left $left $sender $right $left $right $receiver $receiver $right] {
    $sim queue-limit $from $to 1000000
}
$sim queue-limit $left $right $queue

set tcp [new Agent/TCP/Sack1]
$tcp set window_ 1000000
$tcp set packetSize_ 1000
$tcp set windowInit_ 2
set sink [new Agent/TCPSink/Sack1]
$sim attach-agent $sender $tcp
$sim attach-agent $receiver $sink
$sim connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp

# `run` resets every agent, so the threshold is set when the flow starts
$sim at 0.0 "$tcp set ssthresh_ $ssthresh; $ftp start"
$sim at $seconds {
    puts "[$tcp set ndatapack_] [$tcp set nrexmitpack_] [$tcp set ack_]"
    exit 0
}
$sim run
