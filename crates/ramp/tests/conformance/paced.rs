//! [HS03] §3: Figure 5, Table 2, and the gap filter.

use rampcc::{
    Ack, AckFlags, BACK_TO_BACK, Config, ConfigFlags, Environment, Event, EventKind, ExitReason, Phase,
    Startup,
};

use super::support::pipe::{Pipe, play};
use super::support::{MSS, ack, config, row, set};
use super::{config_for, near};

/// 1000 bytes at 100 Mbit/s, ns.
const GB_NS: f64 = 80_000.0;
const RTT_NS: u64 = 80_000_000;
const SIZE: u64 = MSS as u64;

fn start(change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("paced");
    let mut config = config(algorithm, 10);
    change(&mut config);
    Startup::new(algorithm, &config)
}

/// A path that gives every train the gap of [HS03]'s model: gB + (1 - alpha) gs while that is above gs.
struct Model {
    startup: Startup,
    now_ns: u64,
    sent: u64,
    /// (gs, gd) of each train in gB, the pair first.
    probes: Vec<(f64, f64)>,
}

impl Model {
    fn new(startup: Startup) -> Self {
        Self { startup, now_ns: 1_000_000_000, sent: 0, probes: Vec::new() }
    }

    /// Send what the window allows, acknowledge all of it with the gap that `answer` gives for the source gap.
    fn train(&mut self, answer: impl Fn(f64) -> f64) -> u64 {
        let decision = *self.startup.decision();
        let packets = decision.cwnd_bytes / SIZE;
        let gs = (SIZE * 1_000_000_000).checked_div(decision.pacing_bytes_per_s).unwrap_or(0);
        let gd = answer(gs as f64).round() as u64;
        self.probes.push((gs as f64 / GB_NS, gd as f64 / GB_NS));
        let before = self.sent;
        self.sent += packets * SIZE;
        for i in 0..packets {
            let ack = Ack {
                now_ns: self.now_ns + RTT_NS + i * gd,
                newest_sent_ns: self.now_ns + i * gs,
                sent_bytes: self.sent,
                newest_acked_bytes: before + (i + 1) * SIZE,
                delivered_bytes: before + (i + 1) * SIZE,
                in_flight_bytes: (packets - i) * SIZE,
                rtt_us: u32::try_from((RTT_NS + i * (gd - gd.min(gs))) / 1000).expect("an RTT"),
                ..ack(1)
            };
            self.startup.on_ack(&ack);
            if i + 1 < packets {
                // Nothing leaves before the last ACK of the train.
                assert_eq!(self.startup.decision().cwnd_bytes, (packets - i - 1) * SIZE);
            }
        }
        self.now_ns += RTT_NS + packets * gs.max(gd);
        packets
    }
}

/// Play the search to its end at this share of the path.
fn search(alpha: f64, change: impl Fn(&mut Config)) -> (Model, Vec<u64>) {
    let mut model = Model::new(start(change));
    let mut trains = vec![model.train(|_| GB_NS)];
    while model.startup.decision().phase() == Phase::Startup {
        trains.push(model.train(|gs| gs.max(GB_NS + (1.0 - alpha) * gs)));
        assert!(trains.len() <= 4, "at most four trains");
    }
    assert_eq!(model.startup.decision().phase(), Phase::Leaving);
    (model, trains)
}

#[test]
fn figure_5_decision_tree() {
    // (alpha, gs and gd of the last train in gB, g in gB, window, trains after the pair)
    let table = [
        (1.00, 1.333, 1.333, 1.1429, 875.0, 2),
        (0.90, 1.333, 1.333, 1.1429, 875.0, 2),
        (0.75, 1.333, 1.333, 1.1429, 875.0, 2),
        (0.74, 1.333, 1.347, 1.3467, 742.6, 2),
        (0.60, 1.333, 1.533, 1.5333, 652.2, 2),
        (0.50, 1.333, 1.667, 1.6667, 600.0, 2),
        (0.49, 4.040, 4.040, 2.0200, 495.0, 2),
        (0.30, 4.800, 4.800, 2.4000, 416.7, 2),
        (0.20, 5.200, 5.200, 2.6000, 384.6, 2),
        (0.15, 11.180, 11.180, 5.5900, 178.9, 3),
        (0.10, 12.080, 12.080, 6.0400, 165.6, 3),
        (0.07, 12.639, 12.754, 25.5089, 39.2, 3),
        (0.05, 13.020, 13.369, 26.7380, 37.4, 3),
        (0.02, 13.603, 14.331, 28.6623, 34.9, 3),
    ];
    for (alpha, gs, gd, gap, window, probes) in table {
        // The paper compares exactly; a thousandth covers whole nanoseconds.
        let (model, trains) = search(alpha, |c| set(c, row("paced"), "tolerance", 1));
        assert_eq!(trains, [2, 4, 8, 16][..=probes], "alpha {alpha}");
        let last = model.probes.last().expect("a train");
        near(last.0, gs, 0.001);
        near(last.1, gd, 0.001);
        let decision = model.startup.decision();
        assert_eq!(decision.exit_reason(), ExitReason::Gap);
        near(decision.cwnd_bytes as f64 / f64::from(MSS), window, 0.06);
        assert_eq!(decision.ssthresh_bytes, decision.cwnd_bytes);
        // The last train leaves at g.
        let fill_gap = SIZE as f64 * 1e9 / decision.pacing_bytes_per_s as f64;
        near(fill_gap / GB_NS, gap, 0.001);
        near(decision.evidence as f64 / GB_NS, gd, 0.001);
        near(decision.limit as f64 / GB_NS, gs, 0.001);
    }
}

