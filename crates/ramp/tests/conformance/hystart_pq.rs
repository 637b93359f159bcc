//! picoquic's `picoquic_cc_hystart_test`, `picoquic_cc_hystart_loss_test` and the exit of its CUBIC.

use rampcc::{Ack, Config, Event, EventKind, ExitReason, Phase, Startup, UNSET};

use super::support::{MSS, ack, config, row, set};

const WINDOW: u64 = 100;

struct Connection {
    startup: Startup,
    now_ns: u64,
    lost: u64,
}

impl Connection {
    fn new(change: &[(&str, u64)]) -> Self {
        let algorithm = row("hystart_pq");
        let mut config: Config = config(algorithm, WINDOW);
        for (name, value) in change {
            set(&mut config, algorithm, name, *value);
        }
        Self { startup: Startup::new(algorithm, &config), now_ns: 0, lost: 0 }
    }

    /// A sample that enlarges nothing, 2 ms after the last.
    fn sample(&mut self, rtt_ms: u32) -> Phase {
        self.now_ns += 2_000_000;
        let ack = Ack { now_ns: self.now_ns, rtt_us: rtt_ms * 1000, flags: 0, ..ack(0) };
        self.startup.on_ack(&ack).phase()
    }

    /// The number of the sample that ends start-up.
    fn exit(&mut self, rtts_ms: impl Iterator<Item = u32>) -> Option<usize> {
        rtts_ms.enumerate().find(|(_, rtt)| self.sample(*rtt) == Phase::Done).map(|(number, _)| number + 1)
    }

    fn tell(&mut self, kind: EventKind) -> Phase {
        let event = Event { now_ns: 0, lost_bytes: 1000, in_flight_bytes: 1000, kind, mss_bytes: MSS };
        self.startup.on_event(&event).phase()
    }

    /// One packet lost, then this many acknowledged.
    fn lose(&mut self, acked: u64) -> Phase {
        self.lost += u64::from(MSS);
        self.startup.on_ack(&Ack { lost_bytes: self.lost, flags: 0, ..ack(acked) }).phase()
    }

    fn window(&self) -> u64 {
        self.startup.decision().cwnd_bytes
    }
}

fn then(before: &[u32], after: u32) -> impl Iterator<Item = u32> {
    before.iter().copied().chain(std::iter::repeat_n(after, 100))
}

#[test]
fn seven_windows_of_seven_samples_above_a_quarter() {
    let steady = [100; 20];
    let jitter: Vec<u32> = (0..20).map(|i| if i % 2 == 0 { 90 } else { 110 }).collect();
    assert_eq!(Connection::new(&[]).exit(then(&steady, 126)), Some(33));
    assert_eq!(Connection::new(&[]).exit(then(&steady, 125)), None, "exactly a quarter");
    // The filtered minimum is 110: a quarter above it is 137.5.
    assert_eq!(Connection::new(&[]).exit(then(&jitter, 140)), Some(33));
    assert_eq!(Connection::new(&[]).exit(then(&jitter, 137)), None);
    // One dip delays the next excess by a window, and clears nothing above the filtered minimum.
    let dip: Vec<u32> = [100; 20].into_iter().chain([126; 9]).chain([120]).collect();
    assert_eq!(Connection::new(&[]).exit(then(&dip, 126)), Some(30 + 7 + 3));
    let below: Vec<u32> = [100; 20].into_iter().chain([126; 9]).chain([100]).collect();
    assert_eq!(Connection::new(&[]).exit(then(&below, 126)), Some(30 + 7 + 6));
}

#[test]
fn one_sample_a_millisecond_counts() {
    let mut c = Connection::new(&[]);
    assert_eq!(c.exit(then(&[100; 20], 126).take(32)), None);
    let again = Ack { now_ns: c.now_ns + 1_000_000, rtt_us: 126_000, flags: 0, ..ack(0) };
    assert_eq!(c.startup.on_ack(&again).phase(), Phase::Startup, "not after exactly one");
    assert_eq!(c.startup.on_ack(&Ack { now_ns: again.now_ns + 1, ..again }).phase(), Phase::Done);
    let decision = c.startup.decision();
    assert_eq!(
        (decision.exit_reason(), decision.evidence, decision.limit),
        (ExitReason::Delay, 126_000, 125_000)
    );
}

#[test]
fn a_rise_below_a_packet_at_the_hosts_rate_does_not_count() {
    // A packet of 1000 bytes takes 40 ms at 25 kB/s.
    for (rtt_ms, leaves) in [(140, false), (141, true)] {
        let mut c = Connection::new(&[]);
        for rtt_ms in then(&[100; 20], rtt_ms) {
            c.now_ns += 2_000_000;
            let ack = Ack {
                now_ns: c.now_ns,
                rtt_us: rtt_ms * 1000,
                pacing_bytes_per_s: 25_000,
                flags: 0,
                ..ack(0)
            };
            c.startup.on_ack(&ack);
        }
        assert_eq!(c.startup.decision().phase() == Phase::Done, leaves, "{rtt_ms} ms");
    }
}

#[test]
fn what_is_taken_back() {
    for (rtt_ms, kept, half) in [
        (50, 50_000, 50_000),
        (100, 50_000, 50_000),
        (150, 83_333, 50_000),
        (250, 70_000, 50_000),
        (600, 58_333, 50_000),
        (610, 58_196, 50_000),
        (620, 99_193, 50_000),
        (1000, 80_500, 50_000),
    ] {
        for (back, window) in [(0, kept), (1, half)] {
            let mut c = Connection::new(&[("back", back)]);
            assert_eq!(c.exit(then(&[rtt_ms; 20], 2 * rtt_ms)), Some(33));
            assert!(c.window().abs_diff(window) <= 1, "{rtt_ms} ms: {}", c.window());
            assert_eq!(c.startup.decision().ssthresh_bytes, c.window());
        }
    }
}

