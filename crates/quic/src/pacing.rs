//! The rate to report to a stack's pacer.
//!
//! A stack's pacer is a token bucket, in noq min(max(10 ms of the rate, a packet), 2 ms of it and at least ten packets) deep: after a
//! pause ten packets leave back to back. An algorithm that measures with trains needs each gap as it decided. So a bucket is kept at one
//! packet: a pause longer than a gap is answered by a rate that earns exactly one packet in it, and the first packet that leaves
//! brings the algorithm's rate back. The error is at most three bytes' time, and never early.

use rampcc::{BACK_TO_BACK, Decision, Time};

/// Rate that spaces nothing on any path that a stack is asked to fill. A pacer waits for the time of a byte at the least,
/// which a higher rate rounds to none, and a bucket that earns nothing in no time never fills.
pub const UNPACED_BYTES_PER_S: u64 = 1_000_000_000;

/// Spacing of packets where an algorithm leaves it to its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spacing {
    /// None.
    None,
    /// As the stack does of itself.
    Stack,
    /// As Linux: twice the window in a round trip during slow start, 1.2 times after.
    Linux,
}

/// The state of a bucket that the caller keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bucket {
    /// Rate that earns one packet in the pause before the next one; in force until that leaves.
    armed: Option<u64>,
    /// It may hold more than a packet.
    unknown: bool,
    last_sent: Time,
}

/// What a connection says of its window to be spaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub(crate) cwnd: u64,
    /// Zero: no sample yet.
    pub(crate) smoothed_rtt: Time,
    pub(crate) sent_bytes: u64,
    /// Below the slow-start threshold, or in start-up.
    pub(crate) rising: bool,
}

impl Bucket {
    pub(crate) fn new() -> Self {
        Self { unknown: true, ..Self::default() }
    }

    /// Bytes per second to report; `None`: the stack's own rule.
    pub(crate) fn rate(&self, decision: &Decision, flow: &Flow, spacing: Spacing) -> Option<u64> {
        if self.armed.is_some() {
            return self.armed;
        }
        if let Some(rate) = exact(decision, flow) {
            return Some(rate.min(UNPACED_BYTES_PER_S));
        }
        if decision.pacing_bytes_per_s != 0 || flow.smoothed_rtt == Time::ZERO {
            return Some(UNPACED_BYTES_PER_S);
        }
        let percent = match (decision.pacing_percent, spacing) {
            (0, Spacing::Stack) => return None,
            (0, Spacing::None) => return Some(UNPACED_BYTES_PER_S),
            (0, Spacing::Linux) if flow.rising => 200,
            (0, Spacing::Linux) => 120,
            (percent, _) => percent,
        };
        let rate =
            u128::from(flow.cwnd) * u128::from(percent) * 10_000_000 / u128::from(flow.smoothed_rtt.ns());
        Some(u64::try_from(rate).unwrap_or(u64::MAX).clamp(1, UNPACED_BYTES_PER_S))
    }

    /// A packet left.
    pub(crate) fn on_sent(&mut self, now: Time, decision: &Decision, flow: &Flow) {
        if self.armed.take().is_some() {
            self.unknown = false;
        } else if exact(decision, flow).is_none() {
            self.unknown = true;
        }
        self.last_sent = now;
    }

    /// The algorithm has decided: a bucket that may hold more than one packet by now is emptied down to it.
    pub(crate) fn arm(&mut self, now: Time, decision: &Decision, flow: &Flow, packet: u64) {
        let Some(rate) = exact(decision, flow) else { return };
        if decision.pacing_burst_bytes > 0 {
            return;
        }
        let gap = packet.saturating_mul(1_000_000_000) / rate.max(1);
        let pause = (now - self.last_sent).ns();
        if self.unknown {
            // A bucket of at most 10 ms of this rate holds a packet.
            self.armed = Some(packet.saturating_mul(100).min(rate));
        } else if pause > gap {
            self.armed = Some(packet.saturating_mul(1_000_000_000).div_ceil(pause) + 1);
        }
    }
}

/// A rate of the algorithm's that is in force.
fn exact(decision: &Decision, flow: &Flow) -> Option<u64> {
    let rate = decision.pacing_bytes_per_s;
    (rate != 0 && rate != BACK_TO_BACK && flow.sent_bytes >= decision.burst_until_bytes).then_some(rate)
}