#[test]
fn tolerance_moves_the_first_decision() {
    // (tolerance in thousandths, alpha below which 2 gB is too fast): 1 / 2 - tolerance
    for (tolerance, alpha) in [(30, 0.47), (50, 0.45), (100, 0.40)] {
        for (shift, too_fast) in [(-0.002, true), (0.002, false)] {
            let (model, _) =
                search(alpha + shift - 0.5 * f64::EPSILON, |c| set(c, row("paced"), "tolerance", tolerance));
            // Gap model: gd / gs = 1/2 + 1 - alpha, so the bound is alpha = 1/2 - tolerance.
            assert_eq!(model.probes[2].0 > 2.0, too_fast, "{tolerance} {alpha} {shift}");
        }
    }
}

#[test]
fn the_fill_ends_with_its_first_ack() {
    let (mut model, _) = search(1.0, |_| {});
    let sent = model.sent + model.startup.decision().cwnd_bytes;
    let mut first = Ack { sent_bytes: sent, newest_acked_bytes: model.sent, ..ack(1) };
    assert_eq!(model.startup.on_ack(&first).phase(), Phase::Leaving, "an ACK from before");
    first.newest_acked_bytes += SIZE;
    let decision = *model.startup.on_ack(&first);
    assert_eq!((decision.phase(), decision.pacing_bytes_per_s), (Phase::Done, 0));
    assert_eq!(decision.cwnd_bytes, 875_000);
}

#[test]
fn acks_of_single_packets_are_filtered_behind_a_delaying_receiver() {
    let mut startup = start(|c| {
        c.flags = ConfigFlags::DELAYED_ACKS;
        set(c, row("paced"), "initial_train", 8);
    });
    let mut acked = 0;
    for (up_to, at_us) in [(2, 80_000), (4, 81_700), (6, 83_300), (7, 183_000), (8, 183_400)] {
        let ack = Ack {
            now_ns: at_us * 1000,
            newest_sent_ns: 1,
            sent_bytes: 8 * SIZE,
            newest_acked_bytes: up_to * SIZE,
            in_flight_bytes: (8 - acked) * SIZE,
            rtt_us: 80_000,
            ..ack(up_to - acked)
        };
        acked = up_to;
        startup.on_ack(&ack);
    }
    // gB = 0.825 ms, so the next train leaves at 1.65 ms.
    let decision = startup.decision();
    near(1e9 * SIZE as f64 / decision.pacing_bytes_per_s as f64, 1_650_000.0, 5_000.0);
    assert_eq!(decision.cwnd_bytes, 16 * SIZE);
}

#[test]
fn a_delaying_receiver_gets_four_packets_first() {
    assert_eq!(start(|_| {}).decision().cwnd_bytes, 2 * SIZE);
    assert_eq!(start(|c| c.flags = ConfigFlags::DELAYED_ACKS).decision().cwnd_bytes, 4 * SIZE);
    assert_eq!(start(|c| set(c, row("paced"), "initial_train", 10)).decision().cwnd_bytes, 10 * SIZE);
    // What the host cannot space is the least; a length that a user chose stands.
    assert_eq!(start(|c| c.unpaced_packets = 10).decision().cwnd_bytes, 10 * SIZE);
    let chosen = start(|c| {
        c.unpaced_packets = 10;
        set(c, row("paced"), "initial_train", 4);
    });
    assert_eq!(chosen.decision().cwnd_bytes, 4 * SIZE);
    assert_eq!(chosen.decision().pacing_bytes_per_s, BACK_TO_BACK, "whatever the host does by itself");
}

