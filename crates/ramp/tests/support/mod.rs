//! What several test files share: configurations, one-line ACKs, and a one-bottleneck path.
#![allow(dead_code, reason = "every test file uses its own part")]

pub(crate) mod connection;
pub(crate) mod events;
pub(crate) mod pipe;
pub(crate) mod used;

use rampcc::{Ack, AckFlags, Algorithm, Config, algorithm};

/// Payload bytes of a packet in most tests: round numbers make vectors readable.
pub(crate) const MSS: u32 = 1000;

pub(crate) fn row(id: &str) -> &'static Algorithm {
    algorithm(id).unwrap_or_else(|| panic!("the registry has no {id}"))
}

/// Defaults of the algorithm, an initial window in packets, no ABC limit.
pub(crate) fn config(algorithm: &Algorithm, initial_window_packets: u64) -> Config {
    Config::new(algorithm, MSS, initial_window_packets)
}

pub(crate) fn set(config: &mut Config, algorithm: &Algorithm, name: &str, value: u64) {
    let index =
        algorithm.parameters.iter().position(|p| p.name == name).expect("a parameter of the algorithm");
    config.parameter[index] = value;
}

/// An ACK for `packets` packets, the window full, everything else zero.
pub(crate) fn ack(packets: u64) -> Ack {
    let bytes = packets * u64::from(MSS);
    Ack {
        acked_bytes: bytes,
        delivered_bytes: bytes,
        in_flight_bytes: bytes,
        mss_bytes: MSS,
        flags: AckFlags::CWND_LIMITED,
        ..Ack::default()
    }
}

/// ACKs of one packet each, in rounds that the caller opens.
pub(crate) struct Stream {
    pub(crate) now_ns: u64,
    sent: u64,
    acked: u64,
    mss: u64,
}

impl Stream {
    pub(crate) fn new() -> Self {
        Self { now_ns: 0, sent: 0, acked: 0, mss: u64::from(MSS) }
    }

    /// The next ACK is the first of a round of `packets` packets.
    pub(crate) fn open_round(&mut self, packets: u64) {
        self.acked = self.sent;
        self.sent += packets * self.mss;
    }

    /// One more packet acknowledged at `now_ns` with this RTT.
    pub(crate) fn ack(&mut self, now_ns: u64, rtt_us: u32) -> Ack {
        self.now_ns = now_ns;
        self.acked += self.mss;
        Ack {
            now_ns,
            newest_sent_ns: now_ns.saturating_sub(u64::from(rtt_us) * 1000),
            sent_bytes: self.sent,
            newest_acked_bytes: self.acked,
            delivered_bytes: self.acked,
            rtt_us,
            in_flight_bytes: self.sent - (self.acked - self.mss),
            ..ack(1)
        }
    }
}