#[test]
fn single_losses_are_repaired_with_the_window_as_it_is() {
    let mut c = Connection::new(&[]);
    for _ in 0..20 {
        assert_eq!(c.tell(EventKind::Loss), Phase::Startup);
        assert_eq!(c.startup.decision().ssthresh_bytes, WINDOW * 1000);
        // A sixteenth; after 20 packets a quarter of that is left.
        assert_eq!(c.lose(0), Phase::Startup);
        assert_eq!(c.lose_nothing(20), Phase::Startup);
        assert_eq!(c.tell(EventKind::Recovered), Phase::Startup);
        assert_eq!((c.window(), c.startup.decision().ssthresh_bytes), (WINDOW * 1000, UNSET));
    }
}

impl Connection {
    fn lose_nothing(&mut self, acked: u64) -> Phase {
        let ack = Ack { lost_bytes: self.lost, flags: 0, ..ack(acked) };
        self.startup.on_ack(&ack).phase()
    }
}

/// `picoquic_cc_hystart_loss_test`: every packet number up to the lost one, which is among them, decays the rate.
#[test]
fn the_loss_rate_is_picoquics() {
    // (one packet lost of so many, the rate just after a loss in the long run)
    for (period, steady) in [(1, 0.516), (2, 0.355), (3, 0.275), (5, 0.195)] {
        let mut rate = 0.0;
        let rates: Vec<f64> = (0..200)
            .map(|_| {
                (0..period).for_each(|_| rate *= 15.0 / 16.0);
                rate += (1.0 - rate) / 16.0;
                rate
            })
            .collect();
        assert!((rate - steady).abs() < 0.0005, "{period}: {rate}");
        for limit in (10_u32..600).step_by(7) {
            let expected = rates.iter().position(|rate| *rate > f64::from(limit) / 1000.0);
            let mut c = Connection::new(&[("loss_threshold", limit.into())]);
            c.tell(EventKind::Loss);
            // The ACK counts what it acknowledges first, then what was lost.
            let left = (0..200).position(|_| c.lose(period - 1) == Phase::Done);
            assert_eq!(left, expected, "one of {period}, {limit}/1000");
        }
    }
}

#[test]
fn three_losses_in_a_row_are_too_many() {
    // 1/16, 0.117, 0.166.
    let mut c = Connection::new(&[]);
    c.tell(EventKind::Loss);
    assert_eq!([c.lose(0), c.lose(0), c.lose(0)], [Phase::Startup, Phase::Startup, Phase::Done]);
    let decision = c.startup.decision();
    assert_eq!((decision.exit_reason(), decision.evidence), (ExitReason::Loss, 3000));
    assert_eq!((decision.cwnd_bytes, decision.ssthresh_bytes), (100_000 / 64 * 49, 100_000 / 64 * 49));
    // With eight packets between them the rate stays below 0.142 = 1 / 16 / (1 - (15 / 16)^9).
    let mut c = Connection::new(&[]);
    assert!((0..100).all(|_| c.lose(8) == Phase::Startup));
}

/// While the host repairs, its window is no more than what the repair may send.
#[test]
fn in_a_repair_the_window_is_the_one_that_packets_were_lost_from() {
    let mut c = Connection::new(&[]);
    c.tell(EventKind::Loss);
    c.startup.decision_mut().cwnd_bytes = 58_000;
    assert_eq!([c.lose(0), c.lose(0), c.lose(0)], [Phase::Startup, Phase::Startup, Phase::Done]);
    assert_eq!(c.startup.decision().ssthresh_bytes, 100_000 / 64 * 49);
    let mut c = Connection::new(&[]);
    c.tell(EventKind::Loss);
    c.startup.decision_mut().cwnd_bytes = 58_000;
    assert_eq!(c.exit(then(&[50; 20], 100)), Some(33));
    assert_eq!(c.startup.decision().ssthresh_bytes, 50_000);
}

/// After `Undone` the end of the repair is not reported.
#[test]
fn a_repair_that_a_timeout_or_a_mark_ended_is_over_when_that_is_undone() {
    for kind in [EventKind::Timeout, EventKind::Mark] {
        let mut c = Connection::new(&[]);
        assert_eq!([c.tell(EventKind::Loss), c.tell(kind)], [Phase::Startup, Phase::Done]);
        assert_eq!(c.tell(EventKind::Undone), Phase::Startup);
        (c.startup.decision_mut().cwnd_bytes, c.startup.decision_mut().ssthresh_bytes) =
            (WINDOW * 1000, UNSET);
        c.startup.on_ack(&ack(10));
        assert_eq!(c.window(), (WINDOW + 10) * 1000);
    }
}

#[test]
fn a_mark_and_a_timeout_end_it() {
    for (kind, reason) in [(EventKind::Mark, ExitReason::Ecn), (EventKind::Timeout, ExitReason::Timeout)] {
        let mut c = Connection::new(&[]);
        assert_eq!(c.tell(kind), Phase::Done);
        assert_eq!(c.startup.decision().exit_reason(), reason);
        assert_eq!(c.tell(EventKind::Undone), Phase::Startup);
    }
}

#[test]
fn the_window_is_at_least_half_of_rate_times_rtt() {
    let mut c = Connection::new(&[]);
    let mut fast = Ack { now_ns: 1, rtt_us: 100_000, flags: 0, ..ack(0) };
    fast.delivery_bytes_per_s = 1_990_000;
    assert_eq!(c.startup.on_ack(&fast).cwnd_bytes, 100_000);
    fast.delivery_bytes_per_s = 5_000_000;
    assert_eq!(c.startup.on_ack(&fast).cwnd_bytes, 250_000);
}
