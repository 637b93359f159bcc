//! Killed at every step, nothing is left half configured: connections work, and detach or attach recovers.

use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{env, thread};

use rampcc_host::{Host, Scope};

use crate::support::{Cgroup, Place, algorithm, finish, ready, run, usual, within};

/// In a child: attaches, replaces or detaches, and dies at a step.
pub(crate) fn die(words: &[&str]) {
    let [what, id, at, delay, scope @ ..] = words else {
        panic!("what, which algorithm, at which step, after how long, where")
    };
    let algorithm = algorithm(id);
    let (at, delay): (u32, u64) = (at.parse().expect("a step"), delay.parse().expect("microseconds"));
    let root = std::path::PathBuf::from(env::var("RAMP_PLACE").expect("set by the parent"));
    let netns = env::var("RAMP_NETNS").expect("set by the parent");
    let taken = AtomicU32::new(0);
    let host = Host::at(root.join("bpf/ramp"), root.join("records")).on_step(move |_| {
        if taken.fetch_add(1, Ordering::Relaxed) == at {
            if delay == 0 {
                kill();
            } else {
                thread::spawn(move || {
                    thread::sleep(Duration::from_micros(delay));
                    kill();
                });
            }
        }
    });
    let scope = Scope::parse(scope).expect("a scope");
    within(&netns, || {
        let done = match *what {
            "detach" => host.detach(None).map(|_| ()),
            _ => host.attach(&scope, algorithm, &usual(algorithm)).map(|_| ()),
        };
        done.expect("it would have worked");
    });
}

fn kill() -> ! {
    Command::new("kill").args(["-9", &process::id().to_string()]).status().expect("kill");
    loop {
        thread::park();
    }
}

/// The steps of an operation that is not interrupted.
fn steps(place: &Place, work: impl FnOnce(&Host)) -> Vec<&'static str> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearing = Arc::clone(&heard);
    work(&place.host().on_step(move |step| hearing.lock().expect("no panic").push(step)));
    let steps = heard.lock().expect("no panic").clone();
    assert!(steps.len() > 5 && RECORDING.iter().all(|step| steps.contains(step)), "{steps:?}");
    steps
}

/// Steps that are the same whatever the scope: one scope stands for all.
const RECORDING: [&str; 3] =
    ["draft the record", "put the record in its place", "copy the record next to the pins"];

/// Kills each operation on a scope at each of its steps, and recovers by `detach`, or by another `attach`.
fn at_every_step(place: &Place, scope: &str, ids: [&str; 2], before: impl Fn() -> String) {
    let host = place.host();
    let [first, other] = ids.map(algorithm);
    let words: Vec<&str> = scope.split(' ').collect();
    let parsed = Scope::parse(&words).expect("a scope");
    let attach = || place.within(|| host.attach(&parsed, first, &usual(first))).expect("attaches");
    let untouched = before();
    let attaching = steps(place, |host| {
        place.within(|| host.attach(&parsed, first, &usual(first))).expect("attaches");
    });
    let replacing = steps(place, |host| {
        place.within(|| host.attach(&parsed, other, &usual(other))).expect("replaces");
    });
    let detaching = steps(place, |host| {
        place.within(|| host.detach(None)).expect("detaches");
    });
    for (what, steps) in [("attach", attaching), ("replace", replacing), ("detach", detaching)] {
        let enumerated = steps.iter().enumerate();
        for (number, step) in enumerated.filter(|(_, step)| scope == "system" || !RECORDING.contains(step)) {
            if what != "attach" {
                attach();
            }
            let number_text = number.to_string();
            let id = if what == "replace" { other.id } else { first.id };
            let child = [&["die", what, id, &number_text, "0"], words.as_slice()].concat();
            let (status, said) = finish(place.child(&child).spawn().expect("a child"));
            let place_of_death = format!("{scope}: {what} killed at {step:?}");
            assert!(!status.success() && !said.contains("would have worked"), "{place_of_death}: {said}");
            for name in place.used() {
                assert!(!name.is_empty(), "{place_of_death}");
            }
            let status = host.attachments().expect("status");
            assert!(status.len() <= 1, "{place_of_death}");
            if number % 2 == 1 {
                let attached = attach();
                let status = host.attachments().expect("status");
                assert_eq!(status.len(), 1, "{place_of_death}");
                assert_eq!(status[0].health, rampcc_host::Health::InForce, "{place_of_death}: {attached:?}");
                assert_eq!(status[0].attached.as_ref().expect("known").id, first.id);
            }
            let detached = place.within(|| host.detach(None));
            let detached = detached.unwrap_or_else(|error| panic!("{place_of_death}: {error}"));
            assert_eq!(before(), untouched, "{place_of_death}: {detached:?}");
            let names: Vec<_> = detached.into_iter().flat_map(|detached| detached.names).collect();
            place.assert_clean(&names);
        }
    }
}

#[test]
fn killed_at_every_step_a_namespace_recovers() {
    let Some(()) = ready() else { return };
    let place = Place::sharing();
    at_every_step(&place, "system", ["best", "hystart"], || place.default());
    assert_eq!(place.used(), ["reno", "reno"]);
}

#[test]
fn killed_at_every_step_a_route_recovers() {
    let Some(()) = ready() else { return };
    let place = Place::sharing();
    run(&format!("ip -n {} route add 10.80.0.0/16 via 10.78.1.2 mtu 1400", place.netns()));
    at_every_step(&place, "route 10.80.0.0/16", ["slow_start", "limited"], || place.routes());
}

#[test]
fn killed_at_every_step_a_control_group_recovers() {
    let Some(()) = ready() else { return };
    let (place, group) = (Place::sharing(), Cgroup::new());
    at_every_step(
        &place,
        &format!("cgroup {}", group.path.display()),
        ["hystartpp", "hystart11"],
        String::new,
    );
}

#[test]
fn killed_at_any_moment_while_loading_a_namespace_recovers() {
    let Some(()) = ready() else { return };
    let place = Place::sharing();
    let host = place.host();
    let paced = algorithm("paced");
    let steps = steps(&place, |host| {
        place.within(|| host.attach(&Scope::System, paced, &usual(paced))).expect("attaches");
    });
    place.within(|| host.detach(None)).expect("detaches");
    let loading = steps.iter().position(|step| step.contains("load")).expect("a step").to_string();
    for delay in (1..12).map(|number| (number * 4_000).to_string()) {
        let (_, said) = finish(
            place.child(&["die", "attach", "paced", &loading, &delay, "system"]).spawn().expect("a child"),
        );
        let detached = place.within(|| host.detach(None));
        detached.unwrap_or_else(|error| panic!("after {delay} us: {error}: {said}"));
        assert_eq!(place.default(), "reno");
        place.assert_clean(&["ramp_paced".into()]);
    }
}
