//! The draw, and what it leaves alone.

use std::time::Duration;

use rampcc::algorithm;
use rampcc_host::{Assign, AssignArm, AssignCounters, AssignEvent, AssignOptions, Done, WHOLE};
use rampcc_linux::{Loaded, Options, load};

use crate::support::left_out::{complete, repeated};
use crate::support::{Cgroup, Line, Load, Open, ready};

const LOAD: Load = Load { open: Open::Clients, connections: 400, lanes: 16, bytes: 30_000, control: None };

fn arm(control: &str, share: u32) -> AssignArm {
    AssignArm { control: control.into(), share }
}

fn loaded(id: &str, name: &str) -> Loaded {
    let algorithm = algorithm(id).expect("a row of the registry");
    let mut options = Options::new(algorithm);
    options.name = Some(name.to_owned());
    load(algorithm, &options).unwrap_or_else(|error| panic!("{error}\n{}", error.log()))
}

/// Until as many connections are done.
fn all_done(assign: &Assign, count: usize) -> (Vec<Done>, usize) {
    let (mut done, mut opened) = (Vec::new(), 0);
    for _ in 0..300 {
        for event in assign.drain(Duration::from_millis(100)).expect("events") {
            match event {
                AssignEvent::Opened(_) => opened += 1,
                AssignEvent::Done(event) => done.push(event),
            }
        }
        if done.len() >= count {
            return (done, opened);
        }
    }
    panic!("{} of {count} connections are done: {:?}", done.len(), assign.counters());
}

#[test]
fn shares_are_kept_by_both_kinds_of_open() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let cgroup = Cgroup::enter();
        let line = Line::new("rate = '200 Mbit/s'\nrtt = '10 ms'");
        let best = loaded("best", "ta_best");
        let arms = [arm("ta_best", WHOLE / 4), arm("cubic", WHOLE - WHOLE / 4)];
        for open in [Open::Clients, Open::Server] {
            let options = AssignOptions { record: true, ..AssignOptions::default() };
            let before = best.counters().expect("counters");
            let assign = Assign::attach(cgroup.path(), &arms, options).unwrap_or_else(|e| panic!("{e}"));
            line.run(Load { open, ..LOAD });
            let counters = assign.counters().expect("counters");
            // The clients' ends of the connections are assigned too, and the last one, which says that it is over.
            let all: u64 = counters.assigned.iter().sum();
            assert_eq!((all, counters.chosen, counters.lost_events), (802, 0, 0), "{counters:?}");
            assert_eq!((counters.refused, counters.without_storage), ([0; 8], 0), "{counters:?}");
            // Six standard deviations of the binomial distribution of 802 draws at 1/4.
            assert!((127..=274).contains(&counters.assigned[0]), "{counters:?}");
            let after = best.counters().expect("counters");
            let opened = after.opened - before.opened;
            complete(opened >= counters.assigned[0], (before, after));
            assert_eq!(opened, counters.assigned[0]);
            assert_eq!((after.late, after.without_storage), (0, 0));
            let (done, opened) = all_done(&assign, 802);
            assert_eq!(opened, 802);
            let senders: Vec<_> = done.iter().filter(|d| d.acked_bytes >= LOAD.bytes).collect();
            assert_eq!(senders.len(), 400);
            for sender in senders {
                assert!(sender.delivered() && sender.passive() == (open == Open::Clients), "{sender:?}");
                assert!(sender.min_rtt_us >= 9_000, "{sender:?}");
                // 21 packets: ten, then the rest, a round trip each.
                let took = sender.delivered_after().expect("something was acknowledged");
                assert!(took >= Duration::from_millis(18), "{sender:?}");
            }
        }
    });
}

#[test]
fn an_applications_choice_is_left_alone_unless_all_are_wanted() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let cgroup = Cgroup::enter();
        let line = Line::new("rate = '200 Mbit/s'\nrtt = '10 ms'");
        let best = loaded("best", "tb_best");
        let arms = [arm("tb_best", WHOLE)];
        let assigned = |all: bool, open| -> AssignCounters {
            let options = AssignOptions { all, ..AssignOptions::default() };
            let assign = Assign::attach(cgroup.path(), &arms, options).unwrap_or_else(|e| panic!("{e}"));
            line.run(Load { open, connections: 20, lanes: 4, bytes: 3_000, control: Some("reno") });
            assign.counters().expect("counters")
        };
        // The other ends of the twenty connections, and both of the last, which is opened where the listener is.
        let counters = assigned(false, Open::Clients);
        assert_eq!((counters.chosen, counters.assigned[0]), (21, 21), "{counters:?}");
        let counters = assigned(false, Open::Server);
        assert_eq!((counters.chosen, counters.assigned[0]), (20, 22), "{counters:?}");
        let counters = assigned(true, Open::Clients);
        assert_eq!((counters.chosen, counters.assigned[0]), (0, 42), "{counters:?}");
        let counters = best.counters().expect("counters");
        complete(counters.opened >= 21 + 22 + 42, counters);
        assert_eq!(counters.opened, 21 + 22 + 42);
    });
}

#[test]
fn what_cannot_be_assigned_is_refused_by_name() {
    let refused = |arms: &[AssignArm]| {
        let error = Assign::attach("/proc".as_ref(), arms, AssignOptions::default());
        error.err().expect("it is refused").to_string()
    };
    assert!(refused(&[arm("cubic", 5_000)]).contains("5000"));
    assert!(refused(&[arm("no_such_one", WHOLE)]).contains("no_such_one"));
    assert!(refused(&[arm("dctcp", WHOLE)]).contains("ECN"));
    assert!(refused(&[arm("reno", WHOLE)]).contains("/proc is not a control group"));
}
