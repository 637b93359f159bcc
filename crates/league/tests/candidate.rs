//! Candidates that do what they must not, in processes of their own: each is reported with name, path and seed, and harms nothing.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rampcc::CONTRACT;
use rampcc_experiment::{ExperimentError, Kept, Row, Run, digest};
use rampcc_lab::RunRecord;
use rampcc_league::{Apart, candidate};
use rampcc_scenario::Scenario;
use rampcc_sim::Simulator;
use rampcc_trace::{Format, Provenance, Writer};

use apart::apart;
use place::Place;

#[path = "support/apart.rs"]
mod apart;
#[path = "../../experiment/tests/support/place.rs"]
mod place;

/// Plain slow start under another name, with `outside` before its functions and `within` before each answer to an ACK.
fn header(place: &Place, name: &str, outside: &str, within: &str) -> String {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ramp/slow_start.h");
    let text = fs::read_to_string(core).unwrap();
    let text = text.replace("slow_start", name).replace("SLOW_START", &name.to_ascii_uppercase());
    let (guard, asked) = ("RAMP_PARAMETERS(", "\tif (d->phase == RAMP_DONE)\n");
    assert!(text.contains(guard) && text.contains(asked));
    let text = text.replace(guard, &format!("{outside}\n{guard}"));
    let path = place.0.join(format!("{name}.h"));
    fs::write(&path, text.replace(asked, &format!("{within}\n{asked}"))).unwrap();
    path.display().to_string()
}

fn scenario() -> Scenario {
    with("")
}

/// The same, with more lines.
fn with(more: &str) -> Scenario {
    let text = "size = '500 kB'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\nbuffer = '30 packets'\njitter = '1 ms'\n";
    Scenario::parse("wifi-03", &format!("{text}{more}"), None).unwrap()
}

/// A run with seed 3: its measures, and everything that an observer gets.
fn play(row: &Row, interrupted: &AtomicBool) -> Result<(RunRecord, Vec<u8>), String> {
    let scenario = scenario();
    let digest = digest(&scenario);
    let run = Run { seed: 3, kept: Kept::CURVES, ..Run::of(&scenario, &digest, row, &Simulator) };
    let mut lines = Vec::new();
    let provenance = Provenance { arm: String::new(), ..run.provenance("") };
    let mut writer = Writer::new(&mut lines, Format::JsonLines, &provenance).unwrap();
    let record = run.watch("", &mut writer, interrupted).map_err(|error| error.to_string())?;
    writer.finish().unwrap();
    Ok((record, lines))
}

fn told(file: &str, apart: &Apart) -> String {
    let row = candidate(file, apart, &[]).unwrap();
    play(&row, &AtomicBool::new(false)).unwrap_err()
}

#[test]
fn what_breaks_a_candidate_is_told_by_name_path_and_seed() {
    let place = Place::new("candidate-broken");
    let here = place.0.display();
    let cases = [
        ("crash", "", "*(volatile int *)8 = 1;", "crashed (SIGSEGV)"),
        ("trap", "", "__builtin_trap();", "crashed (SIGILL)"),
        ("aborts", "void abort(void);", "abort();", "crashed (SIGABRT)"),
        ("leaves", "void exit(int);", "exit(0);", "ended its process (exit code 0)"),
        ("hangs", "", "for (volatile int i = 0;; i++) ;", "did not come back for 0.3 s of processor time"),
        ("forks", "int fork(void);", "fork();", "asked the kernel for what a candidate may not do (SIGSYS)"),
        (
            "calls",
            "int socket(int, int, int);",
            "socket(2, 1, 0);",
            "asked the kernel for what a candidate may not do (SIGSYS)",
        ),
        (
            "writes",
            "int open(const char *, int, ...);",
            "open(\"/tmp/ramp-was-here\", 0101, 0600);",
            "asked the kernel for what a candidate may not do (SIGSYS)",
        ),
        (
            "reads",
            "int open(const char *, int, ...);",
            "if (open(\"/etc/passwd\", 0) < 0) __builtin_trap();",
            "crashed (SIGILL)",
        ),
        (
            "forges",
            "long write(int, const void *, unsigned long);",
            "write(0, \"\\3\\0\\0\\0\\377\\377\\377\", 7);",
            "has broken its process, which says what makes no sense",
        ),
    ];
    let apart = Apart { patience: Duration::from_millis(300), ..apart() };
    for (name, outside, within, cause) in cases {
        let file = header(&place, name, outside, within);
        let expected = format!("your candidate {here}/{name}.h {cause} on wifi-03, seed 3");
        let heard = told(&file, &apart);
        assert_eq!(heard, expected, "{name}");
    }
}

