//! What ramp finds on disk or in a ring buffer: kept runs, trials, attachments, the kernel's events.
//!
//! The first byte says which of them the rest is: `r` a run, `t` a trial, `a` an attachment, and events otherwise, each
//! behind two bytes of length.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rampcc_host::Host;
use rampcc_host::trial::TrialReport;
use rampcc_lab::report::{TextStyle, csv, html, json, runs_csv, text};
use rampcc_lab::{RunRecord, judge};
use rampcc_linux::{Calls, Event};
use rampcc_trace::Replay;

#[path = "../../crates/lab/tests/support/fixture.rs"]
mod fixture;

/// Made once, and written over.
static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = std::env::temp_dir().join(format!("ramp-fuzz-{}", std::process::id()));
    fs::create_dir_all(place.join("records")).expect("a directory");
    place
});

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind {
        b'r' => run(rest),
        b't' => trial(&PLACE, rest),
        b'a' => attachment(&PLACE, rest),
        _ => events(rest),
    }
});

/// Whatever a file of a results directory says, there is a report.
fn run(bytes: &[u8]) {
    let Ok(record) = serde_json::from_slice::<RunRecord>(bytes) else { return };
    let again = serde_json::to_string(&record).expect("a record is plain data");
    assert_eq!(serde_json::from_str::<RunRecord>(&again).expect("what is written can be read"), record);
    let mut records = vec![record];
    records.extend(fixture::sample_records().into_iter().take(4));
    let comparison = judge(&records, &fixture::sample_options());
    for report in [
        text(&comparison, &TextStyle::default()),
        csv(&comparison),
        runs_csv(&comparison),
        json(&comparison).expect("a comparison is plain data"),
        html::render(&comparison),
    ] {
        assert!(!report.is_empty());
    }
}

fn trial(place: &Path, bytes: &[u8]) {
    fs::write(place.join("trial.jsonl"), bytes).expect("a file");
    if let Ok(report) = TrialReport::read(place) {
        assert!(!report.verdict.is_empty());
    }
}

/// `@boot@` stands for this boot, without which a record is a stale one.
fn attachment(place: &Path, bytes: &[u8]) {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("procfs");
    let text = String::from_utf8_lossy(bytes).replace("@boot@", boot.trim());
    fs::write(place.join("records/default-1.json"), text).expect("a file");
    for attachment in Host::at(place.join("pins"), place.join("records")).attachments().unwrap_or_default() {
        if let Some(attached) = attachment.attached {
            assert!(!attached.since().is_empty());
            let _ = (attached.age_s, attached.settings());
        }
    }
}

fn events(bytes: &[u8]) {
    for algorithm in rampcc::algorithms() {
        let mut of_kernel = bytes;
        let (mut calls, mut replay) = (Calls::default(), Replay::recorded());
        while let Some((length, rest)) = of_kernel.split_first_chunk() {
            let length = usize::from(u16::from_le_bytes(*length));
            let (record, rest) = rest.split_at(rest.len().min(length));
            if let Some(event) = Event::parse(record, algorithm) {
                assert!(!format!("{event:?}").is_empty());
                if let Event::Exit(flow) | Event::Close(flow) = &event {
                    let _ = (
                        flow.decision.exit_reason(),
                        flow.decision.phase(),
                        flow.tuple.local(),
                        flow.exited(),
                    );
                }
                if let Some(decision) = calls.handle_event(&event) {
                    // Most differ at once: no kernel has decided so.
                    let _ = replay.handle_decision(&decision);
                }
            }
            of_kernel = rest;
        }
    }
}
