//! Tables of paths, links and what happens on them.

use super::{Table, field};

macro_rules! own_link {
    (rate) => {
        "required, or `trace`"
    };
    (buffer) => {
        "1 bdp"
    };
}
macro_rules! graph_link {
    (rate) => {
        "required, or `trace`"
    };
    (buffer) => {
        "unlimited"
    };
}
macro_rules! reverse_link {
    (rate) => {
        "the forward rate if constant, else unlimited"
    };
    (buffer) => {
        "unlimited"
    };
}

table!(PATH, "[path]", "One sender, one bottleneck, one receiver.", [
    field("rtt", "time or list of `{ at, rtt }`", "required, or 0 with `delay-trace`", "Round-trip propagation delay of the whole path, half of it each way."),
    field("rtt-period", "time", "no repetition", "The list of round-trip times starts again after this long."),
    field("access", "rate or table", "none", "Side links between each host and the bottleneck, both directions."),
    field("sender-access", "rate or table", "`access`", "The side link of the sender alone."),
    field("receiver-access", "rate or table", "`access`", "The side link of the receiver alone."),
    field("reverse", "table", "see there", "The way of the ACKs, where it differs."),
    field("cross-traffic", "rate or share of the mean rate", "0", "Packets of 1500 B at a constant rate from sender to receiver, beside the flows."),
], link own_link);

table!(REVERSE, "[path.reverse]", "The way back, also as `[dumbbell.reverse]`.", [
    field("delay", "time", "half of `rtt`", "One-way delay of the way back; the forward way takes the rest of `rtt`."),
], link reverse_link);

table!(
    ACCESS,
    "access = { … }",
    "Side links.",
    [
        field("rate", "rate", "required", "Rate, both directions."),
        field("delay", "time", "0 s", "One-way delay; counted in `rtt`, not added to it."),
        field(
            "buffer",
            "bytes, packets, time or \"unlimited\"",
            "unlimited",
            "Drop-tail queue of each direction."
        ),
    ]
);

table!(DUMBBELL, "[dumbbell]", "Hosts `sender-1`, `sender-2`, … and `receiver-1`, … around the link `left` to `right`.", [
    field("pairs", "1 to 1000", "2", "Senders, and as many receivers."),
    field("rtt", "time or list of `{ at, rtt }`", "required, or 0 with `delay-trace`", "Round-trip propagation delay from host to host."),
    field("rtt-period", "time", "no repetition", "The list of round-trip times starts again after this long."),
    field("access", "rate or table", "unlimited", "Side links of all hosts, both directions."),
    field("reverse", "table", "see `[path.reverse]`", "The link `right` to `left`; by default the same rate, queue and buffer as the other direction."),
], link own_link);

table!(PARKING_LOT, "[parking-lot]", "Routers `router-0` to `router-N` in a chain of equal links, hosts `host-R-1`, … at router R.", [
    field("hops", "1 to 50", "3", "Links between routers."),
    field("hosts", "1 to 50", "2", "Hosts at each router."),
    field("delay", "time", "required", "One-way delay of each link between routers."),
    field("delay-period", "time", "no repetition", "The list of delays starts again after this long."),
    field("access", "rate or table", "unlimited", "Links between hosts and their routers; their delay is added."),
], link own_link);

table!(
    NODE,
    "[[node]]",
    "A node of a graph; without any, the ends of links are the nodes.",
    [field("name", "text", "required", "Unique."),]
);

table!(LINK, "[[link]]", "A link of a graph.", [
    field("from", "node", "required", "Where it begins."),
    field("to", "node", "required", "Where it ends."),
    field("name", "text", "`from->to`", "Unique."),
    field("delay", "time or list of `{ at, delay }`", "0 s", "One-way delay."),
    field("delay-period", "time", "no repetition", "The list of delays starts again after this long."),
    field("both-ways", "true, false", "true", "The same link in the other direction too, named `to->from`, or with `-reverse` after a given name."),
], link graph_link);

table!(
    RATE_STEP,
    "rate = [{ … }]",
    "A rate that changes; the first begins at 0 s.",
    [
        field("at", "time", "required", "When it begins."),
        field("rate", "rate, 0: outage", "required", "From then on."),
    ]
);
table!(
    RTT_STEP,
    "rtt = [{ … }]",
    "A round-trip time that changes; the first begins at 0 s.",
    [field("at", "time", "required", "When it begins."), field("rtt", "time", "required", "From then on."),]
);
table!(
    DELAY_STEP,
    "delay = [{ … }]",
    "A one-way delay that changes; the first begins at 0 s.",
    [field("at", "time", "required", "When it begins."), field("delay", "time", "required", "From then on."),]
);

