//! draft-kazuho-ccwg-rapid-start-02 §3, a window that shrinks step by step as §3.3 says.

use proptest::collection::vec;
use proptest::prelude::*;
use rampcc::{AckFlags, Event, EventKind, Phase, Startup};

use super::support::events::{Host, Input, plausible_acks, runner};
use super::support::{MSS, config, row};
use super::{Oracle, Says, Seen, compare};

const BETA: f64 = 0.7;
const K: f64 = 2.0 / 3.0;

struct RapidStart {
    cwnd: f64,
    initial_window: f64,
    ssthresh: f64,
    limit: f64,
    min_rtt: f64,
    /// The RTTs of the round so far.
    round: Vec<f64>,
    round_end: f64,
    /// `pre_recovery_cwnd`.
    recovery: Option<f64>,
}

impl RapidStart {
    fn congestion(&mut self) {
        self.recovery = Some(self.cwnd);
        self.cwnd *= BETA + K * (1.0 - BETA);
        self.keep_enough();
    }

    fn recovering(&mut self, newly_acked: f64, newly_lost: f64) {
        self.cwnd -= K * (1.0 - BETA) * newly_acked;
        self.cwnd -= (BETA + K * (1.0 - BETA)) * newly_lost;
        self.keep_enough();
    }

    fn keep_enough(&mut self) {
        let before = self.recovery.expect("in recovery");
        self.cwnd = self.cwnd.max(before * BETA / 3.0).max(self.initial_window * BETA).max(2.0);
    }
}

impl Oracle for RapidStart {
    fn new(initial_window: f64, ssthresh: f64, abc_limit: f64) -> Self {
        Self {
            cwnd: initial_window,
            initial_window,
            ssthresh,
            limit: abc_limit,
            min_rtt: f64::INFINITY,
            round: Vec::new(),
            round_end: 0.0,
            recovery: None,
        }
    }

    /// A round trip is known over which the first flight can be spaced: twice the window.
    fn on_handshake(&mut self, rtt_us: f64) {
        self.min_rtt = rtt_us;
        self.cwnd *= 2.0;
    }

    fn on_ack(&mut self, seen: &Seen) -> Says {
        if seen.una > self.round_end {
            self.round_end = seen.next;
            self.round.clear();
        }
        self.round.extend(seen.rtt_us);
        self.min_rtt = seen.rtt_us.map_or(self.min_rtt, |rtt| self.min_rtt.min(rtt));
        let rtt_floor = self.round.iter().copied().fold(f64::INFINITY, f64::min);
        let queue_buildup_thresh = (self.min_rtt + 4_000.0).min(self.min_rtt * 1.10);
        let factor =
            if rtt_floor.is_finite() && rtt_floor <= queue_buildup_thresh + 1e-6 { 2.0 } else { 1.0 };
        if seen.window_full {
            let growth = seen.acked.min(self.limit) * factor;
            self.cwnd = (self.cwnd + growth).min(self.ssthresh.max(self.cwnd));
        }
        let phase = if self.cwnd >= self.ssthresh { Phase::Done } else { Phase::Startup };
        Says { cwnd: self.cwnd, phase, undecided: false }
    }
}

#[test]
fn rapid_start_grows_as_its_draft_says() {
    let [startup, _, done] = compare::<RapidStart>("rapid");
    assert!(startup > 10_000 && done > 30, "too few cases: {startup} {done}");
}

#[test]
fn rapid_start_lands_as_its_draft_says() {
    let compared = std::cell::Cell::new(0);
    // Packets acknowledged and found lost by each ACK of the first recovery.
    let recovery = vec((0..4_u64, 0..6_u64), 1..400);
    runner(300)
        .run(&(1..20_u32, plausible_acks(), recovery), |(window, steps, recovery)| {
            let algorithm = row("rapid");
            let mut startup = Startup::new(algorithm, &config(algorithm, u64::from(window)));
            let mut oracle = RapidStart::new(f64::from(window), f64::INFINITY, f64::INFINITY);
            let mut host = Host::default();
            let mss = u64::from(MSS);
            let mut last = None;
            for step in &steps {
                let Input::Ack(ack) = host.event(step, startup.decision()) else { continue };
                startup.on_ack(&ack);
                last = Some(ack);
            }
            let Some(mut ack) = last else { return Ok(()) };
            oracle.cwnd = startup.decision().cwnd_bytes as f64 / f64::from(MSS);
            let mut left = startup.decision().cwnd_bytes / mss;
            let loss = Event {
                now_ns: ack.now_ns,
                lost_bytes: 0,
                in_flight_bytes: left * mss,
                kind: EventKind::Loss,
                mss_bytes: MSS,
            };
            startup.on_event(&loss);
            oracle.congestion();
            for (acked, lost) in recovery {
                let (acked, lost) = (acked.min(left), lost.min(left.saturating_sub(acked)));
                left -= acked + lost;
                (ack.acked_bytes, ack.flags) = (acked * mss, AckFlags::RECOVERING);
                ack.lost_bytes += lost * mss;
                startup.on_ack(&ack);
                oracle.recovering(acked as f64, lost as f64);
                let ssthresh = startup.decision().ssthresh_bytes as f64 / f64::from(MSS);
                // The floor takes back what was subtracted below it, so the two may part there.
                if oracle.cwnd > oracle.recovery.expect("in recovery") * BETA / 3.0 + 0.01 {
                    prop_assert!((ssthresh - oracle.cwnd).abs() < 0.01, "{ssthresh} {}", oracle.cwnd);
                    compared.set(compared.get() + 1);
                }
                if left == 0 {
                    break;
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(compared.get() > 2_000, "too few: {}", compared.get());
}
