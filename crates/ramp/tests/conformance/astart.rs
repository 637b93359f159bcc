//! Adaptive Start: the worked values of its formulas, and the curve that its paper describes.

use rampcc::{Ack, Config, Event, EventKind, ExitReason, Phase, Startup, UNSET};

use super::support::pipe::{Pipe, play};
use super::support::{MSS, ack, config, row, set};
use super::{config_for, near, packets};

fn start(change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("astart");
    let mut config = config(algorithm, 10);
    change(&mut config);
    Startup::new(algorithm, &config)
}

/// ACKs of one packet each, with a fixed RTT.
struct Acks {
    now_ns: u64,
    delivered: u64,
    rtt_us: u32,
}

impl Acks {
    fn new(rtt_us: u32) -> Self {
        Self { now_ns: 1_000_000_000, delivered: 0, rtt_us }
    }

    fn next(&mut self, apart_us: u64) -> Ack {
        self.now_ns += apart_us * 1000;
        self.delivered += u64::from(MSS);
        Ack { now_ns: self.now_ns, delivered_bytes: self.delivered, rtt_us: self.rtt_us, ..ack(1) }
    }
}

fn event(kind: EventKind) -> Event {
    Event { now_ns: 5_000_000_000, lost_bytes: 1000, in_flight_bytes: 0, kind, mss_bytes: MSS }
}

/// What the eligible rate holds in the smallest RTT, in packets: a loss shows it.
fn eligible(startup: &Startup) -> f64 {
    let mut startup = startup.clone();
    startup.decision_mut().cwnd_bytes = 1 << 30;
    startup.on_event(&event(EventKind::Loss)).ssthresh_bytes as f64 / f64::from(MSS)
}

#[test]
fn the_window_begins_below_a_finite_ssthresh() {
    assert_eq!(start(|_| {}).decision().ssthresh_bytes, u64::from(32 * MSS));
    assert_eq!(start(|c| set(c, row("astart"), "initial_ssthresh", 0)).decision().ssthresh_bytes, UNSET);
    assert_eq!(start(|c| c.initial_ssthresh_bytes = 7000).decision().ssthresh_bytes, 7000);
}

/// The filter's weight: tau 0.1 s (no noise), 1.2 ms apart: 2 x 1.2 / (2 x 100 + 1.2) = 0.0119.
#[test]
fn a_sample_weighs_its_share_of_the_filters_time() {
    let mut startup = start(|c| set(c, row("astart"), "noise_gain", 0));
    startup.decision_mut().cwnd_bytes = 2000;
    let mut acks = Acks::new(100_000);
    startup.on_ack(&acks.next(1));
    // 833 packets a second: 83.3 in an RTT, far more than the window, so that the sample is this ACK's.
    startup.on_ack(&acks.next(1200));
    startup.on_ack(&acks.next(1200));
    let weight = 0.0024 / 0.2012;
    near(weight, 0.0119, 0.0001);
    let expected = 1.0 - (1.0 - weight) * (1.0 - weight);
    near(eligible(&startup), (expected * 83.33_f64).max(2.0), 0.01);
    // Samples that differ make it eleven times as slow: the first is all difference, later ones are none.
    let mut startup = start(|_| {});
    startup.decision_mut().cwnd_bytes = 2000;
    let mut acks = Acks::new(100_000);
    for _ in 0..400 {
        startup.decision_mut().cwnd_bytes = 2000;
        startup.on_ack(&acks.next(1200));
    }
    let noisy = eligible(&startup);
    assert!(noisy > 70.0 && noisy < 83.4, "{noisy}");
}

/// `T = RTT (cwnd - Th RTTmin) / cwnd`: what counts is what came within T. Ten ACKs 1 ms apart, then one after 30 ms.
#[test]
fn the_interval_grows_with_the_share_of_the_window_that_waits() {
    let measure = |window: u64| {
        let mut startup = start(|c| set(c, row("astart"), "noise_gain", 0));
        let mut acks = Acks::new(100_000);
        for _ in 0..100 {
            startup.decision_mut().cwnd_bytes = window * u64::from(MSS);
            startup.on_ack(&acks.next(1000));
        }
        let before = eligible(&startup);
        startup.decision_mut().cwnd_bytes = window * u64::from(MSS);
        startup.on_ack(&acks.next(30_000));
        (before, eligible(&startup))
    };
    // 1000 packets a second are 100 in an RTT. A window of 50 is taken whole: the late ACK is a sample of 33 a second.
    let (before, after) = measure(50);
    let weight = 0.06 / 0.23;
    near(after, before + weight * (3.333 - before), 0.05);
    // Of a window of 400 a quarter of an RTT's worth arrives: Th has sunk to 0.6 x 1000 + 0.4 x 33 = 613 a second, T =
    // 100 ms x (400 - 61.3) / 400 = 84.7 ms: from the ACK 85 ms ago, 56 packets.
    let (before, after) = measure(400);
    near(after, before + weight * (56.0 / 0.085 * 0.1 - before), 0.2);
}

