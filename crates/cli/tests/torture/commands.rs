//! Commands that die at random times, alone and against each other, and disks that take nothing.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use crate::bench::{Bench, Scope, finish, shell, text};
use crate::tally::Tally;

const ALGORITHMS: [&str; 3] = ["best", "hystart", "paced"];
/// On trial here alone.
const TRIED: &str = "hystartpp";
/// Within which the kernel drops what a dead process had.
pub(crate) const FREED: Duration = Duration::from_secs(20);

/// How long a command takes that is not killed.
pub(crate) fn whole(bench: &Bench) -> Duration {
    let scope = &bench.scopes()[1];
    let began = Instant::now();
    let output =
        finish(bench.attach("best", scope).spawn().expect("nsenter"), &["attach"]).expect("attach ends");
    let took = began.elapsed();
    assert!(output.status.success(), "{}", text(&output.stderr));
    bench.restored().expect("restored");
    took
}

/// Ends it after so long, however far it is. Whether it was still there.
#[expect(clippy::disallowed_methods, reason = "it is killed at a time, not at a step")]
fn kill_after(mut child: Child, delay: Duration) -> bool {
    thread::sleep(delay);
    let killed = child.try_wait().expect("its state").is_none() && child.kill().is_ok();
    let _ = child.wait();
    killed
}

/// Attach, replace and detach, each killed once, on every kind of scope.
pub(crate) fn kills(bench: &Bench, rng: &mut Pcg64Mcg, whole: Duration, tally: &mut Tally) {
    while tally.goes_on() {
        for scope in bench.scopes() {
            for what in ["attach", "replace", "detach"] {
                if tally.enough() {
                    return;
                }
                let delay = whole.mul_f64(rng.random_range(0.0..1.3));
                let outcome = kill(bench, &scope, what, delay, tally);
                tally.tried(&format!("{what}, {}, killed after {delay:?}", scope.name), outcome);
            }
        }
        if !links() {
            continue;
        }
        let delay = whole.mul_f64(rng.random_range(0.0..3.0));
        let outcome = kill_trial(bench, delay, tally);
        tally.tried(&format!("a trial, killed after {delay:?}"), outcome);
    }
}

/// Whether the kernel takes back by itself what a dead process has registered: since Linux 6.4.
pub(crate) fn links() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("procfs");
    let mut numbers = release.split(['.', '-']).map_while(|word| word.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(4))
}

