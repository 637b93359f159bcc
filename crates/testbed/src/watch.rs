//! Looks at the senders' sockets every few milliseconds, and gathers what the programs in the kernel say.

use std::io;

use rampcc::Time;
use rampcc_emulator::run_above_engine;
use rampcc_tcp::Pacing;

use crate::applications::Stage;
use crate::controls::Steered;
#[cfg(feature = "bpf")]
use crate::kernel_events::Told;
use crate::row::Row;
use crate::seen::Seen;

/// Between two looks: a 64th of a round trip, within these bounds.
const EVERY: (Time, Time) = (Time::from_us(500), Time::from_ms(2));

/// What was seen of each flow, by index.
#[derive(Default)]
pub(crate) struct Watched {
    pub(crate) flows: Vec<Seen>,
    #[cfg(feature = "bpf")]
    pub(crate) told: Told,
}

impl Watched {
    /// Watches until the run is over.
    pub(crate) fn watch(stage: &Stage<'_>, base_rtt: Time) -> io::Result<Self> {
        // A late look is later, not wrong.
        let _ = run_above_engine();
        let every = Time::from_ns(base_rtt.ns() / 64).clamp(EVERY.0, EVERY.1);
        let mut watched = Self::default();
        watched.flows.resize_with(stage.scenario.flows.len(), Seen::default);
        let mut known = 0;
        let mut next = stage.running.clock().now();
        loop {
            let goes_on = stage.wait_until(next);
            for opened in stage.opened(known) {
                known += 1;
                let flow = opened.flow;
                watched.flows[flow].connection = Some(opened);
            }
            let now = stage.running.clock().now();
            for (index, seen) in watched.flows.iter_mut().enumerate() {
                let config = &stage.scenario.flows[index];
                if config.sender.sampled || !goes_on {
                    let bbr = stage.controls.steered[index] == Steered::Own(Row::Bbr);
                    let paces = bbr || config.sender.pacing == Pacing::Always;
                    seen.look(now, index as u32, bbr, paces);
                }
            }
            #[cfg(feature = "bpf")]
            watched.told.gather(&stage.controls.loaded)?;
            if !goes_on {
                return Ok(watched);
            }
            next = (next + every).max(now);
        }
    }
}
