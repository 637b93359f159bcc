//! picoquic's `c4.c`: an era's growth, its thresholds, and what is left at the exit.

use rampcc::{Ack, AckFlags, Config, Event, EventKind, ExitReason, Phase, Startup};

use super::support::{MSS, ack, config, row, set};

const RTT_US: u32 = 100_000;

struct Connection {
    startup: Startup,
    sent: u64,
    acked: u64,
    lost: u64,
}

impl Connection {
    fn new(change: &[(&str, u64)]) -> Self {
        let algorithm = row("c4");
        let mut config: Config = config(algorithm, 10);
        for (name, value) in change {
            set(&mut config, algorithm, name, *value);
        }
        Self { startup: Startup::new(algorithm, &config), sent: 10, acked: 0, lost: 0 }
    }

    /// One ACK for all of an era's packets.
    fn era(&mut self, packets_per_rtt: u64, rtt_us: u32) -> Phase {
        let acked = self.sent - self.acked;
        self.acked = self.sent;
        let ack = Ack {
            rtt_us,
            sent_bytes: self.sent * u64::from(MSS),
            newest_acked_bytes: self.acked * u64::from(MSS),
            delivery_bytes_per_s: packets_per_rtt * u64::from(MSS) * 10,
            lost_bytes: self.lost * u64::from(MSS),
            ..ack(acked)
        };
        let decision = *self.startup.on_ack(&ack);
        self.sent = self.acked + decision.cwnd_bytes / u64::from(MSS);
        decision.phase()
    }

    fn window(&self) -> u64 {
        self.startup.decision().cwnd_bytes / u64::from(MSS)
    }

    /// Eras on a path that holds so many packets and queues without delay.
    fn eras(&mut self, bdp: u64) -> Vec<u64> {
        let mut windows = Vec::new();
        while self.startup.decision().phase() == Phase::Startup {
            // A microsecond above the least: it is the path that limits.
            self.era(self.window().min(bdp), RTT_US + u32::from(self.acked > 0));
            windows.push(self.window());
        }
        windows
    }
}

#[test]
fn three_eras_without_a_quarter_more() {
    for (bdp, windows, kept, limit) in [
        (100, &[20, 40, 80, 160, 320, 640, 720, 352][..], 365, 1_250_000),
        (90, &[20, 40, 80, 160, 320, 360, 182][..], 182, 1_125_000),
    ] {
        let mut c = Connection::new(&[]);
        let seen = c.eras(bdp);
        assert_eq!(seen[..seen.len() - 1], windows[..windows.len() - 1], "{bdp} packets");
        let decision = *c.startup.decision();
        assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Leaving, ExitReason::Plateau));
        assert_eq!((decision.evidence, decision.limit), (bdp * 10_000, limit));
        assert_eq!(decision.pacing_bytes_per_s, bdp * 10_000 * 960 / 1024);
        // Half of the window and 15 ms of the rate, at 15/16.
        let expected = (kept as f64 + 0.5 + 0.15 * bdp as f64) * 15.0 / 16.0;
        assert!((c.window() as f64 - expected).abs() < 1.5, "{} and {expected}", c.window());
        assert_eq!(c.era(bdp, RTT_US), Phase::Done);
        assert_eq!(c.window(), kept);
        assert_eq!(c.startup.decision().ssthresh_bytes, c.startup.decision().cwnd_bytes);
        assert_eq!(c.startup.decision().pacing_bytes_per_s, 0);
    }
}

#[test]
fn it_paces_at_twice_the_best_rate() {
    let mut c = Connection::new(&[]);
    assert_eq!(c.startup.decision().pacing_bytes_per_s, 0, "the host's before the first ACK");
    c.era(5, RTT_US);
    assert_eq!(c.startup.decision().pacing_bytes_per_s, 131_072, "C4_INITIAL_PACING");
    assert_eq!(c.startup.decision().pacing_burst_bytes, 2 * MSS);
    c.era(1000, RTT_US);
    assert_eq!(c.startup.decision().pacing_bytes_per_s, 20_000_000);
    assert_eq!(c.startup.decision().pacing_burst_bytes, 65_536);
    // Twice the rate times the first RTT.
    assert_eq!(c.window(), 2000);
}

