//! `watch`, `trial` and `export` from the outside.
#![cfg(all(target_os = "linux", feature = "linux"))]

#[path = "../../linux/tests/support/ready.rs"]
mod ready;
mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, process, thread};

use support::Place;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn nothing_attached_is_an_answer() {
    let place = Place::new("live-nothing");
    let here = |command: &[&str]| {
        let output = place.ramp(&[command, &["--pins", "bpf", "--records", "records"]].concat());
        assert_eq!(code(&output), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert!(here(&["watch", "--once"]).contains("Nothing is attached here"));
    let snapshot: serde_json::Value =
        serde_json::from_str(&here(&["watch", "--once", "--json"])).expect("JSON");
    for list in ["attached", "flows", "exits"] {
        assert_eq!(snapshot[list], serde_json::json!([]), "{snapshot}");
    }
    let metrics = here(&["export"]);
    assert!(metrics.contains("# TYPE ramp_startup_exits_total counter\n"), "{metrics}");
    here(&["export", "--textfile", "ramp.prom"]);
    assert_eq!(place.read("ramp.prom"), metrics);
    assert_eq!(place.files(".").len(), 1, "no draft is left");
}

#[test]
fn a_text_file_is_everybodys_to_read_and_replaces_nothing_else() {
    let place = Place::new("live-textfile");
    let within = |script: &str| {
        let ramp = env!("CARGO_BIN_EXE_ramp");
        let script =
            script.replace("EXPORT", &format!("{ramp} export --pins bpf --records records --textfile"));
        let output =
            Command::new("sh").args(["-c", &script]).current_dir(place.path(".")).output().expect("sh");
        (code(&output), text(&output.stderr))
    };
    assert_eq!(within("umask 077; EXPORT ramp.prom").0, Some(0));
    let mode = fs::metadata(place.path("ramp.prom")).expect("the file").permissions().mode();
    assert_eq!(mode & 0o7777, 0o644);

    place.write("victim", "whole");
    let refused = |setup: &str, path: &str, why: &str| {
        let (code, said) = within(&format!("{setup}; EXPORT {path}"));
        assert!(code == Some(2) && said.contains(path) && said.contains(why), "{code:?}: {said}");
    };
    refused("ln -s victim link.prom", "link.prom", "a symbolic link");
    refused("mkfifo pipe.prom", "pipe.prom", "a pipe");
    refused("true", "/dev/full", "a device");
    assert_eq!(within("ln -sf victim ramp.new; EXPORT ramp.prom").0, Some(0));
    assert_eq!(place.read("victim"), "whole");
    // A disk without room keeps the old text, and no draft.
    let before = place.files(".");
    let (code, said) = within("ulimit -f 0; trap '' XFSZ; EXPORT ramp.prom");
    assert!(code == Some(1) && said.contains("cannot write ramp.prom"), "{code:?}: {said}");
    assert_eq!(place.files("."), before);
}

/// Of two users who may write in the collector's directory, neither owns it.
#[test]
fn a_strangers_draft_in_a_sticky_directory_keeps_nobody_from_writing() {
    let no_root = || (!ready::root()).then(|| "not root".to_owned());
    let no_setpriv = || {
        ready::program_path("setpriv")
            .is_none()
            .then(|| "setpriv is missing: run scripts/setup test".to_owned())
    };
    let Some(()) = ready::unobstructed(no_root().or_else(no_setpriv).as_deref()) else { return };
    let place = Place::new("live-sticky");
    let ramp = place.path("ramp");
    fs::copy(env!("CARGO_BIN_EXE_ramp"), &ramp).expect("a copy that everybody may run");
    let collector = place.path("collector");
    fs::create_dir(&collector).expect("a directory");
    fs::set_permissions(&collector, fs::Permissions::from_mode(0o1777)).expect("its owner may");
    let planted = collector.join(format!(".ramp.prom.{}.new", "0".repeat(32)));
    fs::write(&planted, "").expect("a file");
    std::os::unix::fs::chown(&planted, Some(65_534), Some(65_534)).expect("root may");
    for _ in 0..2 {
        let output = Command::new("setpriv")
            .args(["--reuid=65533", "--regid=65533", "--clear-groups", "--"])
            .arg(&ramp)
            .args(["export", "--pins", "bpf", "--records", "records", "--textfile", "collector/ramp.prom"])
            .current_dir(place.path("."))
            .output()
            .expect("setpriv");
        assert_eq!(code(&output), Some(0), "{}", text(&output.stderr));
    }
    let names: Vec<_> = fs::read_dir(&collector).expect("a directory").flatten().map(|e| e.path()).collect();
    assert!(names.len() == 2 && names.contains(&planted), "{names:?}");
    assert!(place.read("collector/ramp.prom").contains("# TYPE ramp_attached gauge"));
}

#[test]
fn whoever_connects_the_exporter_goes_on_and_stops_at_ctrl_c() {
    let place = Place::new("live-export");
    let arguments = ["export", "--listen", "127.0.0.1:0", "--pins", "bpf", "--records", "records"];
    let mut child = place.command(&arguments).stdout(Stdio::piped()).spawn().expect("ramp");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("its address");
    let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics"));
    let address = address.unwrap_or_else(|| panic!("{line}"));
    let connect = |text: &str| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("SO_RCVTIMEO");
        let _ = stream.write_all(text.as_bytes());
        stream
    };
    let ask = |text: &str| {
        let mut said = Vec::new();
        let _ = connect(text).read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    };
    let with = |field: &str| format!("GET /metrics HTTP/1.1\r\nHost: x\r\n{field}\r\n\r\n");
    for length in ["99999999999", "18446744073709551615", "5000"] {
        let said = ask(&with(&format!("Content-Length: {length}")));
        assert!(said.starts_with("HTTP/1.1 413 "), "{length}: {said}");
    }
    let mut held = vec![connect(&with("Content-Length: 5000")), connect(&with("Expect: 100-continue"))];
    held.extend((0..60).map(|_| connect("GET /met")));
    held.push(connect(&with("Accept: */*").repeat(3000)));
    assert!(ask(&with(&format!("A: {}", "x".repeat(1 << 20)))).starts_with("HTTP/1.1 431 "));
    let said = ask(&with("Accept: */*"));
    assert!(said.starts_with("HTTP/1.1 200 ") && said.contains("# TYPE ramp_attached gauge"), "{said}");

    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(interrupted.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    drop(held);
}

#[test]
fn what_cannot_be_tried_is_refused_by_name() {
    let place = Place::new("live-refused");
    let refused = |arguments: &[&str], words: &str| {
        let output = place.ramp(arguments);
        let error = text(&output.stderr);
        assert_eq!(code(&output), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    };
    refused(&["trial"], "--cgroup");
    refused(&["trial", "reno", "--over", "geo-satellite"], "web sessions and nothing else");
    refused(&["trial", "reno", "--over", "no-such"], "no-such");
    refused(&["trial", "reno", "--over", "geo-satellite", "--cgroup", "/proc"], "--cgroup");
    let background = "[path]\nrate = '1 Mbit/s'\nrtt = '1 s'\n[[traffic]]\nkind = 'poisson'\nunder-test = true\n\
        size = '1 MB'\nflows-per-second = 1\n";
    place.write("poisson.toml", background);
    refused(&["trial", "reno", "--over", "poisson.toml"], "web sessions and nothing else");
    refused(&["trial", "cubic", "--cgroup", "/proc", "--for", "10 days"], "a number with ms, s, m or h");
    refused(
        &["trial", "cubic", "--cgroup", "/proc", "--share", "100"],
        "one of the arms gets no connections",
    );
    for (option, value, words) in [
        ("--alpha", "0", "a probability of stopping"),
        ("--alpha", "100", "a probability of stopping"),
        ("--block", "0s", "the blocks that are compared"),
        ("--block", "11m", "the blocks that are compared"),
        ("--margin", "0", "margin"),
        ("--margin", "100", "margin"),
    ] {
        refused(&["trial", "reno", "--cgroup", "/proc", option, value], words);
    }
    refused(&["trial", "cubic", "--cgroup", "/proc"], "cubic cannot be tried against itself");
    refused(&["trial", "no_such", "--cgroup", "/proc"], "no congestion control \"no_such\"");
    refused(&["trial", "reno", "--against", "best:no-such=1", "--cgroup", "/proc"], "no-such");
    let output = place.ramp(&["trial", "--report", "."]);
    assert!(code(&output) == Some(1) && text(&output.stderr).contains("cannot open ./trial.jsonl"));
}

/// Whether this machine can run the tests below.
fn ready() -> Option<()> {
    let no_cgroup = || cgroup2().is_none().then(|| "no cgroup2 is mounted".to_owned());
    ready::unobstructed(ready::obstacle().or_else(no_cgroup).as_deref())
}

fn cgroup2() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        (words.get(2) == Some(&"cgroup2")).then(|| PathBuf::from(words[1]))
    })
}

