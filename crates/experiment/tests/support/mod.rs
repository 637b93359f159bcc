//! A place for results, and a backend that plays what was recorded.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use rampcc::Time;
use rampcc_backend::{Backend, BackendError, Control, Play, Played, Result};
use rampcc_scenario::Scenario;
use rampcc_trace::{FlowEvent, FlowSample, LinkSample, Observer, Outcome};

pub(crate) use place::Place;

mod place;

/// Files of samples, by algorithm and seed: all else that a backend takes is the trait.
#[derive(Default)]
pub(crate) struct Replay(pub(crate) BTreeMap<(&'static str, u64), Vec<u8>>);

/// Tells another observer, and keeps when the last of it was.
struct Last<'a>(&'a mut dyn Observer, Time);

impl Observer for Last<'_> {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.1 = self.1.max(sample.now);
        self.0.on_flow(sample);
    }
    fn on_link(&mut self, sample: &LinkSample) {
        self.0.on_link(sample);
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.1 = self.1.max(event.now);
        self.0.on_event(event);
    }
}

impl Backend for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn identity(&self) -> String {
        "replay".to_owned()
    }

    fn check(&self, scenario: &Scenario, control: Option<&Control>) -> Result<(), Vec<String>> {
        let id = scenario.steering.algorithm.id;
        if control.is_none() && self.0.keys().any(|(recorded, _)| *recorded == id) {
            return Ok(());
        }
        Err(vec![format!("nothing of {id} is recorded")])
    }

    fn run(&self, play: &Play<'_>, observer: &mut dyn Observer, _: &AtomicBool) -> Result<Played> {
        let key = (play.scenario.steering.algorithm.id, play.seed);
        let file = self.0.get(&key).ok_or_else(|| BackendError::Failed(format!("no file for {key:?}")))?;
        let mut last = Last(observer, Time::ZERO);
        rampcc_trace::read(file.as_slice(), &mut last)
            .map_err(|error| BackendError::Failed(error.to_string()))?;
        let outcome =
            Outcome { end: last.1, data_packets: 0, events: 0, links: Vec::new(), flows: Vec::new() };
        Ok(Played { outcome, emulation: None })
    }
}
