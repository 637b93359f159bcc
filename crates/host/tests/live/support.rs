//! A control group and a path of one's own, with a server that sends to clients.

use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{env, fs, process, thread};

use rampcc_emulator::{Emulator, End, Options, Running};
use rampcc_host::Host;
use rampcc_host::live::{Live, Snapshot};
use rampcc_scenario::Scenario;
use socket2::{Domain, Socket, Type};

#[path = "../../../linux/tests/support/judged.rs"]
pub(crate) mod judged;
#[path = "../../../linux/tests/support/left_out.rs"]
pub(crate) mod left_out;
#[path = "../../../linux/tests/support/ready.rs"]
mod ready;

pub(crate) use ready::ready;

const PORT: u16 = 5001;
/// Longer than any transfer here takes, so that a stall fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(30);

/// One at a time: they share the process's control group and the machine's processors.
static ALONE: Mutex<()> = Mutex::new(());

/// A control group that this process is in as long as this lives.
pub(crate) struct Cgroup {
    path: PathBuf,
    home: PathBuf,
    mounted: Option<PathBuf>,
    _alone: MutexGuard<'static, ()>,
}

impl Cgroup {
    pub(crate) fn enter() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let (root, mounted) = cgroup2();
        let own = fs::read_to_string("/proc/self/cgroup").expect("the kernel has control groups");
        let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default().to_owned();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = root.join(format!("ramp-test-{}-{number}", process::id()));
        fs::create_dir(&path).expect("a control group");
        fs::write(path.join("cgroup.procs"), process::id().to_string()).expect("moving into it");
        Self { path, home: root.join(own), mounted, _alone: alone }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::write(self.home.join("cgroup.procs"), process::id().to_string());
        let _ = fs::remove_dir(&self.path);
        if let Some(mount) = &self.mounted {
            let _ = process::Command::new("umount").arg(mount).status();
            let _ = fs::remove_dir(mount);
        }
    }
}

/// Where control groups of version 2 are mounted; mounted by us if nowhere.
fn cgroup2() -> (PathBuf, Option<PathBuf>) {
    let mounts = fs::read_to_string("/proc/mounts").expect("/proc is mounted");
    let mounted = mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let path = words.next()?;
        (words.next()? == "cgroup2").then(|| PathBuf::from(path))
    });
    if let Some(path) = mounted {
        return (path, None);
    }
    let path = env::temp_dir().join(format!("ramp-cgroup-{}", process::id()));
    fs::create_dir(&path).expect("a mount point");
    let status = process::Command::new("mount").args(["-t", "cgroup2", "none"]).arg(&path).status();
    assert!(status.is_ok_and(|status| status.success()), "mounting cgroup2");
    (path.clone(), Some(path))
}

/// A path with a server at its sending end.
pub(crate) struct Line {
    running: Running,
    server: IpAddr,
    client: IpAddr,
}

/// Who opens the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    Clients,
    Server,
}

/// Connections one after another in a few lanes at once, each carrying as much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) open: Open,
    pub(crate) connections: usize,
    pub(crate) lanes: usize,
    pub(crate) bytes: u64,
    /// What the sending application asks for.
    pub(crate) control: Option<&'static str>,
}

impl Line {
    /// `path` holds the fields of a scenario's table `path`.
    pub(crate) fn new(path: &str) -> Self {
        let text = format!("size = '1 MB'\n[path]\n{path}\n");
        let scenario = Scenario::parse("test", &text, None).expect("the text is a scenario");
        let running = Emulator::start(&scenario, 1, &Options::default()).expect("the emulator starts");
        let address = |end| running.hosts().iter().find(|h| h.end == end).expect("both have hosts").address;
        let (server, client) = (address(End::Sender), address(End::Receiver));
        Self { running, server, client }
    }

    pub(crate) fn run(&self, load: Load) {
        self.run_while(load, || true);
    }

