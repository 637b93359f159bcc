//! The commands for a live host in machines of older kernels, and through what a test cannot do to the machine that it
//! runs on: a clock that jumps, a power cut, a reboot with systemd. `steps` is what happens there, here is what must
//! come of it.
#![cfg(all(target_os = "linux", feature = "linux"))]

mod disk;
#[path = "../units/guide.rs"]
mod guide;
#[path = "../../../linux/tests/support/machine.rs"]
mod machine;
#[path = "../../../linux/tests/support/ready.rs"]
mod ready;

use disk::{Disk, PROGRAMS, Transcript, no_systemd};
use machine::Kernel;
use ready::unobstructed;
use serde_json::{Value, json};

/// Longer than a boot here lasts, by its own clock.
const BOOT_S: u64 = 600;

#[test]
fn a_host_with_linux_6_1() {
    host("6.1", "degraded", false);
}

#[test]
fn a_host_with_linux_6_12() {
    host("6.12", "ok", true);
}

/// What doctor says of the kernel, and whether a registration has a link.
fn host(series: &str, kernel_state: &str, linked: bool) {
    let Some(()) = unobstructed(no_systemd().as_deref()) else { return };
    let Some(kernel) = Kernel::found(series, PROGRAMS) else { return };
    let disk = Disk::new(series, &kernel);

    let first = disk.boot(&kernel, "/steps/first.sh");
    assert_eq!(first.ok("release"), kernel.release);
    examined(&first, kernel_state);
    attached_and_detached(&first, linked);
    killed(&first);
    kernels_own_were_watched(&first);
    clock_was_set(&first);
    nested(&first);

    let second = disk.boot(&kernel, "/steps/second.sh");
    power_was_cut(&first, &second);

    let third = disk.boot_units(&kernel, "third");
    units_were_installed(&third);
    let fourth = disk.boot_units(&kernel, "fourth");
    units_were_back_and_removed(&third, &fourth);
}

fn examined(said: &Transcript, kernel_state: &str) {
    let report = said.json("doctor");
    assert_eq!(report["can_attach"], true, "{report}");
    let checks = report["checks"].as_array().expect("checks");
    let state = |name: &str| {
        let check = checks.iter().find(|check| check["check"] == name);
        check.unwrap_or_else(|| panic!("no {name}: {report}"))["state"].clone()
    };
    assert_eq!(state("kernel"), kernel_state, "{report}");
    for name in ["BTF", "struct_ops", "functions", "programs", "control groups", "default control"] {
        assert_eq!(state(name), "ok", "{name}: {report}");
    }
}

fn attached_and_detached(said: &Transcript, linked: bool) {
    assert_eq!(said.ok("control"), "cubic");
    said.ok("attach");
    let pins = said.ok("pins");
    assert!(pins.contains("/operations"), "{pins}");
    assert_eq!(pins.contains("/link"), linked, "{pins}");
    for (name, algorithm) in [("attached", "slow_start"), ("replaced", "hystart")] {
        assert_eq!(said.ok(&format!("{name}-control")), format!("ramp_{algorithm}"));
        said.ok(&format!("{name}-fetch"));
        let status = said.one(name);
        in_force(&status, algorithm);
        assert_eq!(status["replaced"], "cubic", "{status}");
        assert_eq!(status["trouble"], Value::Null, "{status}");
        assert!(opened(&status) >= 2, "both ends of what was fetched: {status}");
        assert!(status["open_by_congestion_control"].is_object(), "{status}");
    }
}

fn in_force(status: &Value, algorithm: &str) {
    assert_eq!(status["in_force"], true, "{status}");
    assert_eq!(status["state"], "in force", "{status}");
    assert_eq!(status["algorithm"], algorithm, "{status}");
}

fn opened(status: &Value) -> u64 {
    status["counters"]["opened"].as_u64().unwrap_or_else(|| panic!("no counters: {status}"))
}

fn nothing_left(said: &Transcript, name: &str, control: &str) {
    assert_eq!(said.ok(&format!("{name}-control")), control, "{name}");
    assert_eq!(said.ok(&format!("{name}-left")), "", "{name}");
}

/// What a kill may leave depends on how far the command came meanwhile; what comes of it does not.
fn killed(said: &Transcript) {
    let interrupted = ["interrupted"];
    for (name, states) in [
        ("pinning", &interrupted[..]),
        ("loading", &interrupted),
        ("verifying", &["interrupted", "in force"]),
        ("replacing", &["interrupted", "in force"]),
        ("detaching", &["in force", "overridden"]),
    ] {
        let (text, code) = said.of(&format!("killed-{name}"));
        assert_eq!(code, 128 + 9, "{name} was not killed: {text}");
        said.ok(&format!("killed-{name}-fetch"));
        let status = said.one(&format!("killed-{name}-status"));
        let state = status["state"].as_str().expect("a word");
        assert!(states.contains(&state), "{name}: {status}");
        let control = said.ok(&format!("killed-{name}-control"));
        assert!(["cubic", "ramp_slow_start", "ramp_hystart"].contains(&control), "{name}: {control}");
    }
    for name in ["pinning", "loading", "replacing", "detaching"] {
        said.ok(&format!("undone-{name}"));
        nothing_left(said, &format!("undone-{name}"), "cubic");
        assert_eq!(said.json(&format!("undone-{name}-status")), json!([]), "{name}");
    }
    assert!(said.ok("recovered").contains("Undone first"), "{}", said.ok("recovered"));
}

