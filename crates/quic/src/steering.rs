//! The calls of the algorithm, each of which borrows the window.

use rampcc::{Decision, EventKind, Phase, Time, UNSET};
use rampcc_avoidance::RateSampler;

use crate::connection::{Connection, Usage, Window};
use crate::outcome::Exit;
use crate::{Call, Told};

impl Connection {
    /// The algorithm begins: what left before is the handshake's.
    pub(crate) fn begin(&mut self, now: Time) {
        self.begun = true;
        self.foreign = self.in_flight;
        self.in_flight = 0;
        self.sent_bytes = 0;
        self.newest_acked = 0;
        self.rate = RateSampler::default();
        self.usage = Usage::default();
        self.ledger.clear();
        let config = rampcc::Config {
            flags: self.rules.flags(),
            now_ns: now.ns(),
            handshake_rtt_us: microseconds(Some(self.rtt.min)),
            initial_ssthresh_bytes: self
                .rules
                .initial_ssthresh_packets
                .map_or(UNSET, |packets| u64::from(packets) * self.mss),
            hint: self.rules.hint,
            parameter: self.rules.parameters,
            ..rampcc::Config::new(
                self.rules.algorithm,
                self.mss as u32,
                u64::from(self.rules.initial_window_packets),
            )
        };
        let before = *self.startup.decision();
        self.startup.begin(&config);
        let decision = *self.startup.decision();
        self.tell_of(now, Told::Begin(self.rules.algorithm, &config), before);
        self.window = Window { cwnd: decision.cwnd_bytes, ssthresh: decision.ssthresh_bytes };
        self.notice_exit(now, Time::ZERO);
        let flow = self.flow();
        self.bucket.arm(now, self.startup.decision(), &flow, self.mss);
    }

    /// The flight is over, and a while has passed (RFC 9002 §7.8, RFC 5681 §4.1).
    pub(crate) fn restart_after_idle(&mut self, now: Time) {
        let idle = now - self.last_sent;
        self.avoid.on_idle(now, idle);
        let initial = self.initial_window_bytes();
        let long = idle > self.rtt.probe_timeout() && self.window.cwnd > initial;
        if !self.rules.idle_restart || self.avoid.by_rate() || !long {
            return;
        }
        let cwnd = self.window.cwnd;
        self.tell(now, EventKind::IdleRestart, 0, 0);
        self.notice_exit(now, Time::ZERO);
        self.window.ssthresh = self.window.ssthresh.max(cwnd / 4 * 3);
        self.window.cwnd = initial;
    }

    pub(crate) fn tell(&mut self, now: Time, kind: EventKind, in_flight: u64, lost: u64) {
        let event = rampcc::Event {
            now_ns: now.ns(),
            lost_bytes: lost,
            in_flight_bytes: in_flight,
            kind,
            mss_bytes: self.mss as u32,
        };
        let starting = self.starting();
        let wanted = self.lend(now, Told::Event(&event));
        // After start-up the window is the host's.
        if starting || self.starting() {
            self.window = wanted;
        }
    }

    /// Lends the window to the algorithm for one call; returns what it would make of it.
    pub(crate) fn lend(&mut self, now: Time, told: Told<'_>) -> Window {
        let lent = self.startup.decision_mut();
        (lent.cwnd_bytes, lent.ssthresh_bytes) = (self.window.cwnd, self.window.ssthresh);
        let before = *lent;
        let decision = *match told {
            Told::Ack(ack) => self.startup.on_ack(ack),
            Told::Event(event) => self.startup.on_event(event),
            Told::Begin(..) => self.startup.decision(),
        };
        self.tell_of(now, told, before);
        Window { cwnd: decision.cwnd_bytes, ssthresh: decision.ssthresh_bytes }
    }

    fn tell_of(&self, now: Time, told: Told<'_>, before: Decision) {
        if let Some(observer) = self.observer.as_deref().filter(|observer| observer.wants_calls()) {
            observer.on_call(now, &Call { told, before, after: *self.startup.decision() });
        }
    }

    pub(crate) fn notice_exit(&mut self, now: Time, deciding: Time) {
        let decision = *self.startup.decision();
        if decision.phase() != Phase::Done || self.exit.is_some() {
            return;
        }
        let (reason, evidence) = (decision.exit_reason(), decision.evidence);
        self.exit = Some(Exit {
            at: now,
            reason,
            evidence,
            limit: decision.limit,
            window_bytes: self.window.cwnd,
            deciding_sent: self.startup.algorithm().decided_by(reason, evidence, deciding),
        });
    }
}

/// A round-trip time as the algorithm gets it; 0: there is none.
pub(crate) fn microseconds(rtt: Option<Time>) -> u32 {
    rtt.filter(|&rtt| rtt > Time::ZERO).map_or(0, |rtt| u32::try_from(rtt.us()).unwrap_or(u32::MAX).max(1))
}
