//! Networks of their own for the tests: sender, router and receiver joined by veth pairs, and the emulator's paths.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use std::{env, fs, io};

use nix::sched::{CloneFlags, setns};
use socket2::{Domain, SockAddr, Socket, Type};

pub(crate) mod judged;
pub(crate) mod left_out;
pub(crate) mod path;
pub(crate) mod ready;

pub(crate) use ready::ready;

const SENDER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 1, 1));
pub(crate) const RECEIVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 2, 1));
const SENDER_6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd77, 1, 0, 0, 0, 0, 0, 1));
const RECEIVER_6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd77, 2, 0, 0, 0, 0, 0, 1));
const PORT: u16 = 5001;
/// Longer than any transfer here takes, so that a stall fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why an emulated machine skips a test.
pub(crate) const EMULATED: &str = "an emulated machine is too slow for it";
/// What needs a compiler is not tested in an emulated machine.
pub(crate) const NO_COMPILER: &str = "an emulated machine has no compiler";

/// Whether to send little: in emulated machines.
#[expect(clippy::disallowed_methods, reason = "a machine is told through its environment")]
pub(crate) fn small() -> bool {
    env::var("RAMP_SMALL").is_ok()
}

/// As [`ready`], for a test that an emulated machine is too slow for.
#[allow(dead_code, reason = "the tests and the example use a part each")]
pub(crate) fn ready_in_real_time() -> Option<()> {
    ready().and_then(|()| ready::unobstructed(small().then_some(EMULATED)))
}

/// Who opens the connection on which the sender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    Active,
    Passive,
}

/// What lies between sender and receiver.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "the tests and the example use a part each")]
pub(crate) enum Bottleneck {
    None,
    /// 40 Mbit/s with a queue of this many bytes.
    Queue(u32),
    /// As fast as the processor, and a receive window that never overflows anything.
    Window,
}

/// A line of the output, at once, and not by a macro, whose words the test harness keeps for itself.
#[allow(dead_code, reason = "the tests and the example use a part each")]
pub(crate) fn say(line: &str) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

pub(crate) struct Network {
    prefix: String,
}

impl Network {
    pub(crate) fn new(bottleneck: Bottleneck) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let prefix = format!("ramp{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let network = Self { prefix };
        let [s, r, c] = ["s", "r", "c"].map(|role| network.namespace(role));
        for name in [&s, &r, &c] {
            run(&format!("ip netns add {name}"));
            run(&format!("ip -n {name} link set lo up"));
        }
        for (end, net) in [(&s, 1), (&c, 2)] {
            run(&format!("ip -n {end} link add eth0 type veth peer name eth{net} netns {r}"));
            run(&format!("ip -n {end} addr add 10.77.{net}.1/24 dev eth0"));
            run(&format!("ip -n {r} addr add 10.77.{net}.2/24 dev eth{net}"));
            run(&format!("ip -n {end} addr add fd77:{net}::1/64 dev eth0 nodad"));
            run(&format!("ip -n {r} addr add fd77:{net}::2/64 dev eth{net} nodad"));
            // One packet at a time, as on a wire.
            run(&format!("ip -n {end} link set eth0 gso_max_segs 1 up"));
            run(&format!("ip -n {r} link set eth{net} gso_max_segs 1 up"));
            run(&format!("ip -n {end} route add default via 10.77.{net}.2"));
            run(&format!("ip -n {end} -6 route add default via fd77:{net}::2"));
            // Packets received by two processors may overtake each other, which with round trips of
            // microseconds is a loss to the sender.
            for (name, device) in [(end, "eth0".to_owned()), (&r, format!("eth{net}"))] {
                let steering = format!("/sys/class/net/{device}/queues/rx-0/rps_cpus");
                run_in(name, &format!("echo 1 > {steering}"));
            }
            // The default congestion control would leave its pacing state behind.
            sysctl(end, "net.ipv4.tcp_congestion_control=reno");
            sysctl(end, "net.ipv4.tcp_no_metrics_save=1");
        }
        sysctl(&r, "net.ipv4.ip_forward=1");
        sysctl(&r, "net.ipv6.conf.all.forwarding=1");
        match bottleneck {
            Bottleneck::None => {}
            Bottleneck::Queue(bytes) => run(&format!(
                "tc -n {r} qdisc add dev eth2 root handle 1: tbf rate 40mbit burst 3100 limit {bytes}"
            )),
            Bottleneck::Window => {
                run(&format!("ip netns exec {c} sysctl -qw net.ipv4.tcp_rmem=4096\t131072\t400000"));
            }
        }
        network
    }

