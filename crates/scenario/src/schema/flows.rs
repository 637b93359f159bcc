//! Tables of flows, traffic, senders and receivers.

use super::{Table, field};

table!(
    FLOW,
    "[[flow]]",
    "TCP flows, one by one.",
    [
        field("name", "text", "flow-1, …", "For tables and charts."),
        field("size", "bytes or \"bulk\"", "bulk", "What it sends; bulk: until the run ends."),
        field("chunks", "table", "none", "An application that writes now and then, instead of `size`."),
        field("start", "time", "0 s", "When it opens."),
        field("start-jitter", "time", "0 s", "The start is moved by up to this much, by the seed."),
        field(
            "algorithm",
            "an algorithm's id",
            "under test",
            "What steers its start-up; without it, the compared algorithm does."
        ),
        field("congestion-control", "reno, cubic, vegas", "as `[sender]`", "After start-up."),
        field(
            "from",
            "node",
            "the first sender; in a graph, where the first link begins",
            "Where it begins; flows with `count` take nodes in turn if `*` stands for several."
        ),
        field(
            "to",
            "node",
            "the first receiver; in a graph, where the last link ends",
            "Where it ends; as `from`."
        ),
        field("count", "1 to 200000", "1", "So many equal flows."),
        field("sampled", "true, false", "true", "Whether its state is recorded."),
        field("sender", "table", "as `[sender]`", "Fields of `[sender]` that differ."),
        field("receiver", "table", "as `[receiver]`", "Fields of `[receiver]` that differ."),
    ]
);
table!(
    CHUNKS,
    "chunks = { … }",
    "An application-limited flow.",
    [
        field("size", "bytes", "required", "Written at once."),
        field("interval", "time above 0", "required", "Between writes."),
        field("count", "whole number", "0", "Writes; 0: until the run ends."),
    ]
);

/// Traffic tables share these.
macro_rules! traffic {
    ($id:ident, $kind:expr, $meaning:expr, [$($own:expr),* $(,)?]) => {
        table!($id, concat!("[[traffic]] kind = \"", $kind, "\""), $meaning, [
            field("kind", $kind, "required", ""),
            field("name", "text", "the kind", "For tables."),
            field("from", "node, pattern with `*`, or list", "all senders", "Where flows begin; each takes a pair at random."),
            field("to", "node, pattern with `*`, or list", "all receivers", "Where flows end."),
            field("both-ways", "true, false", "false", "Pairs are used in both directions."),
            field("start", "time", "0 s", "From when."),
            field("end", "time", "the end of the run", "Until when."),
            $($own,)*
        ]);
    };
}

/// TCP traffic tables share these.
macro_rules! tcp_traffic {
    ($id:ident, $kind:expr, $meaning:expr, [$($own:expr),* $(,)?]) => {
        traffic!($id, $kind, $meaning, [
            $($own,)*
            field("under-test", "probability, true or false", "0", "Share of flows that the compared algorithm steers."),
            field("algorithm", "an algorithm's id", "slow_start", "What steers the others."),
            field("congestion-control", "reno, cubic, vegas", "as `[sender]`", "After start-up."),
            field("sender", "table", "as `[sender]`", "Fields of `[sender]` that differ."),
            field("receiver", "table", "as `[receiver]`", "Fields of `[receiver]` that differ."),
        ]);
    };
}

traffic!(
    TRAFFIC_CBR,
    "cbr",
    "Packets at a constant rate without feedback, like UDP; a burst if `start` and `end` are near.",
    [
        field("rate", "rate", "required", "Wire rate."),
        field("packet", "bytes, 40 B to 64 KiB", "1000 B", "Wire size of each packet."),
    ]
);
tcp_traffic!(
    TRAFFIC_POISSON,
    "poisson",
    "TCP flows with exponential times between arrivals.",
    [
        field("flows-per-second", "number above 0, up to 1000000", "required", "Arrivals over all pairs."),
        field(
            "size",
            "bytes or table",
            "required",
            "Size of a flow; a plain size is the mean of an exponential distribution."
        ),
        field("flows", "whole number", "0", "At most so many flows; 0: no limit."),
    ]
);
tcp_traffic!(
    TRAFFIC_WEB,
    "web",
    "Web sessions: pages of several objects one after the other, then time to think.",
    [
        field("sessions", "1 to 100000", "10", "Sessions at the same time."),
        field("size", "bytes or table", "Pareto, mean 12 kB, shape 1.2", "Size of an object."),
        field("objects", "1 to 10000", "5", "Objects per page."),
        field("think", "time", "1 s", "Mean of the exponential time between pages."),
    ]
);
tcp_traffic!(
    TRAFFIC_LISTED,
    "listed",
    "Flows as listed in a file: `start_s,bytes` or `start_s,bytes,from,to` per line.",
    [field(
        "file",
        "CSV file",
        "required",
        "Relative to the scenario file; `.gz` is understood, `#` begins a comment."
    ),]
);
table!(
    SIZE,
    "size = { … }",
    "A distribution of sizes in `[[traffic]]`.",
    [
        field("kind", "constant, exponential, pareto", "exponential", "Distribution."),
        field("mean", "bytes, or packets of the sender's segment size", "required", "Mean."),
        field("shape", "number above 1, up to 100", "1.2", "Tail index, for pareto alone."),
    ]
);

