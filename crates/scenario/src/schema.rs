//! Every table and field of a scenario file, in one place: unknown fields are found with it, and the
//! reference in `docs/guide/scenarios.md` is checked against it.

/// One table of a scenario file.
#[derive(Debug)]
pub struct Table {
    /// As written, e.g. `[path]`; for tables inside a field, the field and the kind: `queue = { kind = "red" }`.
    pub name: &'static str,
    /// Purpose.
    pub meaning: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// One field of a table.
#[derive(Debug)]
pub struct Field {
    /// As written.
    pub name: &'static str,
    /// Values allowed.
    pub allowed: &'static str,
    /// Value without it.
    pub default: &'static str,
    /// Meaning.
    pub meaning: &'static str,
}

/// All tables, in the order of the reference.
pub fn tables() -> &'static [&'static Table] {
    &TABLES
}

pub(crate) use flows::{
    CHUNKS, FLOW, RECEIVER, SENDER, SIZE, TRAFFIC_CBR, TRAFFIC_LISTED, TRAFFIC_POISSON, TRAFFIC_WEB,
};
pub(crate) use paths::{
    ACCESS, ACK_AGGREGATE, ACK_THIN, CODEL, DELAY_STEP, DROP_TAIL, DUMBBELL, JITTER_GRANT, JITTER_NORMAL,
    JITTER_PARETO, JITTER_SINE, JITTER_UNIFORM, LINK, LOSS_GILBERT, LOSS_LISTED, LOSS_RANDOM, NODE,
    PARKING_LOT, PATH, RANDOM_DROP, RATE_STEP, RED, REORDERING, REVERSE, RTT_STEP,
};

static TABLES: [&Table; 36] = [
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
    &UNCERTAIN,
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
                    field("trace", "file", "none", "Delivery opportunities instead of `rate`: mahimahi format, one line for each 1500 bytes, milliseconds; `.gz` is understood. Relative to the scenario file; `ramp:NAME` comes with ramp."),
                    field("trace-offset", "time", "0 s", "Where in the traces a run starts."),
                    field("random-trace-offset", "true, false or time", "false", "Each seed starts up to this much later in the traces (true: anywhere), capacity and delay together."),
                    field("delay-trace", "file", "none", "Measured one-way delay in milliseconds, one value per line, on the clock of `trace`; added to the constant delay."),
                    field("delay-trace-step", "time", "10 ms", "How long each value of `delay-trace` lasts."),
                    field("buffer", "bytes, packets, bdp, time or \"unlimited\"", $queue!(buffer), "How much the queue holds; the packet in service is not counted."),
                    field("queue", "drop-tail, red, codel, random-drop, or a table with `kind`", "drop-tail", "What happens to packets that wait."),
                    field("jitter", "time, a table with `kind`, or a list of these", "none", "Delay that varies; a plain time is uniform up to it, new every packet. Lists add up."),
                    field("loss", "probability or a table with `kind`", "0", "What the medium loses before the queue."),
                    field("reordering", "`{ probability, delay }`", "none", "Packets held back so that later ones overtake."),
                    field("ack-filter", "time or a table with `kind`", "none", "What happens to pure ACKs before the queue; a plain time holds up to 64 of them for so long, 0 none."),
                )?
            ],
        };
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
            "modern, era, ns2",
            "modern",
            "Rules of the end systems: a Linux server of today, the RFCs of the papers' years, or ns-2.35."
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
        field(
            "uncertain",
            "tables by field",
            "see [What is not known](#what-is-not-known)",
            "What is not known of this path: which fields may have which other values."
        ),
    ]
);

table!(
    UNCERTAIN,
    "[uncertain] \"path.buffer\" = { … }",
    "What a field may be, named in quotes as for `--set`; a plain text is its `range`.",
    [
        field(
            "range",
            "two values of one kind with ` to ` between them",
            "required, or `values`",
            "From the smallest to the largest value: \"1 to 50 Mbit/s\"."
        ),
        field("values", "list of values", "none", "Instead of `range`: one of these."),
        field(
            "scale",
            "log, linear",
            "log if the larger value is at least three times the smaller",
            "Whether equal ratios are equally likely, or equal differences."
        ),
        field("reason", "text", "empty", "Why these values; where they are from."),
    ]
);

mod flows;
mod paths;
