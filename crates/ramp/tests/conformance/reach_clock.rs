//! The receiver's clock: ACKs count from when it says that they left.

use proptest::prelude::*;
use rampcc::{Ack, Event, EventKind, ExitReason, Startup};

use super::support::events::runner;
use super::support::pipe::{Outcome, Pipe, START, play};
use super::support::{config, row};

/// A return link that spaces ACKs at four times the path's packets.
fn slow_return(tick_ns: u64) -> Pipe {
    let mut pipe = Pipe::new(20_000_000, 200_000, 1500, usize::MAX);
    pipe.ack_spacing_ns = 2_400_000;
    pipe.tick_ns = tick_ns;
    pipe
}

fn on(pipe: &Pipe) -> Outcome {
    let algorithm = row("reach");
    let mut config = config(algorithm, 10);
    config.mss_bytes = pipe.packet_bytes as u32;
    config.initial_window_bytes = 10 * pipe.packet_bytes;
    config.handshake_rtt_us = (pipe.rtt_ns / 1000) as u32;
    config.tsval = if pipe.tick_ns > 0 { START } else { 0 };
    play(pipe, algorithm, &config)
}

#[test]
fn behind_a_slow_return_link_the_window_is_the_paths() {
    let (without, with) = (on(&slow_return(0)), on(&slow_return(1_000_000)));
    let bdp = slow_return(0).bdp_packets();
    assert!(without.cwnd < bdp / 2.0, "{} of {bdp}", without.cwnd);
    assert!(with.cwnd > bdp * 0.75, "{} of {bdp}, {:?}", with.cwnd, with.decision.exit_reason());
    assert_ne!(with.decision.exit_reason(), ExitReason::None);
}

/// It falls behind by more than a third of an RTT, whatever its phase and the path, and is never sure.
#[test]
fn a_clock_that_ticks_half_as_often_or_less_changes_nothing() {
    let tick_ns = prop_oneof![3 => 2_000_000..20_000_000_u64, 1 => 20_000_000..1_000_000_000_u64];
    let path = (14_u32..28, 2_000..400_000_u64, 1..40_u64, 1..400_u64);
    runner(400)
        .run(&(path, tick_ns, 0..100_u64), |((size, rtt_us, ack_every, spacing), tick_ns, phase)| {
            let mut pipe = Pipe::new(1 << size, rtt_us, 1500, 200);
            pipe.ack_every = ack_every;
            pipe.ack_spacing_ns = 1500 * 80_000_000 / (1 << size) * spacing;
            pipe.limit_ns = 30 * pipe.rtt_ns + 5_000_000_000;
            let without = on(&pipe);
            pipe.tick_ns = tick_ns;
            pipe.ticked_ns = tick_ns * phase / 100;
            let with = on(&pipe);
            prop_assert_eq!(without.decision, with.decision);
            prop_assert_eq!(without.acks.len(), with.acks.len());
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// A stamp that never changes is no clock either.
#[test]
fn stamps_that_are_all_alike_change_nothing() {
    let algorithm = row("reach");
    let outcome = on(&slow_return(0));
    let mut own = config(algorithm, 10);
    own.mss_bytes = 1500;
    own.initial_window_bytes = 15_000;
    own.handshake_rtt_us = 200_000;
    let mut without = Startup::new(algorithm, &own);
    own.tsval = START;
    let mut with = Startup::new(algorithm, &own);
    for ack in &outcome.acks {
        let mut stamped = *ack;
        stamped.tsval = START;
        assert_eq!(without.on_ack(ack), with.on_ack(&stamped));
    }
}

/// A pause does not make one that was late from the start look right.
#[test]
fn a_clock_that_ticks_more_slowly_changes_nothing_after_a_pause_either() {
    let outcome = on(&slow_return(2_000_000));
    for pause in 1..10 {
        let algorithm = row("reach");
        let mut own = config(algorithm, 10);
        own.mss_bytes = 1500;
        own.initial_window_bytes = 15_000;
        own.handshake_rtt_us = 200_000;
        let mut without = Startup::new(algorithm, &own);
        own.tsval = START;
        let mut with = Startup::new(algorithm, &own);
        for (index, ack) in outcome.acks.iter().enumerate() {
            if index == pause {
                let idle = Event {
                    now_ns: ack.now_ns,
                    lost_bytes: 0,
                    in_flight_bytes: 0,
                    kind: EventKind::IdleRestart,
                    mss_bytes: 1500,
                };
                assert_eq!(without.on_event(&idle), with.on_event(&idle));
            }
            assert_eq!(without.on_ack(&Ack { tsval: 0, ..*ack }), with.on_ack(ack), "{pause}, {index}");
        }
    }
}
