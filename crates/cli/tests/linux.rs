//! `--on linux`: this kernel's own TCP, alone and compared with the simulator.
#![cfg(target_os = "linux")]

#[path = "../../linux/tests/support/ready.rs"]
mod ready;
mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use support::{Place, stderr, words};

/// One at a time: runs in real time have the machine for themselves.
static ALONE: Mutex<()> = Mutex::new(());

/// The machine, if this user may emulate paths at all.
fn ready() -> Option<MutexGuard<'static, ()>> {
    let obstacle = (!ready::root()).then(|| "not root".to_owned());
    ready::unobstructed(obstacle.or_else(ready::no_tun).as_deref())
        .map(|()| ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The user of that name, everywhere.
const NOBODY: u32 = 65_534;

const PATH: [&str; 8] = ["--rate", "20mbit", "--rtt", "40ms", "--buffer", "1bdp", "--size", "500kB"];

#[test]
fn what_the_kernel_cannot_play_is_refused_before_anything_is_written() {
    let place = Place::new("linux_refusals");
    let cases: [(&[&str], i32, &[&str]); 8] = [
        (&["reproduce", "--on", "linux", "past-fig8"], 2, &["past-fig8", "generated traffic"]),
        (&["reproduce", "--on", "linux", "hystart-fn3"], 2, &["nothing of `hystart-fn3` is played"]),
        (
            &["compare", "--on", "linux", "enhanced-start-fig1"],
            2,
            &["max-burst", "rto-tick", "--profile modern"],
        ),
        (&["compare", "--on", "linux", "data-centre"], 2, &["too short; below 2 ms"]),
        (&["compare", "--on", "linux", "paced-start-fig7"], 2, &["generated traffic `cross`"]),
        (&["compare", "--algorithms", "cubic"], 2, &["`cubic`", "--on linux"]),
        (&["run", "--on", "linux", "transatlantic-10g", "--algorithm", "reno"], 2, &["10 Gbit/s"]),
        (&["compare", "--on", "freebsd"], 2, &["freebsd", "sim", "linux"]),
    ];
    for (arguments, code, expected) in cases {
        place.fails(code, arguments, expected);
    }
    assert!(!place.path("ramp-results").exists(), "something was written");
}

#[cfg(not(feature = "linux"))]
#[test]
fn a_build_without_programs_says_how_to_get_them() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("linux_not_built");
    let output = place.ramp(&["compare", "--on", "linux", "--algorithms", "best"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("--features linux"), "{}", stderr(&output));
}

#[test]
fn both_sides_are_kept_judged_and_found_again() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("linux_sides");
    // Without programs, unnamed: the simulator plays all, the kernel its own.
    let rows: &[&str] =
        if cfg!(feature = "linux") { &["--algorithms", "slow_start,hystart,reno"] } else { &[] };
    let command =
        [&["compare", "--on", "sim,linux", "--exact", "--runs", "2", "--out", "out"], &PATH[..], rows]
            .concat();
    let output = place.patiently(&command);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("difference") && table.contains("in real time"), "{table}");
    assert!(table.trim_end().ends_with("report: out/report.html"), "{table}");
    let names: Vec<String> = place.files("out").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["comparison.csv", "comparison.json", "report.html", "sides-plan.json"]);

    // What played a run is part of what it is found by.
    let backends = |side: &str| -> Vec<String> {
        let runs = place.files(&format!("out/{side}/runs"));
        let backend =
            |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap()["provenance"]["backend"].clone();
        runs.iter().map(|(_, text)| backend(text).as_str().unwrap().to_owned()).collect()
    };
    assert!(backends("sim").iter().all(|backend| backend.starts_with("sim+")));
    let linux = backends("linux");
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert!(
        linux.iter().all(|backend| backend.starts_with(&format!("linux-{}+", release.trim()))),
        "{linux:?}"
    );

    let both: Value = serde_json::from_str(&place.read("out/comparison.json")).unwrap();
    assert_eq!(both["sides"], serde_json::json!(["sim", "linux"]));
    let rows = both["rows"].as_array().unwrap();
    let side =
        |label: &str| &rows.iter().find(|row| row["label"] == label).unwrap()["metrics"]["download_time"];
    assert!(side("reno")["values"][0].is_null() && side("reno")["values"][1]["mean"].as_f64().unwrap() > 0.2);
    #[cfg(feature = "linux")]
    {
        let hystart = side("hystart");
        let mean = |at: usize| hystart["values"][at]["mean"].as_f64().unwrap();
        assert!((mean(1) / mean(0) - 1.0).abs() < 0.5, "{} and {}", mean(0), mean(1));
        assert_eq!(hystart["differences"][0]["n"], 2);
    }
    let emulation = &both["emulations"]["linux"];
    assert_eq!(emulation["samples_lost"], 0);
    assert!(emulation["lateness_p99_us"].as_f64().unwrap() > 0.0);
    assert!(emulation["sockets"].as_str().unwrap().contains("tcp_rmem"));

    let again = place.ramp(&command);
    let runs = place.files("out/linux/runs").len()
        + place.files("out/sim/runs").iter().filter(|(name, _)| !name.contains("later")).count();
    let said = stderr(&again);
    assert!(said.contains(&format!("{runs} of {runs} runs were finished already")), "{said}");
    assert_eq!(String::from_utf8(again.stdout).unwrap(), table);
    assert_eq!(place.stdout(&["report", "out"]), table);
    let one = place.stdout(&["report", "out", "--on", "linux"]);
    assert!(one.contains("reno") && one.trim_end().ends_with("report: out/linux/report.html"), "{one}");
    let page = place.read("out/linux/report.html");
    assert!(page.contains("Played by") && page.contains("How true the path was"));
    assert!(place.read("out/report.html").contains("href=\"linux/report.html\""));
    let csv = place.stdout(&["report", "out", "--csv"]);
    assert!(csv.contains("reno,false,download_time,s,sim,linux,0,2"), "{csv}");
}