#[test]
fn bunched_acks_decide_nothing() {
    let mut model = Model::new(start(|_| {}));
    model.train(|_| GB_NS);
    let before = *model.startup.decision();
    model.train(|gs| gs / 2.0);
    let after = *model.startup.decision();
    assert_eq!((after.phase(), after.pacing_bytes_per_s), (Phase::Startup, before.pacing_bytes_per_s));
    assert_eq!(after.cwnd_bytes, 2 * before.cwnd_bytes, "again, twice as long");
    // Set to believe any gap, it goes on.
    let mut model = Model::new(start(|c| set(c, row("paced"), "compression", 1000)));
    model.train(|_| GB_NS);
    model.train(|gs| gs / 2.0);
    assert!(model.startup.decision().pacing_bytes_per_s > before.pacing_bytes_per_s);
}

impl Model {
    /// A train whose last ACK comes `late_ns` late, after `probes` more packets.
    fn train_with_a_late_end(&mut self, late_ns: u64, probes: u64) {
        let decision = *self.startup.decision();
        let packets = decision.cwnd_bytes / SIZE;
        let gs = (SIZE * 1_000_000_000).checked_div(decision.pacing_bytes_per_s).unwrap_or(0);
        let before = self.sent;
        self.sent += packets * SIZE;
        for i in 0..packets {
            let last = i + 1 == packets;
            if last {
                self.sent += probes * SIZE;
            }
            self.startup.on_ack(&Ack {
                now_ns: self.now_ns + RTT_NS + i * gs.max(80_000) + u64::from(last) * late_ns,
                newest_sent_ns: self.now_ns + i * gs,
                sent_bytes: self.sent,
                newest_acked_bytes: before + (i + 1) * SIZE,
                delivered_bytes: before + (i + 1) * SIZE,
                in_flight_bytes: (packets - i) * SIZE,
                rtt_us: if last { 0 } else { 80_000 },
                ..ack(1)
            });
        }
        self.now_ns += RTT_NS + late_ns + packets * gs.max(80_000);
    }
}

/// A window of 2.0, 2.0 and 2.7 packets instead of 875 was the price of one late ACK in the first three trains.
#[test]
fn a_train_with_a_late_ack_or_a_probe_decides_nothing() {
    for probes in [0, 1] {
        for late in 0..3 {
            let mut model = Model::new(start(|c| c.flags = ConfigFlags::DELAYED_ACKS));
            for train in 0.. {
                if train == late {
                    let before = *model.startup.decision();
                    model.train_with_a_late_end(440_000_000, probes);
                    let after = *model.startup.decision();
                    assert_eq!(after.phase(), Phase::Startup);
                    assert_eq!(after.pacing_bytes_per_s, before.pacing_bytes_per_s, "the same gap");
                    assert_eq!(after.cwnd_bytes, 2 * before.cwnd_bytes, "twice as long");
                } else {
                    model.train(|gs| gs.max(GB_NS));
                }
                if model.startup.decision().phase() != Phase::Startup {
                    break;
                }
            }
            near(model.startup.decision().cwnd_bytes as f64 / SIZE as f64, 875.0, 0.1);
        }
    }
    // Two packets have one gap, which cannot stand out; a probe is seen all the same.
    let mut model = Model::new(start(|_| {}));
    model.train_with_a_late_end(440_000_000, 1);
    assert_eq!(model.startup.decision().pacing_bytes_per_s, BACK_TO_BACK, "the first train again");
}

#[test]
fn the_paper_believes_any_gap() {
    let mut model = Model::new(start(|c| {
        c.flags = ConfigFlags::DELAYED_ACKS;
        c.parameter = row("paced").parameters_in(Environment::Papers);
    }));
    model.train_with_a_late_end(440_000_000, 0);
    // gB = 440.24 ms / 3
    near(SIZE as f64 * 1e9 / model.startup.decision().pacing_bytes_per_s as f64, 293.5e6, 1e6);
}

