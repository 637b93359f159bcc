//! A host of one's own to be cruel to: two joined namespaces, a BPF file system, records, a control group.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use std::{process, thread};

/// Longer than any command here takes, however busy or slow the machine is.
const PATIENCE: Duration = Duration::from_secs(180);
const HERE: &str = "10.79.1.1";
const THERE: Ipv4Addr = Ipv4Addr::new(10, 79, 1, 2);
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// What is attached to: the words of `--scope`, and whether the command runs inside the namespace.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) name: &'static str,
    pub(crate) words: Vec<String>,
}

pub(crate) struct Bench {
    pub(crate) root: PathBuf,
    pub(crate) netns: String,
    pub(crate) cgroup: PathBuf,
    /// What the namespace shows before anything is attached.
    before: String,
    /// The command of another release.
    other: Option<PathBuf>,
    /// Whether it takes turns with this one's, and how many turns there have been.
    in_turns: AtomicBool,
    turns: AtomicU64,
}

impl Bench {
    pub(crate) fn new(other: Option<PathBuf>) -> Self {
        let netns = format!("rampt{}", process::id());
        let root = Path::new("/run").join(&netns);
        fs::create_dir_all(root.join("bpf")).expect("a mount point");
        shell(&format!("mount -t bpf bpf {}", root.join("bpf").display()));
        let cgroup = cgroup2().expect("looked for before").join(&netns);
        fs::create_dir(&cgroup).expect("a control group");
        shell(&format!(
            "ip netns add {netns}; ip netns add {netns}p
            ip -n {netns} link set lo up; ip -n {netns}p link set lo up
            ip -n {netns} link add eth0 type veth peer name eth0 netns {netns}p
            ip -n {netns} addr add {HERE}/24 dev eth0; ip -n {netns}p addr add {THERE}/24 dev eth0
            ip -n {netns} link set eth0 up; ip -n {netns}p link set eth0 up
            ip -n {netns} -6 addr add fd00:79::1/64 dev eth0 nodad
            ip -n {netns} route add 10.80.0.0/16 via {THERE} initcwnd 20 mtu lock 1400
            ip -n {netns} -6 route add fd00:80::/32 via fd00:79::2 metric 77 initcwnd 20
            ip netns exec {netns} sysctl -qw net.ipv4.tcp_congestion_control=reno"
        ));
        let (in_turns, turns) = (AtomicBool::new(false), AtomicU64::new(0));
        let mut bench = Self { root, netns, cgroup, before: String::new(), other, in_turns, turns };
        bench.before = bench.state();
        bench
    }

    pub(crate) fn scopes(&self) -> Vec<Scope> {
        let scope =
            |name, words: &[&str]| Scope { name, words: words.iter().map(|&word| word.to_owned()).collect() };
        vec![
            scope("system", &["system"]),
            scope("netns", &["netns", &self.netns]),
            scope("route", &["route", "10.80.0.0/16"]),
            scope("route of IPv6", &["route", "fd00:80::/32", "metric", "77"]),
            scope("cgroup", &["cgroup", &self.cgroup.to_string_lossy()]),
        ]
    }

    pub(crate) fn pins(&self) -> PathBuf {
        self.root.join("bpf/ramp")
    }

    pub(crate) fn records(&self) -> PathBuf {
        self.root.join("records")
    }

    /// Meanwhile every second command is the other release's, if there is one: what one attaches the other replaces,
    /// shows or detaches.
    pub(crate) fn in_turns<T>(&self, work: impl FnOnce() -> T) -> T {
        self.in_turns.store(true, Ordering::Relaxed);
        let result = work();
        self.in_turns.store(false, Ordering::Relaxed);
        result
    }

