//! Candidates, which are other people's code, that try what they must not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::{Bench, finish, shell, text};
use crate::tally::Tally;

/// What they are made from.
const CORE: &str = include_str!("../../../../include/ramp/slow_start.h");
const OUTSIDE: &str = "RAMP_PARAMETERS(";
const WITHIN: &str = "\tif (d->phase == RAMP_DONE)\n";
/// Between a signal and the command's end.
const PROMPT: Duration = Duration::from_secs(2);
/// A command that is stopped is at work by then.
const AT_WORK: Duration = Duration::from_secs(3);

struct Case {
    name: &'static str,
    /// What its process does as it is loaded.
    loaded: &'static str,
    /// What it does at each ACK.
    within: &'static str,
    /// What must be said of it.
    expected: &'static str,
}

const fn case(
    name: &'static str,
    loaded: &'static str,
    within: &'static str,
    expected: &'static str,
) -> Case {
    Case { name, loaded, within, expected }
}

const CASES: [Case; 10] = [
    case("dials", "socket(2, 1, 0)", "", FORBIDDEN),
    case("splits", "fork()", "", FORBIDDEN),
    case("creates", "open(\"/tmp/ramp-torture\", 0101, 0600)", "", FORBIDDEN),
    case("signals", "kill(1, 0)", "", FORBIDDEN),
    case("dials_late", "", "socket(2, 1, 0);", FORBIDDEN),
    case("becomes", "", "execv(\"/bin/sh\", (char *const *)0);", FORBIDDEN),
    // Landlock's, then seccomp's.
    case("peeks", "got = open(\"/etc/passwd\", 0)", "if (got >= 0) __builtin_trap();", ""),
    case("peeks_late", "", "if (open(\"/etc/passwd\", 0) < 0) __builtin_trap();", "crashed (SIGILL)"),
    case("fills", "", "if (!malloc(5ul << 30)) __builtin_trap();", "crashed (SIGILL)"),
    case("forges", "", "write(0, \"\\3\\0\\0\\0\\377\\377\\377\", 7);", "has broken its process"),
];
const FORBIDDEN: &str = "asked the kernel for what a candidate may not do (SIGSYS)";
/// Nothing reports it: it has to be stopped.
const HANGS: Case = case("hangs", "", "for (volatile int i = 0;; i++) ;", "");

/// The headers in a directory.
pub(crate) fn write(place: &Path) -> Vec<PathBuf> {
    fs::create_dir_all(place).expect("a directory");
    CASES.iter().chain([&HANGS]).map(|case| header(place, case)).collect()
}

fn header(place: &Path, case: &Case) -> PathBuf {
    let Case { name, loaded, within, .. } = case;
    let declared = "int open(const char *, int, ...); int socket(int, int, int); int fork(void); int kill(int, int);\n\
         int execv(const char *, char *const *); long write(int, const void *, unsigned long);\n\
         void *malloc(unsigned long); static int got;\n\
         static void __attribute__((constructor)) begin(void) { (void)got; LOADED; }\n";
    let outside = declared.replace("LOADED", loaded);
    let core = CORE.replace("slow_start", name).replace("SLOW_START", &name.to_ascii_uppercase());
    assert!(core.contains(OUTSIDE) && core.contains(WITHIN), "slow_start.h is another");
    let core = core.replace(OUTSIDE, &format!("{outside}\n{OUTSIDE}"));
    let path = place.join(format!("{name}.h"));
    fs::write(&path, core.replace(WITHIN, &format!("{within}\n{WITHIN}"))).expect("a header");
    path
}

/// The command that plays it. Its temporary files are in a place of their own.
pub(crate) fn command(place: &Path, header: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ramp"));
    command.args(["run", "--rate", "20mbit", "--rtt", "40ms", "--size", "500kB"]);
    command.arg("--candidate").arg(header).arg("--samples").arg(place.join("run.csv"));
    command.env("TMPDIR", place).env_remove("COLUMNS").env_remove("NO_COLOR");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn candidates(bench: &Bench, tally: &mut Tally) {
    let place = bench.root.join("candidates");
    let headers = write(&place);
    while tally.goes_on() {
        for (case, header) in CASES.iter().zip(&headers) {
            if tally.enough() {
                return;
            }
            let outcome = told(&place, case, header).and_then(|()| nothing_left(&place));
            tally.tried(case.name, outcome);
        }
        let hangs = headers.last().expect("the last of them");
        for signal in ["INT", "TERM"] {
            let ended = stopped(&place, hangs, signal).inspect(|took| {
                tally.most("ms from a signal to the end, at most", took.as_millis() as u64);
            });
            let outcome = ended.and_then(|took| {
                if took < PROMPT { nothing_left(&place) } else { Err(format!("it took {took:?} to end")) }
            });
            tally.tried(&format!("SIG{signal} to one that hangs"), outcome);
        }
    }
}

/// What the command says of it, with the exit code that goes with it.
fn told(place: &Path, case: &Case, header: &Path) -> Result<(), String> {
    let Case { name, loaded, expected, .. } = case;
    let output = played(command(place, header).spawn().expect("the command"))?;
    let said = plain(&output);
    let code = match (expected.is_empty(), loaded.is_empty()) {
        (true, _) => 0,
        (false, false) => 2,
        (false, true) => 1,
    };
    if output.status.code() == Some(code) && said.contains(expected) && (code == 0 || said.contains(name)) {
        return Ok(());
    }
    Err(format!("{}, and it says: {said}", output.status))
}

fn played(child: Child) -> Result<Output, String> {
    finish(child, &["run", "--candidate"])
}

/// Without the frame and the lines of a message.
fn plain(output: &Output) -> String {
    text(&output.stderr).replace(['│', '|'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How long it takes to end on a signal.
#[expect(clippy::disallowed_methods, reason = "it is stopped while its candidate hangs")]
fn stopped(place: &Path, header: &Path, signal: &str) -> Result<Duration, String> {
    let mut child = command(place, header).spawn().expect("the command");
    thread::sleep(AT_WORK);
    if let Some(status) = child.try_wait().expect("its state") {
        return Err(format!("it has ended before: {status}"));
    }
    let began = Instant::now();
    shell(&format!("kill -{signal} {}", child.id()));
    let output = child.wait_with_output().expect("its output");
    match output.status.code() {
        Some(130) => Ok(began.elapsed()),
        _ => Err(format!("{}, and it says: {}", output.status, plain(&output))),
    }
}

/// No file of theirs, none of the compiler's, and no process.
fn nothing_left(place: &Path) -> Result<(), String> {
    let left = fs::read_dir(place).expect("a directory").flatten().map(|entry| entry.file_name());
    let mut left = left.filter(|name| name.to_string_lossy().starts_with("ramp-candidate-"));
    if let Some(name) = left.next() {
        return Err(format!("{} is left", place.join(name).display()));
    }
    if Path::new("/tmp/ramp-torture").exists() {
        return Err("it has written a file".to_owned());
    }
    let began = Instant::now();
    // The kernel takes a moment to end whom a dead process has started.
    while let Some(process) = theirs(place) {
        if began.elapsed() > PROMPT {
            return Err(format!("process {process} is left"));
        }
        thread::yield_now();
    }
    Ok(())
}

/// A process that was started with this place for temporary files.
fn theirs(place: &Path) -> Option<u32> {
    let own = format!("TMPDIR={}\0", place.display());
    let all = fs::read_dir("/proc").expect("procfs").flatten();
    let mut all = all.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    all.find(|process| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.windows(own.len()).any(|part| part == own.as_bytes())
    })
}
