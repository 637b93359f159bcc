//! Reach on flights whose packets come back when a test says.

use rampcc::{Ack, AckFlags, Config, Decision, Event, EventKind, Phase, Startup};

use super::{MSS, config, row, set};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const PACKET: u64 = MSS as u64;
pub(crate) const RTT_US: u32 = 100_000;

/// A sender whose flights leave as decided; the tests say when their packets come back.
pub(crate) struct Connection {
    startup: Startup,
    pub(crate) now_ns: u64,
    /// When each packet leaves, those yet to leave included.
    left_ns: Vec<u64>,
    acked: usize,
    pub(crate) flags: u32,
    /// When packets left.
    pub(crate) knows_when: bool,
    /// Packets that the application has written so far, and writes at a time.
    written: u64,
    write: u64,
}

const GROWTH: u64 = 10;

impl Connection {
    /// Windows may grow tenfold in a round trip, unless `change` says otherwise.
    pub(crate) fn new(handshake_rtt_us: u32, change: &[(&str, u64)]) -> Self {
        let algorithm = row("reach");
        let mut config = config(algorithm, 10);
        config.handshake_rtt_us = handshake_rtt_us;
        for (name, value) in [("cap", GROWTH)].iter().chain(change) {
            set(&mut config, algorithm, name, *value);
        }
        Self::begin(&config)
    }

    /// An application that writes so many packets, and then only when [`Self::write`] says.
    pub(crate) fn writing(packets: u64) -> Self {
        let mut config = config(row("reach"), 10);
        config.handshake_rtt_us = RTT_US;
        Self { written: 0, write: packets, left_ns: Vec::new(), ..Self::begin(&config) }
    }

    pub(crate) fn begin(config: &Config) -> Self {
        let startup = Startup::new(row("reach"), config);
        let flags = AckFlags::CWND_LIMITED;
        let mut c = Self {
            startup,
            now_ns: 1000 * MS,
            left_ns: Vec::new(),
            acked: 0,
            flags,
            knows_when: true,
            written: u64::MAX,
            write: 0,
        };
        c.send();
        c
    }

    pub(crate) fn decision(&self) -> Decision {
        *self.startup.decision()
    }

    pub(crate) fn window(&self) -> u64 {
        self.decision().cwnd_bytes / PACKET
    }

    /// What it tells of the end: the estimate, and by how much it may be off, bytes.
    pub(crate) fn told(&self) -> (u64, u64) {
        (self.decision().limit, self.decision().evidence)
    }

    /// Packets a second.
    pub(crate) fn pace(&self) -> u64 {
        self.decision().pacing_bytes_per_s / PACKET
    }

    fn sent(&self) -> u64 {
        self.left_ns.partition_point(|at| *at <= self.now_ns) as u64
    }

    fn in_flight(&self) -> u64 {
        self.sent() - self.acked as u64
    }

    /// All that the window has room for, what has not left yet included, spaced as decided now.
    fn send(&mut self) {
        let decision = self.decision();
        self.left_ns.truncate(self.sent() as usize);
        let gap_ns = (PACKET * 1000 * MS).checked_div(decision.pacing_bytes_per_s).unwrap_or(0);
        let mut next = self.left_ns.last().map_or(self.now_ns, |last| self.now_ns.max(last + gap_ns));
        while ((self.left_ns.len() - self.acked) as u64) < decision.cwnd_bytes / PACKET
            && (self.left_ns.len() as u64) < self.written
        {
            self.left_ns.push(next);
            next += gap_ns;
        }
    }

    /// So many packets come back in one ACK.
    fn ack(&mut self, now_ns: u64, packets: u64) -> Decision {
        self.now_ns = now_ns;
        let in_flight = self.in_flight();
        self.acked += packets as usize;
        let left = self.left_ns[self.acked - 1];
        let ack = Ack {
            now_ns,
            newest_sent_ns: if self.knows_when { left } else { 0 },
            sent_bytes: self.sent() * PACKET,
            newest_acked_bytes: self.acked as u64 * PACKET,
            delivered_bytes: self.acked as u64 * PACKET,
            acked_bytes: packets * PACKET,
            in_flight_bytes: in_flight * PACKET,
            rtt_us: ((now_ns - left) / 1000) as u32,
            mss_bytes: MSS,
            flags: self.flags,
            ..Ack::default()
        };
        let decision = *self.startup.on_ack(&ack);
        self.send();
        decision
    }

    /// So many packets come back as a path lets them through that serves one in `gap_ns`, after a wait.
    pub(crate) fn flight(&mut self, packets: u64, gap_ns: u64, wait_ns: u64) {
        for _ in 0..packets {
            let arrives = self.left_ns[self.acked] + u64::from(RTT_US) * 1000 + wait_ns;
            self.ack(arrives.max(self.now_ns + gap_ns), 1);
        }
    }

    /// So many packets come back in one ACK, a while after the one before it.
    pub(crate) fn bunch(&mut self, packets: u64, gap_ns: u64) {
        let arrives = self.left_ns[self.acked + packets as usize - 1] + u64::from(RTT_US) * 1000;
        self.ack(arrives.max(self.now_ns + gap_ns), packets);
    }

    /// All that has been let out comes back in one ACK.
    pub(crate) fn together(&mut self) {
        self.bunch((self.left_ns.len() - self.acked) as u64, MS);
    }

    /// The application pauses and writes; what it wrote comes back, one packet in `gap_ns`.
    pub(crate) fn write(&mut self, gap_ns: u64, pause_ns: u64) {
        self.now_ns += pause_ns;
        self.written += self.write;
        self.send();
        self.flight(self.write - 1, gap_ns, 0);
        self.flags |= AckFlags::APP_LIMITED;
        self.flight(1, gap_ns, 0);
        self.flags = AckFlags::CWND_LIMITED;
    }

    /// Until start-up is over.
    pub(crate) fn until_done(&mut self, gap_ns: u64) {
        for _ in 0..5000 {
            if self.decision().phase() != Phase::Startup {
                return;
            }
            self.flight(1, gap_ns, 0);
        }
        panic!("still in start-up after 5000 packets, with a window of {}", self.window());
    }

    pub(crate) fn tell(&mut self, kind: EventKind) -> Decision {
        let in_flight_bytes = self.in_flight() * PACKET;
        *self.startup.on_event(&Event {
            now_ns: self.now_ns,
            lost_bytes: 0,
            in_flight_bytes,
            kind,
            mss_bytes: MSS,
        })
    }
}
