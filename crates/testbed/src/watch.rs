//! Looks at the senders' sockets every few milliseconds, and gathers what the programs in the kernel say.

use std::io;
use std::sync::Arc;

use ramp::{Rate, Time};
use ramp_emulator::{BbrInfo, TcpInfo, run_above_engine};
use ramp_tcp::Pacing;
use ramp_trace::FlowSample;

use crate::applications::{Opened, Stage};
use crate::controls::Steered;
#[cfg(feature = "bpf")]
use crate::kernel_events::Told;
use crate::row::Row;

/// Between two looks: a 64th of a round trip, within these bounds.
const EVERY: (Time, Time) = (Time::from_us(500), Time::from_ms(2));

/// What was seen of each flow, by index.
#[derive(Default)]
pub(crate) struct Watched {
    pub(crate) flows: Vec<Seen>,
    #[cfg(feature = "bpf")]
    pub(crate) told: Told,
}

/// What was seen of one flow.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) connection: Option<Arc<Opened>>,
    pub(crate) looks: Vec<Look>,
    /// Looks that failed.
    pub(crate) failed: u64,
    pub(crate) last: TcpInfo,
}

/// One look at a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) sample: FlowSample,
    /// Start-up is over, as far as the socket tells.
    pub(crate) left: bool,
    /// BBR's estimate of the path's BDP.
    pub(crate) bbr_bdp_bytes: u64,
    /// Expiries of the retransmission timer so far.
    pub(crate) timeouts: u32,
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

impl Seen {
    fn look(&mut self, now: Time, flow: u32, bbr: bool, paces: bool) {
        let Some(opened) = &self.connection else { return };
        let Ok(info) = TcpInfo::of(&opened.connection.sender) else {
            self.failed += 1;
            return;
        };
        if info == self.last {
            return;
        }
        // BBR's threshold says little: its window may stay below.
        let bbr = if bbr { BbrInfo::of(&opened.connection.sender) } else { None };
        let bdp = |bbr: BbrInfo| Rate::from_bytes_per_s(bbr.bytes_per_s).bytes_in(bbr.min_rtt);
        self.looks.push(Look {
            sample: info.sample(now, flow, paces),
            // While many losses are repaired, PRR may hold the window below the new threshold.
            left: bbr.map_or(!info.in_slow_start() || info.repairs(), |bbr| bbr.left_startup()),
            bbr_bdp_bytes: bbr.map_or(0, bdp),
            timeouts: u32::from(info.total_rto),
        });
        self.last = info;
    }
}
