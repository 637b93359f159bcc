//! RFC 9406.

use rampcc::{AckFlags, Config, Event, EventKind, ExitReason, Phase, Startup};

use super::support::pipe::play;
use super::support::{Stream, ack, config, row, set};
use super::{config_for, near, packets, path_a, path_d};

const MS: u64 = 1_000_000;

fn start(change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("hystartpp");
    let mut config = config(algorithm, 100);
    change(&mut config);
    Startup::new(algorithm, &config)
}

/// One round of ten samples; the phase after each of its ACKs.
fn round(startup: &mut Startup, stream: &mut Stream, rtt_us: u32) -> Vec<Phase> {
    stream.open_round(10);
    (0..10).map(|_| startup.on_ack(&stream.ack(stream.now_ns + MS, rtt_us)).phase()).collect()
}

#[test]
fn section_4_2_threshold() {
    // (last round's minimum, threshold), us
    let table = [
        (5_000, 4_000),
        (31_000, 4_000),
        (32_000, 4_000),
        (40_000, 5_000),
        (100_000, 12_500),
        (106_000, 13_250),
        (127_000, 15_875),
        (128_000, 16_000),
        (200_000, 16_000),
        (600_000, 16_000),
    ];
    for (last, threshold) in table {
        for (rise, enters) in [(threshold - 1, false), (threshold, true)] {
            let (mut startup, mut stream) = (start(|_| {}), Stream::new());
            round(&mut startup, &mut stream, last);
            let phases = round(&mut startup, &mut stream, last + rise);
            // N_RTT_SAMPLE: the eighth sample decides.
            let expected = |i| if enters && i >= 7 { Phase::Conservative } else { Phase::Startup };
            assert!(phases.iter().enumerate().all(|(i, p)| *p == expected(i)), "{last}: {phases:?}");
        }
    }
}

#[test]
fn section_4_2_growth_per_ack() {
    // (segments, growth unpaced, paced), SMSS 1460
    for (segments, unpaced, paced) in
        [(1, 1460, 1460), (2, 2920, 2920), (8, 11_680, 11_680), (9, 11_680, 13_140), (20, 11_680, 29_200)]
    {
        for (flags, growth) in [(0, unpaced), (AckFlags::PACED, paced)] {
            for (conservative, divisor) in [(false, 1), (true, 4)] {
                let mut startup = start(|c| c.mss_bytes = 1460);
                let mut stream = Stream::new();
                round(&mut startup, &mut stream, 40_000);
                if conservative {
                    round(&mut startup, &mut stream, 60_000);
                    assert_eq!(startup.decision().phase(), Phase::Conservative);
                }
                let before = startup.decision().cwnd_bytes;
                let mut ack = ack(0);
                (ack.acked_bytes, ack.mss_bytes) = (segments * 1460, 1460);
                ack.flags |= flags;
                assert_eq!(startup.on_ack(&ack).cwnd_bytes - before, growth / divisor, "{segments} segments");
            }
        }
    }
}

/// Phases at the end of each round with these minima, ms, and the round at whose end start-up was over.
fn trace(minima: &[u32]) -> (Vec<Phase>, Option<usize>) {
    let (mut startup, mut stream) = (start(|_| {}), Stream::new());
    let mut phases = Vec::new();
    for (i, minimum) in minima.iter().chain([minima.last().expect("a round")]).enumerate() {
        let of_round = round(&mut startup, &mut stream, minimum * 1000);
        // A round is over with the first ACK of the next.
        if of_round[0] == Phase::Done {
            return (phases, Some(i));
        }
        phases.push(of_round[9]);
    }
    phases.pop();
    (phases, None)
}

#[test]
fn section_4_2_jitter_is_forgiven_and_a_lasting_rise_is_not() {
    let (phases, end) = trace(&[40, 40, 46, 39, 40, 40, 48, 49, 50, 50, 50]);
    let s = Phase::Startup;
    let c = Phase::Conservative;
    assert_eq!(phases, [s, s, c, s, s, s, c, c, c, c, c]);
    assert_eq!(end, Some(11));
}