    /// Stops opening connections once `wanted` says no; returns how many there were.
    pub(crate) fn run_while(&self, load: Load, wanted: impl Fn() -> bool + Sync) -> usize {
        let (active, passive) = match load.open {
            Open::Clients => (End::Receiver, End::Sender),
            Open::Server => (End::Sender, End::Receiver),
        };
        let there = if passive == End::Sender { self.server } else { self.client };
        let listener = self.at(passive, || {
            let control = if passive == End::Sender { load.control } else { None };
            let socket = socket(control);
            socket.bind(&SocketAddr::new(there, PORT).into()).expect("bind");
            socket.listen(1024).expect("listen");
            socket
        });
        let opened = AtomicUsize::new(0);
        thread::scope(|scope| {
            let clients: Vec<_> = (0..load.lanes)
                .map(|_| {
                    scope.spawn(|| {
                        while wanted() && opened.fetch_add(1, Ordering::Relaxed) < load.connections {
                            let stream = self.at(active, || {
                                let control = if active == End::Sender { load.control } else { None };
                                let socket = socket(control);
                                let to = SocketAddr::new(there, PORT);
                                socket.connect(&to.into()).expect("connect");
                                TcpStream::from(socket)
                            });
                            carry(stream, active, load.bytes);
                        }
                    })
                })
                .collect();
            let server = scope.spawn(|| {
                thread::scope(|scope| {
                    // One more connection, from no lane, says that it is over.
                    while let Ok((stream, from)) = listener.accept() {
                        if from.as_socket().is_some_and(|from| from.ip() == there) {
                            break;
                        }
                        let stream = TcpStream::from(stream);
                        set_patience(&stream);
                        scope.spawn(move || carry(stream, passive, load.bytes));
                    }
                });
            });
            for client in clients {
                client.join().expect("a client");
            }
            self.at(passive, || TcpStream::connect((there, PORT)).expect("a last connection"));
            server.join().expect("the server");
        });
        opened.load(Ordering::Relaxed).min(load.connections)
    }

    pub(crate) fn at<T: Send>(&self, end: End, work: impl FnOnce() -> T + Send) -> T {
        self.running.in_namespace(end, work).expect("the namespace is there")
    }
}

fn carry(mut stream: TcpStream, end: End, bytes: u64) {
    if end == End::Sender {
        let block = vec![7; 64 << 10];
        let mut left = bytes;
        while left > 0 {
            let take = block.len().min(left as usize);
            stream.write_all(&block[..take]).expect("write");
            left -= take as u64;
        }
        stream.shutdown(Shutdown::Write).expect("shutdown");
        // Until the other end has closed as well: only then is everything acknowledged.
        let mut rest = [0; 16];
        while stream.read(&mut rest).expect("read") > 0 {}
    } else {
        let mut block = vec![0; 64 << 10];
        let mut received = 0;
        loop {
            match stream.read(&mut block).expect("read") {
                0 => break,
                count => received += count as u64,
            }
        }
        assert_eq!(received, bytes);
    }
}

fn socket(control: Option<&str>) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("socket");
    socket.set_reuse_address(true).expect("SO_REUSEADDR");
    socket.set_read_timeout(Some(PATIENCE)).expect("SO_RCVTIMEO");
    socket.set_write_timeout(Some(PATIENCE)).expect("SO_SNDTIMEO");
    if let Some(control) = control {
        socket.set_tcp_congestion(control.as_bytes()).expect("TCP_CONGESTION");
    }
    socket
}

fn set_patience(stream: &TcpStream) {
    stream.set_read_timeout(Some(PATIENCE)).expect("SO_RCVTIMEO");
    stream.set_write_timeout(Some(PATIENCE)).expect("SO_SNDTIMEO");
}

/// A BPF file system of one's own, and a directory of records next to it.
pub(crate) struct BpfFileSystem {
    directory: PathBuf,
}

impl BpfFileSystem {
    pub(crate) fn new() -> Self {
        let directory = env::temp_dir().join(format!("ramp-live-{}", process::id()));
        fs::create_dir_all(directory.join("bpf")).expect("a mount point");
        let mounted =
            process::Command::new("mount").args(["-t", "bpf", "bpf"]).arg(directory.join("bpf")).status();
        assert!(mounted.is_ok_and(|status| status.success()), "mounting a BPF file system");
        Self { directory }
    }

    pub(crate) fn host(&self) -> Host {
        Host::at(self.directory.join("bpf/ramp"), self.directory.join("records"))
    }
}

impl Drop for BpfFileSystem {
    fn drop(&mut self) {
        let _ = process::Command::new("umount").arg(self.directory.join("bpf")).status();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Looks until the traffic is over, and once more.
pub(crate) fn snapshots(live: Live, line: &Line, load: Load) -> Vec<Snapshot> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let (mut live, mut seen) = (live, Vec::new());
            loop {
                let last = over.load(Ordering::Acquire);
                seen.push(live.look().unwrap_or_else(|error| panic!("{error}")));
                if last {
                    return seen;
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        line.run(load);
        over.store(true, Ordering::Release);
        watching.join().expect("the watcher")
    })
}