table!(
    DROP_TAIL,
    "queue = { kind = \"drop-tail\" }",
    "Drops what does not fit.",
    [field("kind", "drop-tail", "required", ""),]
);
table!(
    RED,
    "queue = { kind = \"red\" }",
    "Random early detection (Floyd & Jacobson 1993).",
    [
        field("kind", "red", "required", ""),
        field("min", "packets", "20", "Lower threshold of the average queue."),
        field("max", "packets", "80", "Upper threshold of the average queue."),
        field("weight", "number above 0, up to 1", "0.002", "Weight of a new sample in the average."),
        field("max-p", "probability", "0.1", "Drop probability at `max`."),
        field(
            "gentle",
            "true, false",
            "true",
            "From `max-p` to 1 between `max` and twice `max`, instead of at once."
        ),
    ]
);
table!(
    CODEL,
    "queue = { kind = \"codel\" }",
    "RFC 8289.",
    [
        field("kind", "codel", "required", ""),
        field("target", "time", "5 ms", "Acceptable standing delay."),
        field("interval", "time", "100 ms", "Sliding window of the minimum."),
    ]
);
table!(
    RANDOM_DROP,
    "queue = { kind = \"random-drop\" }",
    "Drops arriving packets at random above a level.",
    [
        field("kind", "random-drop", "required", ""),
        field(
            "above",
            "bytes, packets, bdp or time",
            "half the buffer",
            "Level above which packets are dropped."
        ),
        field("probability", "probability", "25 %", "Of each packet arriving above it, independently."),
    ]
);

table!(
    JITTER_UNIFORM,
    "jitter = { kind = \"uniform\" }",
    "Uniform between 0 and `max`.",
    [
        field("kind", "uniform", "required", ""),
        field("max", "time", "required", "Largest value."),
        field("step", "time", "0 s", "A new value this often; 0: every packet."),
    ]
);
table!(
    JITTER_NORMAL,
    "jitter = { kind = \"normal\" }",
    "Normal, cut at zero.",
    [
        field("kind", "normal", "required", ""),
        field("mean", "time", "required", "Mean."),
        field("sigma", "time", "required", "Standard deviation."),
        field("step", "time", "0 s", "A new value this often; 0: every packet."),
    ]
);
table!(
    JITTER_PARETO,
    "jitter = { kind = \"pareto\" }",
    "Heavy-tailed.",
    [
        field("kind", "pareto", "required", ""),
        field("median", "time", "required", "Median."),
        field("shape", "number from 0.1 to 100", "1.5", "Tail index."),
        field("max", "time", "100 times `median`", "Largest value."),
        field("step", "time", "0 s", "A new value this often; 0: every packet."),
    ]
);
table!(
    JITTER_SINE,
    "jitter = { kind = \"sine\" }",
    "A slow swing with a random phase.",
    [
        field("kind", "sine", "required", ""),
        field("amplitude", "time", "required", "Peak to peak."),
        field("period", "time above 0", "required", "Period."),
    ]
);
table!(
    JITTER_GRANT,
    "jitter = { kind = \"grant\" }",
    "A scheduled link: packets leave with the next grant that has room for them.",
    [
        field("kind", "grant", "required", ""),
        field("period", "time above 0", "required", "Between grants."),
        field("jitter", "time", "0 s", "Each grant is moved by up to this much, a period at most."),
        field(
            "assured",
            "bytes",
            "a grant carries all that waits",
            "What every grant carries, asked for or not; beyond that, what arrived up to the grant that lies `request-delay` back."
        ),
        field(
            "request-delay",
            "time up to 10000 periods",
            "500 ms",
            "With `assured`: from a request to the grant that answers it."
        ),
    ]
);

table!(
    LOSS_RANDOM,
    "loss = { kind = \"random\" }",
    "Each packet independently.",
    [
        field("kind", "random", "required", ""),
        field("probability", "probability", "required", "Of each packet."),
    ]
);
table!(
    LOSS_GILBERT,
    "loss = { kind = \"gilbert-elliott\" }",
    "Bursts: a good and a bad state, one step per packet.",
    [
        field("kind", "gilbert-elliott", "required", ""),
        field("to-bad", "probability", "required", "From good to bad."),
        field(
            "to-good",
            "probability",
            "required",
            "From bad to good; a burst lasts 1/`to-good` packets on average."
        ),
        field("good", "probability", "0", "Loss in the good state."),
        field("bad", "probability", "1", "Loss in the bad state."),
    ]
);
table!(
    LOSS_LISTED,
    "loss = { kind = \"listed\" }",
    "Exactly these.",
    [
        field("kind", "listed", "required", ""),
        field("packets", "list of whole numbers", "required", "Packets of the link, counted from 0."),
    ]
);
table!(
    REORDERING,
    "reordering = { … }",
    "Overtaking on purpose.",
    [
        field("probability", "probability", "required", "That a packet is held back."),
        field("delay", "time", "required", "By how much."),
    ]
);
table!(
    ACK_AGGREGATE,
    "ack-filter = { kind = \"aggregate\" }",
    "Holds ACKs and releases them together (Wi-Fi, DOCSIS).",
    [
        field("kind", "aggregate", "required", ""),
        field("count", "1 to 1000000", "64", "Released at once when so many wait."),
        field("hold", "time", "required", "Or when the oldest has waited this long."),
    ]
);
table!(
    ACK_THIN,
    "ack-filter = { kind = \"thin\" }",
    "Keeps one ACK in so many.",
    [
        field("kind", "thin", "required", ""),
        field("keep", "1 to 1000000", "required", "One in this many survives."),
    ]
);
