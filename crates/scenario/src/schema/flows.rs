//! Tables of flows, traffic, senders and receivers.

use rampcc::Time;
use rampcc_tcp::{Avoidance, Pacing, Recovery};

use crate::field::Default::{At, Count, Flag, Name, Number, Receiver, Required, Sender, Words};
use crate::field::{
    DAY, Entry, FLAG, RATE, TEXT, TIME, US, bytes, count, entries, number, one_of, packets, table, time,
    words,
};
use crate::names::{Acks, SizeKind, System, kinds, name};

/// Most web sessions at the same time.
pub(crate) const SESSIONS_MAX: u64 = 100_000;
/// Most listed flows in all.
pub(crate) const FLOWS_MAX: u64 = 200_000;

kinds! { TrafficTag {
    Cbr = "cbr": TRAFFIC_CBR,
    Poisson = "poisson": TRAFFIC_POISSON,
    Web = "web": TRAFFIC_WEB,
    Listed = "listed": TRAFFIC_LISTED,
} }

static TRAFFIC: &[Entry] = entries! {
    "name": TEXT => Words("the kind"), "For tables.";
    "from": words("node, pattern with `*`, or list") => Words("all senders"), "Where flows begin; each takes a pair at random.";
    "to": words("node, pattern with `*`, or list") => Words("all receivers"), "Where flows end.";
    "both-ways": FLAG => Flag(false), "Pairs are used in both directions.";
    "start": TIME => At(Time::ZERO), "From when.";
    "end": TIME => Words("the end of the run"), "Until when.";
};

/// What traffic over TCP has.
static TCP: &[Entry] = entries! {
    "rtt": words("table") => Words("the path's"), "Round-trip times that are drawn.";
    "under-test": words("probability, true or false") => Words("0"), "Share of flows that the compared algorithm steers.";
    "algorithm": words("an algorithm's id") => Words("slow_start"), "What steers the others.";
    "congestion-control": one_of::<Avoidance>() => Words("as `[sender]`"), "After start-up.";
    "sender": words("table") => Words("as `[sender]`"), "Fields of `[sender]` that differ.";
    "receiver": words("table") => Words("as `[receiver]`"), "Fields of `[receiver]` that differ.";
};

table! { FLOW: "[[flow]]", "TCP flows, one by one.";
    "name": TEXT => Words("flow-1, …"), "For tables and charts.";
    "size": words("bytes or \"bulk\"") => Words("bulk"), "What it sends; bulk: until the run ends.";
    "chunks": words("table") => Words("none"), "An application that writes now and then, instead of `size`.";
    "responses": words("table") => Words("none"), "An application that answers requests, the first perhaps after a TLS handshake, instead of `size`.";
    "start": TIME => At(Time::ZERO), "When it opens.";
    "start-jitter": TIME => At(Time::ZERO), "The start is moved by up to this much, by the seed.";
    "algorithm": words("an algorithm's id") => Words("under test"), "What steers its start-up; without it, the compared algorithm does.";
    "congestion-control": one_of::<Avoidance>() => Words("as `[sender]`"), "After start-up.";
    "from": words("node") => Words("the first sender; in a graph, where the first link begins"), "Where it begins; flows with `count` take nodes in turn if `*` stands for several.";
    "to": words("node") => Words("the first receiver; in a graph, where the last link ends"), "Where it ends; as `from`.";
    "count": count(1, FLOWS_MAX) => Count(1), "So many equal flows.";
    "sampled": FLAG => Flag(true), "Whether its state is recorded.";
    "sender": words("table") => Words("as `[sender]`"), "Fields of `[sender]` that differ.";
    "receiver": words("table") => Words("as `[receiver]`"), "Fields of `[receiver]` that differ.";
}

table! { CHUNKS: "chunks = { … }", "An application-limited flow.";
    "size": bytes(1, u64::MAX) => Required, "Written at once.";
    "interval": time(US, DAY) => Required, "Between writes.";
    "count": count(0, 4_294_967_295) => Count(0), "Writes; 0: until the run ends.";
}

