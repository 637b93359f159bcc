//! `paced_chirping.c` of 2020: the shape of chirps, what one says, and where it ends.

use rampcc::{Ack, Config, Event, EventKind, ExitReason, Phase, Startup, UNSET};

use super::support::{MSS, ack, config, row, set};

const RTT_US: u32 = 40_000;

/// A sender that plays the chirps of the decision, over a path that serves a packet in `gap_ns`.
struct Path {
    startup: Startup,
    gap_ns: u64,
    now: u64,
    sent: u64,
    in_flight: u64,
    free_ns: u64,
    departures: Vec<u64>,
    waiting: std::collections::VecDeque<(u64, u64, u64)>,
    queued_us: u64,
}

impl Path {
    fn new(gap_ns: u64, change: &[(&str, u64)]) -> Self {
        let algorithm = row("chirp");
        let mut config: Config = config(algorithm, 10);
        config.handshake_rtt_us = RTT_US;
        for (name, value) in change {
            set(&mut config, algorithm, name, *value);
        }
        Self {
            startup: Startup::new(algorithm, &config),
            gap_ns,
            now: 1_000_000_000,
            sent: 0,
            in_flight: 0,
            free_ns: 0,
            departures: Vec::new(),
            waiting: std::collections::VecDeque::new(),
            queued_us: 0,
        }
    }

    /// Sends one chirp as the decision has it now. ACKs that come meanwhile are heard.
    fn chirp(&mut self) {
        let d = *self.startup.decision();
        let mut gap = u64::from(d.chirp_gap_ns);
        for packet in 0..d.chirp_packets {
            self.hear();
            self.sent += 1;
            self.in_flight += 1;
            self.departures.push(self.now);
            self.free_ns = self.free_ns.max(self.now) + self.gap_ns;
            self.queued_us = self.queued_us.max((self.free_ns - self.now) / 1000);
            self.waiting.push_back((
                self.free_ns + u64::from(RTT_US) * 1000 - self.gap_ns,
                self.now,
                self.sent,
            ));
            let last = packet + 1 == d.chirp_packets;
            self.now += if last { u64::from(d.chirp_pause_ns) } else { gap };
            gap = gap.saturating_sub(u64::from(d.chirp_step_ns));
        }
    }

    /// All ACKs up to now.
    fn hear(&mut self) {
        while self.waiting.front().is_some_and(|packet| packet.0 <= self.now) {
            let (now, sent_ns, number) = self.waiting.pop_front().expect("there is one");
            let ack = Ack {
                now_ns: now,
                newest_sent_ns: sent_ns,
                sent_bytes: self.sent * u64::from(MSS),
                newest_acked_bytes: number * u64::from(MSS),
                in_flight_bytes: self.in_flight * u64::from(MSS),
                rtt_us: u32::try_from((now - sent_ns) / 1000).expect("an RTT"),
                ..ack(1)
            };
            self.in_flight -= 1;
            if self.startup.on_ack(&ack).phase() == Phase::Done {
                return;
            }
        }
    }

    /// Chirps while the window allows one to begin, until start-up is over or no more chirps are wanted.
    fn play(&mut self) {
        while self.startup.decision().phase() != Phase::Done && self.startup.decision().chirp_packets > 0 {
            if (self.in_flight + 1) * u64::from(MSS) <= self.startup.decision().cwnd_bytes {
                self.chirp();
            } else {
                self.now = self.waiting.front().expect("packets are in flight").0;
            }
            self.hear();
        }
    }
}

#[test]
fn the_first_chirps_are_five_packets_whose_gaps_shrink_around_a_64th_of_the_rtt() {
    let path = Path::new(100_000, &[]);
    let d = path.startup.decision();
    // 625 us: from 1250 us in steps of 1250 / 4, 312 rounded down; on average 782, and a 16th of the RTT with the pause.
    assert_eq!((d.chirp_packets, d.chirp_gap_ns, d.chirp_step_ns), (5, 1_250_000, 312_500));
    let average = 1_250_000 - 3 * 312_500 / 2;
    assert_eq!(u64::from(d.chirp_pause_ns), 2_500_000 + 4 * (2_500_000 - average));
    let sum = (0..4).map(|i| 1_250_000 - i * 312_500).sum::<u64>() + u64::from(d.chirp_pause_ns);
    assert_eq!(sum / 5, 2_500_000, "the mean gap is the load's");
    assert_eq!(d.cwnd_bytes, 10_000);
    // A long path begins with 1 ms, no path with an RTT with 120 us.
    let mut long = config(row("chirp"), 10);
    long.handshake_rtt_us = 600_000;
    assert_eq!(Startup::new(row("chirp"), &long).decision().chirp_gap_ns, 2_000_000);
    assert_eq!(Startup::new(row("chirp"), &config(row("chirp"), 10)).decision().chirp_gap_ns, 240_000);
}

/// Sixteen packets at a geometry of 2: the first gap is 15 times the last, 400 and 26.67 us where their mean is 213.33.
#[test]
fn the_slope_of_a_full_chirp() {
    let mut path = Path::new(100_000, &[]);
    let sizes: Vec<u32> = std::iter::from_fn(|| {
        while (path.in_flight + 1) * u64::from(MSS) > path.startup.decision().cwnd_bytes {
            path.now = path.waiting.front().expect("packets are in flight").0;
            path.hear();
        }
        let size = path.startup.decision().chirp_packets;
        path.chirp();
        path.hear();
        Some(size)
    })
    .take(6)
    .collect();
    // The fifth begins before an ACK has come since the fourth began.
    assert_eq!(sizes, [5, 5, 8, 8, 8, 16]);
    let d = path.startup.decision();
    let (first, step) = (f64::from(d.chirp_gap_ns), f64::from(d.chirp_step_ns));
    assert!((first / (first - 14.0 * step) - 15.0).abs() < 0.01, "{first} {step}");
    assert!(((first - 7.0 * step) / first - 213.33 / 400.0).abs() < 0.001);
}