#[test]
fn a_candidate_called_as_a_row_has_its_own_defaults() {
    let place = Place::new("candidate-defaults");
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ramp/hystart.h");
    let text = fs::read_to_string(core).unwrap();
    let changed = text.replace("low_window, \"packets\", 16,", "low_window, \"packets\", 9999,");
    assert_ne!(changed, text);
    let path = place.0.join("hystart.h");
    fs::write(&path, changed).unwrap();
    let low_window = |scenario: &Scenario| {
        let row = candidate(&path.display().to_string(), &apart(), &[]).unwrap();
        let played = row.scenario(scenario);
        let algorithm = played.steering.algorithm;
        let index = algorithm.parameters.iter().position(|parameter| parameter.name == "low_window").unwrap();
        assert_eq!(algorithm.parameters[index].default, 9999);
        played.steering.parameters[index]
    };
    assert_eq!(low_window(&scenario()), 9999);
    assert_eq!(low_window(&with("[algorithm.hystart]\nlow_window = '32 packets'\n")), 32);
}

#[test]
fn a_function_that_nothing_defines_does_not_compile() {
    let place = Place::new("candidate-undefined");
    for (name, outside, within, cause) in [
        ("misspelled", "", "ramp_growl(c, a, d);", "implicit declaration of function"),
        ("undefined", "void nowhere(void);", "nowhere();", "undefined reference to `nowhere'"),
    ] {
        let error = candidate(&header(&place, name, outside, within), &apart(), &[]).unwrap_err();
        assert!(error.is_input(), "{name}");
        let told = error.to_string();
        assert!(told.contains("does not compile") && told.contains(cause), "{told}");
    }
}

#[test]
fn a_header_for_another_contract_is_told_both_versions() {
    let place = Place::new("candidate-contract");
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ramp/hystart.h");
    let text = fs::read_to_string(core).unwrap();
    let line = format!("#define RAMP_WRITTEN_FOR {CONTRACT}\n");
    assert!(text.contains(&line));
    let path = place.0.join("hystart.h");
    let next = CONTRACT + 1;
    for (other, version) in [(format!("#define RAMP_WRITTEN_FOR {next}\n"), next), (String::new(), 1)] {
        fs::write(&path, text.replace(&line, &other)).unwrap();
        let error = candidate(&path.display().to_string(), &apart(), &[]).unwrap_err();
        let told = error.to_string();
        let expected =
            format!("for version {version} of ramp's contract, and this ramp supports version {CONTRACT}");
        assert!(error.is_input() && told.contains(&expected), "{told}");
    }
}

#[test]
fn what_a_candidate_does_when_it_is_loaded_is_done_without_rights() {
    let place = Place::new("candidate-constructor");
    let here = place.0.display();
    let constructor = |body: &str| {
        format!(
            "int open(const char *, int, ...); int socket(int, int, int); int fork(void); int puts(const char *);\n\
             static void __attribute__((constructor)) begin(void) {{ {body}; }}"
        )
    };
    let written = place.0.join("written");
    for (name, body) in [
        ("dials", "socket(2, 1, 0)".to_owned()),
        ("splits", "fork()".to_owned()),
        ("writes", format!("open(\"{}\", 0101, 0600)", written.display())),
    ] {
        let file = header(&place, name, &constructor(&body), "");
        let error = candidate(&file, &apart(), &[]).unwrap_err();
        let expected = format!(
            "your candidate {here}/{name}.h asked the kernel for what a candidate may not do (SIGSYS) when it was loaded"
        );
        assert_eq!(error.to_string(), expected);
        assert!(error.is_input(), "{error}");
    }
    assert!(!written.exists());
    // It reads no file, where the kernel can keep it from that.
    let peeking = format!("static int got; {}", constructor("got = open(\"/etc/passwd\", 0)"));
    let file = header(&place, "peeks", &peeking, "if (got >= 0) __builtin_trap();");
    let row = candidate(&file, &apart(), &[]).unwrap();
    let read = play(&row, &AtomicBool::new(false)).is_err();
    assert!(!read || !landlocked(), "it has read a file");
    // It may write to standard output, which is not read.
    let file = header(&place, "talks", &constructor("puts(\"hello\")"), "puts(\"hello\");");
    let row = candidate(&file, &apart(), &[]).unwrap();
    assert!(play(&row, &AtomicBool::new(false)).is_ok());
}

