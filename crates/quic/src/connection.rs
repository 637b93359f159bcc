//! The host's part of one connection's congestion control, for any QUIC stack.

use std::sync::Arc;

use rampcc::{Decision, Phase, Startup, Time, UNSET};
use rampcc_avoidance::{Avoid, Lost, RateSampler, Rules as AvoidanceRules, VegasConfig};

use crate::ledger::{Entry, Ledger, PacketId};
use crate::outcome::{Counts, Exit, Sample};
use crate::pacing::{Bucket, Flow};
use crate::rtt::Rtt;
use crate::{Observer, Rules, Spacing};

/// An outstanding packet that left so many round trips before the newest acknowledged one was given up long ago.
const STALE_ROUND_TRIPS: u64 = 8;
/// Vegas' thresholds of Linux, unused by other avoidances.
const VEGAS: VegasConfig = VegasConfig { alpha_packets: 2, beta_packets: 4, mean_rtt: false };
const CUBIC_BETA_1024: u32 = 717;

/// Congestion window and threshold, bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) cwnd: u64,
    /// [`UNSET`]: none yet.
    pub(crate) ssthresh: u64,
}

/// What one ACK has acknowledged so far.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    bytes: u64,
    newest: Option<Entry>,
    /// It has raised the newest that was ever acknowledged, so that its round trip is a sample.
    raised: bool,
}

/// How much of the window a round trip has used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// The window, and nothing else, has held the sender back since the last ACK.
    pub(crate) limited: bool,
    pub(crate) most: u64,
    until: u64,
}

/// Congestion control of one connection on one path.
#[derive(Clone, Debug)]
pub struct Connection {
    pub(crate) startup: Startup,
    pub(crate) rules: Rules,
    pub(crate) mss: u64,
    /// The algorithm has begun, with the first packet that is at least half full after the first round-trip sample. What
    /// left before is the handshake's, in other number spaces and small packets, from which nothing can be measured.
    pub(crate) begun: bool,
    pub(crate) window: Window,
    pub(crate) avoid: Avoid,
    pub(crate) rate: RateSampler,
    pub(crate) rtt: Rtt,
    pub(crate) ledger: Ledger,
    pub(crate) bucket: Bucket,
    pub(crate) sent_bytes: u64,
    pub(crate) lost_bytes: u64,
    pub(crate) in_flight: u64,
    /// In flight from before the beginning.
    pub(crate) foreign: u64,
    batch: Batch,
    pub(crate) newest_acked: u64,
    pub(crate) last_sent: Time,
    pub(crate) usage: Usage,
    /// Start of the recovery period that lasts.
    pub(crate) recovery: Option<Time>,
    /// Packets that left before are of the last recovery period.
    pub(crate) reduced: Option<Time>,
    /// The window before the last reduction.
    pub(crate) undo: Option<Window>,
    pub(crate) found_lost: Vec<Lost>,
    pub(crate) marked: bool,
    pub(crate) exit: Option<Exit>,
    pub(crate) counts: Counts,
    last: Sample,
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

impl Connection {
    /// For a path whose full packets have `mtu_bytes`.
    pub fn new(rules: &Rules, mtu_bytes: u16) -> Self {
        let mss = u64::from(mtu_bytes.max(1));
        let avoidance = AvoidanceRules {
            avoidance: rules.avoidance_in_use(),
            flow: 0,
            cubic_beta_1024: CUBIC_BETA_1024,
            cubic_of_2007: false,
            vegas: VEGAS,
            ns2: false,
        };
        Self {
            startup: Startup::waiting(rules.algorithm),
            mss,
            begun: false,
            window: Window { cwnd: u64::from(rules.initial_window_packets) * mss, ssthresh: UNSET },
            avoid: Avoid::new(&avoidance),
            rate: RateSampler::default(),
            rtt: Rtt::default(),
            ledger: Ledger::default(),
            bucket: Bucket::new(),
            sent_bytes: 0,
            lost_bytes: 0,
            in_flight: 0,
            foreign: 0,
            batch: Batch::default(),
            newest_acked: 0,
            last_sent: Time::ZERO,
            usage: Usage::default(),
            recovery: None,
            reduced: None,
            undo: None,
            found_lost: Vec::new(),
            marked: false,
            exit: None,
            counts: Counts::default(),
            last: Sample::default(),
            observer: None,
            rules: rules.clone(),
        }
    }

    /// The same with an observer of every call of the algorithm; a stack's face reports every change, too.
    #[must_use]
    pub fn observed(self, observer: Option<Arc<dyn Observer>>) -> Self {
        Self { observer, ..self }
    }

    /// Bytes that may be in flight.
    pub fn window_bytes(&self) -> u64 {
        self.window.cwnd.saturating_add(self.foreign)
    }

