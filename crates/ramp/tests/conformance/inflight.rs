//! FreeBSD's `tcp_xmit_bandwidth_limit`.

use rampcc::{Ack, Config, Event, EventKind, ExitReason, Phase, Startup};

use super::support::pipe::{Pipe, play};
use super::support::{ack, config, row, set};
use super::{config_for, near};

const MSS: u64 = 1460;
const RATE: u64 = 12_500_000;

fn start(change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("inflight");
    let mut config = config(algorithm, 4000);
    config.mss_bytes = 1460;
    config.initial_window_bytes = 4000 * MSS;
    change(&mut config);
    Startup::new(algorithm, &config)
}

/// ACKs of 12.5 MB/s, one a tick, with a constant RTT.
struct Ticks {
    told: Ack,
}

impl Ticks {
    fn new(rtt_us: u32) -> Self {
        Self { told: Ack { now_ns: 1_000_000_500, rtt_us, mss_bytes: 1460, flags: 0, ..ack(1) } }
    }

    fn next(&mut self, milliseconds: u64, bytes: u64) -> Ack {
        self.told.now_ns += milliseconds * 1_000_000;
        self.told.delivered_bytes += bytes;
        self.told
    }
}

/// Average of n samples of one rate from zero: 0.781, 2.844 and 5.041 MB/s after 1, 4 and 8; times 240 ms, and two
/// segments: 130, 470 and 831 packets. FreeBSD's best RTT begins a quarter above the RTT and sinks with its variance.
#[test]
fn the_window_follows_an_average_of_samples() {
    let mut startup = start(|_| {});
    let mut ticks = Ticks::new(240_000);
    startup.on_ack(&ticks.next(0, MSS));
    // A clock of RTTs first, without progress between ticks: SRTT and its variance settle.
    for _ in 0..400 {
        startup.on_ack(&ticks.next(0, 0));
    }
    assert_eq!(startup.decision().cwnd_bytes, 4000 * MSS);
    for (samples, packets) in (1..).zip([130.0, 251.0, 364.0, 470.0, 569.0, 662.0, 749.0, 831.0]) {
        startup.on_ack(&ticks.next(1, RATE / 1000));
        near(startup.decision().cwnd_bytes as f64 / 1460.0, packets, packets * 0.01);
        assert!(samples <= 8);
    }
    for _ in 8..36 {
        startup.on_ack(&ticks.next(1, RATE / 1000));
    }
    near(startup.decision().cwnd_bytes as f64, 0.9 * RATE as f64 * 0.24, 20_000.0);
    // A gap of a fifth of a second is one sample of nothing: a sixteenth less.
    let before = startup.decision().cwnd_bytes as f64;
    startup.on_ack(&ticks.next(200, 0));
    near(startup.decision().cwnd_bytes as f64, before * 15.0 / 16.0, 1000.0);
}

#[test]
fn two_acks_in_a_tick_are_one_sample() {
    let mut startup = start(|_| {});
    let mut ticks = Ticks::new(240_000);
    startup.on_ack(&ticks.next(0, MSS));
    startup.on_ack(&ticks.next(1, RATE / 1000));
    let once = startup.decision().cwnd_bytes;
    let mut again = ticks.next(0, RATE / 1000);
    again.now_ns += 900_000;
    assert_eq!(startup.on_ack(&again).cwnd_bytes, once);
}

/// `tcp_xmit_timer`: SRTT in 32nds, its variance in sixteenths, the best RTT their sum.
#[test]
fn the_first_samples_rtt_counts_five_quarters() {
    let mut startup = start(|c| set(c, row("inflight"), "stab", 0));
    let mut ticks = Ticks::new(99_000);
    startup.on_ack(&ticks.next(0, 0));
    startup.on_ack(&ticks.next(1, 16 * RATE / 1000));
    // First: 100 ticks, x 32 and x 8. Second: 99 x 4 - 3200 / 8 = -4; 3196 and 800 - 200 + 4 = 604; best 3800.
    let expected = RATE as f64 * (3196.0 + 3800.0) / 2.0 / 32_000.0;
    near(startup.decision().cwnd_bytes as f64, expected, 2.0);
}

#[test]
fn it_is_off_below_its_rtt_and_never_below_its_least() {
    let mut startup = start(|_| {});
    let mut ticks = Ticks::new(9_999);
    for _ in 0..50 {
        startup.on_ack(&ticks.next(1, 10));
    }
    assert_eq!(startup.decision().cwnd_bytes, 4000 * MSS);
    for (min, least) in [(6144, 6144), (100, 2 * MSS)] {
        let mut startup = start(|c| {
            set(c, row("inflight"), "min", min);
            set(c, row("inflight"), "stab", 0);
        });
        let mut ticks = Ticks::new(20_000);
        for _ in 0..50 {
            startup.on_ack(&ticks.next(1, 1));
        }
        assert_eq!(startup.decision().cwnd_bytes, least);
    }
}

#[test]
fn slow_starts_window_grows_behind_the_limit_and_follows_the_hosts() {
    let mut startup = start(|c| c.initial_ssthresh_bytes = 4005 * MSS);
    let mut ticks = Ticks::new(20_000);
    ticks.told.flags = rampcc::AckFlags::CWND_LIMITED;
    ticks.told.acked_bytes = MSS;
    for _ in 0..5 {
        startup.on_ack(&ticks.next(1, MSS));
    }
    let decision = *startup.decision();
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Ssthresh));
    assert!(decision.cwnd_bytes < 20 * MSS, "{}", decision.cwnd_bytes);

    // A host that restarts after a pause has taken the window back: slow start's own, too.
    let mut startup = start(|_| {});
    startup.on_ack(&ticks.next(1, MSS));
    startup.decision_mut().cwnd_bytes = 10 * MSS;
    startup.on_event(&Event {
        now_ns: ticks.told.now_ns,
        lost_bytes: 0,
        in_flight_bytes: 0,
        kind: EventKind::IdleRestart,
        mss_bytes: 1460,
    });
    assert!(startup.on_ack(&ticks.next(1, MSS)).cwnd_bytes <= 11 * MSS);
}

/// [HR11]'s path with 120 ms one way. Slow start would overflow the buffer of one BDP within 3 s.
#[test]
fn on_a_long_fast_path_it_holds_the_window_near_the_bdp() {
    let mut pipe = Pipe::new(100_000_000, 240_000, 1500, 2000);
    pipe.limit_ns = 20_000_000_000;
    let algorithm = row("inflight");
    let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, 4));
    assert_eq!((outcome.loss_s, outcome.exit_s), (None, None));
    near(outcome.cwnd / pipe.bdp_packets(), 1.0, 0.05);
    assert!(outcome.queue_peak < 1200, "{}", outcome.queue_peak);
}
