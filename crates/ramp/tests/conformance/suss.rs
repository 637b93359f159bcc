//! The closed forms of [SUSS24]'s tests: quadrupling while the path holds IW x 4^(r-1) packets.

use rampcc::{Ack, Config, Event, EventKind, ExitReason, Phase, Startup};

use super::support::pipe::{Pipe, play};
use super::support::{ack, config, row, set};

const MSS: u64 = 1448;
const RTT_US: u32 = 100_000;
/// `RAMP_BACK_TO_BACK`.
const BACK_TO_BACK: u64 = u64::MAX;

/// A sender whose whole window is always on its way.
struct Connection {
    startup: Startup,
    now_ns: u64,
    sent: u64,
    acked: u64,
}

impl Connection {
    fn new(change: &[(&str, u64)]) -> Self {
        let algorithm = row("suss");
        let mut config: Config = config(algorithm, 10);
        (config.mss_bytes, config.initial_window_bytes) = (MSS as u32, 10 * MSS);
        for (name, value) in change {
            set(&mut config, algorithm, name, *value);
        }
        Self { startup: Startup::new(algorithm, &config), now_ns: 1_000_000_000, sent: 10, acked: 0 }
    }

    fn ack(&mut self, packets: u64, rtt_us: u32) {
        self.acked += packets;
        let ack = Ack {
            now_ns: self.now_ns,
            rtt_us,
            sent_bytes: self.sent * MSS,
            newest_acked_bytes: self.acked * MSS,
            delivered_bytes: self.acked * MSS,
            acked_bytes: packets * MSS,
            in_flight_bytes: (self.sent - self.acked + packets) * MSS,
            mss_bytes: MSS as u32,
            ..ack(1)
        };
        let window = self.startup.on_ack(&ack).cwnd_bytes / MSS;
        self.sent = self.sent.max(self.acked + window);
    }

    /// A round trip later, this many ACKs of a packet, so far apart; the windows after each.
    fn train(&mut self, acks: u64, gap_ns: u64, rtt_us: u32) -> u64 {
        for number in 0..acks {
            self.now_ns += if number == 0 { 0 } else { gap_ns };
            self.ack(1, rtt_us);
        }
        self.startup.decision().cwnd_bytes / MSS
    }

    fn rest(&mut self, until: u64) {
        while self.acked < until {
            self.now_ns += 2_500_000;
            self.ack(1, RTT_US);
        }
        self.now_ns += 10_000_000;
    }

    fn rate(&self) -> u64 {
        self.startup.decision().pacing_bytes_per_s
    }
}

#[test]
fn blue_trains_of_1_2_and_4_ms_quadruple_three_times() {
    let mut c = Connection::new(&[]);
    assert_eq!(c.rate(), BACK_TO_BACK);
    // (blue ACKs, window, rate): 20, 120 and 560 red packets in 50, 75 and 87.5 ms.
    for (blue, window, rate) in [(10, 40, 579_200), (20, 160, 2_316_800), (40, 640, 9_267_200)] {
        let sent = c.sent;
        assert_eq!(c.train(blue, 100_000, RTT_US), window);
        assert_eq!(c.rate(), rate);
        let burst_until = c.startup.decision().burst_until_bytes;
        assert_eq!(burst_until / MSS, sent + 2 * blue, "blue packets leave at once");
        // ACKs of red packets do not enlarge the window.
        c.rest(sent);
        assert_eq!(c.startup.decision().cwnd_bytes / MSS, window);
    }
    // suss_max: the fifth round only doubles, back to back. There HyStart's train, eight times as long as that of its
    // blue ACKs, is beyond half the RTT at the 64th: those before it may bring seven times as much again.
    let sent = c.sent;
    c.train(80, 100_000, RTT_US);
    assert_eq!(c.rate(), BACK_TO_BACK);
    c.rest(sent);
    let decision = c.startup.decision();
    assert_eq!(
        (decision.exit_reason(), decision.evidence, decision.limit),
        (ExitReason::AckTrain, 50_400, 50_000)
    );
    assert_eq!(decision.cwnd_bytes / MSS, 640 + 63 + 63 * 7);
}

#[test]
fn a_short_path_or_a_long_first_train_turns_it_off() {
    // 25 ms of train are a quarter of the RTT: nine gaps between ten ACKs.
    for (rtt_us, gap_ns, quadruples) in [
        (10_000, 10_000, false),
        (10_001, 10_000, true),
        (RTT_US, 2_490_000, true),
        (RTT_US, 2_510_000, false),
    ] {
        let mut c = Connection::new(&[]);
        let window = c.train(10, gap_ns, rtt_us);
        assert_eq!((window, c.rate() == 0), if quadruples { (40, false) } else { (20, true) });
    }
}

#[test]
fn the_round_trip_time_may_rise_by_an_eighth_shared_out() {
    // Two rounds after the minimum three RTTs may sum up to an eighth of two more: a rise of 8.33 %.
    for (rtt_us, quadruples) in [(108_333, true), (108_334, false)] {
        let mut c = Connection::new(&[]);
        let sent = c.sent;
        c.train(10, 100_000, RTT_US);
        c.rest(sent);
        let window = c.train(20, 100_000, rtt_us);
        assert_eq!(window, if quadruples { 160 } else { 60 }, "{rtt_us} us");
        assert_eq!(c.rate() == BACK_TO_BACK, !quadruples);
    }
}