    /// Window before the first ACK.
    pub fn initial_window_bytes(&self) -> u64 {
        u64::from(self.rules.initial_window_packets) * self.mss
    }

    /// Slow-start threshold; `None`: there is none.
    pub fn ssthresh_bytes(&self) -> Option<u64> {
        Some(self.window.ssthresh).filter(|&ssthresh| ssthresh != UNSET)
    }

    /// Rate for the stack's pacer, bytes per second; `None`: by its own rule.
    pub fn pacing_bytes_per_s(&self) -> Option<u64> {
        match self.avoid.pacing() {
            rate if rate > 0 && self.phase() == Phase::Done => Some(rate),
            _ => self.bucket.rate(self.startup.decision(), &self.flow(), self.rules.spacing),
        }
    }

    /// Phase of start-up.
    pub fn phase(&self) -> Phase {
        self.startup.decision().phase()
    }

    /// What the algorithm has decided.
    pub fn decision(&self) -> &Decision {
        self.startup.decision()
    }

    /// The end of start-up, when it has come.
    pub fn exit(&self) -> Option<&Exit> {
        self.exit.as_ref()
    }

    /// What has happened so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The rules that it was made by.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether a recovery period lasts.
    pub fn recovering(&self) -> bool {
        self.recovery.is_some()
    }

    /// Sent and neither acknowledged nor lost, the handshake's included.
    pub fn in_flight_bytes(&self) -> u64 {
        self.in_flight + self.foreign
    }

    /// Acknowledged since the algorithm began.
    pub fn delivered_bytes(&self) -> u64 {
        self.rate.delivered()
    }

    /// Sent since the algorithm began.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Found lost since the algorithm began.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// What the last ACK has measured.
    pub fn last_sample(&self) -> Sample {
        self.last
    }

    /// Smoothed and smallest round-trip time; zero: no sample.
    pub fn round_trip(&self) -> (Time, Time) {
        (self.rtt.smoothed, self.rtt.min)
    }

    /// An ack-eliciting packet left.
    pub fn on_packet_sent(&mut self, now: Time, id: PacketId, mut bytes: u32) {
        if !self.begun && self.rtt.smoothed > Time::ZERO && u64::from(bytes) * 2 >= self.mss {
            // Its datagram may begin with the end of the handshake. It counts as one full packet: were it left out, a train
            // of even length would have an odd packet before it, and its last would wait for the receiver's timer.
            let shared = self.ledger.bytes_sent_at(now);
            self.begin(now);
            if shared + u64::from(bytes) <= self.mss {
                self.foreign = self.foreign.saturating_sub(shared);
                bytes = self.mss as u32;
            }
        }
        let idle = self.in_flight == 0;
        if idle && self.begun && self.sent_bytes > 0 {
            self.restart_after_idle(now);
        }
        self.sent_bytes += u64::from(bytes);
        self.in_flight += u64::from(bytes);
        self.usage.most = self.usage.most.max(self.in_flight);
        self.ledger.push(Entry {
            id,
            bytes,
            sent_bytes: self.sent_bytes,
            stamp: self.rate.stamp(now, idle),
            app_limited: self.rate.app_limited(),
            sent_into: self.in_flight,
            lost_bytes: self.lost_bytes,
            ..Entry::default()
        });
        self.counts.outstanding_max = self.counts.outstanding_max.max(self.ledger.len());
        let flow = self.flow();
        self.bucket.on_sent(now, self.startup.decision(), &flow);
        self.last_sent = now;
    }

    /// The window alone kept the stack from sending.
    pub fn on_window_limited(&mut self) {
        self.usage.limited = true;
    }

    /// The application has nothing more to send, although the window is open.
    pub fn on_app_limited(&mut self) {
        self.rate.on_app_limited(self.in_flight);
    }

    /// An ACK newly acknowledges this packet. [`on_ack_end`](Self::on_ack_end) follows when all of its packets are named.
    pub fn on_packet_acked(&mut self, id: PacketId, bytes: u64) {
        let entry = self.ledger.take(id);
        self.take_acked(entry, bytes);
    }

    /// The same from a stack that names a batch of packets by the time at which they left.
    #[cfg(feature = "quinn")]
    pub fn on_part_acked(&mut self, sent: Time, bytes: u64) {
        let entry = self.ledger.take_part(sent, bytes);
        self.take_acked(entry, bytes);
    }

