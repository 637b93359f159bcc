//! The systemd units, under systemd: started, stopped, crossed and attacked as docs/guide/host.md has them installed.
#![cfg(all(target_os = "linux", feature = "linux"))]

mod guide;
mod machine;
#[path = "../../../linux/tests/support/ready.rs"]
mod ready;

use guide::{blocks, install_and_remove};
use machine::{Machine, ready};
use serde_json::Value;

const METRICS: &str = "http://127.0.0.1:9641/metrics";
/// A server of connections; root's, as the units of a distribution are.
const SERVICE: &str = "\
[Service]
ExecStart=/usr/bin/python3 -m http.server --bind 127.0.0.1 --directory /usr/share/doc 8080
Restart=always
RestartSec=0
";

/// What the guide says.
fn install(machine: &Machine) {
    let [install, _] = install_and_remove();
    machine.script(&install);
}

/// In order of their names.
fn in_force(status: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let all = status.as_array().expect("attachments").iter().filter(|one| one["in_force"] == true);
    let mut all: Vec<_> = all.map(|one| (text(&one["scope"]), text(&one["algorithm"]))).collect();
    all.sort_unstable();
    all
}

fn default(machine: &Machine) -> String {
    machine.run(&["cat", "/proc/sys/net/ipv4/tcp_congestion_control"])
}

fn attached(scope: &str, algorithm: &str) -> (String, String) {
    (scope.to_owned(), algorithm.to_owned())
}

#[test]
fn systemd_starts_and_stops_them_and_nobody_else_can() {
    let Some(()) = ready() else { return };
    let machine = Machine::boot();
    let before = default(&machine);
    install(&machine);
    machine.run(&["systemctl", "is-active", "ramp-attach@best", "ramp-export"]);
    assert_eq!(in_force(&machine.status()), [attached("system", "best")]);
    // Others may look for pins no more than before.
    assert!(machine.run(&["stat", "-c", "%a", "/sys/fs/bpf"]).trim().ends_with("700"));

    // The exporter, which runs as `nobody`, sees that it is in force, and its counters.
    let scrape = || machine.run(&["curl", "-sS", "--max-time", "20", METRICS]);
    let sample = |name: &str| {
        let text = scrape();
        let line = text.lines().find(|line| line.starts_with(&format!("{name}{{scope=\"system\"")));
        let value =
            line.and_then(|line| line.rsplit(' ').next()).unwrap_or_else(|| panic!("no {name}: {text}"));
        value.parse::<f64>().expect("a number")
    };
    machine.wait_until("the exporter answers", || {
        machine.try_run(&["curl", "-sS", "--max-time", "20", METRICS]).status.success()
    });
    assert!((sample("ramp_attached") - 1.0).abs() < 0.1);
    assert!(sample("ramp_connections_opened_total") >= 1.0, "this very connection");
    for request in ["Content-Length: 99999999999", "Content-Length: 5000", "Expect: 100-continue"] {
        machine.try_run(&["curl", "-sS", "--max-time", "20", "-H", request, METRICS]);
    }
    assert!(scrape().contains("ramp_attached"));
    assert_eq!(machine.run(&["systemctl", "show", "-p", "NRestarts", "--value", "ramp-export"]), "0\n");
    machine.run(&["systemctl", "kill", "-s", "KILL", "ramp-export"]);
    machine.wait_until("systemd has started it again", || {
        machine.try_run(&["curl", "-sS", "--max-time", "20", METRICS]).status.success()
    });

    // One of them cannot take another's place, nor does its failure take that away.
    let other = machine.try_run(&["systemctl", "start", "ramp-attach@hystart"]);
    assert!(!other.status.success(), "{}", machine.journal());
    assert_eq!(in_force(&machine.status()), [attached("system", "best")]);

    for unit in ["ramp-attach@best.service", "ramp-export.service"] {
        let said = machine.run(&["systemd-analyze", "security", "--no-pager", unit]);
        let overall = said.lines().find_map(|line| line.split("Overall exposure level for ").nth(1));
        let level: f64 = overall
            .and_then(|line| line.split_whitespace().nth(1))
            .unwrap_or_else(|| panic!("{said}"))
            .parse()
            .expect("a number");
        assert!(level < 3.0, "{unit}: {level}");
    }

    machine.run(&["systemctl", "stop", "ramp-attach@best"]);
    assert_eq!(default(&machine), before);
    assert_eq!(machine.status(), serde_json::json!([]));
    machine.run(&["systemctl", "start", "ramp-attach@best"]);
    // Root sees and undoes what the unit's user has done, and the unit can stop all the same.
    machine.run(&["ramp", "detach"]);
    assert_eq!(default(&machine), before);
    machine.run(&["systemctl", "stop", "ramp-attach@best"]);
    let state = machine.try_run(&["systemctl", "is-failed", "ramp-attach@best"]);
    assert_eq!(String::from_utf8_lossy(&state.stdout), "inactive\n", "{}", machine.journal());
    assert_eq!(default(&machine), before);

    // Removed while one is in force.
    machine.run(&["systemctl", "start", "ramp-attach@best"]);
    assert_eq!(in_force(&machine.status()), [attached("system", "best")]);
    let [_, remove] = install_and_remove();
    machine.script(&remove);
    assert_eq!(default(&machine), before);
    assert_eq!(machine.status(), serde_json::json!([]));
    let places = "/etc/systemd /usr/lib/sysusers.d /usr/lib/tmpfiles.d /run /sys/fs/bpf";
    let find = format!("find {places} -path /run/systemd -prune -o -name '*ramp*' -print");
    assert_eq!(machine.script(&find), "");
}