/// `ramp watch --all`, with nothing attached, and killed.
fn kernels_own_were_watched(said: &Transcript) {
    said.ok("all-seen");
    let lines = said.ok("all").lines();
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let exits: Vec<&Value> = lines.iter().map(|line| &line["exit"]).filter(|exit| exit.is_object()).collect();
    assert!(!exits.is_empty(), "{lines:?}");
    for exit in exits {
        assert_eq!((&exit["scope"], &exit["algorithm"]), (&json!("this host"), &json!("cubic")), "{exit}");
        let reason = exit["reason"].as_str().expect("a word");
        assert!(["loss", "timeout", "delay", "ack-train"].contains(&reason), "{exit}");
        assert!(exit["startup_s"].as_f64().is_some_and(|seconds| seconds > 0.0), "{exit}");
        assert!(exit["local"].as_str().is_some_and(|local| local.starts_with("127.0.0.1:")), "{exit}");
    }
    assert_eq!(said.json("all-table")["attached"], json!([["the kernel's own", "this host"]]));
    assert_eq!(said.ok("all-left"), "");
}

fn clock_was_set(said: &Transcript) {
    said.ok("clock-attach");
    said.ok("trial-begun");
    let mut before = 0;
    for name in ["set", "ahead", "back"] {
        for file in 1..=3 {
            said.ok(&format!("{name}-shop-{file}"));
            said.ok(&format!("{name}-fetch-{file}"));
        }
        let status = said.one(&format!("{name}-status"));
        in_force(&status, "best");
        assert!(opened(&status) > before, "{name}: {status}");
        before = opened(&status);
        let now = said.number(&format!("{name}-now"));
        recent(&status["since_s"], now);
        let text = said.ok(&format!("{name}-text"));
        let age = text.lines().find_map(|line| line.trim().strip_prefix("since")).expect("since when");
        let age = age.split_once('(').expect("its age").1;
        assert!(age.ends_with(" s)") || age.ends_with(" min)"), "{name}: {text}");
        recent(&json!(sample(said.ok(&format!("{name}-metrics")), "ramp_attached_since_seconds")), now);
        assert_eq!(sample(said.ok(&format!("{name}-metrics")), "ramp_attached"), 1, "{name}");
        let watch = said.json(&format!("{name}-watch"));
        let exits = watch["exits"].as_array().expect("exits");
        assert!(!exits.is_empty(), "{name}: {watch}");
        exits.iter().for_each(plausible_exit);
    }
    for name in ["ahead", "back"] {
        said.ok(name);
    }

    let lines: Vec<Value> = said
        .ok("watch")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let exits = lines.iter().filter(|line| line["exit"].is_object()).map(|line| &line["exit"]);
    assert!(exits.clone().count() >= 3, "{lines:?}");
    exits.for_each(plausible_exit);

    assert_eq!(said.of("trial-ended").1, 0, "{:?}\n{}", said.of("trial-said"), said.ok("trial"));
    plausible_trial(&said.json("trial"));
    said.ok("clock-detach");
    nothing_left(said, "clock", "cubic");
}

fn nested(said: &Transcript) {
    for name in ["outer", "inner", "fetch-1", "fetch-2", "fetch-3", "detach", "fetch-4"] {
        said.ok(&format!("nested-{name}"));
    }
    let counted = |name: &str, group: &str| {
        let all = said.json(name);
        let all = all.as_array().expect("attachments");
        let one = all.iter().find(|one| one["scope"].as_str().is_some_and(|scope| scope.ends_with(group)));
        let counters = &one.unwrap_or_else(|| panic!("no {group}: {all:?}"))["assigned"];
        ["assigned", "chosen", "nested"].map(|field| counters[field].as_u64())
    };
    // Only the servers' ends are the groups': one connection of the outer group, two of the inner one.
    assert_eq!(counted("nested", "/outer"), [1, 0, 2].map(Some));
    assert_eq!(counted("nested", "/inner"), [2, 0, 0].map(Some));
    assert_eq!(counted("unnested", "/outer"), [2, 0, 2].map(Some));
    said.ok("unnested-detach");
    nothing_left(said, "unnested", "cubic");
}

/// A date that is no more than a boot ago.
fn recent(since_s: &Value, now_s: u64) {
    let since_s = since_s.as_u64().expect("seconds");
    assert!((now_s - BOOT_S..=now_s).contains(&since_s), "since {since_s}, now {now_s}");
}