table! { RESPONSES: "responses = { … }", "Responses over one connection. Each is written when the next request has come: `think` after everything before it has been acknowledged.";
    "size": bytes(1, u64::MAX) => Required, "Of a response, written at once.";
    "count": count(0, 4_294_967_295) => Count(1), "Responses; 0: until the run ends.";
    "think": TIME => At(Time::ZERO), "From the request to the response.";
    "first-flight": bytes(0, u64::MAX) => Count(0), "Written before the first of them, as a TLS server's certificates are: 3 to 5 kB.";
}

table! { TRAFFIC_CBR: "[[traffic]] kind = \"cbr\"", "Packets at a constant rate without feedback, like UDP; a burst if `start` and `end` are near.", last TRAFFIC;
    "kind": words("cbr") => Required, "Which one.";
    "rate": RATE => Required, "Wire rate.";
    "packet": bytes(40, 64 << 10) => Count(1000), "Wire size of each packet.";
}

table! { TRAFFIC_POISSON: "[[traffic]] kind = \"poisson\"", "TCP flows with exponential times between arrivals.", last TRAFFIC, last TCP;
    "kind": words("poisson") => Required, "Which one.";
    "flows-per-second": number(1e-6, 1e6) => Required, "Arrivals over all pairs.";
    "size": words("bytes or table") => Required, "Size of a flow; a plain size is the mean of an exponential distribution.";
    "flows": count(0, 4_294_967_295) => Count(0), "At most so many flows; 0: no limit.";
}

table! { TRAFFIC_WEB: "[[traffic]] kind = \"web\"", "Web sessions: pages of several objects one after the other, then time to think.", last TRAFFIC, last TCP;
    "kind": words("web") => Required, "Which one.";
    "sessions": count(1, SESSIONS_MAX) => Count(10), "Sessions at the same time, which never end.";
    "load": RATE => Words("none"), "Instead of `sessions`: payload that sessions ask for on average, over all pairs, from the start on and whatever the network does. They begin at random, and end after `pages`.";
    "pages": count(1, 10_000) => Count(5), "Pages of a session, for `load` alone.";
    "size": words("bytes or table") => Words("Pareto, mean 12 kB, shape 1.2; with `load` at most 1 MB"), "Size of an object. With `load`, a Pareto distribution needs a largest size, as a mean that no run shows is no load.";
    "objects": count(1, 10_000) => Count(5), "Objects per page.";
    "think": TIME => At(Time::from_secs(1)), "Mean of the exponential time between pages.";
}

table! { RTT: "rtt = { … }", "Lognormal round-trip times in `[[traffic]]`, one for each flow, or for all of a web page. Packets wait at the sender for what the links of the path lack to it; a round trip below theirs is theirs.";
    "median": time(US, DAY) => Required, "Median.";
    "sigma": number(0.0, 5.0) => Number(0.7), "Standard deviation of the logarithm.";
    "min": TIME => At(Time::ZERO), "What is drawn below counts as this.";
    "max": time(US, DAY) => Words("none"), "What is drawn above counts as this.";
}

table! { TRAFFIC_LISTED: "[[traffic]] kind = \"listed\"", "Flows as listed in a file: `start_s,bytes` or `start_s,bytes,from,to` per line.", last TRAFFIC, last TCP;
    "kind": words("listed") => Required, "Which one.";
    "file": words("CSV file") => Required, "Relative to the scenario file; `.gz` is understood, `#` begins a comment.";
}

table! { SIZE: "size = { … }", "A distribution of sizes in `[[traffic]]`.";
    "kind": one_of::<SizeKind>() => Name("exponential"), "Distribution.";
    "mean": words("bytes, or packets of the sender's segment size") => Required, "Mean.";
    "shape": number(1.01, 100.0) => Number(1.2), "Tail index, for pareto alone.";
    "max": words("as `mean`") => Words("none"), "Largest size, above the mean, which stays; for pareto alone.";
}

