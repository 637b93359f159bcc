//! Every table and field of a scenario file, in one place, with its kind, range, default and meaning: the parser holds values to
//! them, unknown fields are found with them, and the reference in `docs/guide/scenarios.md` is written from them.

mod flows;
mod links;

mod paths;

use rampcc::Time;
use rampcc_tcp::Profile;

pub(crate) use crate::cpu::CPU;
use crate::field::Default::{Count, Flag, Name, Words};
use crate::field::{FLAG, TEXT, US, count, one_of, table, time, words};
pub(crate) use crate::history::HISTORY;
use crate::names::{Scale, Stopping, Tagged};
use crate::queue::QueueKind;

pub(crate) use self::flows::{
    CHUNKS, FLOW, FLOWS_MAX, RECEIVER, RESPONSES, RTT, SENDER, SESSIONS_MAX, SIZE, TrafficTag,
};
pub(crate) use self::links::{AckFilterKind, JitterKind, LossKind, REORDERING};
pub(crate) use self::paths::{
    ACCESS, DELAY_STEP, DUMBBELL, LINK, NODE, PARKING_LOT, PATH, RATE_STEP, REVERSE, RTT_STEP,
};
pub use crate::field::{Field, Table};

/// All tables, in the order of the reference.
pub fn tables() -> Vec<&'static Table> {
    fn kinds<T: Tagged>() -> impl Iterator<Item = &'static Table> {
        T::NAMES.iter().map(|(_, kind)| kind.table())
    }
    let mut all = vec![&ROOT, &PATH, &REVERSE, &ACCESS, &DUMBBELL, &PARKING_LOT, &NODE, &LINK];
    all.extend([&RATE_STEP, &RTT_STEP, &DELAY_STEP]);
    all.extend(kinds::<QueueKind>().chain(kinds::<JitterKind>()).chain(kinds::<LossKind>()));
    all.extend(
        std::iter::once(&REORDERING).chain(kinds::<AckFilterKind>()).chain([&FLOW, &CHUNKS, &RESPONSES]),
    );
    all.extend(kinds::<TrafficTag>().chain([&SIZE, &RTT, &SENDER, &RECEIVER, &CPU, &HISTORY, &UNCERTAIN]));
    all
}

table! { ROOT: "top level", "What is run, how long and how often.";
    "name": TEXT => Words("the file's stem"), "Identifier in results.";
    "description": TEXT => Name(""), "What path this is and what to expect of it.";
    "profile": one_of::<Profile>() => Name("modern"), "Rules of the end systems: a Linux server of today, the RFCs of the papers' years, or ns-2.35.";
    "runs": count(1, 1_000_000) => Count(10), "Runs per algorithm.";
    "seed": count(0, u64::MAX) => Count(1), "Seed of the first run; the next ones count up.";
    "duration": time(US, Time::from_secs(30 * 86_400)) => Words("60 s; 600 s if `stop` is complete"), "A run ends at the latest after this long.";
    "stop": one_of::<Stopping>() => Words("complete if flows under test end by themselves"), "Whether a run ends as soon as all flows under test have completed.";
    "size": words("bytes or \"bulk\"") => Words("bulk"), "Without `[[flow]]`: what the one flow under test sends.";
    "bottleneck": words("name of a link") => Words("the slowest of the first flow's route"), "The link that metrics watch.";
    "path": words("table") => Words("none"), "A single path. Exactly one of `path`, `dumbbell`, `parking-lot` and `link` is needed.";
    "dumbbell": words("table") => Words("none"), "Several senders and receivers around one bottleneck.";
    "parking-lot": words("table") => Words("none"), "A chain of bottlenecks with hosts at every router.";
    "node": words("list of tables") => Words("the ends of all links"), "Nodes of a graph.";
    "link": words("list of tables") => Words("none"), "Links of a graph.";
    "flow": words("list of tables") => Words("one flow under test"), "TCP flows.";
    "traffic": words("list of tables") => Words("none"), "Traffic that is drawn.";
    "sender": words("table") => Words("by `profile`"), "How all senders behave.";
    "cpu": words("table") => Words("none"), "What packets cost the hosts' processors.";
    "history": words("table") => Words("none"), "What senders remember from before the run, for algorithms that need history.";
    "receiver": words("table") => Words("by `profile`"), "How all receivers behave.";
    "algorithm": words("tables by algorithm id") => Words("defaults of `ramp explain`"), "Parameters of start-up algorithms: `[algorithm.hystart]`.";
    "uncertain": words("tables by field") => Words("see [What is not known](#what-is-not-known)"), "What is not known of this path: which fields may have which other values.";
}

table! { UNCERTAIN: "[uncertain] \"path.buffer\" = { … }", "What a field may be, named in quotes as for `--set`; a plain text is its `range`.";
    "range": words("two values of one kind with ` to ` between them") => Words("required, or `values`"), "From the smallest to the largest value: \"1 to 50 Mbit/s\".";
    "values": words("list of values") => Words("none"), "Instead of `range`: one of these.";
    "scale": one_of::<Scale>() => Words("log if the larger value is at least three times the smaller"), "Whether equal ratios are equally likely, or equal differences.";
    "reason": TEXT => Name(""), "Why these values; where they are from.";
    "assumed": FLAG => Flag(false), "True for a range that ramp assumed; `--uncertain` replaces it.";
}