#[test]
fn section_4_2_a_growing_queue_ends_it_after_five_rounds() {
    let (phases, end) = trace(&[40, 40, 41, 46, 52, 60, 70, 80, 90]);
    let s = Phase::Startup;
    let c = Phase::Conservative;
    assert_eq!(phases, [s, s, s, s, c, c, c, c, c]);
    assert_eq!(end, Some(9));
}

#[test]
fn section_4_2_a_slow_creep_is_never_seen() {
    let (phases, end) = trace(&[40, 43, 46, 49, 52, 55, 58]);
    assert!(phases.iter().all(|p| *p == Phase::Startup));
    assert_eq!(end, None);
}

#[test]
fn the_exit_reports_the_rise_that_led_to_it() {
    let (mut startup, mut stream) = (start(|_| {}), Stream::new());
    for minimum in [40_000, 46_000, 47_000, 48_000, 49_000, 50_000, 50_000] {
        round(&mut startup, &mut stream, minimum);
    }
    let decision = startup.decision();
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Delay));
    assert_eq!((decision.evidence, decision.limit), (46_000, 45_000));
    assert_eq!(decision.cwnd_bytes, decision.ssthresh_bytes);
}

#[test]
fn the_round_ends_with_a_packet_sent_after_it_began() {
    let (mut startup, mut stream) = (start(|_| {}), Stream::new());
    round(&mut startup, &mut stream, 40_000);
    // The last packet of the round is the marker itself: it is not beyond it.
    let mut ack = stream.ack(stream.now_ns + MS, 90_000);
    ack.newest_acked_bytes = ack.sent_bytes;
    startup.on_ack(&ack);
    let phases = round(&mut startup, &mut stream, 41_000);
    assert!(
        phases.iter().all(|p| *p == Phase::Startup),
        "the 40 ms belong to the last round, so 41 ms is no rise"
    );
}

/// A loss that was none leaves everything as it was, conservative rounds included.
#[test]
fn an_undone_loss_resumes_the_phase_it_ended() {
    let (mut startup, mut stream) = (start(|_| {}), Stream::new());
    round(&mut startup, &mut stream, 40_000);
    round(&mut startup, &mut stream, 60_000);
    let mut event = Event {
        now_ns: stream.now_ns,
        lost_bytes: 1000,
        in_flight_bytes: 1000,
        kind: EventKind::Loss,
        mss_bytes: 1000,
    };
    assert_eq!(startup.on_event(&event).exit_reason(), ExitReason::Loss);
    event.kind = EventKind::Undone;
    let decision = *startup.on_event(&event);
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Conservative, ExitReason::None));
    for _ in 0..5 {
        assert_ne!(startup.decision().exit_reason(), ExitReason::Delay);
        round(&mut startup, &mut stream, 60_000);
    }
    assert_eq!(startup.decision().exit_reason(), ExitReason::Delay);
}

#[test]
fn fractions_of_a_byte_are_not_lost_in_conservative_slow_start() {
    let mut startup = start(|c| set(c, row("hystartpp"), "css_growth_divisor", 8));
    let mut stream = Stream::new();
    round(&mut startup, &mut stream, 40_000);
    round(&mut startup, &mut stream, 60_000);
    let before = packets(&startup);
    let mut small = ack(1);
    (small.acked_bytes, small.flags) = (1, AckFlags::CWND_LIMITED);
    for _ in 0..8000 {
        startup.on_ack(&small);
    }
    near(packets(&startup), before + 1.0, 1e-9);
}

#[test]
fn on_a_clean_path_it_never_sees_the_queue() {
    // Head-of-burst samples meet no queue until the window exceeds the BDP, and the next round overflows the buffer.
    for (pipe, window) in [(path_a(), 1768.0), (path_d(), 20_202.0)] {
        let algorithm = row("hystartpp");
        let outcome = play(&pipe, algorithm, &config_for(&pipe, algorithm, 10));
        assert!(outcome.loss_s.is_some());
        assert!(outcome.phases.is_empty(), "{:?}", outcome.phases);
        near(outcome.cwnd, window, 1.0);
    }
}