/// Reference values: eligible windows 10, 40, 39, 90, 60 from an ssthresh of 32. Growth is exponential below the
/// larger of what ssthresh was and the estimate.
#[test]
fn ssthresh_only_rises() {
    let mut startup = start(|c| set(c, row("astart"), "noise_gain", 0));
    let mut acks = Acks::new(100_000);
    let mut highest = 32.0_f64;
    for (apart_us, window) in [(10_000, 20), (2500, 32), (2600, 44), (1100, 56), (1700, 68)] {
        for _ in 0..2000 {
            startup.decision_mut().cwnd_bytes = window * u64::from(MSS);
            startup.on_ack(&acks.next(apart_us));
            let decision = startup.decision();
            highest = highest.max(eligible(&startup));
            near(decision.ssthresh_bytes as f64 / f64::from(MSS), highest, 0.01);
        }
        let grown = packets(&startup) - window as f64;
        if (window as f64) + 1.0 <= highest {
            near(grown, 1.0, 1e-9);
            assert_eq!(startup.decision().phase(), Phase::Startup, "{window}");
        } else {
            near(grown, 1.0 / window as f64, 0.002);
            assert_eq!(startup.decision().phase(), Phase::Conservative, "{window}");
        }
    }
    near(highest, 90.9, 0.5);
}

#[test]
fn a_loss_leaves_the_eligible_window_but_never_more_than_there_was() {
    let mut startup = start(|_| {});
    let mut acks = Acks::new(100_000);
    for _ in 0..5000 {
        startup.decision_mut().cwnd_bytes = 300_000;
        startup.on_ack(&acks.next(1000));
    }
    let known = startup.clone();
    let decision = *startup.on_event(&event(EventKind::Loss));
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Loss));
    near(decision.ssthresh_bytes as f64, 100_000.0, 500.0);
    // ssthresh was just that: a byte less says that it is meant.
    assert_ne!(decision.ssthresh_bytes, known.decision().ssthresh_bytes);

    let mut startup = known.clone();
    startup.decision_mut().cwnd_bytes = 40_000;
    assert_eq!(startup.on_event(&event(EventKind::Timeout)).ssthresh_bytes, 40_000);
    startup.decision_mut().ssthresh_bytes = 123_000;
    let undone = *startup.on_event(&event(EventKind::Undone));
    assert_eq!((undone.phase(), undone.exit_reason()), (Phase::Conservative, ExitReason::None));

    // Nothing measured: the host's own rule.
    let mut startup = start(|_| {});
    assert_eq!(startup.on_event(&event(EventKind::Loss)).ssthresh_bytes, u64::from(32 * MSS));
}

#[test]
fn after_a_pause_the_estimate_is_what_came_after_it() {
    let mut startup = start(|_| {});
    let mut acks = Acks::new(100_000);
    for _ in 0..5000 {
        startup.decision_mut().cwnd_bytes = 100_000;
        startup.on_ack(&acks.next(1000));
    }
    startup.on_ack(&acks.next(60_000_000));
    near(eligible(&startup), 2.0, 1e-6);
}

/// [WPY04]'s path: 40 Mbit/s, 100 ms, one BDP of buffer. The window reaches the path in steps, without a loss.
#[test]
fn on_a_clean_path_it_converges_to_one_bdp() {
    let mut pipe = Pipe::new(40_000_000, 100_000, 1000, 500);
    pipe.limit_ns = 4_000_000_000;
    let algorithm = row("astart");
    let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, 2));
    assert_eq!(outcome.decision.exit_reason(), ExitReason::None);
    near(outcome.cwnd / pipe.bdp_packets(), 1.0, 0.05);
    assert!(outcome.queue_peak < 100, "{}", outcome.queue_peak);

    // [HR11] Figure 9(d): with an infinite ssthresh it is slow start.
    let mut config = config_for(&pipe, algorithm, 2);
    set(&mut config, algorithm, "initial_ssthresh", 0);
    let slow = row("slow_start");
    let (infinite, standard) =
        (play(&pipe, algorithm, &config), play(&pipe, slow, &config_for(&pipe, slow, 2)));
    assert_eq!((infinite.loss_s, infinite.cwnd), (standard.loss_s, standard.cwnd));
    assert!(infinite.loss_s.is_some());
}