    /// Room for socket storage and the like (`net.core.optmem_max`), which old kernels have once for all.
    pub(crate) fn sender_memory<T>(&self, bytes: u32, work: impl FnOnce() -> T) -> T {
        let (own, global) = (self.namespace("s"), "/proc/sys/net/core/optmem_max");
        let file = self.within("s", || fs::metadata("/proc/sys/net/core/optmem_max").is_ok());
        if file {
            sysctl(&own, &format!("net.core.optmem_max={bytes}"));
            return work();
        }
        let before = fs::read_to_string(global).expect("optmem_max");
        fs::write(global, bytes.to_string()).expect("optmem_max");
        let result = work();
        fs::write(global, before).expect("optmem_max");
        result
    }

    /// Sends `bytes` under this congestion control; returns what arrived.
    pub(crate) fn transfer(&self, control: &str, open: Open, bytes: u64) -> u64 {
        self.transfer_with(control, open, bytes, |_, _| {})
    }

    /// `on_progress` sees the sending socket after every write, and how much has been written.
    pub(crate) fn transfer_with(
        &self,
        control: &str,
        open: Open,
        bytes: u64,
        on_progress: impl FnMut(&Socket, u64) + Send,
    ) -> u64 {
        self.transfer_between([SENDER, RECEIVER], control, open, bytes, on_progress)
    }

    /// The same over IPv6.
    pub(crate) fn transfer_6(&self, control: &str, open: Open, bytes: u64) -> u64 {
        self.transfer_between([SENDER_6, RECEIVER_6], control, open, bytes, |_, _| {})
    }

    /// To addresses of the receiver's host that [`Network::try_ip`] has given it.
    pub(crate) fn transfer_to(&self, control: &str, receiver: IpAddr, bytes: u64) -> u64 {
        self.transfer_between([SENDER_6, receiver], control, Open::Active, bytes, |_, _| {})
    }

    /// With an empty name the namespace or the route decides.
    fn transfer_between(
        &self,
        [sender, receiver]: [IpAddr; 2],
        control: &str,
        open: Open,
        bytes: u64,
        on_progress: impl FnMut(&Socket, u64) + Send,
    ) -> u64 {
        let sending_socket = || {
            let socket = socket(sender);
            if !control.is_empty() {
                socket.set_tcp_congestion(control.as_bytes()).expect("TCP_CONGESTION");
            }
            socket
        };
        match open {
            Open::Passive => {
                let listener = self.within("s", || listening(sending_socket(), sender));
                thread::scope(|scope| {
                    let sending = scope.spawn(|| send(accept(&listener), bytes, on_progress));
                    let socket = self.within("c", || connected(socket(sender), sender));
                    let received = receive(socket);
                    sending.join().expect("the sender");
                    received
                })
            }
            Open::Active => {
                let listener = self.within("c", || listening(socket(receiver), receiver));
                thread::scope(|scope| {
                    let receiving = scope.spawn(|| receive(accept(&listener)));
                    let socket = self.within("s", || connected(sending_socket(), receiver));
                    send(socket, bytes, on_progress);
                    receiving.join().expect("the receiver")
                })
            }
        }
    }

    /// A pair of connected sockets, the sender's and the receiver's; the sender opens.
    pub(crate) fn pair(&self, control: &str) -> (Socket, Socket) {
        self.pair_with(control, |_| {})
    }