    fn take_acked(&mut self, entry: Option<Entry>, bytes: u64) {
        let Some(entry) = entry else {
            // Of the handshake, or of nothing.
            self.counts.unmatched += u64::from(self.foreign == 0);
            self.foreign = self.foreign.saturating_sub(bytes);
            return;
        };
        self.batch.bytes += u64::from(entry.bytes);
        if self.batch.newest.is_none_or(|newest| entry.sent_bytes > newest.sent_bytes) {
            self.batch.newest = Some(entry);
        }
        if entry.sent_bytes > self.newest_acked {
            self.newest_acked = entry.sent_bytes;
            self.batch.raised = true;
        }
    }

    /// All packets of an ACK are named; `in_flight_bytes` are in flight after it, as the stack counts them.
    pub fn on_ack_end(&mut self, now: Time, in_flight_bytes: u64) {
        let batch = std::mem::take(&mut self.batch);
        let Some(newest) = batch.newest else { return };
        // The stack drops packets of discarded number spaces in silence.
        // A controller is no place to trust a count: no more can be in flight than was sent.
        let after = in_flight_bytes.saturating_sub(self.foreign).min(self.sent_bytes);
        self.in_flight = after;
        self.rate.on_delivered(now, batch.bytes, newest.id.sent);
        let rtt = (batch.raised && now > newest.id.sent).then(|| now - newest.id.sent);
        if let Some(rtt) = rtt {
            self.rtt.on_sample(rtt);
        }
        if !self.begun {
            return;
        }
        self.counts.acks += 1;
        self.avoid.on_delivered(now, batch.bytes, rtt);
        self.end_recovery(now, newest.id.sent);
        let ack = Acked {
            now,
            newest,
            bytes: batch.bytes,
            before: after + batch.bytes,
            rtt,
            rate: self.rate.sample(&newest.stamp, self.rtt.min_or_never()),
        };
        self.last = Sample { rtt: rtt.unwrap_or(Time::ZERO), rate: ack.rate };
        self.grow(&ack);
        self.usage.limited = false;
        if newest.sent_bytes > self.usage.until {
            self.usage.until = self.sent_bytes;
            self.usage.most = self.in_flight;
        }
        let since = Time::from_ns(self.rtt.smoothed.ns().saturating_mul(STALE_ROUND_TRIPS));
        self.ledger.forget_before(newest.id.sent - since);
        let flow = self.flow();
        self.bucket.arm(now, self.startup.decision(), &flow, self.mss);
    }

    /// The packet with this number was found lost. [`on_congestion`](Self::on_congestion) follows.
    pub fn on_packet_lost(&mut self, number: u64, bytes: u64) {
        let Some(entry) = self.ledger.take_number(number) else {
            self.counts.unmatched += u64::from(self.foreign == 0);
            self.foreign = self.foreign.saturating_sub(bytes);
            return;
        };
        if self.begun {
            self.lost_bytes = self.lost_bytes.saturating_add(bytes);
        }
        if self.avoid.counts_losses() {
            self.found_lost.push(Lost {
                bytes,
                sent_into: entry.sent_into,
                since: self.lost_bytes - entry.lost_bytes,
                paused: entry.app_limited,
            });
        }
    }

    /// Packets of so many bytes were found lost, of a stack that does not name them.
    #[cfg(feature = "quinn")]
    pub fn on_unnamed_loss(&mut self, bytes: u64) {
        if self.begun {
            self.lost_bytes = self.lost_bytes.saturating_add(bytes);
        }
    }

    /// Full packets have another size from now on.
    pub fn on_mtu(&mut self, mtu_bytes: u16) {
        self.mss = u64::from(mtu_bytes.max(1));
    }

    /// The connection goes on from another port of the same host: packets of the old path will not be heard of again.
    pub fn on_rebinding(&mut self) {
        self.ledger.clear();
        self.in_flight = 0;
        self.foreign = 0;
        self.batch = Batch::default();
    }

    pub(crate) fn starting(&self) -> bool {
        self.phase() != Phase::Done
    }

    pub(crate) fn flow(&self) -> Flow {
        Flow {
            cwnd: self.window.cwnd,
            smoothed_rtt: self.rtt.smoothed,
            sent_bytes: self.sent_bytes,
            rising: self.starting() || self.window.cwnd < self.window.ssthresh,
        }
    }

    /// Whether the host spaces packets now.
    pub(crate) fn paced(&self) -> bool {
        let spaced = |rate: u64| rate < crate::UNPACED_BYTES_PER_S;
        self.pacing_bytes_per_s().map_or(self.rules.spacing == Spacing::Stack, spaced)
    }
}

/// One ACK, as the keepers of the window see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    pub(crate) now: Time,
    pub(crate) newest: Entry,
    pub(crate) bytes: u64,
    /// In flight before it.
    pub(crate) before: u64,
    pub(crate) rtt: Option<Time>,
    /// Bytes per second; 0: no sample.
    pub(crate) rate: u64,
}