#[test]
fn a_round_that_fails_is_the_last_that_could() {
    let mut c = Connection::new(&[]);
    let mut sent = c.sent;
    c.train(10, 100_000, RTT_US);
    c.rest(sent);
    sent = c.sent;
    c.train(20, 100_000, 109_000);
    c.rest(sent);
    let before = c.startup.decision().cwnd_bytes / MSS;
    c.train(40, 100_000, RTT_US);
    assert_eq!(c.startup.decision().cwnd_bytes / MSS, before + 40);
}

#[test]
fn a_train_in_one_ack_foretells_nothing() {
    let mut c = Connection::new(&[]);
    c.ack(10, RTT_US);
    assert_eq!((c.startup.decision().cwnd_bytes / MSS, c.rate()), (20, BACK_TO_BACK));
    c.now_ns += 100_000_000;
    // The next is the first to compare with, the one after may quadruple.
    assert_eq!(c.train(20, 100_000, RTT_US), 40);
    c.now_ns += 98_000_000;
    assert_eq!(c.train(40, 100_000, RTT_US), 80 + 560 - 120);
}

#[test]
fn each_round_quadruples_that_the_path_can_hold() {
    // [SUSS24]'s conditions, for bursts: 40, 160 and 640 packets, a packet's own time aside.
    for (bdp, jumps) in [(36, 0), (43, 1), (150, 1), (166, 2), (600, 2), (660, 3), (3000, 3)] {
        let pipe = Pipe {
            access_bits_per_s: 10_000_000_000,
            ..Pipe::new(bdp * 1500 * 8 * 10, 100_000, 1500, 10_000)
        };
        let algorithm = row("suss");
        let config = super::config_for(&pipe, algorithm, 10);
        let outcome = play(&pipe, algorithm, &config);
        let mut again = Startup::new(algorithm, &config);
        let mut rates = Vec::new();
        for ack in &outcome.acks {
            let rate = again.on_ack(ack).pacing_bytes_per_s;
            if rate != 0 && rate != BACK_TO_BACK && rates.last() != Some(&rate) {
                rates.push(rate);
            }
        }
        assert_eq!(rates.len(), jumps, "{bdp} packets: {rates:?}");
        assert!(matches!(outcome.decision.exit_reason(), ExitReason::AckTrain | ExitReason::Delay));
    }
}

#[test]
fn the_train_of_blue_acks_stands_for_the_whole() {
    // After one jump 26 ms of blue ACKs stand for 52, beyond half of 100 ms; a cap lets the rest of the train grow.
    let mut c = Connection::new(&[("samples", 1000)]);
    let sent = c.sent;
    c.train(10, 100_000, RTT_US);
    c.rest(sent);
    let mut left = None;
    for number in 0..60_u64 {
        c.now_ns += 1_900_000;
        c.ack(1, RTT_US);
        if c.startup.decision().phase() == Phase::Done {
            left = Some(number);
            break;
        }
    }
    // 14 gaps of 1.9 ms are 26.6 ms: 14 ACKs had come, so 14 more may enlarge the window, and one finds it too large.
    let decision = c.startup.decision();
    assert_eq!(left, Some(14 + 14 + 1));
    assert_eq!(
        (decision.exit_reason(), decision.evidence, decision.limit),
        (ExitReason::AckTrain, 53_200, 50_000)
    );
    assert_eq!(decision.cwnd_bytes / MSS, 40 + 29);
    assert_eq!(decision.pacing_bytes_per_s, 0);
}

#[test]
fn events() {
    let event =
        |kind| Event { now_ns: 0, lost_bytes: MSS, in_flight_bytes: MSS, kind, mss_bytes: MSS as u32 };
    let mut c = Connection::new(&[]);
    c.train(10, 100_000, RTT_US);
    let jumped = *c.startup.decision();
    let decision = *c.startup.on_event(&event(EventKind::Loss));
    assert_eq!((decision.phase(), decision.pacing_bytes_per_s), (Phase::Done, 0));
    assert_eq!(*c.startup.on_event(&event(EventKind::Undone)), jumped, "the red packets go on");
    // A timeout leaves HyStart alone, and the host its pacing.
    assert_eq!(c.startup.on_event(&event(EventKind::Timeout)).phase(), Phase::Startup);
    assert_eq!(c.rate(), 0);
}

/// What the random events of `tests/c` showed: no ACK of a red packet looked at the window.
#[test]
fn the_window_holds_a_packet_while_red_ones_leave() {
    let mut c = Connection::new(&[]);
    c.train(10, 100_000, RTT_US);
    for _ in 0..2 {
        let large = Ack { mss_bytes: 1 << 20, flags: 0, ..ack(0) };
        assert!(c.startup.on_ack(&large).cwnd_bytes >= 1 << 20);
    }
}