    fn program(&self) -> &Path {
        let own = Path::new(env!("CARGO_BIN_EXE_ramp"));
        let Some(other) = self.other.as_deref().filter(|_| self.in_turns.load(Ordering::Relaxed)) else {
            return own;
        };
        if self.turns.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) { own } else { other }
    }

    /// The command, inside the namespace.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_with(arguments, &self.records())
    }

    /// With another place for records.
    pub(crate) fn command_with(&self, arguments: &[&str], records: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.netns)).arg(self.program());
        command.args(arguments).arg("--pins").arg(self.pins()).arg("--records").arg(records);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_remove("COLUMNS").env_remove("NO_COLOR");
        command
    }

    pub(crate) fn attach(&self, algorithm: &str, scope: &Scope) -> Command {
        let words: Vec<&str> = scope.words.iter().map(String::as_str).collect();
        self.command(&[&["attach", algorithm, "--yes", "--scope"], &words[..]].concat())
    }

    /// Runs it to its end: it neither hangs nor panics, and says whether it has done what was asked.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Output, String> {
        finish(self.command(arguments).spawn().expect("nsenter"), arguments)
    }

    /// Default and routes, as others see them.
    fn state(&self) -> String {
        let netns = &self.netns;
        shell(&format!(
            "ip netns exec {netns} cat {DEFAULT}; ip -n {netns} -d -4 route; ip -n {netns} -d -6 route show table main"
        ))
    }

    /// Detaches everything, and looks whether all is as before and nothing is left.
    pub(crate) fn restored(&self) -> Result<(), String> {
        let output = self.run(&["detach"])?;
        if !output.status.success() {
            return Err(format!("detach: {}", text(&output.stderr)));
        }
        self.as_before()?;
        let left = self.left();
        if !left.is_empty() {
            return Err(format!("left: {left:?}"));
        }
        Ok(())
    }

    /// Whether default and routes are what they were.
    pub(crate) fn as_before(&self) -> Result<(), String> {
        let state = self.state();
        if state == self.before { Ok(()) } else { Err(format!("it was\n{}and is\n{state}", self.before)) }
    }

    /// Records and pins.
    fn left(&self) -> Vec<String> {
        let names =
            |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let all = names(self.records()).chain(names(self.pins()));
        all.map(|name| name.to_string_lossy().into_owned()).filter(|name| name != "lock").collect()
    }

    /// Whether a connection from here carries data now.
    pub(crate) fn connects(&self) -> Result<(), String> {
        let listener = self.within("p", || TcpListener::bind((THERE, 0)).expect("bind"));
        let to = listener.local_addr().expect("an address");
        let carried = self.within("", || carry(to, &listener));
        carried.map_err(|error| format!("a connection: {error}"))
    }

    /// Work in a namespace of ours, on a thread of its own.
    pub(crate) fn within<T: Send>(&self, suffix: &str, work: impl FnOnce() -> T + Send) -> T {
        let handle = fs::File::open(format!("/run/netns/{}{suffix}", self.netns)).expect("the namespace");
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                nix::sched::setns(handle, nix::sched::CloneFlags::CLONE_NEWNET).expect("setns");
                work()
            });
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let (netns, root) = (&self.netns, self.root.display());
        let script = format!(
            "ip netns del {netns}; ip netns del {netns}p; umount {root}/full; umount {root}/bpf; rmdir {}",
            self.cgroup.display()
        );
        let _ = Command::new("sh").args(["-c", &script]).output();
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn carry(to: SocketAddr, listener: &TcpListener) -> std::io::Result<()> {
    let mut socket = TcpStream::connect_timeout(&to, PATIENCE)?;
    let (mut accepted, _) = listener.accept()?;
    accepted.set_read_timeout(Some(PATIENCE))?;
    let mut arrived = vec![0; 30_000];
    socket.write_all(&arrived)?;
    accepted.read_exact(&mut arrived)
}

pub(crate) fn cgroup2() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        (words.get(2) == Some(&"cgroup2")).then(|| PathBuf::from(words[1]))
    })
}

/// Waits for a command: that it hangs, panics or dies of a signal is an error.
pub(crate) fn finish(child: Child, arguments: &[&str]) -> Result<Output, String> {
    let (process, (done, ended)) = (child.id(), mpsc::channel());
    // Who reads what it says waits for it, too.
    thread::spawn(move || done.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(PATIENCE) else {
        shell(&format!("kill -KILL {process}"));
        return Err(format!("{arguments:?} hangs"));
    };
    let output = output.expect("its output");
    match output.status.code() {
        Some(0..=3) => Ok(output),
        _ => Err(format!("{arguments:?}: {}: {}", output.status, text(&output.stderr))),
    }
}

pub(crate) fn shell(script: &str) -> String {
    let output = Command::new("sh").args(["-euc", script]).output().expect("sh");
    assert!(output.status.success(), "{script}: {}", text(&output.stderr));
    text(&output.stdout)
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
