//! Record of a connection in a trial.

use std::net::SocketAddr;
use std::time::Duration;

use rampcc::ExitReason;
use serde::{Deserialize, Serialize};

use crate::assign::Done;

/// Below this many bytes the first window is enough, and no start-up makes a difference.
pub(crate) const FIRST_WINDOW_BYTES: u64 = 14_480;

/// A connection of one of the arms that is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// Arm, in the plan's order.
    pub arm: usize,
    /// End of the handshake, since the trial began.
    pub opened_s: f64,
    /// This host's end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// True if the other end opened it.
    pub passive: bool,
    /// True if everything written has been acknowledged; otherwise it was cut off.
    pub delivered: bool,
    /// Payload acknowledged.
    pub bytes: u64,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
    /// Packets found lost.
    pub lost_packets: u32,
    /// With data on its way or waiting to be sent, in whole ticks of the kernel.
    pub busy_s: f64,
    /// Of it, held back by the receiver's window.
    pub receiver_limited_s: f64,
    /// From the handshake to the last ACK of anything new; `None`: nothing was acknowledged.
    pub last_ack_s: Option<f64>,
    /// From the handshake to the end of slow start; `None`: it did not end.
    pub startup_s: Option<f64>,
    /// The window then.
    pub startup_cwnd_packets: Option<u32>,
    /// Smoothed RTT at the end.
    pub rtt_s: f64,
    /// Smallest RTT.
    pub min_rtt_s: f64,
    /// Reason for which the algorithm left start-up; `None`: it did not, or this arm is one of the kernel's own.
    pub exit: Option<ExitReason>,
}

impl Connection {
    pub(crate) fn new(done: &Done, began: Duration, tick: Duration, exit: Option<ExitReason>) -> Self {
        let startup = done.startup();
        Self {
            arm: done.event.arm as usize,
            opened_s: done.opened().saturating_sub(began).as_secs_f64(),
            local: done.tuple.local(),
            remote: done.tuple.remote(),
            passive: done.passive(),
            delivered: done.delivered(),
            // A FIN that is acknowledged counts as a byte.
            bytes: done.acked_bytes.min(done.sent_bytes.saturating_sub(done.retransmitted_bytes)),
            sent_bytes: done.sent_bytes,
            retransmitted_bytes: done.retransmitted_bytes,
            lost_packets: done.lost_packets,
            busy_s: done.busy(tick).as_secs_f64(),
            receiver_limited_s: done.receiver_limited(tick).as_secs_f64(),
            last_ack_s: done.delivered_after().map(|after| after.as_secs_f64()),
            startup_s: startup.map(|startup| startup.as_secs_f64()),
            startup_cwnd_packets: startup.map(|_| done.startup_cwnd_packets),
            rtt_s: f64::from(done.smoothed_rtt_us) * 1e-6,
            min_rtt_s: f64::from(done.min_rtt_us) * 1e-6,
            exit,
        }
    }

    /// Whether this host sent anything on it.
    pub(crate) fn sent(&self) -> bool {
        self.sent_bytes > 0
    }

    pub(crate) fn size(&self) -> SizeClass {
        SizeClass::of(self.bytes)
    }
}

/// Connections of a like size, which are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeClass {
    /// Connections that fit the first window.
    FirstWindow,
    /// Up to 100 kB.
    Small,
    /// Up to 1 MB.
    Medium,
    /// Up to 10 MB.
    Large,
    /// And more.
    Huge,
}

impl SizeClass {
    /// From the smallest.
    pub const ALL: [Self; 5] = [Self::FirstWindow, Self::Small, Self::Medium, Self::Large, Self::Huge];

    pub(crate) fn of(bytes: u64) -> Self {
        match bytes {
            size if size <= FIRST_WINDOW_BYTES => Self::FirstWindow,
            size if size <= 100_000 => Self::Small,
            size if size <= 1_000_000 => Self::Medium,
            size if size <= 10_000_000 => Self::Large,
            _ => Self::Huge,
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::FirstWindow => "up to 14.5 kB",
            Self::Small => "to 100 kB",
            Self::Medium => "to 1 MB",
            Self::Large => "to 10 MB",
            Self::Huge => "over 10 MB",
        }
    }
}
