//! This machine's systemd, started once more: see `boot.sh`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use crate::ready::{obstacle, program_path, unobstructed};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(90);
/// Of one command, in seconds.
const LONGEST: &str = "80";
const INIT: &str = "/lib/systemd/systemd";
const PROGRAMS: &[&str] = &[
    "timeout",
    "unshare",
    "nsenter",
    "systemctl",
    "systemd-run",
    "systemd-analyze",
    "pivot_root",
    "curl",
    "python3",
];

/// Tests run side by side, and each looks.
static PROBES: AtomicU32 = AtomicU32::new(0);

/// Whether systemd can be started here.
pub(crate) fn ready() -> Option<()> {
    let missing = || {
        let program = PROGRAMS.iter().find(|program| program_path(program).is_none());
        program.map(|program| format!("{program} is missing: run scripts/setup test"))
    };
    let no_systemd =
        || (!Path::new(INIT).exists()).then(|| format!("{INIT} is missing: run scripts/setup test"));
    let no_overlay = || {
        // A module is loaded when it is first mounted, which only the machine itself can try.
        let known = fs::read_to_string("/proc/filesystems").is_ok_and(|text| text.contains("overlay"));
        let loaded = || Command::new("modprobe").arg("overlay").status().is_ok_and(|status| status.success());
        (!known && !loaded()).then(|| "the kernel has no overlayfs".to_owned())
    };
    let no_cgroup = || {
        let Some(mount) = cgroup2() else { return Some("no cgroup2 is mounted".to_owned()) };
        let number = PROBES.fetch_add(1, Ordering::Relaxed);
        let probe = mount.join(format!("ramp-units-probe-{}-{number}", process::id()));
        let made = fs::create_dir(&probe).and_then(|()| fs::remove_dir(&probe));
        made.err().map(|error| format!("no control group can be made in {}: {error}", mount.display()))
    };
    let found = obstacle().or_else(missing).or_else(no_systemd).or_else(no_overlay).or_else(no_cgroup);
    unobstructed(found.as_deref())
}

fn cgroup2() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        (words.get(2) == Some(&"cgroup2")).then(|| PathBuf::from(words[1]))
    })
}

/// Running until it is dropped.
pub(crate) struct Machine {
    child: Child,
    /// systemd's process, as this machine numbers it.
    init: String,
    scratch: PathBuf,
    cgroup: PathBuf,
}

impl Machine {
    pub(crate) fn boot() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("ramp-units-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let scratch = env::temp_dir().join(&name);
        fs::create_dir(&scratch).expect("a directory");
        let cgroup = cgroup2().expect("it is mounted").join(&name);
        fs::create_dir(&cgroup).expect("a control group");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/units/boot.sh");
        // The control group is entered first, so that it is the root of the namespace.
        let enter = "echo $$ > \"$1/cgroup.procs\"; shift; exec unshare \
                     --pid --fork --kill-child --mount --net --uts --ipc --cgroup -- sh \"$@\"";
        let mut command = Command::new("sh");
        command
            .args(["-c", enter, "sh"])
            .arg(&cgroup)
            .arg(script)
            .arg(&scratch)
            .arg(env!("CARGO_BIN_EXE_ramp"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("sh");
        // From here on, whatever fails, nothing of it stays.
        let mut machine = Self { child, init: String::new(), scratch, cgroup };
        let stdout = machine.child.stdout.take().expect("it is piped");
        let (said, first) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(stdout).read_line(&mut line);
            let _ = said.send(line);
        });
        let line = first.recv_timeout(PATIENCE).expect("boot.sh hangs");
        line.trim().clone_into(&mut machine.init);
        assert!(!machine.init.is_empty(), "boot.sh has failed");
        machine.wait_until("it has started", || {
            let output = machine.command(&["systemctl", "is-system-running"]).output().expect("nsenter");
            ["running\n", "degraded\n"].iter().any(|state| output.stdout == state.as_bytes())
        });
        machine
    }

    /// A command in there, in the directory of the repository.
    fn command(&self, words: &[&str]) -> Command {
        // Whatever hangs in there ends here.
        let mut command = Command::new("timeout");
        command
            .args(["--kill-after=5", LONGEST, "nsenter", "--all", "--target", &self.init])
            .args(["--wd=/", "env", "-i"]);
        command.arg("PATH=/usr/sbin:/usr/bin:/sbin:/bin").args(words);
        command.stdin(Stdio::null());
        command
    }

    /// Its output, whatever becomes of it.
    pub(crate) fn try_run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("nsenter")
    }

    /// What a command that must succeed says.
    pub(crate) fn run(&self, words: &[&str]) -> String {
        let output = self.try_run(words);
        let said = [output.stdout.as_slice(), &output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(output.status.success(), "{words:?}: {said}\n{}", self.journal());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A script, in a directory that has of the repository what the guide's commands need.
    pub(crate) fn script(&self, text: &str) -> String {
        self.run(&["sh", "-euc", &format!("cd /usr/src/ramp\n{text}")])
    }

    /// A file of root's.
    pub(crate) fn write(&self, path: &str, text: &str) {
        self.run(&["sh", "-euc", "mkdir -p \"${1%/*}\"; printf %s \"$2\" > \"$1\"", "sh", path, text]);
    }

    pub(crate) fn status(&self) -> serde_json::Value {
        serde_json::from_str(&self.run(&["ramp", "status", "--json"])).expect("JSON")
    }

    pub(crate) fn journal(&self) -> String {
        let output = self.try_run(&["journalctl", "--no-pager", "-o", "cat", "-n", "60"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[expect(clippy::disallowed_methods, reason = "another process's work is polled")]
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < PATIENCE, "in vain: {what}\n{}", self.journal());
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Its first process dies with it, and so all others.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let remove = "for i in $(seq 100); do find \"$1\" -depth -type d -exec rmdir {} + 2>/dev/null; [ -d \"$1\" ] || \
                      break; sleep 0.05; done";
        let _ = Command::new("sh").args(["-c", remove, "sh"]).arg(&self.cgroup).status();
        let _ = fs::remove_dir_all(&self.scratch);
    }
}