#[test]
fn an_undone_loss_goes_on_with_the_search() {
    let mut model = Model::new(start(|_| {}));
    model.train(|_| GB_NS);
    let before = *model.startup.decision();
    let mut event =
        Event { now_ns: 0, lost_bytes: SIZE, in_flight_bytes: SIZE, kind: EventKind::Loss, mss_bytes: MSS };
    assert_eq!(model.startup.on_event(&event).phase(), Phase::Done);
    event.kind = EventKind::Undone;
    let resumed = *model.startup.on_event(&event);
    assert_eq!(resumed.pacing_bytes_per_s, before.pacing_bytes_per_s);
    // What the host had sent meanwhile is more than the train holds.
    model.sent += 6 * SIZE;
    let last = Ack {
        now_ns: model.now_ns + RTT_NS,
        newest_sent_ns: 1,
        sent_bytes: model.sent,
        newest_acked_bytes: model.sent,
        in_flight_bytes: SIZE,
        rtt_us: 80_000,
        ..ack(1)
    };
    let decision = *model.startup.on_ack(&last);
    assert_eq!((decision.phase(), decision.cwnd_bytes), (Phase::Startup, 8 * SIZE));
    while model.startup.decision().phase() == Phase::Startup {
        model.train(|gs| gs.max(GB_NS));
    }
    near(model.startup.decision().cwnd_bytes as f64 / SIZE as f64, 875.0, 0.1);
}

#[test]
fn the_overshoot_can_be_bounded() {
    let (model, trains) = search(1.0, |c| set(c, row("paced"), "max_overshoot", 20));
    assert_eq!(model.startup.decision().cwnd_bytes, 20 * SIZE * trains.last().expect("a train"));
}

#[test]
fn a_short_train_needs_four_gaps() {
    // (packets the application had, whether they decide)
    for (packets, decides) in [(4, false), (6, true)] {
        let mut model = Model::new(start(|c| set(c, row("paced"), "initial_train", 8)));
        model.startup.decision_mut().cwnd_bytes = packets * SIZE;
        let before = model.sent;
        model.sent += packets * SIZE;
        for i in 0..packets {
            let ack = Ack {
                now_ns: RTT_NS + i * 80_000,
                newest_sent_ns: 1,
                sent_bytes: model.sent,
                newest_acked_bytes: before + (i + 1) * SIZE,
                in_flight_bytes: (packets - i) * SIZE,
                rtt_us: 80_000,
                flags: AckFlags::APP_LIMITED,
                ..ack(1)
            };
            model.startup.on_ack(&ack);
        }
        assert_eq!(model.startup.decision().pacing_bytes_per_s != BACK_TO_BACK, decides, "{packets} packets");
        assert_eq!(model.startup.decision().cwnd_bytes, 8 * SIZE, "as long as before");
    }
}

#[test]
fn section_3_2_2_a_loss_leaves_from_the_train_and_a_timeout_from_half_of_it() {
    for (kind, ssthresh) in [(EventKind::Loss, rampcc::UNSET), (EventKind::Timeout, 2 * SIZE)] {
        let mut model = Model::new(start(|_| {}));
        model.train(|_| GB_NS);
        let congestion = Event { now_ns: 0, lost_bytes: SIZE, in_flight_bytes: SIZE, kind, mss_bytes: MSS };
        model.startup.decision_mut().cwnd_bytes = SIZE;
        let decision = model.startup.on_event(&congestion);
        assert_eq!(decision.phase(), Phase::Done);
        assert_eq!((decision.cwnd_bytes, decision.ssthresh_bytes), (4 * SIZE, ssthresh));
        assert_eq!(decision.pacing_bytes_per_s, 0);
    }
}

/// [HS03]'s path: 100 Mbit/s, 80 ms, a buffer of 1000 packets.
fn path_c() -> Pipe {
    Pipe::new(100_000_000, 80_000, 1000, 1000)
}

#[test]
fn on_a_clean_path_it_fills_seven_eighths_without_a_queue() {
    for (ack_every, flags) in [(1, 0), (2, ConfigFlags::DELAYED_ACKS)] {
        let pipe = Pipe { ack_every, ..path_c() };
        let algorithm = row("paced");
        let mut config = config_for(&pipe, algorithm, 2);
        config.flags = flags;
        let outcome = play(&pipe, algorithm, &config);
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Gap);
        assert_eq!(outcome.loss_s, None);
        // The packet's own time on the link counts in the RTT: 80.08 ms.
        near(outcome.cwnd, 876.0, 2.0);
        assert!(outcome.queue_peak <= 4, "{}", outcome.queue_peak);
        assert!(outcome.exit_s.expect("an exit") < 5.5 * 0.080, "{:?}", outcome.exit_s);
    }
}

