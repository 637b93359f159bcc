//! Every table and field of a scenario file, in one place: unknown fields are found with it, and the
//! reference in `docs/guide/scenarios.md` is checked against it.

/// One table of a scenario file.
#[derive(Debug)]
pub struct Table {
    /// As written, e.g. `[path]`; for tables inside a field, the field and the kind: `queue = { kind = "red" }`.
    pub name: &'static str,
    /// What it is for.
    pub meaning: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// One field of a table.
#[derive(Debug)]
pub struct Field {
    /// As written.
    pub name: &'static str,
    /// What its value may be.
    pub allowed: &'static str,
    /// What holds without it.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// All tables, in the order of the reference.
pub fn tables() -> &'static [&'static Table] {
    &TABLES
}

static TABLES: [&Table; 35] = [
    &ROOT,
    &PATH,
    &REVERSE,
    &ACCESS,
    &DUMBBELL,
    &PARKING_LOT,
    &NODE,
    &LINK,
    &RATE_STEP,
    &RTT_STEP,
    &DELAY_STEP,
    &DROP_TAIL,
    &RED,
    &CODEL,
    &RANDOM_DROP,
    &JITTER_UNIFORM,
    &JITTER_NORMAL,
    &JITTER_PARETO,
    &JITTER_SINE,
    &JITTER_GRANT,
    &LOSS_RANDOM,
    &LOSS_GILBERT,
    &LOSS_LISTED,
    &REORDERING,
    &ACK_AGGREGATE,
    &ACK_THIN,
    &FLOW,
    &CHUNKS,
    &TRAFFIC_CBR,
    &TRAFFIC_POISSON,
    &TRAFFIC_WEB,
    &TRAFFIC_LISTED,
    &SIZE,
    &SENDER,
    &RECEIVER,
];

const fn field(
    name: &'static str,
    allowed: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Field {
    Field { name, allowed, default, meaning }
}

/// A table whose fields are its own followed by shared ones.
macro_rules! table {
    ($id:ident, $name:expr, $meaning:expr, [$($own:expr),* $(,)?] $(, link $queue:ident)?) => {
        pub(crate) static $id: Table = Table {
            name: $name,
            meaning: $meaning,
            fields: &[
                $($own,)*
                $(
                    field("rate", "rate, list of `{ at, rate }`, or \"unlimited\"", $queue!(rate), "How fast the link serves."),
                    field("rate-period", "time", "no repetition", "The list of rates starts again after this long."),
                    field("trace", "file", "none", "Delivery opportunities instead of `rate`: mahimahi format, one line for each 1500 bytes, milliseconds; `.gz` is understood. Relative to the scenario file."),
                    field("trace-offset", "time", "0 s", "Where in the traces a run starts."),
                    field("random-trace-offset", "true, false or time", "false", "Each seed starts up to this much later in the traces (true: anywhere), capacity and delay together."),
                    field("delay-trace", "file", "none", "Measured one-way delay in milliseconds, one value per line, on the clock of `trace`; added to the constant delay."),
                    field("delay-trace-step", "time", "10 ms", "How long each value of `delay-trace` lasts."),
                    field("buffer", "bytes, packets, bdp, time or \"unlimited\"", $queue!(buffer), "How much the queue holds; the packet in service is not counted."),
                    field("queue", "drop-tail, red, codel, random-drop, or a table with `kind`", "drop-tail", "What happens to packets that wait."),
                    field("jitter", "time, a table with `kind`, or a list of these", "none", "Delay that varies; a plain time is uniform up to it, new every packet. Lists add up."),
                    field("loss", "probability or a table with `kind`", "0", "What the medium loses before the queue."),
                    field("reordering", "`{ probability, delay }`", "none", "Packets held back so that later ones overtake."),
                    field("ack-filter", "a table with `kind`", "none", "What happens to pure ACKs before the queue."),
                )?
            ],
        };
    };
}

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

table!(
    ROOT,
    "top level",
    "What is run, how long and how often.",
    [
        field("name", "text", "the file's stem", "Identifier in results."),
        field("description", "text", "empty", "What path this is and what to expect of it."),
        field(
            "profile",
            "modern, era",
            "modern",
            "Rules of the end systems: a Linux server of today, or what the papers ran (ns-2, Linux 2.6)."
        ),
        field("runs", "1 to 1000000", "10", "Runs per algorithm."),
        field("seed", "whole number", "1", "Seed of the first run; the next ones count up."),
        field(
            "duration",
            "time",
            "60 s; 600 s if `stop` is complete",
            "A run ends at the latest after this long."
        ),
        field(
            "stop",
            "complete, duration",
            "complete if flows under test end by themselves",
            "Whether a run ends as soon as all flows under test have completed."
        ),
        field("size", "bytes or \"bulk\"", "bulk", "Without `[[flow]]`: what the one flow under test sends."),
        field(
            "bottleneck",
            "name of a link",
            "the slowest of the first flow's route",
            "The link that metrics watch."
        ),
        field(
            "path",
            "table",
            "none",
            "A single path. Exactly one of `path`, `dumbbell`, `parking-lot` and `link` is needed."
        ),
        field("dumbbell", "table", "none", "Several senders and receivers around one bottleneck."),
        field("parking-lot", "table", "none", "A chain of bottlenecks with hosts at every router."),
        field("node", "list of tables", "the ends of all links", "Nodes of a graph."),
        field("link", "list of tables", "none", "Links of a graph."),
        field("flow", "list of tables", "one flow under test", "TCP flows."),
        field("traffic", "list of tables", "none", "Traffic that is drawn."),
        field("sender", "table", "by `profile`", "How all senders behave."),
        field("receiver", "table", "by `profile`", "How all receivers behave."),
        field(
            "algorithm",
            "tables by algorithm id",
            "defaults of `ramp explain`",
            "Parameters of start-up algorithms: `[algorithm.hystart]`."
        ),
    ]
);

table!(PATH, "[path]", "One sender, one bottleneck, one receiver.", [
    field("rtt", "time or list of `{ at, rtt }`", "required, or 0 with `delay-trace`", "Round-trip propagation delay of the whole path, half of it each way."),
    field("rtt-period", "time", "no repetition", "The list of round-trip times starts again after this long."),
    field("access", "rate or table", "none", "Side links between each host and the bottleneck, both directions."),
    field("sender-access", "rate or table", "`access`", "The side link of the sender alone."),
    field("receiver-access", "rate or table", "`access`", "The side link of the receiver alone."),
    field("reverse", "table", "see there", "The way of the ACKs, where it differs."),
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
    field("hops", "1 to 100", "3", "Links between routers."),
    field("hosts", "1 to 100", "2", "Hosts at each router."),
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
    "A scheduled link: packets leave with the next grant.",
    [
        field("kind", "grant", "required", ""),
        field("period", "time above 0", "required", "Between grants."),
        field("jitter", "time", "0 s", "Each grant is moved by up to this much."),
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
            "the first sender",
            "Where it begins; flows with `count` take nodes in turn if `*` stands for several."
        ),
        field("to", "node", "the first receiver", "Where it ends; as `from`."),
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
    "How senders behave. Defaults by `profile`: modern / era.",
    [
        field("mss", "bytes, 1 B to 65535 B", "1448 B", "Payload of a full segment."),
        field(
            "headers",
            "bytes, 0 to 1000 B",
            "52 B",
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
            "sack",
            "How losses are found and repaired."
        ),
        field("prr", "true, false", "true / false", "Proportional rate reduction (RFC 9937)."),
        field("rack-tlp", "true, false", "true / false", "RACK-TLP (RFC 8985)."),
        field("limited-transmit", "true, false", "true / false", "RFC 3042."),
        field("undo", "true, false", "true / false", "Undo reductions that turn out to be spurious."),
        field("rto-initial", "time", "1 s / 3 s", "Retransmission timer before the first RTT sample."),
        field("rto-min", "time", "200 ms", "Its lower bound."),
        field("rto-max", "time", "120 s / 60 s", "Its upper bound."),
        field("rto-tick", "time", "0 s / 10 ms", "Its clock's resolution; 0: exact."),
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
    "How receivers behave. Defaults by `profile`: modern / era.",
    [
        field(
            "acks",
            "quick, delayed, linux",
            "linux / quick",
            "Every segment; every `ack-every`-th; or `quick-acks` at once and then every second."
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
        field("window", "bytes, \"autotuned\" or \"unlimited\"", "unlimited", "What it advertises."),
        field("window-initial", "bytes", "64 KiB", "First window, for `autotuned`."),
        field("window-max", "bytes", "6 MiB", "Largest window, for `autotuned`."),
        field("ack-size", "bytes, 1 B to 1000 B", "52 B / 40 B", "An ACK on the wire."),
    ]
);