fn sample(metrics: &str, name: &str) -> u64 {
    let line = metrics.lines().find(|line| line.starts_with(&format!("{name}{{")));
    let value =
        line.and_then(|line| line.rsplit(' ').next()).unwrap_or_else(|| panic!("no {name}: {metrics}"));
    value.parse().unwrap_or_else(|_| panic!("{name}: {value}"))
}

fn plausible_exit(exit: &Value) {
    for field in ["ago_s", "startup_s"] {
        let seconds = exit[field].as_f64().unwrap_or_else(|| panic!("no {field}: {exit}"));
        assert!((0.0..BOOT_S as f64).contains(&seconds), "{field}: {exit}");
    }
}

fn plausible_trial(report: &Value) {
    let ending = &report["ending"];
    assert_eq!(ending["how"], "completed", "{report}");
    let after = ending["after_s"].as_f64().expect("seconds");
    assert!((20.0..BOOT_S as f64).contains(&after), "{report}");
    let assigned = ending["assigned"].as_array().expect("of two arms").iter().filter_map(Value::as_u64);
    assert_eq!(assigned.sum::<u64>(), 9, "three fetches by each clock: {report}");
    let arms = report["arms"].as_array().expect("two arms");
    let delivered = arms.iter().filter_map(|arm| arm["delivered"].as_u64());
    assert_eq!(delivered.sum::<u64>(), 9, "{report}");
}

fn power_was_cut(before: &Transcript, said: &Transcript) {
    before.ok("power-attach");
    in_force(&before.one("power-status"), "slow_start");
    assert_ne!(before.ok("power-boot"), said.ok("boot"));

    let status = said.one("status");
    assert_eq!((&status["state"], &status["in_force"]), (&json!("before boot"), &json!(false)), "{status}");
    assert_eq!((&status["counters"], &status["replaced"]), (&Value::Null, &Value::Null), "{status}");
    assert!(status["trouble"].as_str().is_some_and(|text| text.contains("the last boot has undone it")));
    assert!(said.ok("text").contains("(0 s)"), "by this clock it is yet to come: {}", said.ok("text"));
    assert_eq!(sample(said.ok("metrics"), "ramp_attached"), 0);
    assert_eq!(said.ok("control"), "reno");

    // On its own, with another attachment in its place, and cut short: it puts nothing back.
    said.ok("kept");
    let detached = said.ok("detach");
    assert!(detached.contains("before the last boot") && !detached.contains("cubic"), "{detached}");
    nothing_left(said, "detached", "reno");
    assert_eq!(said.json("detached"), json!([]));
    said.ok("attach");
    assert_eq!(said.ok("attached-control"), "ramp_hystart");
    let status = said.one("attached");
    in_force(&status, "hystart");
    assert_eq!(status["replaced"], "reno", "{status}");
    let status = said.one("learned");
    in_force(&status, "hystart");
    recent(&status["since_s"], said.number("learned-now"));
    said.ok("learned-detach");
    nothing_left(said, "learned", "reno");
    let status = said.one("torn");
    assert_eq!((&status["state"], &status["in_force"]), (&json!("no record"), &json!(false)), "{status}");
    said.ok("torn-detach");
    nothing_left(said, "torn", "reno");
}

fn units_were_installed(said: &Transcript) {
    assert_eq!(said.ok("control"), "cubic");
    said.ok("install");
    assert_eq!(said.ok("active"), "active\nactive");
    for name in ["status", "started"] {
        let status = said.one(name);
        in_force(&status, "best");
        assert_eq!(status["unit"], "best", "{status}");
    }
    assert_eq!(said.ok("attached-control"), "ramp_best");
    for name in ["metrics", "crash-export-metrics"] {
        assert_eq!(sample(said.ok(name), "ramp_attached"), 1, "{name}");
    }
    for name in ["crash-export", "restart", "crash-attaching", "crash", "start"] {
        said.ok(name);
    }
    // systemd undoes what the killed command has begun.
    said.ok("crash-failed");
    assert_eq!(said.json("crash-status"), json!([]));
    assert_eq!(said.ok("crash-control"), "cubic");
}

fn units_were_back_and_removed(before: &Transcript, said: &Transcript) {
    assert_ne!(before.ok("boot"), said.ok("boot"));
    assert_eq!(said.ok("active"), "active\nactive");
    let status = said.one("status");
    in_force(&status, "best");
    assert_eq!((&status["unit"], &status["replaced"]), (&json!("best"), &json!("cubic")), "{status}");
    assert_eq!(said.ok("attached-control"), "ramp_best");
    said.ok("listens");
    assert_eq!(sample(said.ok("metrics"), "ramp_attached"), 1);

    said.ok("remove");
    nothing_left(said, "removed", "cubic");
    assert_eq!(said.json("removed-status"), json!([]));
    assert_eq!(said.ok("removed-files"), "");
    // Whose exit code differs by version.
    assert_eq!(said.of("removed-units").0, "");
}
