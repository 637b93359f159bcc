//! A network namespace, a BPF file system and a directory of records of a test's own.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use std::{env, process, thread};

use nix::sched::{CloneFlags, setns};
use rampcc::Algorithm;
use rampcc_host::Host;
use rampcc_linux::Options;
use socket2::{Domain, Socket, Type};

#[path = "../../../linux/tests/support/left_out.rs"]
pub(crate) mod left_out;
#[path = "../../../linux/tests/support/ready.rs"]
mod ready;

pub(crate) use ready::ready;

/// Longer than any transfer here takes, so that a stall fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(30);
/// This host's end of the path, and the other.
pub(crate) const HERE: Ipv4Addr = Ipv4Addr::new(10, 78, 1, 1);
pub(crate) const THERE: Ipv4Addr = Ipv4Addr::new(10, 78, 1, 2);

pub(crate) fn algorithm(id: &str) -> &'static Algorithm {
    rampcc::algorithm(id).expect("a row of the registry")
}

/// What another user may set in a namespace: CUBIC only where it is the kernel's default.
pub(crate) fn foreign() -> &'static str {
    if available().iter().any(|name| name == "bbr") { "bbr" } else { "cubic" }
}

pub(crate) fn best() -> &'static Algorithm {
    algorithm("best")
}

pub(crate) fn usual(algorithm: &Algorithm) -> Options {
    Options::new(algorithm)
}

/// A host of one's own, as far as congestion control goes: two namespaces joined by a veth pair.
pub(crate) struct Place {
    root: PathBuf,
    name: String,
    _turn: Turn,
}

/// The names of congestion controls are the whole kernel's, so tests take turns, but for those that have algorithms of
/// their own.
static TURNS: RwLock<()> = RwLock::new(());

/// Held as long as a place.
enum Turn {
    Alone { _guard: RwLockWriteGuard<'static, ()> },
    Sharing { _guard: RwLockReadGuard<'static, ()> },
    Another,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::within_turn(Turn::Alone { _guard: TURNS.write().unwrap_or_else(PoisonError::into_inner) })
    }

    /// The same where the test can run at all.
    pub(crate) fn ready() -> Option<Self> {
        ready().map(|()| Self::new())
    }

    /// For a test whose algorithms no other test that shares has.
    pub(crate) fn sharing() -> Self {
        Self::within_turn(Turn::Sharing { _guard: TURNS.read().unwrap_or_else(PoisonError::into_inner) })
    }

    /// Another place, for a test that has one already.
    pub(crate) fn another() -> Self {
        Self::within_turn(Turn::Another)
    }

    fn within_turn(turn: Turn) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("rampa{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let place = Self { root: Path::new("/run").join(&name), name, _turn: turn };
        fs::create_dir_all(place.root.join("bpf")).expect("a mount point");
        run(&format!("mount -t bpf bpf {}", place.root.join("bpf").display()));
        let (here, there) = (place.netns(), place.peer());
        for netns in [&here, &there] {
            run(&format!("ip netns add {netns}"));
            run(&format!("ip -n {netns} link set lo up"));
        }
        run(&format!("ip -n {here} link add eth0 type veth peer name eth0 netns {there}"));
        for (netns, address) in [(&here, HERE), (&there, THERE)] {
            run(&format!("ip -n {netns} addr add {address}/24 dev eth0"));
            run(&format!("ip -n {netns} link set eth0 up"));
            run(&format!("ip netns exec {netns} sysctl -qw net.ipv4.tcp_congestion_control=reno"));
        }
        place
    }

    pub(crate) fn host(&self) -> Host {
        Host::at(self.pins(), self.records())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn pins(&self) -> PathBuf {
        self.root.join("bpf/ramp")
    }

    pub(crate) fn records(&self) -> PathBuf {
        self.root.join("records")
    }

    /// The namespace that algorithms are attached to.
    pub(crate) fn netns(&self) -> String {
        self.name.clone()
    }

    /// Where its connections lead.
    fn peer(&self) -> String {
        format!("{}p", self.name)
    }

    pub(crate) fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        within(&self.netns(), work)
    }

    /// A process that lives in the namespace until it is killed.
    pub(crate) fn resident(&self) -> Child {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.netns())).args(["sleep", "1000"]);
        let mut child = command.spawn().expect("nsenter");
        let own = fs::read_link("/proc/self/ns/net").expect("its namespace");
        let inside = || fs::read_link(format!("/proc/{}/ns/net", child.id())).is_ok_and(|net| net != own);
        while !inside() {
            thread::yield_now();
        }
        assert!(child.try_wait().expect("its state").is_none());
        child
    }

    /// The default congestion control.
    pub(crate) fn default(&self) -> String {
        self.within(|| {
            let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").expect("the sysctl");
            text.trim().to_owned()
        })
    }

    pub(crate) fn set_default(&self, name: &str) {
        run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_congestion_control={name}", self.netns()));
    }

    /// All routes of the main table, as iproute2 shows them.
    pub(crate) fn routes(&self) -> String {
        let all = |family: &str| output(&format!("ip -n {} -d {family} route show table main", self.netns()));
        all("-4") + &all("-6")
    }

    /// The congestion controls of two connections that carry data, one opened from here and one from there.
    pub(crate) fn used(&self) -> [String; 2] {
        self.used_between(HERE, THERE)
    }

    pub(crate) fn used_between(&self, here: Ipv4Addr, there: Ipv4Addr) -> [String; 2] {
        let (here_ns, there_ns) = (self.netns(), self.peer());
        let active = {
            let listener = within(&there_ns, || listening(there));
            let socket = within(&here_ns, || connected(listener.1));
            carry(&socket, &listener.0)
        };
        let listener = within(&here_ns, || listening(here));
        let socket = within(&there_ns, || connected(listener.1));
        let (accepted, _) = listener.0.accept().expect("accept");
        [active, exchange(&accepted, &socket)]
    }

    /// Nothing of ours is left: no record, no pin, no name in the kernel.
    pub(crate) fn assert_clean(&self, names: &[String]) {
        assert!(self.host().attachments().expect("status").is_empty());
        let left = |directory: PathBuf| -> Vec<String> {
            fs::read_dir(directory)
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .filter(|name| name != "lock")
                .collect()
        };
        assert_eq!(left(self.pins()), [""; 0]);
        assert_eq!(left(self.records()), [""; 0]);
        let available = available();
        assert!(names.iter().all(|name| !available.contains(name)), "{names:?} in {available:?}");
    }

    /// This test's executable again, doing one thing in this place: see `child` in `main.rs`.
    pub(crate) fn child(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env::current_exe().expect("its own path"));
        command.args(["--exact", "child", "--nocapture", "--test-threads=1"]);
        command.env("RAMP_CHILD", words.join(" ")).env("RAMP_PLACE", &self.root);
        command.env("RAMP_NETNS", self.netns());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for netns in [self.netns(), self.peer()] {
            let _ = Command::new("ip").args(["netns", "del", &netns]).output();
        }
        let _ = Command::new("umount").arg(self.root.join("bpf")).output();
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// A control group of one's own, below the mount of version 2.
pub(crate) struct Cgroup {
    pub(crate) path: PathBuf,
}