table! { SENDER: "[sender]", "How senders behave. Defaults by `profile`: modern / era / ns2, which is as era where it has none of its own.";
    "mss": bytes(1, 65_535) => Sender(|c| Count(c.mss_bytes.into())), "Payload of a full segment.";
    "headers": bytes(0, 1000) => Sender(|c| Count(c.header_bytes.into())), "Headers of every data packet, down to what links count.";
    "initial-window": packets(1, 10_000) => Sender(|c| Count(c.initial_window_packets.into())), "Window before the first ACK.";
    "initial-ssthresh": words("packets or \"none\"") => Words("none"), "Slow-start threshold at the start.";
    "ecn": FLAG => Sender(|c| Flag(c.ecn)), "Explicit congestion notification (RFC 3168): queues with `ecn` mark its data, and a mark costs what a loss costs.";
    "abc-limit": packets(0, 1000) => Sender(|c| Count(c.abc_limit_packets.into())), "Growth per ACK in slow start (RFC 3465 L); 0: no limit, 1: packet counting.";
    "congestion-control": one_of::<Avoidance>() => Sender(|c| Name(name(c.avoidance))), "After start-up.";
    "recovery": one_of::<Recovery>() => Sender(|c| Name(name(c.recovery))), "How losses are found and repaired: RFC 6675; as Linux 2.4 to 3.1, with FACK and rate halving; as 2.6.15 to 2.6.23 of these, which find a retransmission that is lost again only if their search for SACK blocks passes it by; ns-2's Sack1; its Newreno, whose timer restarts on the first partial ACK of a repair alone (RFC 6582's impatient variant) or on every one (slow but steady), or that keeps the flywheel turning in fast recovery, with a new segment for every second duplicate ACK (`newreno_changes_`); its Tahoe, without fast recovery.";
    "prr": FLAG => Sender(|c| Flag(c.prr)), "Proportional rate reduction (RFC 9937).";
    "rack-tlp": FLAG => Sender(|c| Flag(c.rack_tlp)), "RACK-TLP (RFC 8985).";
    "limited-transmit": FLAG => Sender(|c| Flag(c.limited_transmit)), "RFC 3042.";
    "undo": FLAG => Sender(|c| Flag(c.undo)), "Undo reductions that time stamps or DSACK show to be spurious.";
    "frto": FLAG => Sender(|c| Flag(c.frto)), "Undo timeouts after which ACKs tell of data that were not sent again (F-RTO, RFC 5682).";
    "rto-initial": time(US, DAY) => Sender(|c| At(c.rto.initial)), "Retransmission timer before the first RTT sample.";
    "rto-min": time(US, DAY) => Sender(|c| At(c.rto.min)), "Its lower bound.";
    "rto-max": time(US, DAY) => Sender(|c| At(c.rto.max)), "Its upper bound.";
    "rto-tick": time(Time::ZERO, DAY) => Sender(|c| At(c.rto.tick)), "Its clock's resolution; 0: exact.";
    "rto-count-ticks": FLAG => Sender(|c| Flag(c.rto.count_ticks)), "ns-2: ticks are counted that begin while a segment is under way, one at a time; estimates are whole ticks.";
    "rto-min-of-variance": FLAG => Sender(|c| Flag(c.rto.min_of_variance)), "Linux: the bound holds for the variance term.";
    "pacing": one_of::<Pacing>() => Sender(|c| Name(name(c.pacing))), "Only when the start-up algorithm sets a rate, or always, as Linux with fq.";
    "max-burst": packets(0, 1_000_000) => Sender(|c| Count(c.max_burst_packets.into())), "New segments per ACK; 0: no limit.";
    "send-buffer": words("bytes or \"unlimited\"") => Words("unlimited"), "Unacknowledged data never exceeds it.";
    "send-buffer-max": bytes(0, u64::MAX) => Sender(|c| Count(c.send_buffer_max_bytes)), "The send buffer grows with the window up to this; 0: fixed.";
    "idle-restart": FLAG => Sender(|c| Flag(c.idle_restart)), "Restart from the initial window after an idle timeout.";
    "handshake": FLAG => Sender(|c| Flag(c.handshake)), "SYN exchange before the first data.";
    "cubic-beta": number(0.1, 1.0) => Sender(|c| Number((f64::from(c.cubic_beta_1024) / 10.24).round() / 100.0)), "CUBIC's multiplicative decrease.";
    "cubic-of-2007": FLAG => Sender(|c| Flag(c.cubic_of_2007)), "CUBIC as in Linux 2.6.23: it grows by 2 % a round trip before the first loss, by at most 16 packets in 100 ms beyond the window of the last one, and decreases to 0.8 unless `cubic-beta` says otherwise.";
    "vegas-alpha": packets(0, 100_000) => Sender(|c| Count(c.vegas.alpha_packets.into())), "Vegas grows while fewer packets are queued.";
    "vegas-beta": packets(0, 100_000) => Sender(|c| Count(c.vegas.beta_packets.into())), "Vegas shrinks while more packets are queued.";
    "vegas-mean-rtt": FLAG => Sender(|c| Flag(c.vegas.mean_rtt)), "Vegas decides by a round's mean RTT (ns-2) instead of its smallest (Linux).";
    "extra-startup-rounds": count(0, 100) => Sender(|c| Count(c.extra_startup_rounds.into())), "What if: grow for so many rounds after the algorithm wanted to leave.";
}

