//! Measured links, measured delays, files of samples and of decisions: each is read whole, or refused.
//!
//! The first byte says which of them the rest is: `c` capacity, `d` delay, `r` decisions, anything else samples.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rampcc::Time;
use rampcc_path::{Capacity, Opportunities, Propagation};
use rampcc_trace::{
    DecisionWriter, FlowDecision, FlowEvent, FlowSample, Format, LinkSample, Observer, Recorded, Replay,
    Writer, read, read_decisions,
};

#[derive(Debug, Default, PartialEq)]
struct Seen(Vec<String>);

impl Observer for Seen {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.0.push(format!("{sample:?}"));
    }
    fn on_link(&mut self, sample: &LinkSample) {
        self.0.push(format!("{sample:?}"));
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.0.push(format!("{event:?}"));
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind {
        b'c' => capacity(&String::from_utf8_lossy(rest)),
        b'd' => delay(&String::from_utf8_lossy(rest)),
        b'r' => decisions(rest),
        _ => samples(rest),
    }
});

fn capacity(text: &str) {
    let Ok(trace) = Opportunities::parse(text) else { return };
    assert_eq!(Opportunities::parse(&trace.to_text()).as_ref(), Ok(&trace), "what is written can be read");
    let (period, capacity) = (trace.period, Capacity::Trace(trace));
    let (half, late) = (period.ns() / 2, period.ns().saturating_mul(3));
    let bytes = |from: u64, to: u64| capacity.bytes_between(Time::from_ns(from), Time::from_ns(to));
    // A packet at the end of a period is of the next one when counting up to there.
    assert!(bytes(0, late) > 0);
    assert!(bytes(0, half) <= bytes(0, period.ns()) && bytes(half, late) <= bytes(0, late));
}

fn delay(text: &str) {
    if let Ok(Propagation::Trace { values, step, .. }) = Propagation::parse(text, Time::from_ms(10)) {
        assert!(!values.is_empty() && step == Time::from_ms(10));
    }
}

#[derive(Debug, Default, PartialEq)]
struct Calls(Vec<FlowDecision>);

impl Observer for Calls {
    fn on_decision(&mut self, decision: &FlowDecision) {
        self.0.push(decision.clone());
    }
}

/// Whatever was recorded, there is a replay of it, by whatever row.
fn decisions(bytes: &[u8]) {
    let mut calls = Calls::default();
    let Ok(provenance) = read_decisions(bytes, &mut calls) else { return };
    for format in [Format::Csv, Format::JsonLines] {
        let mut again = Vec::new();
        let mut writer = DecisionWriter::new(&mut again, format, &provenance).expect("memory takes it");
        for decision in &calls.0 {
            writer.on_decision(decision);
        }
        writer.finish().expect("memory takes it");
        let mut calls_again = Calls::default();
        read_decisions(&*again, &mut calls_again).expect("what is written can be read");
        assert_eq!(calls_again, calls);
    }
    let others = rampcc::algorithms().iter().map(|row| Replay::other(row, row.default_parameters()));
    let mut replays: Vec<Replay> = others.chain([Replay::recorded()]).collect();
    let mut recorded = Recorded::default();
    for decision in &calls.0 {
        recorded.handle_decision(decision);
        for replay in &mut replays {
            let _ = replay.handle_decision(decision);
        }
    }
    assert!(recorded.courses().values().all(|course| course.calls > 0));
}

fn samples(bytes: &[u8]) {
    let mut seen = Seen::default();
    let Ok(provenance) = read(bytes, &mut seen) else { return };
    for format in [Format::Csv, Format::JsonLines] {
        let mut again = Vec::new();
        let mut writer = Writer::new(&mut again, format, &provenance).expect("memory takes it");
        read(bytes, &mut writer).expect("it could be read");
        writer.finish().expect("memory takes it");
        let mut seen_again = Seen::default();
        let read_again = read(&again[..], &mut seen_again).expect("what is written can be read");
        assert_eq!((read_again, seen_again), (provenance.clone(), std::mem::take(&mut seen)));
        read(bytes, &mut seen).expect("it could be read");
    }
}