#[test]
fn on_a_clean_path_the_load_comes_down_to_the_service_gap() {
    for gap_us in [100, 240, 1000] {
        let mut path = Path::new(gap_us * 1000, &[]);
        path.play();
        let decision = path.startup.decision();
        assert_eq!(decision.exit_reason(), ExitReason::Gap, "{gap_us} us");
        let bdp = u64::from(RTT_US) / gap_us;
        let window = decision.cwnd_bytes / u64::from(MSS);
        assert!((bdp * 8 / 10..=bdp * 11 / 10).contains(&window), "{window} of {bdp} packets at {gap_us} us");
        assert!(decision.evidence >= decision.limit && decision.ssthresh_bytes == decision.cwnd_bytes);
        assert!(path.queued_us < 30_000, "{} us", path.queued_us);
    }
}

#[test]
fn a_gap_too_short_to_keep_is_left_to_slow_start() {
    let mut path = Path::new(5_000, &[]);
    path.play();
    let decision = *path.startup.decision();
    assert_eq!(
        (decision.phase(), decision.chirp_packets, decision.pacing_bytes_per_s),
        (Phase::Startup, 0, 0)
    );
    assert_eq!(decision.ssthresh_bytes, UNSET);
    let in_flight_bytes = decision.cwnd_bytes;
    let grown = Ack { in_flight_bytes, newest_acked_bytes: u64::MAX / 2, rtt_us: RTT_US, ..ack(2) };
    assert_eq!(path.startup.on_ack(&grown).cwnd_bytes, decision.cwnd_bytes + 2000);
}

#[test]
fn two_hundred_chirps_are_enough() {
    let mut path = Path::new(100_000, &[("chirps", 3)]);
    path.play();
    assert_eq!(path.startup.decision().phase(), Phase::Startup);
    assert!((10..60).contains(&path.sent), "{}", path.sent);
}

#[test]
fn thirty_milliseconds_of_queue_end_it() {
    let mut path = Path::new(100_000, &[]);
    path.chirp();
    let late = |number: u64| Ack {
        now_ns: 2_000_000_000 + number * 1_000_000,
        newest_sent_ns: 1_000_000_000 + number * 1_000_000,
        sent_bytes: 10_000,
        newest_acked_bytes: number * 1000,
        rtt_us: 1_000_000,
        ..ack(1)
    };
    let decision = *path.startup.on_ack(&late(1));
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Delay));
    // An eighth of the way from 40 ms to a second.
    assert_eq!((decision.evidence, decision.limit), (160_000, 70_000));
    assert_eq!(decision.chirp_packets, 0);
}

/// The fifth packet of the first chirp waits for the application: its gap is not the path's.
#[test]
fn a_pause_of_the_application_is_not_taken_for_the_paths_gap() {
    let mut startup = Startup::new(row("chirp"), &{
        let mut config: Config = config(row("chirp"), 10);
        config.handshake_rtt_us = RTT_US;
        config
    });
    for (packet, left_us) in [(1, 0), (2, 1250), (3, 2190), (4, 2810), (5, 17_000)] {
        startup.on_ack(&Ack {
            now_ns: 1_000_000_000 + (left_us + u64::from(RTT_US)) * 1000,
            newest_sent_ns: 1_000_000_000 + left_us * 1000,
            sent_bytes: 5000,
            newest_acked_bytes: packet * 1000,
            in_flight_bytes: (6 - packet) * 1000,
            rtt_us: RTT_US,
            flags: if packet == 4 { rampcc::AckFlags::APP_LIMITED } else { 0 },
            ..ack(1)
        });
    }
    let decision = startup.decision();
    assert_eq!((decision.phase(), decision.ssthresh_bytes), (Phase::Startup, UNSET));
    assert_eq!(decision.chirp_packets, 0, "slow start goes on");
}

#[test]
fn a_loss_leaves_half_of_what_fits_and_a_needless_one_leads_to_slow_start() {
    let mut path = Path::new(100_000, &[]);
    for _ in 0..2 {
        path.chirp();
    }
    let tell = |path: &mut Path, kind| {
        let event = Event { now_ns: 0, lost_bytes: 1000, in_flight_bytes: 10_000, kind, mss_bytes: MSS };
        *path.startup.on_event(&event)
    };
    let decision = tell(&mut path, EventKind::Loss);
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Loss));
    assert_eq!(decision.ssthresh_bytes, 5000);
    assert_eq!((decision.chirp_packets, decision.chirp_pause_ns), (0, 0));
    let decision = tell(&mut path, EventKind::Undone);
    assert_eq!((decision.phase(), decision.chirp_packets), (Phase::Startup, 5));
    // What left meanwhile was in no chirp.
    let decision = *path.startup.on_ack(&Ack { lost_bytes: 1000, rtt_us: RTT_US, ..ack(1) });
    assert_eq!((decision.phase(), decision.chirp_packets), (Phase::Startup, 0));
}