#[test]
fn real_time_makes_fewer_runs_unless_asked() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("linux_runs");
    let path = ["--rate", "20mbit", "--rtt", "40ms", "--size", "20kB", "--algorithms", "reno"];
    let command = [&["compare", "--on", "linux"], &path[..], &["--out", "out", "--json"]].concat();
    let output = place.patiently(&command);
    assert!(output.status.success(), "{}", stderr(&output));
    let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(comparison["seeds"], serde_json::json!([1, 2, 3]));
    assert!(stderr(&output).contains("3 runs in real time"), "{}", stderr(&output));
}

#[test]
fn one_run_gives_its_samples_and_says_how_true_the_path_was() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("linux_run");
    let command =
        words("run --on linux --rate 20mbit --rtt 40ms --size 200kB --algorithm cubic --samples cubic.csv");
    let output = place.patiently(&command);
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    for text in ["emulation on Linux", "packets late by", "0 lost", "tcp_rmem", "download time"] {
        assert!(said.contains(text), "{text}: {said}");
    }
    let samples = place.read("cubic.csv");
    assert!(samples.lines().filter(|line| !line.starts_with('#')).count() > 50);
    assert!(samples.contains("# backend: \"linux-"));
}

#[test]
fn without_privileges_the_kernels_own_rows_are_there_and_the_others_say_what_they_need() {
    let Some(_alone) = ready() else { return };
    // Where no one can reach it.
    let directory = std::env::temp_dir().join(format!("ramp-nobody-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    chown(&directory, Some(NOBODY), Some(NOBODY)).unwrap();
    let program = directory.join("ramp");
    fs::copy(env!("CARGO_BIN_EXE_ramp"), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let result = std::panic::catch_unwind(|| unprivileged(&directory, &program, NOBODY));
    fs::remove_dir_all(&directory).unwrap();
    result.unwrap();
}

/// A reader of the verdict alone knows which of the usual rows are missing, and why.
fn missing_are_named(table: &str, page: &str, reason: &str) {
    let told = table.split_whitespace().collect::<Vec<_>>().join(" ");
    let names = told.split(" are missing here: ").next().unwrap_or_default();
    assert!(names.contains("`slow_start`") && names.contains("`cubic_no_hystart`"), "{told}");
    assert!(told.contains(reason), "{told}");
    assert!(page.contains("<b>slow_start</b>") && page.contains("are missing here: "), "not on the page");
}

/// The same where the kernel does not describe its types.
#[cfg(feature = "linux")]
#[test]
fn without_btf_the_missing_rows_are_in_the_verdict() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("linux_no_btf");
    let hide = "mount -t tmpfs none /sys/kernel/btf && exec \"$0\" \"$@\"";
    let path =
        ["--rate", "20mbit", "--rtt", "100ms", "--size", "50kB", "--exact", "--runs", "1", "--out", "out"];
    let mut output = None;
    for _ in 0..10 {
        let mut command = std::process::Command::new("unshare");
        command.args(["--mount", "sh", "-c", hide, env!("CARGO_BIN_EXE_ramp"), "compare", "--on", "linux"]);
        let found = command.current_dir(place.path("")).args(path).output().unwrap();
        let refused = stderr(&found).contains("refused");
        output = Some(found);
        if !refused {
            break;
        }
    }
    let output = output.unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    missing_are_named(&table, &place.read("out/report.html"), "this kernel carries no BTF");
}

fn unprivileged(directory: &Path, program: &Path, user: u32) {
    let ramp = |arguments: &[&str]| {
        // Everybody may open TUN devices there, as udev lets them, and whatever this machine's own device is like.
        let script =
            "mount -t tmpfs none /dev/net && mknod -m 666 /dev/net/tun c 10 200 && exec setpriv \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script, "sh"]).args([
            format!("--reuid={user}"),
            format!("--regid={user}"),
            "--clear-groups".to_owned(),
        ]);
        command.arg(program).current_dir(directory).args(arguments).env("COLUMNS", "400");
        command.output().unwrap()
    };
    let path = ["--on", "linux", "--rate", "20mbit", "--rtt", "100ms", "--size", "50kB", "--out", "out"];
    let mut output = ramp(&[&["compare", "--runs", "1"], &path[..]].concat());
    for _ in 0..10 {
        if !stderr(&output).contains("refused") {
            break;
        }
        output = ramp(&[&["compare", "--runs", "1"], &path[..]].concat());
    }
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("without slow_start"), "{said}");
    let reason = if cfg!(feature = "linux") { "CAP_BPF" } else { "--features linux" };
    assert!(said.contains(reason), "{said}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("reno") && table.contains("without real-time priority"), "{table}");
    assert!(table.lines().all(|line| !line.starts_with("slow_start")), "{table}");
    missing_are_named(&table, &fs::read_to_string(directory.join("out/report.html")).unwrap(), reason);
    let written = fs::read_to_string(directory.join("out/comparison.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    let left_out = &written["left_out"][0];
    assert!(
        left_out["rows"].as_array().is_some_and(|rows| rows.contains(&"slow_start".into())),
        "{left_out}"
    );
    assert!(left_out["why"].as_str().is_some_and(|why| why.contains(reason)), "{left_out}");
    let again = ramp(&["report", "out"]);
    assert!(String::from_utf8_lossy(&again.stdout).contains("are missing here: "), "{}", stderr(&again));
    let named = ramp(&[&["compare", "--algorithms", "best"], &path[..]].concat());
    assert_eq!(named.status.code(), Some(1), "{}", stderr(&named));
    assert!(
        stderr(&named).contains("cannot be given best") && stderr(&named).contains(reason),
        "{}",
        stderr(&named)
    );
}

/// What a run in real time holds of this machine, and an ended one does not.
fn held() -> [Vec<String>; 2] {
    // A namespace outlives its processes where it is mounted.
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let named = mounts.lines().filter(|line| line.contains(" nsfs ")).map(str::to_owned).collect();
    let controls = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    [named, controls.split_whitespace().map(str::to_owned).collect()]
}

fn members(group: u32) -> Vec<u32> {
    let of_group = |process: &u32| {
        let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
        // After the name: state, parent, group.
        let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        rest.split(' ').nth(2) == Some(&group.to_string()) && !rest.starts_with('Z')
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(of_group).collect()
}

#[test]
fn a_signal_in_the_middle_of_a_run_ends_the_command_and_leaves_nothing() {
    let Some(_alone) = ready() else { return };
    // An hour for each run, and three of them: a command that waited for the one under way would not end here.
    let path =
        ["--rate", "5mbit", "--rtt", "50ms", "--buffer", "1bdp", "--size", "100GB", "--duration", "1h"];
    let rows = if cfg!(feature = "linux") { "best,cubic" } else { "cubic" };
    for signal in ["-INT", "-TERM"] {
        let place = Place::new(&format!("linux_signal{signal}"));
        let before = held();
        let mut command = place.command(
            &[&["compare", "--on", "linux", "--algorithms", rows, "--runs", "3", "--out", "out"], &path[..]]
                .concat(),
        );
        let mut child =
            command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // In the middle: the thread that carries the path's packets is there.
        let threads = format!("/proc/{}/task", child.id());
        let carries = |thread: fs::DirEntry| {
            fs::read_to_string(thread.path().join("comm")).is_ok_and(|name| name.trim() == "rampcc-emulator")
        };
        while !fs::read_dir(&threads).is_ok_and(|all| all.flatten().any(carries)) {
            assert!(child.try_wait().unwrap().is_none(), "it ended before its first run");
            std::thread::yield_now();
        }
        let process = child.id();
        assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
        // It has 2 s, and a busy machine may need more; this is only for one that goes on.
        let mut ended = false;
        for _ in 0..200 {
            ended = child.try_wait().unwrap().is_some();
            if ended {
                break;
            }
            Command::new("sleep").arg("0.1").status().unwrap();
        }
        if !ended {
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert!(ended, "{signal}: it goes on: {}", stderr(&output));
        assert_eq!(output.status.code(), Some(130), "{signal}: {}", stderr(&output));
        assert!(stderr(&output).contains("to continue: ramp compare --on linux"), "{}", stderr(&output));
        assert_eq!(members(process), [0; 0], "{signal}: processes are left");
        // The kernel takes a moment to forget an algorithm, as a grace period ends.
        let mut left = held();
        for _ in 0..100 {
            if left == before {
                break;
            }
            Command::new("sleep").arg("0.1").status().unwrap();
            left = held();
        }
        assert_eq!(left, before, "{signal}");
        assert!(place.files("out/runs").iter().all(|(name, _)| !name.contains(".part")));
    }
}

#[test]
fn the_kernel_plays_no_candidate_and_says_so() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("linux_candidate");
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ramp/hystart.h");
    place.write("hystart.h", &fs::read_to_string(header).unwrap());
    let command = ["compare", "--candidate", "hystart.h", "--runs", "1", "--out", "out"];
    let alone = place.ramp(&[&command[..], &["--on", "linux", "--algorithms", "cubic"], &PATH[..]].concat());
    let said = stderr(&alone).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(alone.status.code(), Some(2), "{said}");
    assert!(said.contains("hystart: a header outside the registry is not compiled for the kernel"), "{said}");
    assert!(!place.path("out").exists(), "something was written");
}

const SAMPLE: &str = "\
[short]
access = \"near\"
size = \"300 kB\"
path.rate = \"20 Mbit/s\"
path.rtt = \"20 ms\"

[web]
access = \"near\"
size = \"300 kB\"
path.rate = \"20 Mbit/s\"
path.rtt = \"20 ms\"
path.cross-traffic = \"30 %\"

[shallow]
access = \"far\"
size = \"300 kB\"
path.rate = \"10 Mbit/s\"
path.rtt = \"60 ms\"
path.buffer = \"0.3 bdp\"
";

#[test]
fn a_league_holds_the_simulator_against_the_kernel() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("linux_league");
    place.write("paths.toml", SAMPLE);
    let rows = if cfg!(feature = "linux") { "cubic,cubic_no_hystart,best" } else { "cubic" };
    let command = [
        "league",
        "--on",
        "linux",
        "--paths",
        "paths.toml",
        "--sizes",
        "100kB",
        "--algorithms",
        rows,
        "--out",
        "out",
    ];
    let output = place.patiently(&command);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("2 paths on linux and sim"), "the third one has cross traffic: {table}");
    assert!(table.trim_end().ends_with("report: out/league-paths-sim-linux.html"), "{table}");
    let judged: Value = serde_json::from_str(&place.read("out/league-paths-sim-linux.json")).unwrap();
    let names: Vec<&str> =
        judged["paths"].as_array().unwrap().iter().map(|path| path["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["shallow", "short"]);
    for row in judged["rows"].as_array().unwrap() {
        let ratio = row["ratio"]["mean"].as_f64().unwrap();
        assert!((0.7..1.4).contains(&ratio), "{row}");
        assert_eq!(row["ratio"]["cases"], 2);
    }
    assert!(place.read("out/league-paths-sim-linux.html").contains("the emulator was later than"));

    let again = place.ramp(&command);
    let runs = 2 * 2 * rows.split(',').count();
    assert!(
        stderr(&again).contains(&format!("{runs} of {runs} runs were finished already")),
        "{}",
        stderr(&again)
    );
    assert_eq!(String::from_utf8(again.stdout).unwrap(), table);
}

#[test]
fn what_a_league_cannot_ask_of_the_kernel_is_refused_before_anything_is_written() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("linux_league_refusals");
    place.write(
        "fast.toml",
        "[fast]\naccess = \"x\"\nsize = \"1 MB\"\npath.rate = \"5 Gbit/s\"\npath.rtt = \"9 ms\"\n",
    );
    let cases: [(&[&str], &[&str]); 6] = [
        (&["--sample", "9"], &["--sample 9", "--on linux"]),
        (&["--on", "linux", "--candidate", "my.h"], &["--candidate does not go with --on linux"]),
        (&["--on", "linux", "--weights", "mix.toml"], &["--weights does not go with --on linux"]),
        (&["--on", "linux", "--paths", "fast.toml"], &["none of 1 paths", "5 Gbit/s", "400 Mbit/s"]),
        (&["--on", "linux", "--algorithms", "reno"], &["nothing like `reno`"]),
        (&["--on", "linux", "--algorithms", "chirp"], &["the kernel cannot play chirp"]),
    ];
    for (arguments, expected) in cases {
        place.fails(2, &[&["league"], arguments].concat(), expected);
    }
    assert!(!place.path("ramp-results").exists(), "something was written");
}