#[test]
fn a_stopped_unit_detaches_what_it_has_attached_whatever_its_files_say_by_then() {
    let Some(()) = ready() else { return };
    let machine = Machine::boot();
    let before = default(&machine);
    install(&machine);
    let group = "cgroup /sys/fs/cgroup/web.slice";
    machine.run(&["systemctl", "start", "web.slice"]);
    let scope = |unit: &str, scope: &str| {
        machine.write(&format!("/etc/ramp/{unit}.conf"), &format!("RAMP_SCOPE={scope}\n"));
    };
    let started = |unit: &str| machine.run(&["systemctl", "start", &format!("ramp-attach@{unit}")]);
    let stopped = |unit: &str| machine.run(&["systemctl", "stop", &format!("ramp-attach@{unit}")]);

    // Edited while it is active, then restarted.
    scope("best", group);
    machine.run(&["systemctl", "restart", "ramp-attach@best"]);
    assert_eq!(default(&machine), before);
    assert_eq!(in_force(&machine.status()), [attached(group, "best")]);
    assert_eq!(machine.status()[0]["unit"], "best");

    // Its file removed, so that its scope is another instance's by now.
    scope("hystart", "system");
    started("hystart");
    let both = [attached(group, "best"), attached("system", "hystart")];
    assert_eq!(in_force(&machine.status()), both);
    machine.run(&["rm", "/etc/ramp/best.conf"]);
    stopped("best");
    assert_eq!(in_force(&machine.status()), [attached("system", "hystart")]);

    // What fails to start takes nothing of the others' away, and leaves nothing of its own.
    assert!(!machine.try_run(&["systemctl", "start", "ramp-attach@best"]).status.success());
    assert_eq!(in_force(&machine.status()), [attached("system", "hystart")]);

    // What cannot be looked at in the end does not hide what has been done.
    let confined = ["systemd-run", "--quiet", "--wait", "--pipe", "-p", "RestrictAddressFamilies=AF_UNIX"];
    let output = machine.try_run(&[&confined[..], &["/usr/bin/ramp", "detach"]].concat());
    let (said, told) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(said.contains(&format!("restored: {}", before.trim())), "{said}{told}");
    assert!(!output.status.success() && told.contains("cannot read the routes"), "{said}{told}");
    assert_eq!(default(&machine), before);
    stopped("hystart");
    assert_eq!(machine.status(), serde_json::json!([]));
}

#[test]
fn an_attachment_outlives_the_restart_of_its_service() {
    let Some(()) = ready() else { return };
    let recipes = blocks("### The control group of a service");
    let [follow_conf, follow_unit, slice_service, slice_conf, slice_unit] = recipes.as_slice() else {
        panic!("{recipes:?}");
    };
    let machine = Machine::boot();
    let [follows, stays] = ["/sys/fs/cgroup/system.slice/nginx.service", "/sys/fs/cgroup/web.slice"]
        .map(|path| format!("cgroup {path}"));
    assert!(follow_conf.contains(&follows) && slice_conf.contains(&stays), "{recipes:?}");
    install(&machine);
    machine.run(&["systemctl", "disable", "--now", "ramp-attach@best"]);

    machine.write("/etc/systemd/system/nginx.service", SERVICE);
    machine.write("/etc/ramp/best.conf", follow_conf);
    machine.write("/etc/systemd/system/ramp-attach@best.service.d/nginx.conf", follow_unit);
    // For the unit of the other way to be another instance.
    machine.write("/etc/systemd/system/shop.service", &SERVICE.replace("8080", "8081"));
    machine.write("/etc/systemd/system/shop.service.d/slice.conf", slice_service);
    machine.write("/etc/ramp/hystart.conf", slice_conf);
    let before_shop = slice_unit.replace("nginx.service", "shop.service");
    assert_ne!(&before_shop, slice_unit);
    machine.write("/etc/systemd/system/ramp-attach@hystart.service.d/slice.conf", &before_shop);
    machine.script(
        "systemctl daemon-reload\nsystemctl enable ramp-attach@best\nsystemctl start nginx\nsystemctl start ramp-attach@hystart shop",
    );

    let both = [attached(&follows, "best"), attached(&stays, "hystart")];
    let settled = |what: &str| {
        machine.wait_until(what, || {
            let all = machine.status();
            in_force(&all) == both && all.as_array().is_some_and(|all| all.len() == 2)
        });
        // A connection that each of them accepts begins by its algorithm.
        let opened = || -> Vec<u64> {
            let all = machine.status();
            let counted = all.as_array().expect("attachments").iter();
            counted.map(|one| one["counters"]["opened"].as_u64().expect("a number")).collect()
        };
        let before = opened();
        for port in ["8080", "8081"] {
            let url = format!("http://127.0.0.1:{port}/");
            machine.wait_until(&url, || {
                machine
                    .try_run(&["curl", "-sS", "--max-time", "20", "-o", "/dev/null", &url])
                    .status
                    .success()
            });
        }
        let after = opened();
        assert!(
            before.iter().zip(&after).all(|(before, after)| after > before),
            "{what}: {before:?} {after:?}"
        );
    };
    settled("both are attached");
    let group = || machine.try_run(&["stat", "-c", "%i", "/sys/fs/cgroup/system.slice/nginx.service"]);
    for command in [&["systemctl", "restart"][..], &["systemctl", "kill", "-s", "KILL"]] {
        let before = group();
        machine.run(&[command, &["nginx", "shop"]].concat());
        machine.wait_until("its control group is another one", || {
            let now = group();
            now.status.success() && now.stdout != before.stdout
        });
        settled(&command.join(" "));
    }

    machine.run(&["systemctl", "stop", "nginx", "shop", "ramp-attach@hystart"]);
    machine.wait_until("nothing is attached", || machine.status() == serde_json::json!([]));
}