/// Nothing of a trial outlives it.
fn kill_trial(bench: &Bench, delay: Duration, tally: &mut Tally) -> Result<(), String> {
    let cgroup = bench.cgroup.to_string_lossy();
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{}", bench.netns)).arg(env!("CARGO_BIN_EXE_ramp"));
    command.args(["trial", TRIED, "--against", "cubic", "--cgroup", &cgroup, "--for", "10m"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let killed = kill_after(child.expect("nsenter"), delay);
    tally.count("hit before their end", u64::from(killed));
    let (began, mut left) = (Instant::now(), offered(TRIED));
    while !left.is_empty() && began.elapsed() < FREED {
        // The kernel takes a moment to drop what nothing refers to.
        thread::yield_now();
        left = offered(TRIED);
    }
    if !left.is_empty() {
        return Err(format!("{left:?} is left"));
    }
    bench.connects().and_then(|()| bench.restored())
}

/// What the kernel offers of trials of this algorithm.
pub(crate) fn offered(tried: &str) -> Vec<String> {
    let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("TCP");
    let ours = available.split_whitespace().filter(|name| name.starts_with("try") && name.ends_with(tried));
    ours.map(str::to_owned).collect()
}

fn kill(bench: &Bench, scope: &Scope, what: &str, delay: Duration, tally: &mut Tally) -> Result<(), String> {
    if what != "attach" {
        let output = finish(bench.attach("best", scope).spawn().expect("nsenter"), &["attach"])?;
        if !output.status.success() {
            return Err(format!("attach: {}", text(&output.stderr)));
        }
    }
    let mut command = match what {
        "attach" => bench.attach("best", scope),
        "replace" => bench.attach("hystart", scope),
        _ => bench.command(&["detach"]),
    };
    let killed = kill_after(command.spawn().expect("nsenter"), delay);
    tally.count("hit before their end", u64::from(killed));
    bench.connects()?;
    let status = bench.run(&["status"])?;
    if !status.status.success() {
        return Err(format!("status: {}", text(&status.stderr)));
    }
    bench.restored()
}

/// Everything at once, some of it killed.
pub(crate) fn races(bench: &Bench, rng: &mut Pcg64Mcg, whole: Duration, tally: &mut Tally) {
    let scopes = bench.scopes();
    while tally.goes_on() {
        let scope = &scopes[rng.random_range(0..scopes.len())];
        let (began, mut dying, mut living) = (Instant::now(), Vec::new(), Vec::new());
        for _ in 0..8 {
            let algorithm = ALGORITHMS[rng.random_range(0..ALGORITHMS.len())];
            let mut command = match rng.random_range(0..8) {
                0..4 => bench.attach(algorithm, scope),
                4 | 5 => bench.command(&["detach"]),
                6 => bench.command(&["status", "--json"]),
                _ => bench.command(&["export"]),
            };
            let child = command.spawn().expect("nsenter");
            if rng.random_bool(0.25) {
                dying.push((whole.mul_f64(rng.random_range(0.0..4.0)), child));
            } else {
                living.push(child);
            }
        }
        dying.sort_by_key(|(after, _)| *after);
        for (after, child) in dying {
            let killed = kill_after(child, after.saturating_sub(began.elapsed()));
            tally.count("killed", u64::from(killed));
        }
        let mut outcome = Ok(());
        for child in living {
            if let Err(error) = finish(child, &["one of eight"]) {
                outcome = Err(error);
            }
        }
        let outcome = outcome.and_then(|()| bench.connects()).and_then(|()| bench.restored());
        tally.tried(&format!("eight at once on {}", scope.name), outcome);
    }
}

/// A place for records that is full, or may not be written, before and after attaching.
pub(crate) fn disks(bench: &Bench, rng: &mut Pcg64Mcg, tally: &mut Tally) {
    let full = bench.root.join("full");
    fs::create_dir_all(&full).expect("a mount point");
    while tally.goes_on() {
        for scope in bench.scopes() {
            for (trouble, begin, end) in [
                ("full", "dd if=/dev/zero of=FULL/fill bs=4k 2>/dev/null || true", "rm -f FULL/fill"),
                ("read-only", "mount -o remount,ro FULL", "mount -o remount,rw FULL"),
                ("read-only pins", "mount -o remount,ro PINS", "mount -o remount,rw PINS"),
            ] {
                if tally.enough() {
                    return;
                }
                let bpf = bench.root.join("bpf").to_string_lossy().into_owned();
                let place = full.to_string_lossy();
                let script = |text: &str| shell(&text.replace("FULL", &place).replace("PINS", &bpf));
                script("mount -t tmpfs -o size=16k tmpfs FULL");
                let words: Vec<&str> = scope.words.iter().map(String::as_str).collect();
                let ramp = |arguments: &[&str]| {
                    finish(bench.command_with(arguments, &full).spawn().expect("nsenter"), arguments)
                };
                let attach = |algorithm: &str| {
                    ramp(&[&["attach", algorithm, "--yes", "--scope"], &words[..]].concat())
                };
                let before = rng.random_bool(0.5);
                let outcome = (|| {
                    if !before {
                        attach("best")?;
                    }
                    script(begin);
                    let outcome = (|| {
                        // Attaching, or replacing: it may fail, but not half.
                        attach("hystart")?;
                        bench.connects()?;
                        // Rolling back restores, whether or not it can clear up.
                        ramp(&["detach"])?;
                        bench.as_before()
                    })();
                    script(end);
                    outcome?;
                    let cleared = ramp(&["detach"])?;
                    if !cleared.status.success() {
                        return Err(format!("detach with room again: {}", text(&cleared.stderr)));
                    }
                    bench.restored()
                })();
                script("umount FULL");
                let when = if before { "before attaching" } else { "while attached" };
                tally.tried(&format!("{trouble} {when}, {}", scope.name), outcome);
            }
        }
    }
}