    /// The same, with the receiver's socket as `receiving` leaves it.
    pub(crate) fn pair_with(
        &self,
        control: &str,
        receiving: impl FnOnce(&Socket) + Send,
    ) -> (Socket, Socket) {
        let listener = self.within("c", || {
            let socket = socket(RECEIVER);
            receiving(&socket);
            listening(socket, RECEIVER)
        });
        let sending = self.within("s", || {
            let socket = socket(RECEIVER);
            socket.set_tcp_congestion(control.as_bytes()).expect("TCP_CONGESTION");
            connected(socket, RECEIVER)
        });
        (sending, accept(&listener))
    }

    /// With TCP Fast Open: the opener's first bytes come with its SYN. Returns what the receiver got.
    pub(crate) fn fast_open(&self, control: &str, open: Open, bytes: u64) -> u64 {
        const MSG_FASTOPEN: i32 = 0x2000_0000;
        let sending_socket = || {
            let socket = socket(SENDER);
            socket.set_tcp_congestion(control.as_bytes()).expect("TCP_CONGESTION");
            socket
        };
        let opening = |socket: Socket, to| {
            let sent =
                socket.send_to_with_flags(&[7; 100], &address(to), MSG_FASTOPEN).expect("MSG_FASTOPEN");
            assert_eq!(sent, 100);
            socket
        };
        match open {
            Open::Active => {
                let listener = self.within("c", || listening(socket(RECEIVER), RECEIVER));
                let sending = self.within("s", || opening(sending_socket(), RECEIVER));
                thread::scope(|scope| {
                    let receiving = scope.spawn(|| receive(accept(&listener)));
                    send(sending, bytes - 100, |_, _| {});
                    receiving.join().expect("the receiver")
                })
            }
            Open::Passive => {
                let listener = self.within("s", || listening(sending_socket(), SENDER));
                let receiving = self.within("c", || opening(socket(SENDER), SENDER));
                thread::scope(|scope| {
                    scope.spawn(|| {
                        let mut socket = accept(&listener);
                        socket.read_exact(&mut [0; 100]).expect("the request");
                        send(socket, bytes, |_, _| {});
                    });
                    receive(receiving)
                })
            }
        }
    }

    /// This many connections open at once, each carrying `bytes`, then all closed.
    pub(crate) fn crowd(&self, control: &str, connections: usize, bytes: usize) -> u64 {
        let listener = self.within("c", || listening(socket(RECEIVER), RECEIVER));
        let mut pairs: Vec<_> = (0..connections)
            .map(|_| {
                let sending = self.within("s", || {
                    let socket = socket(RECEIVER);
                    socket.set_tcp_congestion(control.as_bytes()).expect("TCP_CONGESTION");
                    connected(socket, RECEIVER)
                });
                (sending, accept(&listener))
            })
            .collect();
        for (sending, _) in &mut pairs {
            sending.write_all(&vec![7; bytes]).expect("a small write fits the buffer");
        }
        pairs
            .into_iter()
            .map(|(sending, receiving)| {
                drop(sending);
                receive(receiving)
            })
            .sum()
    }

    /// Whether a socket of the sender may choose this congestion control.
    pub(crate) fn offers(&self, control: &str) -> bool {
        self.within("s", || socket(SENDER).set_tcp_congestion(control.as_bytes()).is_ok())
    }

    /// A count of the sender's or the receiver's namespace (`s`, `c`), e.g. `TcpExt` `SyncookiesRecv`.
    pub(crate) fn count(&self, role: &str, name: &str) -> u64 {
        self.within(role, || counted(name))
    }

    /// In the router (`r`) or at an end; whether it worked.
    pub(crate) fn try_ip(&self, program: &str, role: &str, line: &str) -> bool {
        let output = Command::new(program)
            .args(["-n", &self.namespace(role)])
            .args(line.split(' '))
            .output()
            .expect(program);
        output.status.success()
    }

    pub(crate) fn sysctl(&self, role: &str, setting: &str) {
        sysctl(&self.namespace(role), setting);
    }

    fn namespace(&self, role: &str) -> String {
        format!("{}-{role}", self.prefix)
    }

