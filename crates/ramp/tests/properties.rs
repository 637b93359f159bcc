//! What holds for every algorithm, whatever happens to it.

use proptest::prelude::*;
use ramp::{Algorithm, CongestionKind, Decision, ExitReason, Phase, Startup, algorithms};
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
            } else if before.phase() == Phase::Done {
                prop_assert_eq!(before, after);
            }
            prop_assert!(left == ExitReason::None || left == after.exit_reason(), "left twice");
            left = after.exit_reason();
        }
        Ok(())
    });
}

#[test]
fn an_undone_reduction_changes_nothing() {
    for_every_algorithm(|_, mut startup, steps| {
        let mut host = Host::default();
        for step in &steps {
            let before = (*startup.decision(), startup.state().to_vec());
            let event = host.event(step, &before.0);
            let after = apply(&mut startup, &event);
            if matches!(event, Event::Congestion(c) if c.kind == CongestionKind::Spurious) {
                prop_assert_eq!(&before, &(after, startup.state().to_vec()));
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
