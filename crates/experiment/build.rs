//! A fingerprint of everything that decides what is kept of a run, whichever backend plays it: what a scenario and a row mean, what
//! the core decides, what is measured. How results are judged and shown is not part of it.

fn main() {
    let sources = [
        "../../include/ramp",
        "../ramp/src",
        "../path/src",
        "../trace/src",
        "../scenario/src",
        // What the profiles of a scenario set.
        "../tcp/src/config.rs",
        "../lab/src/context.rs",
        "../lab/src/exit.rs",
        "../lab/src/flows",
        "../lab/src/ledger.rs",
        "../lab/src/meter.rs",
        "../lab/src/metric",
        "../lab/src/record.rs",
        "../lab/src/startup.rs",
        "../lab/src/statistics/weighted.rs",
        "src/context.rs",
        "src/row.rs",
        "src/run.rs",
    ];
    rampcc_fingerprint::emit("RAMP_SOURCES", &sources);
}