table! { RECEIVER: "[receiver]", "How receivers behave. Defaults by `profile`: modern / era / ns2, which is as era where it has none of its own.";
    "system": one_of::<System>() => Words("none"), "Linux: 16 ACKs at once, then one for 2 segments or 40 ms, SACKs gathered as since 4.18. FreeBSD 7: one for 2 segments or 100 ms, and for what a burst leaves over. Windows XP: one for 2 segments or 200 ms, SACK suppressed from 100 out-of-order segments on. Other fields come on top.";
    "acks": one_of::<Acks>() => Receiver(|c| Name(name(Acks::of(c.ack_policy)))), "Every segment; every `ack-every`-th; `quick-acks` at once, and all while the window grows, then every second; or every second, as FreeBSD 7, whose application sends an ACK as well where its reading moves the window by two segments.";
    "ack-every": count(1, 1000) => Count(2), "Segments per ACK, for `delayed`.";
    "ack-timer": TIME => At(Time::from_ms(40)), "Longest wait before an ACK, for `delayed`, `linux` and `freebsd`.";
    "quick-acks": count(0, 1_000_000) => Count(16), "For `linux`.";
    "sack-blocks": count(0, 4) => Receiver(|c| Count(c.sack_blocks.into())), "Most SACK blocks per ACK; 0: no SACK.";
    "sack-suppression": packets(0, 1_000_000) => Receiver(|c| Count(c.sack_suppression_segments.into())), "From so many out-of-order segments on, no SACK and no reassembly (Windows XP); 0: never.";
    "gathers-sacks": FLAG => Receiver(|c| Flag(c.gathers_sacks)), "For `linux`: behind a gap, one ACK for up to a millisecond's segments, as Linux since 4.18; otherwise one for each.";
    "window": words("bytes, \"autotuned\" or \"unlimited\"") => Words("unlimited"), "What it advertises; a `modern` receiver's SYN-ACK 65 535 bytes of it at most, as TCP's can.";
    "window-initial": bytes(1, u64::MAX) => Count(64 << 10), "First window, for `autotuned`.";
    "window-max": bytes(1, u64::MAX) => Count(6 << 20), "Largest window, for `autotuned`.";
    "ack-size": bytes(1, 1000) => Receiver(|c| Count(c.ack_bytes.into())), "An ACK on the wire.";
    "sack-block-size": bytes(0, 100) => Receiver(|c| Count(c.sack_block_bytes.into())), "And every SACK block on it.";
    "timestamps": words("\"off\", or a time from 1 us to 1 s") => Receiver(|c| if c.timestamp_tick == Time::ZERO { Words("off") } else { At(c.timestamp_tick) }), "How often the receiver's clock ticks that its SYN-ACKs and ACKs show (TSval, RFC 7323), for algorithms that read it; an ACK with four SACK blocks has no room for it. Off, unless written, where `ack-size` is below the 52 bytes of headers that hold it.";
    "ns2-sink": FLAG => Receiver(|c| Flag(c.ns2_sink)), "ns-2's sink does not know the end of the data, reports no duplicates and may delay their ACKs.";
}
