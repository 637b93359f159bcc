//! What holds for every algorithm, whatever happens to it.

use proptest::prelude::*;
use ramp::{Algorithm, Congestion, CongestionKind, Decision, ExitReason, Phase, Startup, algorithms};
use support::MSS;
use support::events::{Event, Host, Step, configs, runner, steps};

mod support;

/// 1 TiB: `RAMP_CWND_MAX_BYTES`.
const CWND_MAX_BYTES: u64 = 1 << 40;
/// Their sources arm them again after a timeout.
const REARMED: [&str; 3] = ["limited", "hystart11", "hystart"];

/// Runs a property for every row of the registry, over configurations and sequences.
fn for_every_algorithm(
    property: impl Fn(&'static Algorithm, Startup, Vec<Step>) -> Result<(), TestCaseError>,
) {
    for algorithm in algorithms() {
        runner(96)
            .run(&(configs(algorithm), steps()), |(config, steps)| {
                property(algorithm, Startup::new(algorithm, &config), steps)
            })
            .unwrap_or_else(|error| panic!("{}: {error}", algorithm.id));
    }
}

fn apply(startup: &mut Startup, event: &Event) -> Decision {
    match event {
        Event::Ack(ack) => *startup.on_ack(ack),
        Event::Congestion(congestion) => *startup.on_congestion(congestion),
    }
}

#[test]
fn the_window_is_at_least_one_packet_and_never_wraps() {
    for_every_algorithm(|_, mut startup, steps| {
        let mut host = Host::default();
        for step in &steps {
            let event = host.event(step, startup.decision());
            let decision = apply(&mut startup, &event);
            if let Event::Ack(ack) = event
                && matches!(decision.phase(), Phase::Startup | Phase::Conservative)
            {
                prop_assert!(decision.cwnd_bytes >= u64::from(ack.mss_bytes), "{decision:?}");
                prop_assert!(decision.cwnd_bytes <= CWND_MAX_BYTES, "{decision:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn start_up_ends_once_with_a_reason_and_is_silent_after() {
    for_every_algorithm(|algorithm, mut startup, steps| {
        let mut host = Host::default();
        let mut left = ExitReason::None;
        for step in &steps {
            let before = *startup.decision();
            let event = host.event(step, &before);
            let after = apply(&mut startup, &event);
            let decided = matches!(after.phase(), Phase::Filling | Phase::Done);
            prop_assert_eq!(decided, after.exit_reason() != ExitReason::None);
            let timeout = matches!(event, Event::Congestion(c) if c.kind == CongestionKind::Rto);
            if timeout && REARMED.contains(&algorithm.id) {
                prop_assert_eq!(after.phase(), Phase::Startup);
                left = ExitReason::None;
            } else if before.phase() == Phase::Done && after.phase() != Phase::Done {
                prop_assert!(matches!(event, Event::Congestion(c) if c.kind == CongestionKind::Spurious));
                left = ExitReason::None;
            } else if before.phase() == Phase::Done {
                prop_assert_eq!(before, after);
            }
            prop_assert!(left == ExitReason::None || left == after.exit_reason(), "left twice");
            left = after.exit_reason();
        }
        Ok(())
    });
}

const CONGESTION: [ExitReason; 3] = [ExitReason::Loss, ExitReason::Ecn, ExitReason::Rto];

#[test]
fn an_undone_reduction_takes_back_an_exit_by_congestion_and_changes_nothing_else() {
    for_every_algorithm(|_, mut startup, steps| {
        let mut host = Host::default();
        for step in &steps {
            let before = *startup.decision();
            let event = host.event(step, &before);
            let after = apply(&mut startup, &event);
            if !matches!(event, Event::Congestion(c) if c.kind == CongestionKind::Spurious) {
                continue;
            }
            if before.phase() == after.phase() {
                prop_assert_eq!(before, after);
                continue;
            }
            prop_assert!(before.phase() == Phase::Done && CONGESTION.contains(&before.exit_reason()));
            prop_assert!(matches!(after.phase(), Phase::Startup | Phase::Conservative));
            prop_assert_eq!(after.exit_reason(), ExitReason::None);
            // The windows are the host's to restore.
            prop_assert_eq!(after.cwnd_bytes, before.cwnd_bytes.clamp(u64::from(MSS), CWND_MAX_BYTES));
            prop_assert_eq!(after.ssthresh_bytes, before.ssthresh_bytes);
        }
        Ok(())
    });
}

fn tell(startup: &mut Startup, kind: CongestionKind) -> Decision {
    *startup.on_congestion(&Congestion {
        now_ns: 0,
        lost_bytes: 1000,
        in_flight_bytes: 1000,
        kind,
        mss_bytes: MSS,
    })
}

#[test]
fn an_undone_reduction_leaves_start_up_as_if_it_had_not_been() {
    for_every_algorithm(|algorithm, mut startup, steps| {
        let mut host = Host::default();
        let plausible = steps.iter().filter(|step| matches!(step, Step::Ack { .. }));
        for (number, step) in plausible.enumerate() {
            let event = host.event(step, startup.decision());
            let before = apply(&mut startup, &event);
            if number % 16 != 0 || matches!(before.phase(), Phase::Filling | Phase::Done) {
                continue;
            }
            for kind in [CongestionKind::Loss, CongestionKind::CeMark, CongestionKind::Rto] {
                let mut other = startup.clone();
                if tell(&mut other, kind).phase() != Phase::Done {
                    prop_assert!(kind == CongestionKind::Rto && REARMED.contains(&algorithm.id));
                    continue;
                }
                let mut final_exit = other.clone();
                let own = other.decision_mut();
                (own.cwnd_bytes, own.ssthresh_bytes) = (before.cwnd_bytes, before.ssthresh_bytes);
                prop_assert_eq!(tell(&mut other, CongestionKind::Spurious), before);
                prop_assert_eq!(other.state(), startup.state());
                // A second reduction makes the first one's exit final.
                tell(&mut final_exit, CongestionKind::Loss);
                prop_assert_eq!(tell(&mut final_exit, CongestionKind::Spurious).phase(), Phase::Done);
            }
        }
        Ok(())
    });
}

#[test]
fn the_same_events_give_the_same_bytes() {
    for_every_algorithm(|_, startup, steps| {
        let (mut first, mut second) = (startup.clone(), startup);
        let mut host = Host::default();
        for step in &steps {
            let event = host.event(step, first.decision());
            prop_assert_eq!(apply(&mut first, &event), apply(&mut second, &event));
            prop_assert_eq!(first.state(), second.state());
        }
        Ok(())
    });
}

/// Without this the properties above could hold for streams that never leave start-up.
#[test]
fn the_streams_reach_the_exits() {
    for algorithm in algorithms() {
        let reasons = std::cell::RefCell::new(Vec::new());
        runner(200)
            .run(&(configs(algorithm), steps()), |(config, steps)| {
                let mut startup = Startup::new(algorithm, &config);
                let mut host = Host::default();
                for step in &steps {
                    let event = host.event(step, startup.decision());
                    apply(&mut startup, &event);
                }
                reasons.borrow_mut().push(startup.decision().exit_reason());
                Ok(())
            })
            .expect("nothing is asserted");
        let own: &[ExitReason] = match algorithm.id {
            "hystart11" | "hystart" => &[ExitReason::AckTrain, ExitReason::Delay],
            "hystartpp" => &[ExitReason::Delay],
            "paced" => &[ExitReason::Gap],
            "best" => &[ExitReason::Bandwidth],
            "ideal" => &[ExitReason::Known],
            _ => &[],
        };
        for reason in own.iter().chain(&[ExitReason::Loss, ExitReason::Ssthresh]) {
            let seen = reasons.borrow();
            assert!(seen.contains(reason), "{}: {reason:?} is not among {seen:?}", algorithm.id);
        }
    }
}
