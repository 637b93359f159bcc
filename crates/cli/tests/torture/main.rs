//! The live host tried as an attacker, a tired operator and a kernel engineer would: a minute with the other tests,
//! ten by `make host-torture`, which writes docs/host-report.md.
#![cfg(all(target_os = "linux", feature = "linux"))]

mod bench;
mod candidates;
mod commands;
#[path = "../../../linux/tests/support/machine.rs"]
mod machine;
mod machines;
mod over;
mod page;
mod peers;
mod readers;
#[path = "../../../linux/tests/support/ready.rs"]
mod ready;
mod records;
mod requests;
mod tally;

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, io};

use bench::{Bench, cgroup2};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use tally::Tally;

/// `O_NONBLOCK` of Linux.
const NONBLOCK: i32 = 0o4000;

fn number(name: &str, usual: u64) -> u64 {
    let text = env::var(name).unwrap_or_default();
    if text.is_empty() {
        usual
    } else {
        text.parse().unwrap_or_else(|_| panic!("{name}={text}: not a number"))
    }
}

#[test]
fn the_host_is_as_before_whatever_happens_to_it() {
    let no_cgroup = || cgroup2().is_none().then(|| "no cgroup2 is mounted".to_owned());
    let Some(()) = ready::unobstructed(ready::obstacle().or_else(no_cgroup).as_deref()) else { return };
    let parts = parts();
    let (seconds, seed) = (number("RAMP_TORTURE_SECONDS", 60), number("RAMP_TORTURE_SEED", 1));
    let mut kernel = KernelLog::open();
    let other = env::var_os("RAMP_TORTURE_OTHER").filter(|path| !path.is_empty()).map(PathBuf::from);
    let beside = other.as_deref().map(version);
    let bench = Bench::new(other);
    let whole = commands::whole(&bench);
    let all: Vec<_> = parts.into_iter().map(|part| play(&bench, whole, part, seconds, seed)).collect();
    drop(bench);

    let complaints = kernel.complaints();
    let report = report(seconds, seed, beside.as_deref(), whole, &all) + kernel.verdict(&complaints);
    let _ = io::stderr().write_all(report.as_bytes());
    let failures: Vec<_> = all.iter().flat_map(|tally| &tally.failures).collect();
    for failure in &failures {
        let _ = writeln!(io::stderr(), "- {failure}");
    }
    if !kernel.readable() {
        ready::skip("the kernel's log cannot be read: what it says of all this is not known");
    }
    assert!(
        failures.is_empty(),
        "seed {seed}: {} failures, the first of them: {}",
        failures.len(),
        failures[0]
    );
    assert!(complaints.is_empty(), "the kernel says: {complaints:#?}");
    if let Some(path) = env::var_os("RAMP_TORTURE_REPORT") {
        page::put(Path::new(&path), page::series(&release()), &report);
    }
}