/// A control group without processes.
struct Cgroup(PathBuf);

impl Cgroup {
    fn new() -> Self {
        let path = cgroup2().expect("it is mounted").join(format!("ramp-cli-{}", process::id()));
        fs::create_dir(&path).expect("a control group");
        Self(path)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// What the kernel offers of ours for a trial of `enhanced`.
fn offered() -> Vec<String> {
    let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("TCP");
    let ours =
        available.split_whitespace().filter(|name| name.starts_with("try") && name.ends_with("_enhanced"));
    ours.map(str::to_owned).collect()
}

#[expect(clippy::disallowed_methods, reason = "another process's work is polled")]
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "in vain: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A trial that has begun, and what it says on the way.
struct Begun {
    child: Child,
    said: BufReader<ChildStderr>,
}

impl Begun {
    fn signal(&self, signal: &str) {
        let status =
            Command::new("kill").args([signal, &self.child.id().to_string()]).status().expect("kill");
        assert!(status.success());
    }

    /// Its exit code and its standard output.
    fn end(self) -> (Option<i32>, String) {
        let output = self.child.wait_with_output().expect("it ends");
        drop(self.said);
        (code(&output), text(&output.stdout))
    }
}

fn begin(place: &Place, cgroup: &Cgroup, out: &str) -> Begun {
    let path = cgroup.0.to_str().expect("its name is ASCII");
    let arguments = ["trial", "enhanced", "--cgroup", path, "--for", "10m", "--out", out];
    let ramp = place.command(&arguments);
    // Under `nohup` the tests ignore SIGHUP, and what they start would as well.
    let mut child = Command::new("env")
        .arg("--default-signal=HUP")
        .arg(ramp.get_program())
        .args(ramp.get_args())
        .current_dir(place.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ramp");
    let mut said = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    assert!(line.starts_with("trying enhanced against cubic on "), "{line}");
    assert!(place.path(out).join("trial.jsonl").exists() && !offered().is_empty());
    Begun { child, said }
}

#[test]
fn however_a_trial_ends_the_host_is_as_before() {
    let Some(()) = ready() else { return };
    let (place, cgroup) = (Place::new("live-ends"), Cgroup::new());
    // By hand, by a service manager, by a connection that was lost.
    for (signal, out) in [("-INT", "interrupted"), ("-TERM", "stopped"), ("-HUP", "hung-up")] {
        let trial = begin(&place, &cgroup, out);
        trial.signal(signal);
        let (code, said) = trial.end();
        assert_eq!(code, Some(130), "{signal}: {said}");
        assert!(said.contains("Interrupted after "), "{signal}: {said}");
        assert!(place.read(&format!("{out}/trial.jsonl")).contains("\"end\""), "{signal}");
        assert_eq!(offered(), Vec::<String>::new());
    }

    let trial = begin(&place, &cgroup, "killed");
    trial.signal("-KILL");
    assert_eq!(trial.end().0, None);
    wait_until("the name goes with the process", || offered().is_empty());
    // The next one begins as if nothing had been, and what the dead one left can be read.
    let trial = begin(&place, &cgroup, "again");
    trial.signal("-INT");
    assert_eq!(trial.end().0, Some(130));
    let report = place.ramp(&["trial", "--report", "killed"]);
    assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
    assert!(text(&report.stdout).contains("The trial died after "), "{}", text(&report.stdout));
    let report = place.ramp(&["trial", "--report", "interrupted", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).expect("JSON");
    assert_eq!(report["ending"]["how"], "interrupted", "{report}");

    let nothing =
        place.ramp(&["trial", "enhanced", "--cgroup", cgroup.0.to_str().expect("ASCII"), "--for", "1s"]);
    assert_eq!(nothing.status.code(), Some(3), "{}", text(&nothing.stderr));
    assert!(text(&nothing.stdout).contains("Nothing was tried, since "), "{}", text(&nothing.stdout));

    // Another one on the same control group, or below it, fails and names the one it conflicts with; the first one goes on.
    let trial = begin(&place, &cgroup, "vanished");
    let below = cgroup.0.join("below");
    fs::create_dir(&below).expect("a control group");
    for path in [&cgroup.0, &below] {
        let second =
            place.ramp(&["trial", "enhanced", "--cgroup", path.to_str().expect("ASCII"), "--for", "1s"]);
        let told = text(&second.stderr);
        assert_eq!(second.status.code(), Some(1), "{told}");
        assert!(told.contains(&format!("process {} (ramp)", trial.child.id())), "{told}");
    }
    fs::remove_dir(&below).expect("it is empty");
    // As the restart of a service does.
    fs::remove_dir(&cgroup.0).expect("it is empty");
    fs::create_dir(&cgroup.0).expect("another one of its name");
    let (code, said) = trial.end();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("The control group was removed after "), "{said}");
    assert!(place.read("vanished/trial.jsonl").contains("\"vanished\""));
    assert_eq!(offered(), Vec::<String>::new());
}

/// Both arms serve a load of the trial's own; the report counts their connections, and the ends of our start-ups.
#[test]
fn a_trial_over_emulated_paths_counts_the_servers_connections() {
    let no_nginx =
        ready::program_path("nginx").is_none().then_some("nginx is not installed: scripts/setup test");
    let Some(()) = ready().and_then(|()| ready::unobstructed(no_nginx)) else { return };
    let place = Place::new("live-over");
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/trial-paths.toml");
    let scenario = scenario.to_str().expect("its name is text");
    // A busy machine takes longer for connections enough.
    let enough = ["6s", "24s", "96s"].into_iter().find_map(|seconds| {
        let out = format!("over-{seconds}");
        // Nothing is to be stopped: only counts are asserted.
        let guard = ["--alpha", "0.001", "--margin", "99"];
        let asked = [
            "trial", "reach", "--over", scenario, "--for", seconds, "--drain", "4s", "--out", &out, "--json",
        ];
        let output = place.ramp(&[&asked[..], &guard].concat());
        let told = text(&output.stderr);
        assert_eq!(code(&output), Some(0), "{told}");
        assert!(told.contains("trying reach against cubic on ") && told.contains("in real time: "), "{told}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let again: serde_json::Value =
            serde_json::from_slice(&place.ramp(&["trial", "--report", &out, "--json"]).stdout).expect("JSON");
        assert_eq!(report, again);
        let count = |arm: usize, what: &str| report["arms"][arm][what].as_u64().expect("a number");
        let exits = report["arms"][0]["exits"].as_object().expect("by reason").len();
        (count(0, "delivered").min(count(1, "delivered")) >= 10 && exits > 0).then_some(report)
    });
    let report = enough.expect("connections enough in a minute and a half");
    let (arms, plan) = (&report["arms"], &report["plan"]);
    assert_eq!((&arms[0]["name"], &arms[1]["name"]), (&"reach".into(), &"cubic".into()));
    for arm in arms.as_array().expect("two") {
        let count = |what: &str| arm[what].as_u64().expect("a number");
        assert_eq!(count("assigned"), count("delivered") + count("cut_off") + count("open"), "{report}");
    }
    assert!(
        arms[1]["exits"].as_object().expect("by reason").is_empty(),
        "the kernel's own tells none: {report}"
    );
    // Only what nginx sends is on trial: more than a request, but for the connection that asks whether it listens.
    let kept = fs::read_dir(place.path("."))
        .expect("a directory")
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path().join("trial.jsonl")).ok());
    let lines: Vec<serde_json::Value> = kept
        .flat_map(|text| {
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect::<Vec<_>>()
        })
        .collect();
    let bytes: Vec<u64> = lines.iter().filter_map(|line| line["connection"]["bytes"].as_u64()).collect();
    let small = bytes.iter().filter(|bytes| **bytes < 5_000).count();
    assert!(
        bytes.len() >= 20 && small <= fs::read_dir(place.path(".")).expect("a directory").count(),
        "{bytes:?}"
    );
    let cgroup = plan["cgroup"].as_str().expect("text");
    assert!(cgroup.contains("/ramp-trial-") && !Path::new(cgroup).exists(), "{cgroup}");
}

/// A process that holds the directory's lock, as anybody may who can open it.
struct Holder(Child);

impl Holder {
    fn as_nobody(path: &Path) -> Self {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "flock", "-w", "30", "--no-fork"]);
        command.arg(path).args(["sh", "-c", "echo held; exec sleep 1000"]).stdout(Stdio::piped());
        let mut child = command.spawn().expect("setpriv");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("its answer");
        assert_eq!(line, "held\n");
        Self(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_stranger_who_locks_the_control_group_lets_no_second_trial_in() {
    let Some(()) = ready() else { return };
    let place = Place::new("live-rival");
    let group = cgroup2().expect("it is mounted").join(format!("ramp-cli-rival-{}", process::id()));
    fs::create_dir(&group).expect("a control group");
    let cgroup = Cgroup(group);
    let holder = Holder::as_nobody(&cgroup.0);
    let path = cgroup.0.to_str().expect("its name is ASCII");
    // Of two kernel's own, so that it leaves no names for the other tests to see.
    let arguments = |out| ["trial", "reno", "--cgroup", path, "--for", "10m", "--out", out];
    let mut first = place.command(&arguments("first")).stderr(Stdio::piped()).spawn().expect("ramp");
    let mut line = String::new();
    let mut said = BufReader::new(first.stderr.take().expect("it is piped"));
    said.read_line(&mut line).expect("a line");
    assert!(line.starts_with("trying reno against cubic on "), "{line}");
    let second = place.ramp(&arguments("second"));
    let told = text(&second.stderr);
    let status = Command::new("kill").args(["-INT", &first.id().to_string()]).status().expect("kill");
    assert!(status.success() && first.wait().expect("it ends").code() == Some(130));
    drop(holder);
    assert_eq!(code(&second), Some(1), "{told}");
    assert!(told.contains("another trial tries something on "), "{told}");
    assert!(!place.path("second/trial.jsonl").exists());
}

#[test]
fn the_exporters_unit_is_well_formed() {
    let Some(()) =
        ready::unobstructed(ready::program_path("systemd-analyze").is_none().then_some("no systemd-analyze"))
    else {
        return;
    };
    let place = Place::new("live-unit");
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd/ramp-export.service");
    let unit =
        fs::read_to_string(unit).expect("the unit").replace("/usr/bin/ramp", env!("CARGO_BIN_EXE_ramp"));
    let path = place.write("ramp-export.service", &unit);
    let output = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(path).output();
    let output = output.expect("systemd-analyze");
    assert!(
        output.status.success() && !text(&output.stderr).contains("ramp-export"),
        "{}",
        text(&output.stderr)
    );
}