/// Whether the kernel says that it has Landlock.
fn landlocked() -> bool {
    fs::read_to_string("/sys/kernel/security/lsm").is_ok_and(|modules| modules.contains("landlock"))
}

#[test]
fn a_candidate_tells_an_observer_what_the_row_of_the_registry_does() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ramp/hystart.h");
    let same = candidate(&core.display().to_string(), &apart(), &[]).unwrap();
    let own = Row::parse("hystart", &[]).unwrap();
    let run = |row| play(row, &AtomicBool::new(false)).unwrap();
    let ((own, lines), (same, same_lines)) = (run(&own), run(&same));
    assert!(lines.len() > 10_000 && lines == same_lines, "{} and {} bytes", lines.len(), same_lines.len());
    let plain = |record: &RunRecord| {
        let mut record = record.clone();
        record.steering = String::new();
        record.provenance.arm = String::new();
        serde_json::to_string(&record).unwrap()
    };
    assert_eq!(plain(&own), plain(&same));
}

/// A worker's engine plays each call on a thread of its own, which ends; the process is kept for the next.
#[test]
fn a_process_outlives_the_thread_that_started_it() {
    let core =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ramp/hystart.h").display().to_string();
    for _ in 0..20 {
        let row = thread::spawn({
            let core = core.clone();
            move || candidate(&core, &apart(), &[]).unwrap()
        });
        let row = row.join().unwrap();
        let played = play(&row, &AtomicBool::new(false)).map(|_| ());
        assert_eq!(played, Ok(()));
    }
}

#[test]
fn an_interruption_ends_a_candidate_that_hangs() {
    let place = Place::new("candidate-interrupted");
    let file = header(&place, "hangs", "", "for (volatile int i = 0;; i++) ;");
    let row = candidate(&file, &Apart { patience: Duration::from_secs(3600), ..apart() }, &[]).unwrap();
    let interrupted = AtomicBool::new(false);
    thread::scope(|scope| {
        let playing = scope.spawn(|| play(&row, &interrupted));
        interrupted.store(true, Ordering::Relaxed);
        assert!(playing.join().unwrap().unwrap_err().contains("interrupted at"));
    });
}

#[test]
fn a_compiler_works_in_a_directory_of_this_user_alone_that_goes_away() {
    let place = Place::new("candidate-directory");
    let (file, log) = (header(&place, "plain", "", ""), place.0.join("log"));
    // A compiler that notes what it is asked to compile and the mode of that directory, and fails.
    let compiler = place.0.join("compiler");
    let script = format!(
        "#!/bin/sh\nfor last; do :; done\necho \"${{last%/src/shim.c}}\" > {}\nstat -c %a \"${{last%/src/shim.c}}\" >> {0}\nexit 1\n",
        log.display()
    );
    fs::write(&compiler, script).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    let failing = Apart { compiler: compiler.display().to_string(), ..apart() };
    let error: ExperimentError = candidate(&file, &failing, &[]).unwrap_err();
    assert!(error.to_string().contains("does not compile"), "{error}");
    let used = fs::read_to_string(&log).unwrap();
    let (used, mode) = used.trim().split_once('\n').unwrap();
    assert!(used.contains("ramp-candidate-") && !Path::new(used).exists(), "{used}");
    assert_eq!(mode, "700");
}