/// A kind of cruelty: the name by which it is asked for, what is done, what each trial must come to, and its share of the
/// time, per cent. All of them together take less than all of it, since the last of each takes its time.
#[derive(Clone, Copy)]
struct Part(&'static str, &'static str, &'static str, u64);

const PARTS: [Part; 9] = [
    Part("kills", "attach, replace, detach or trial, killed at a random time", "restored", 22),
    Part("races", "eight commands at once, a quarter of them killed", "restored", 10),
    Part("disks", "records or pins full or read-only", "restored", 10),
    Part("records", "a record planted or changed", "restored", 10),
    Part("requests", "40 hostile requests, then a scrape", "answered", 8),
    Part("peers", "eight connections to peers that lie, half of them over IPv6", "unharmed", 13),
    Part(
        "readers",
        "24 clients that never read, and 24 that read 40 kB/s",
        "at most twice CUBIC's memory",
        8,
    ),
    Part("candidates", "a candidate that tries what it must not, or hangs", "told or stopped", 5),
    Part("over", "a trial with nginx over emulated paths, to its end or killed", "nothing left", 7),
];
/// Those that other tests have as well.
const ELSEWHERE: [&str; 2] = ["candidates", "over"];

/// What is asked for: names with spaces between them, or all; if nothing is, what no other test has.
fn parts() -> Vec<Part> {
    let asked = env::var("RAMP_TORTURE_PARTS").unwrap_or_default();
    let asked: Vec<&str> = asked.split_whitespace().collect();
    let known = |name: &&str| *name == "all" || PARTS.iter().any(|part| part.0 == *name);
    if let Some(other) = asked.iter().find(|name| !known(name)) {
        let names: Vec<_> = PARTS.iter().map(|part| part.0).collect();
        panic!("RAMP_TORTURE_PARTS: {other} is none of {}, all", names.join(", "));
    }
    let wanted = |part: &Part| match asked[..] {
        [] => !ELSEWHERE.contains(&part.0),
        _ => asked.contains(&"all") || asked.contains(&part.0),
    };
    PARTS.into_iter().filter(wanted).collect()
}

fn play(bench: &Bench, whole: Duration, part: Part, seconds: u64, seed: u64) -> Tally {
    let Part(name, what, demand, percent) = part;
    let place = PARTS.iter().position(|part| part.0 == name).expect("one of them");
    let rng = &mut Pcg64Mcg::seed_from_u64(seed << 8 | (place as u64 + 1));
    let mut tally = Tally::new(what, demand, Duration::from_millis(seconds * 10 * percent));
    let to = &mut tally;
    match name {
        "kills" => bench.in_turns(|| commands::kills(bench, rng, whole, to)),
        "races" => bench.in_turns(|| commands::races(bench, rng, whole, to)),
        "disks" => commands::disks(bench, rng, to),
        "records" => bench.in_turns(|| records::records(bench, rng, to)),
        "requests" => requests::requests(bench, rng, to),
        "peers" => peers::peers(bench, rng, to),
        "readers" => readers::readers(bench, to),
        "candidates" => candidates::candidates(bench, to),
        _ => match over::no_nginx() {
            Some(missing) => ready::skip(missing),
            None => over::over(bench, rng, whole, to),
        },
    }
    tally
}

/// What another release says of itself.
fn version(command: &Path) -> String {
    let output = Command::new(command).arg("--version").output();
    let output = output.unwrap_or_else(|error| panic!("RAMP_TORTURE_OTHER={}: {error}", command.display()));
    // What it was built with stands in further lines.
    bench::text(&output.stdout).lines().next().unwrap_or_default().to_owned()
}

fn release() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease").expect("procfs").trim().to_owned()
}

/// How a report begins and its last line does.
const RELEASE: &str = "Linux ";
const LOG: &str = "The kernel";

fn report(seconds: u64, seed: u64, beside: Option<&str>, whole: Duration, all: &[Tally]) -> String {
    let build = if cfg!(debug_assertions) { "a build for tests" } else { "a release build" };
    let beside = beside.map_or(String::new(), |version| {
        format!(", kills, races and records in turns with another release ({version})")
    });
    let mut text = format!(
        "{RELEASE}{}, {build}, {seconds} s, seed {seed}{beside}; attaching takes {} ms here.\n\n\
         | what | times | outcome | beside it |\n|---|---|---|---|\n",
        release(),
        whole.as_millis()
    );
    for tally in all {
        text += &tally.row();
        text.push('\n');
    }
    let (tried, failed): (u64, usize) =
        (all.iter().map(|tally| tally.tried).sum(), all.iter().map(|tally| tally.failures.len()).sum());
    text + &format!("\n**{} of {tried}** as they should be.\n", tried - failed as u64)
}

/// What the kernel says from now on.
struct KernelLog(Option<fs::File>);

impl KernelLog {
    fn open() -> Self {
        let mut log = Self(OpenOptions::new().read(true).custom_flags(NONBLOCK).open("/dev/kmsg").ok());
        // Opening may be allowed where reading is not.
        let readable = log.0.as_mut().is_some_and(|log| match log.read(&mut [0; 8192]) {
            Ok(_) => true,
            Err(error) => error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(32),
        });
        log.0 = log.0.filter(|_| readable);
        // What it has said before.
        log.complaints();
        log
    }

    fn readable(&self) -> bool {
        self.0.is_some()
    }

    /// The report's last line.
    fn verdict(&self, complaints: &[String]) -> &'static str {
        match (self.readable(), complaints.is_empty()) {
            (false, _) => "\nThe kernel's log could not be read.\n",
            (true, true) => "\nThe kernel has logged no complaint.\n",
            (true, false) => "\nThe kernel has logged complaints.\n",
        }
    }

    /// Lines that a sound kernel does not write. One read is one line.
    fn complaints(&mut self) -> Vec<String> {
        let Some(log) = &mut self.0 else { return Vec::new() };
        let mut line = vec![0; 8192];
        let mut found = Vec::new();
        loop {
            match log.read(&mut line) {
                Ok(length) => {
                    let text = bench::text(&line[..length]);
                    if ["BUG:", "WARNING:", "Oops", "general protection", "refcount_t"]
                        .iter()
                        .any(|bad| text.contains(bad))
                    {
                        found.push(text);
                    }
                }
                // Overwritten before it was read: the next one is there.
                Err(error) if error.raw_os_error() == Some(32) => {}
                Err(_) => return found,
            }
        }
    }
}
