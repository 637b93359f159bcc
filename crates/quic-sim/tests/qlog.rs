//! The qlog of whole runs, held to the schema: of ramp's rows and of the stacks' own controllers.

#[path = "../../quic/tests/schema/mod.rs"]
mod schema;

use std::sync::atomic::AtomicBool;

use rampcc_backend::{Backend, Control, Play};
use rampcc_quic_sim::{FlowQlog, Stack, VirtualQuic};
use rampcc_scenario::{Arm, Scenario};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowSample, Observer};

const PATH: &str =
    "[path]\nrate = \"50 Mbit/s\"\nrtt = \"100 ms\"\nbuffer = \"0.5 bdp\"\n[[flow]]\nsize = \"4 MB\"\n";

/// The qlog, and the exits' reasons as the run reports them.
struct Both {
    qlog: FlowQlog<Vec<u8>>,
    exits: Vec<&'static str>,
}

impl Observer for Both {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.qlog.on_flow(sample);
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.qlog.on_event(event);
        if let FlowEventKind::StartupExit { reason, .. } = event.kind {
            self.exits.push(reason.word());
        }
    }
}

#[test]
fn every_row_leaves_a_log_with_the_exit_of_the_run() {
    let backend = VirtualQuic(Stack::Noq);
    let own: Vec<Option<&Control>> = backend.controls().iter().map(Some).collect();
    let rows = ["hystart", "hystartpp", "paced", "best"].map(|id| (id, None));
    for (id, control) in rows.into_iter().chain(own.into_iter().map(|control| ("slow_start", control))) {
        let scenario = Scenario::parse("test", PATH, None).expect("a scenario");
        let scenario = scenario.with_arm(&Arm::parse(id).expect("a row"));
        let qlog = FlowQlog::new(Vec::new(), id, 0).expect("memory takes everything");
        let mut both = Both { qlog, exits: Vec::new() };
        let play = Play { scenario: &scenario, control, seed: 1 };
        backend.run(&play, &mut both, &AtomicBool::new(false)).expect("it runs");
        let text = String::from_utf8(both.qlog.finish().expect("no write failed")).expect("text");
        let records = schema::records(&text);
        schema::check_head(&records[0], "client");
        let (exits, states) = schema::check_events(&records[1..]);
        let name = control.map_or(id, |control| control.name);
        let reasons: Vec<&str> = exits.iter().filter_map(|exit| exit["reason"].as_str()).collect();
        assert_eq!(reasons, both.exits, "{name}");
        assert_eq!(reasons.len(), 1, "{name}");
        assert!(states.len() > 1 && states[0] == "slow_start", "{name}: {states:?}");
        assert!(records.len() > 500, "{name}: every ACK changes something, {}", records.len());
    }
}
