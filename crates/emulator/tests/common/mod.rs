//! Paths that real packets cross.

#![allow(dead_code, reason = "each test uses its own part")]

#[path = "../../../linux/tests/support/ready.rs"]
pub(crate) mod ready;

use std::sync::{Mutex, MutexGuard, PoisonError};

use rampcc_emulator::{Emulator, End, ErrorReport, Options, Running, missing_capabilities};
use rampcc_path::Count;
use rampcc_scenario::Scenario;

/// One at a time: two cores have no time for more, and what is tested is not the machine.
static ALONE: Mutex<()> = Mutex::new(());

pub(crate) fn scenario(text: &str) -> Scenario {
    Scenario::parse("test", text, None).expect("the text is a scenario")
}

/// Starts a path, or says why it cannot be tested here.
pub(crate) fn start(scenario: &Scenario, options: &Options) -> Option<(Running, MutexGuard<'static, ()>)> {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = missing_capabilities();
    let obstacle = (!missing.is_empty()).then(|| format!("needs {}", missing.join(" and ")));
    ready::unobstructed(obstacle.or_else(ready::no_tun).as_deref())?;
    let running = Emulator::start(scenario, 1, options).expect("the emulator starts");
    Some((running, alone))
}

/// What enters a link leaves it, is dropped or is inside; and what crosses the devices is what crosses the links.
pub(crate) fn assert_conserved(report: &ErrorReport) {
    let sum = |a: Count, b: Count| Count { packets: a.packets + b.packets, bytes: a.bytes + b.bytes };
    for link in &report.links {
        let totals = link.totals;
        let accounted = sum(sum(totals.delivered, totals.dropped()), totals.inside);
        assert_eq!(totals.arrived, accounted, "{}", link.name);
    }
    for port in &report.ports {
        assert_eq!((port.refused, port.dropped_out, port.dropped_in), (0, 0, 0), "{port:?}");
    }
    let written: u64 = report.ports.iter().map(|port| port.written.packets).sum();
    assert_eq!(report.lateness.packets, written);
}

pub(crate) fn port(report: &ErrorReport, end: End) -> rampcc_emulator::PortReport {
    report.ports[end as usize]
}