impl Cgroup {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
        let root = mounts
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>())
            .find(|words| words[2] == "cgroup2")
            .map(|words| PathBuf::from(words[1]))
            .expect("control groups of version 2 are mounted");
        let name = format!("rampa-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = root.join(name);
        fs::create_dir(&path).expect("a control group");
        Self { path }
    }

    /// One within another, which must outlive it.
    pub(crate) fn below(outer: &Self) -> Self {
        let path = outer.path.join("inner");
        fs::create_dir(&path).expect("a control group");
        Self { path }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

/// Waits for a child, and gives out what it said if it did not end as it should.
pub(crate) fn finish(child: Child) -> (ExitStatus, String) {
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the child");
    (status, format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)))
}

pub(crate) fn available() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("the sysctl");
    text.split_whitespace().map(str::to_owned).collect()
}

pub(crate) fn run(line: &str) {
    output(line);
}

pub(crate) fn output(line: &str) -> String {
    let mut words = line.split_whitespace();
    let program = words.next().expect("a program");
    let output = Command::new(program).args(words).output().expect(program);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn within<T: Send>(netns: &str, work: impl FnOnce() -> T + Send) -> T {
    within_handle(&format!("/run/netns/{netns}"), work)
}

pub(crate) fn within_process<T: Send>(process: u32, work: impl FnOnce() -> T + Send) -> T {
    within_handle(&format!("/proc/{process}/ns/net"), work)
}

fn within_handle<T: Send>(path: &str, work: impl FnOnce() -> T + Send) -> T {
    let handle = File::open(path).expect("the namespace");
    thread::scope(|scope| {
        scope
            .spawn(|| {
                setns(handle, CloneFlags::CLONE_NEWNET).expect("setns");
                work()
            })
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

pub(crate) fn listening(address: Ipv4Addr) -> (Socket, SocketAddr) {
    let socket = socket();
    socket.bind(&SocketAddr::V4(SocketAddrV4::new(address, 0)).into()).expect("bind");
    socket.listen(16).expect("listen");
    let to = socket.local_addr().expect("an address").as_socket().expect("of IP");
    (socket, to)
}

pub(crate) fn connected(to: SocketAddr) -> Socket {
    let socket = socket();
    socket.connect(&to.into()).expect("connect");
    socket
}

/// By an application that chooses its congestion control.
pub(crate) fn connected_by(to: SocketAddr, control: &str) -> Socket {
    let socket = socket();
    socket.set_tcp_congestion(control.as_bytes()).expect("TCP_CONGESTION");
    socket.connect(&to.into()).expect("connect");
    socket
}

/// Sends something to the client that it accepts; the congestion control that did it.
pub(crate) fn carry(socket: &Socket, listener: &Socket) -> String {
    let (accepted, _) = listener.accept().expect("accept");
    exchange(socket, &accepted)
}

pub(crate) fn exchange(mut from: &Socket, mut to: &Socket) -> String {
    let block = vec![7; 20_000];
    from.write_all(&block).expect("write");
    let mut arrived = vec![0; block.len()];
    to.set_read_timeout(Some(PATIENCE)).expect("SO_RCVTIMEO");
    to.read_exact(&mut arrived).expect("read");
    let name = from.tcp_congestion().expect("TCP_CONGESTION");
    String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned()
}

fn socket() -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("SO_RCVTIMEO");
    socket.set_write_timeout(Some(PATIENCE)).expect("SO_SNDTIMEO");
    socket
}
