//! State of a sender's socket, look by look.

use std::sync::Arc;

use rampcc::Time;
use rampcc_emulator::{BbrInfo, TcpInfo};
use rampcc_trace::FlowSample;

use crate::applications::Opened;

/// What was seen of one flow.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) connection: Option<Arc<Opened>>,
    pub(crate) looks: Vec<Look>,
    pub(crate) failed: u64,
    pub(crate) last: TcpInfo,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) sample: FlowSample,
    /// Start-up is over, as far as the socket tells.
    pub(crate) left: bool,
    /// Expiries of the retransmission timer so far.
    pub(crate) timeouts: u32,
}

impl Seen {
    /// Looks at the socket once more.
    pub(crate) fn look(&mut self, now: Time, flow: u32, bbr: bool, paces: bool) {
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
        self.looks.push(Look {
            sample: info.sample(now, flow, paces),
            // While many losses are repaired, PRR may hold the window below the new threshold.
            left: bbr.map_or(!info.in_slow_start() || info.repairs(), |bbr| bbr.left_startup()),
            timeouts: u32::from(info.total_rto),
        });
        self.last = info;
    }
}
