//! A sender of numbered packets for start-ups that begin with something known: it sends when called, and gets ACKs in
//! order.

use rampcc::{Ack, AckFlags, Config, Decision, Event, EventKind, Hint, HintSource, Startup, UNSET};

use super::support::{MSS, config, row};

pub(super) const MS: u64 = 1_000_000;
pub(super) const PACKET: u64 = MSS as u64;

/// What an earlier connection has seen.
pub(super) fn remembered(packets: u64, rtt_us: u32, age_s: u32) -> Hint {
    let mut hint = Hint::of(HintSource::History);
    (hint.window_bytes, hint.rtt_us, hint.age_s) = (packets * PACKET, rtt_us, age_s);
    hint
}

/// A sender of packets that it numbers from 0, all of whose window is in flight at once or when called.
#[derive(Clone)]
pub(super) struct Sender {
    pub(super) startup: Startup,
    pub(super) now_ns: u64,
    pub(super) sent: u64,
    pub(super) acked: u64,
    pub(super) rtt_us: u32,
}

impl Sender {
    pub(super) fn with(id: &str, hint: Hint, rtt_us: u32, change: impl Fn(&mut Config)) -> Self {
        let algorithm = row(id);
        let mut config = config(algorithm, 10);
        config.hint = hint;
        config.handshake_rtt_us = rtt_us;
        change(&mut config);
        Self { startup: Startup::new(algorithm, &config), now_ns: MS, sent: 0, acked: 0, rtt_us }
    }

    pub(super) fn decision(&self) -> Decision {
        *self.startup.decision()
    }

    /// The window, in whole packets.
    pub(super) fn cwnd(&self) -> u64 {
        let window = self.decision().cwnd_bytes;
        assert_eq!(window % PACKET, 0);
        window / PACKET
    }

    pub(super) fn fill(&mut self) {
        self.send(self.decision().cwnd_bytes / PACKET - (self.sent - self.acked));
    }

    pub(super) fn send(&mut self, packets: u64) {
        self.sent += packets;
    }

    pub(super) fn ack(&mut self, packets: u64) -> Decision {
        self.ack_with(packets, |_| {})
    }

    pub(super) fn ack_with(&mut self, packets: u64, change: impl Fn(&mut Ack)) -> Decision {
        let in_flight = self.sent - self.acked;
        self.acked += packets;
        self.now_ns += MS / 100;
        let mut ack = Ack {
            now_ns: self.now_ns,
            newest_sent_ns: self.now_ns - u64::from(self.rtt_us) * 1000 % self.now_ns,
            sent_bytes: self.sent * PACKET,
            newest_acked_bytes: self.acked * PACKET,
            delivered_bytes: self.acked * PACKET,
            acked_bytes: packets * PACKET,
            in_flight_bytes: in_flight * PACKET,
            receive_window_bytes: UNSET,
            rtt_us: self.rtt_us,
            mss_bytes: MSS,
            flags: AckFlags::CWND_LIMITED,
            ..Ack::default()
        };
        change(&mut ack);
        *self.startup.on_ack(&ack)
    }

    pub(super) fn tell(&mut self, kind: EventKind, lost: u64) -> Decision {
        let event = Event {
            now_ns: self.now_ns,
            lost_bytes: lost * PACKET,
            in_flight_bytes: (self.sent - self.acked) * PACKET,
            kind,
            mss_bytes: MSS,
        };
        *self.startup.on_event(&event)
    }
}