#[test]
fn the_rise_that_counts_depends_on_the_rate() {
    // (packets of 1000 bytes per 100 ms, threshold): 25 ms at 40 kB/s, 16.796 at 500, 7.324 at 1000, 6.25 at 20 000.
    for (rate, threshold) in [(4, 25_000), (50, 16_796), (100, 7_324), (2000, 6_250)] {
        for (rise, leaves) in [(0, false), (1, true)] {
            let mut c = Connection::new(&[]);
            for era in 0..3_u32 {
                c.era(rate, RTT_US + era.min(1));
            }
            assert_eq!(c.startup.decision().phase(), Phase::Startup);
            c.era(rate, RTT_US + threshold + rise);
            let decision = *c.startup.decision();
            let by_delay = decision.exit_reason() == ExitReason::Delay;
            assert_eq!(by_delay, leaves, "{rate} packets, {threshold} + {rise} us");
            if leaves {
                assert_eq!(decision.limit, u64::from(RTT_US + threshold));
            }
        }
    }
}

#[test]
fn an_era_that_the_application_limited_does_not_count() {
    let mut c = Connection::new(&[]);
    c.era(100, RTT_US);
    // Less than the best rate brings in the least RTT.
    assert!((0..10).all(|_| c.era(90, RTT_US) == Phase::Startup));
    // The same rate over a longer RTT is more: the path was the limit.
    assert_eq!([c.era(90, 112_000), c.era(90, 112_000)], [Phase::Startup; 2]);
    assert_ne!(c.era(90, 112_000), Phase::Startup);
}

#[test]
fn losses_beyond_the_limit_of_the_rate() {
    // At 20 MB/s 2 %: one loss is more. At 400 kB/s 34.7 %: the ninth in a row makes 35.5 %. Below 50 kB/s 52 %, which
    // the rate never reaches: 16/31 where all are lost.
    for (rate, losses) in [(2000, 1), (40, 9), (4, 500)] {
        let mut c = Connection::new(&[("packets", 0)]);
        c.era(rate, RTT_US);
        let mut number = 0;
        while c.startup.decision().phase() == Phase::Startup && number < 500 {
            let event = EventKind::Loss;
            assert_eq!(c.tell(event), Phase::Startup, "the loss itself does not end it");
            c.lost += 1;
            number += 1;
            let ack = Ack { lost_bytes: c.lost * u64::from(MSS), flags: 0, ..ack(0) };
            c.startup.on_ack(&ack);
        }
        assert_eq!(number, losses, "{rate} packets");
        assert_eq!(c.startup.decision().exit_reason() == ExitReason::Loss, losses < 500);
    }
    // Not among the first 20 ACKs.
    let mut c = Connection::new(&[]);
    c.era(2000, RTT_US);
    c.lost = 5;
    assert_eq!(c.era(2000, RTT_US), Phase::Startup);
}

impl Connection {
    fn tell(&mut self, kind: EventKind) -> Phase {
        let event = Event { now_ns: 0, lost_bytes: 1000, in_flight_bytes: 1000, kind, mss_bytes: MSS };
        self.startup.on_event(&event).phase()
    }
}

#[test]
fn a_repair_that_ends_it_ends_with_the_smaller_window() {
    let mut c = Connection::new(&[("packets", 0)]);
    c.era(2000, RTT_US);
    let grown = c.startup.decision().cwnd_bytes;
    c.tell(EventKind::Loss);
    assert_eq!(c.startup.decision().ssthresh_bytes, grown);
    let ack = Ack { lost_bytes: u64::from(MSS), flags: AckFlags::RECOVERING, ..ack(0) };
    let decision = *c.startup.on_ack(&ack);
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Leaving, ExitReason::Loss));
    assert!(decision.cwnd_bytes < grown);
    assert_eq!(decision.ssthresh_bytes, decision.cwnd_bytes, "the host's window ends there");
}

#[test]
fn a_repair_keeps_the_window_and_an_undone_timeout_the_rate() {
    let mut c = Connection::new(&[]);
    c.era(10, RTT_US);
    let before = *c.startup.decision();
    c.tell(EventKind::Loss);
    assert_eq!(c.startup.decision().ssthresh_bytes, before.cwnd_bytes);
    c.tell(EventKind::Recovered);
    assert_eq!(*c.startup.decision(), before);
    assert_eq!(c.tell(EventKind::Timeout), Phase::Done);
    c.tell(EventKind::Undone);
    assert_eq!(*c.startup.decision(), before);
}