/// The window at exit over the BDP where ACKs arrive every 40 ms, 1 us apart.
fn quantised(bits_per_s: u64, rtt_us: u64, compression: u64) -> f64 {
    let pipe = Pipe {
        ack_quantum_ns: 40_000_000,
        ack_spacing_ns: 1000,
        ..Pipe::new(bits_per_s, rtt_us, 1000, 100_000)
    };
    let algorithm = row("paced");
    let mut config = config_for(&pipe, algorithm, 2);
    set(&mut config, algorithm, "initial_train", 10);
    set(&mut config, algorithm, "compression", compression);
    let outcome = play(&pipe, algorithm, &config);
    assert_eq!(outcome.decision.exit_reason(), ExitReason::Gap);
    outcome.cwnd / pipe.bdp_packets()
}

#[test]
fn acks_released_every_40_ms_do_not_blow_up_the_window() {
    for (rate, rtt_us) in [(100_000_000, 80_000), (40_000_000, 100_000), (10_000_000, 40_000)] {
        let (careful, credulous) = (quantised(rate, rtt_us, 250), quantised(rate, rtt_us, 1000));
        assert!((0.5..2.0).contains(&careful), "{careful}");
        assert!(credulous > 50.0, "the paper's rule: {credulous}");
    }
}

/// Receivers that answer every eighth packet: xnu's `maxseg_unacked`, GRO, QUIC's ACK frequency. Their timers' ACKs
/// cover fewer packets, and say nothing of the path.
#[test]
fn acks_of_many_packets_leave_the_timers_aside() {
    for (ack_every, quick_acks, delayed_ack_ns) in
        (3..=16).flat_map(|every| [(every, 0, 40_000_000), (every, 0, 100_000_000), (every, 4, 40_000_000)])
    {
        let pipe =
            Pipe { ack_every, quick_acks, delayed_ack_ns, ..Pipe::new(100_000_000, 30_000, 1448, 259) };
        let algorithm = row("paced");
        let mut config = config_for(&pipe, algorithm, 10);
        config.flags = ConfigFlags::DELAYED_ACKS;
        let outcome = play(&pipe, algorithm, &config);
        let case = format!("every {ack_every}, quick {quick_acks}, {delayed_ack_ns} ns");
        assert_eq!(outcome.decision.exit_reason(), ExitReason::Gap, "{case}");
        let share = outcome.cwnd / pipe.bdp_packets();
        assert!((0.8..0.95).contains(&share), "{case}: {share}");
        assert!(outcome.exit_s.expect("an exit") < 1.5, "{case}: {:?}", outcome.exit_s);
    }
}

/// TLS: three packets, an answer, and then the rest. Believed, the pause makes trains that last for seconds.
#[test]
fn a_pause_of_the_application_is_no_gap_of_the_path() {
    let mut startup = start(|c| set(c, row("paced"), "initial_train", 10));
    let mut tell = |now_ns: u64, sent_ns: u64, [sent, arrived, acked]: [u64; 3]| {
        startup.on_ack(&Ack {
            now_ns,
            newest_sent_ns: sent_ns,
            sent_bytes: sent * SIZE,
            newest_acked_bytes: arrived * SIZE,
            delivered_bytes: arrived * SIZE,
            in_flight_bytes: (sent - arrived + acked) * SIZE,
            rtt_us: u32::try_from((now_ns - sent_ns) / 1000).expect("an RTT"),
            ..ack(acked)
        });
        (startup.decision().phase(), startup.decision().pacing_bytes_per_s)
    };
    let (first, second) = (1_000_000_000, 1_000_000_000 + RTT_NS);
    // The link keeps the newest of six ACKs, or of what has come within 10 ms.
    let answers = [
        tell(second, first, [3, 3, 3]),
        tell(second + RTT_NS, second, [10, 9, 6]),
        tell(second + RTT_NS + 10_000_000, second, [10, 10, 1]),
    ];
    assert_eq!(answers, [(Phase::Startup, BACK_TO_BACK); 3]);
    let third = second + RTT_NS + 10_000_000;
    let gap = GB_NS as u64;
    let mut last = (Phase::Startup, 0);
    for sixth in 1..=3 {
        last = tell(third + RTT_NS + 6 * sixth * gap, third, [30, 10 + 6 * sixth, 6]);
    }
    assert_eq!(last, (Phase::Startup, BACK_TO_BACK));
    let (phase, pacing) = tell(third + RTT_NS + 18 * gap + 10_000_000, third, [30, 30, 2]);
    assert_eq!(phase, Phase::Startup);
    near(pacing as f64, 1e9 * SIZE as f64 / (2.0 * GB_NS), 1.0);
}