    /// On a thread of its own, which a namespace belongs to.
    pub(crate) fn within<T: Send>(&self, role: &str, work: impl FnOnce() -> T + Send) -> T {
        let path = format!("/run/netns/{}", self.namespace(role));
        thread::scope(|scope| {
            scope
                .spawn(|| {
                    setns(File::open(path).expect("the namespace"), CloneFlags::CLONE_NEWNET).expect("setns");
                    work()
                })
                .join()
                .expect("work in a namespace")
        })
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for role in ["s", "r", "c"] {
            let _ = Command::new("ip").args(["netns", "del", &self.namespace(role)]).output();
        }
    }
}

/// A count of the calling thread's namespace.
pub(crate) fn counted(name: &str) -> u64 {
    let table = fs::read_to_string("/proc/thread-self/net/netstat").expect("netstat");
    let lines: Vec<Vec<_>> = table.lines().map(|line| line.split(' ').collect()).collect();
    let rows = lines.chunks_exact(2).find_map(|rows| {
        let column = rows[0].iter().position(|column| *column == name)?;
        rows[1].get(column)
    });
    rows.unwrap_or_else(|| panic!("the kernel does not count {name}")).parse().expect("a number")
}

fn sysctl(namespace: &str, setting: &str) {
    run(&format!("ip netns exec {namespace} sysctl -qw {setting}"));
}

fn run_in(namespace: &str, script: &str) {
    let output =
        Command::new("ip").args(["netns", "exec", namespace, "sh", "-c", script]).output().expect("ip");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(crate) fn run(line: &str) {
    let mut words = line.split(' ');
    let program = words.next().expect("a program");
    let output = Command::new(program).args(words).output().expect(program);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

fn address(of: IpAddr) -> SockAddr {
    SocketAddr::new(of, PORT).into()
}

/// Of the address family of `peer`.
fn socket(peer: IpAddr) -> Socket {
    let domain = if peer.is_ipv6() { Domain::IPV6 } else { Domain::IPV4 };
    let socket = Socket::new(domain, Type::STREAM, None).expect("socket");
    socket.set_reuse_address(true).expect("SO_REUSEADDR");
    socket.set_read_timeout(Some(PATIENCE)).expect("SO_RCVTIMEO");
    socket.set_write_timeout(Some(PATIENCE)).expect("SO_SNDTIMEO");
    socket
}

fn listening(socket: Socket, at: IpAddr) -> Socket {
    let (_keep, never) = mpsc::channel::<()>();
    let mut waits = 0;
    while let Err(error) = socket.bind(&address(at)) {
        // Programs that other tests start hold copies of earlier listeners until they run.
        assert!(error.kind() == io::ErrorKind::AddrInUse && waits < 1000, "bind: {error}");
        let _ = never.recv_timeout(Duration::from_millis(10));
        waits += 1;
    }
    socket.listen(1024).expect("listen");
    socket
}

fn connected(socket: Socket, to: IpAddr) -> Socket {
    socket.connect(&address(to)).expect("connect");
    socket
}

fn accept(listener: &Socket) -> Socket {
    let (socket, _) = listener.accept().expect("accept");
    socket.set_read_timeout(Some(PATIENCE)).expect("SO_RCVTIMEO");
    socket.set_write_timeout(Some(PATIENCE)).expect("SO_SNDTIMEO");
    socket
}

pub(crate) fn send(mut socket: Socket, bytes: u64, mut on_progress: impl FnMut(&Socket, u64)) {
    let block = vec![7; 64 << 10];
    let mut sent = 0;
    while sent < bytes {
        let take = block.len().min((bytes - sent) as usize);
        let wrote = socket.write(&block[..take]).expect("write");
        sent += wrote as u64;
        on_progress(&socket, sent);
    }
}

pub(crate) fn receive(mut socket: Socket) -> u64 {
    let mut block = vec![0; 64 << 10];
    let mut received = 0;
    loop {
        match socket.read(&mut block) {
            Ok(0) => return received,
            Ok(count) => received += count as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => panic!("after {received} bytes: {error}"),
        }
    }
}