table!(
    SENDER,
    "[sender]",
    "How senders behave. Defaults by `profile`: modern / era / ns2, which is as era where it has none of its own.",
    [
        field("mss", "bytes, 1 B to 65535 B", "1448 B / 1448 B / 1000 B", "Payload of a full segment."),
        field(
            "headers",
            "bytes, 0 to 1000 B",
            "52 B / 52 B / 40 B",
            "Headers of every data packet, down to what links count."
        ),
        field("initial-window", "packets, 1 to 10000", "10 / 2", "Window before the first ACK."),
        field("initial-ssthresh", "packets or \"none\"", "none", "Slow-start threshold at the start."),
        field(
            "abc-limit",
            "packets, 0 to 1000",
            "0 / 1",
            "Growth per ACK in slow start (RFC 3465 L); 0: no limit, 1: packet counting."
        ),
        field("congestion-control", "reno, cubic, vegas", "cubic / reno", "After start-up."),
        field(
            "recovery",
            "sack, sack-ns2, newreno-impatient, newreno-steady",
            "sack / sack / sack-ns2",
            "How losses are found and repaired."
        ),
        field("prr", "true, false", "true / false", "Proportional rate reduction (RFC 9937)."),
        field("rack-tlp", "true, false", "true / false", "RACK-TLP (RFC 8985)."),
        field("limited-transmit", "true, false", "true", "RFC 3042."),
        field(
            "undo",
            "true, false",
            "true / false",
            "Undo reductions that time stamps or DSACK show to be spurious."
        ),
        field(
            "frto",
            "true, false",
            "true / false",
            "Undo timeouts after which ACKs tell of data that were not sent again (F-RTO, RFC 5682)."
        ),
        field("rto-initial", "time", "1 s / 3 s", "Retransmission timer before the first RTT sample."),
        field("rto-min", "time", "200 ms", "Its lower bound."),
        field("rto-max", "time", "120 s / 60 s", "Its upper bound."),
        field("rto-tick", "time", "0 s / 10 ms", "Its clock's resolution; 0: exact."),
        field(
            "rto-count-ticks",
            "true, false",
            "false / false / true",
            "ns-2: ticks are counted that begin while a segment is under way, one at a time; estimates are whole ticks."
        ),
        field(
            "rto-min-of-variance",
            "true, false",
            "true / false",
            "Linux: the bound holds for the variance term."
        ),
        field(
            "pacing",
            "algorithm, always",
            "algorithm",
            "Only when the start-up algorithm sets a rate, or always, as Linux with fq."
        ),
        field("max-burst", "packets, 0 to 1000000", "0", "New segments per ACK; 0: no limit."),
        field("send-buffer", "bytes or \"unlimited\"", "unlimited", "Unacknowledged data never exceeds it."),
        field(
            "send-buffer-max",
            "bytes",
            "0 B",
            "The send buffer grows with the window up to this; 0: fixed."
        ),
        field(
            "idle-restart",
            "true, false",
            "true / false",
            "Restart from the initial window after an idle timeout."
        ),
        field("handshake", "true, false", "true", "SYN exchange before the first data."),
        field("cubic-beta", "ratio from 0.1 to 1", "0.7", "CUBIC's multiplicative decrease."),
        field("vegas-alpha", "packets, 0 to 100000", "2 / 1", "Vegas grows while fewer packets are queued."),
        field("vegas-beta", "packets, 0 to 100000", "4 / 3", "Vegas shrinks while more packets are queued."),
        field(
            "vegas-mean-rtt",
            "true, false",
            "false / true",
            "Vegas decides by a round's mean RTT (ns-2) instead of its smallest (Linux)."
        ),
        field(
            "extra-startup-rounds",
            "0 to 100",
            "0",
            "What if: grow for so many rounds after the algorithm wanted to leave."
        ),
    ]
);

table!(
    RECEIVER,
    "[receiver]",
    "How receivers behave. Defaults by `profile`: modern / era / ns2, which is as era where it has none of its own.",
    [
        field(
            "acks",
            "quick, delayed, linux",
            "linux / quick",
            "Every segment; every `ack-every`-th; or `quick-acks` at once, and all while the window grows, then every second."
        ),
        field("ack-every", "1 to 1000", "2", "Segments per ACK, for `delayed`."),
        field("ack-timer", "time", "40 ms", "Longest wait before an ACK, for `delayed` and `linux`."),
        field("quick-acks", "0 to 1000000", "16", "For `linux`."),
        field("sack-blocks", "0 to 4", "3", "Most SACK blocks per ACK; 0: no SACK."),
        field(
            "sack-suppression",
            "packets, 0 to 1000000",
            "0",
            "From so many out-of-order segments on, no SACK and no reassembly (Windows XP); 0: never."
        ),
        field(
            "window",
            "bytes, \"autotuned\" or \"unlimited\"",
            "unlimited",
            "What it advertises; a `modern` receiver's SYN-ACK 65 535 bytes of it at most, as TCP's can."
        ),
        field("window-initial", "bytes", "64 KiB", "First window, for `autotuned`."),
        field("window-max", "bytes", "6 MiB", "Largest window, for `autotuned`."),
        field("ack-size", "bytes, 1 B to 1000 B", "52 B / 40 B", "An ACK on the wire."),
        field("sack-block-size", "bytes, 0 to 100 B", "0 B / 0 B / 8 B", "And every SACK block on it."),
        field(
            "ns2-sink",
            "true, false",
            "false / false / true",
            "ns-2's sink does not know the end of the data, reports no duplicates and may delay their ACKs."
        ),
    ]
);
