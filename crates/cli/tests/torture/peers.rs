//! Peers that do not keep to TCP: a raw socket that answers connections with what it likes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use socket2::{Domain, Protocol, Socket, Type};

use crate::bench::{Bench, finish, shell, text};
use crate::tally::Tally;

const HERE: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(10, 79, 1, 1)), IpAddr::V6(Ipv6Addr::new(0xfd00, 0x79, 0, 0, 0, 0, 0, 1))];
/// Addresses that are the peer's and for which its own kernel does not answer.
const LIAR: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(10, 79, 9, 9)), IpAddr::V6(Ipv6Addr::new(0xfd00, 0x79, 0, 0, 0, 0, 0, 9))];
const PORT: u16 = 7;
const ALGORITHMS: [&str; 5] = ["best", "hystart", "hystartpp", "paced", "enhanced"];
const TOGETHER: usize = 8;
/// What one connection tries to send, and for how long.
const BYTES: usize = 300_000;
const LIFE: Duration = Duration::from_millis(400);

const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;
const ECE: u8 = 64;

/// Ways of answering data.
const WAYS: u32 = 12;

pub(crate) fn peers(bench: &Bench, rng: &mut Pcg64Mcg, tally: &mut Tally) {
    let netns = &bench.netns;
    // The kernel's own answers from these addresses go nowhere; the raw sockets' are marked.
    let [four, six] = LIAR;
    shell(&format!(
        "ip -n {netns}p addr add {four}/32 dev lo
        ip -n {netns}p rule add pref 10 fwmark 1 table main
        ip -n {netns}p rule add pref 11 from {four} blackhole
        ip -n {netns} route add {four}/32 dev eth0
        ip -n {netns}p -6 addr add {six}/64 dev eth0 nodad
        ip -n {netns}p -6 rule add pref 10 fwmark 1 table main
        ip -n {netns}p -6 rule add pref 11 from {six} blackhole"
    ));
    let over = AtomicBool::new(false);
    let seeds: [u64; 2] = rng.random();
    thread::scope(|scope| {
        let over = &over;
        let liars = [0, 1].map(|family| {
            scope.spawn(move || bench.within("p", || Liar::new(family, seeds[family]).run(over)))
        });
        while tally.goes_on() {
            for algorithm in ALGORITHMS {
                let outcome = attacked(bench, algorithm, tally);
                tally.tried(algorithm, outcome);
            }
        }
        over.store(true, Ordering::Relaxed);
        let answered = liars.map(|liar| liar.join().expect("the peer"));
        tally.count("segments of the peers", answered[0]);
        tally.count("segments of the peers over IPv6", answered[1]);
    });
    shell(&format!("ip -n {netns} route del {four}/32 dev eth0"));
}

fn attacked(bench: &Bench, algorithm: &str, tally: &mut Tally) -> Result<(), String> {
    let output = finish(bench.attach(algorithm, &bench.scopes()[0]).spawn().expect("nsenter"), &["attach"])?;
    if !output.status.success() {
        return Err(format!("attach: {}", text(&output.stderr)));
    }
    let sent = bench.within("", || {
        thread::scope(|scope| {
            // They live in the namespace of the thread that starts them.
            let victims: Vec<_> =
                (0..TOGETHER).map(|number| (number % 2, scope.spawn(move || victim(number % 2)))).collect();
            let mut sent = [Vec::new(), Vec::new()];
            for (family, victim) in victims {
                sent[family].extend(victim.join().expect("a victim"));
            }
            sent
        })
    });
    let connected = sent.iter().map(|sent| sent.len() as u64).sum();
    tally.count("connections", connected);
    tally.count("kB taken from them", sent.iter().flatten().sum::<u64>() / 1000);
    if let Some(silent) = LIAR.into_iter().zip(&sent).find_map(|(liar, sent)| sent.is_empty().then_some(liar))
    {
        return Err(format!("the peer {silent} answers nobody"));
    }
    bench.connects()?;
    let status = bench.run(&["status", "--json"])?;
    let status: serde_json::Value =
        serde_json::from_slice(&status.stdout).map_err(|error| error.to_string())?;
    let opened = status[0]["counters"]["opened"].as_u64().unwrap_or_default();
    if opened < connected {
        return Err(format!("{opened} connections counted of {connected}"));
    }
    // `detach` knows these routes only as they are now.
    let detached = bench.run(&["detach"])?;
    if !detached.status.success() {
        return Err(format!("detach: {}", text(&detached.stderr)));
    }
    bench.connects()
}

/// How much it could send; `None`: it did not even connect.
fn victim(family: usize) -> Option<u64> {
    let to = SocketAddr::new(LIAR[family], PORT);
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None).expect("socket");
    socket.connect_timeout(&to.into(), Duration::from_secs(3)).ok()?;
    socket.set_linger(Some(Duration::ZERO)).expect("SO_LINGER");
    socket.set_write_timeout(Some(Duration::from_millis(50))).expect("SO_SNDTIMEO");
    let mut stream = TcpStream::from(socket);
    let (began, block, mut sent) = (Instant::now(), [7; 16 << 10], 0);
    while sent < BYTES && began.elapsed() < LIFE {
        match stream.write(&block) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            // Reset, which a liar may do.
            Err(_) => break,
        }
    }
    Some(sent as u64)
}

/// A TCP of its own.
struct Liar {
    /// Of [`LIAR`].
    family: usize,
    socket: Socket,
    rng: Pcg64Mcg,
    /// By the other end's port.
    connections: BTreeMap<u16, Connection>,
    sent: u64,
}

struct Connection {
    /// Of ours.
    next: u32,
    /// Of theirs.
    wanted: u32,
    way: u32,
    segments: u32,
}

struct Segment {
    port: u16,
    sequence: u32,
    flags: u8,
    bytes: u32,
}

impl Liar {
    fn new(family: usize, seed: u64) -> Self {
        let own = SocketAddr::new(LIAR[family], 0);
        let socket = Socket::new(Domain::for_address(own), Type::RAW, Some(Protocol::TCP));
        let socket = socket.expect("a raw socket");
        socket.bind(&own.into()).expect("its address");
        socket.set_mark(1).expect("SO_MARK");
        socket.set_read_timeout(Some(Duration::from_millis(20))).expect("SO_RCVTIMEO");
        Self { family, socket, rng: Pcg64Mcg::seed_from_u64(seed), connections: BTreeMap::new(), sent: 0 }
    }

    /// Answers until it is over; how many segments that took.
    fn run(mut self, over: &AtomicBool) -> u64 {
        let mut packet = vec![0; 1 << 16];
        while !over.load(Ordering::Relaxed) {
            let Ok(length) = (&self.socket).read(&mut packet) else { continue };
            if let Some(segment) = self.parse(&packet[..length]) {
                self.answer(&segment);
            }
        }
        self.sent
    }

    fn answer(&mut self, segment: &Segment) {
        let port = segment.port;
        if segment.flags & RST != 0 {
            self.connections.remove(&port);
            return;
        }
        if segment.flags & SYN != 0 {
            let connection = Connection {
                next: self.rng.random(),
                wanted: segment.sequence.wrapping_add(1),
                way: self.rng.random_range(0..WAYS),
                segments: 0,
            };
            let mss: u16 = [88, 536, 1400, 1460][self.rng.random_range(0..4)];
            let [high, low] = mss.to_be_bytes();
            let options = [2, 4, high, low, 4, 2, 1, 3, 3, self.rng.random_range(0..15), 1, 1];
            self.send(port, connection.next, connection.wanted, SYN | ACK, 65_535, &options);
            let next = connection.next.wrapping_add(1);
            self.connections.insert(port, Connection { next, ..connection });
            return;
        }
        let Some(mut connection) = self.connections.remove(&port) else { return };
        if segment.bytes > 0 {
            let before = connection.wanted;
            if segment.sequence == connection.wanted {
                connection.wanted = connection.wanted.wrapping_add(segment.bytes);
            }
            connection.segments += 1;
            self.lie(port, &connection, before, segment);
        }
        self.connections.insert(port, connection);
    }

    fn lie(&mut self, port: u16, connection: &Connection, before: u32, segment: &Segment) {
        let (next, wanted) = (connection.next, connection.wanted);
        let random: u32 = self.rng.random();
        match connection.way {
            // Honest, for comparison.
            0 => self.send(port, next, wanted, ACK, 65_535, &[]),
            // Byte by byte, nearly.
            1 => {
                for part in 1..=20 {
                    let ack = before.wrapping_add(wanted.wrapping_sub(before) / 20 * part);
                    self.send(port, next, ack, ACK, 65_535, &[]);
                }
                self.send(port, next, wanted, ACK, 65_535, &[]);
            }
            // Duplicates.
            2 => (0..6).for_each(|_| self.send(port, next, wanted, ACK, 65_535, &[])),
            // What has not arrived, and what has not been sent.
            3 => self.send(port, next, wanted.wrapping_add(random % 200_000), ACK, 65_535, &[]),
            // Selective acknowledgements of anything, upside down as well.
            4 => {
                let mut options = vec![1, 1, 5, 26];
                for _ in 0..6 {
                    let edge = wanted.wrapping_add(self.rng.random_range(0..300_000)).wrapping_sub(100_000);
                    options.extend(edge.to_be_bytes());
                }
                self.send(port, next, wanted, ACK, 65_535, &options);
            }
            // Windows that open and close.
            5 => self.send(port, next, wanted, ACK, [0, 1, 100, 65_535][random as usize % 4], &[]),
            // Congestion, always.
            6 => self.send(port, next, wanted, ACK | ECE, 65_535, &[]),
            // Acknowledgements of anything.
            7 => self.send(
                port,
                next,
                if random.is_multiple_of(4) { random } else { wanted },
                ACK,
                65_535,
                &[],
            ),
            // Every tenth only.
            8 if connection.segments.is_multiple_of(10) => self.send(port, next, wanted, ACK, 65_535, &[]),
            8 => {}
            // Options that are none.
            9 => {
                let options: Vec<u8> = (0..12).map(|_| self.rng.random()).collect();
                self.send(port, next, wanted, ACK, 65_535, &options);
            }
            // Any flags, any sequence number.
            10 => {
                let flags = if random.is_multiple_of(8) { random.to_be_bytes()[0] } else { ACK };
                self.send(
                    port,
                    if random.is_multiple_of(3) { random } else { next },
                    wanted,
                    flags,
                    65_535,
                    &[],
                );
            }
            // The first of all again and again, then everything at once.
            _ if connection.segments.is_multiple_of(30) => {
                self.send(port, next, segment.sequence.wrapping_add(segment.bytes), ACK, 65_535, &[]);
            }
            _ => self.send(port, next, before, ACK, 65_535, &[]),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "they are a segment's fields")]
    fn send(&mut self, port: u16, sequence: u32, ack: u32, flags: u8, window: u16, options: &[u8]) {
        let mut segment = Vec::with_capacity(60);
        segment.extend(PORT.to_be_bytes());
        segment.extend(port.to_be_bytes());
        segment.extend(sequence.to_be_bytes());
        segment.extend(ack.to_be_bytes());
        segment.extend([(((20 + options.len()) / 4) << 4) as u8, flags]);
        segment.extend(window.to_be_bytes());
        segment.extend([0; 4]);
        segment.extend(options);
        let sum = self.checksum(&segment);
        segment[16..18].copy_from_slice(&sum.to_be_bytes());
        // A full queue is none of its troubles.
        let _ = self.socket.send_to(&segment, &SocketAddr::new(HERE[self.family], 0).into());
        self.sent += 1;
    }

    /// Of RFC 9293, with the addresses. The sum takes the halves of IPv6's longer pseudo-header in the same order.
    fn checksum(&self, segment: &[u8]) -> u16 {
        let mut all = Vec::new();
        for address in [LIAR[self.family], HERE[self.family]] {
            match address {
                IpAddr::V4(address) => all.extend(address.octets()),
                IpAddr::V6(address) => all.extend(address.octets()),
            }
        }
        all.extend([0, 6]);
        all.extend((segment.len() as u16).to_be_bytes());
        all.extend(segment);
        let words =
            all.chunks(2).map(|pair| (u32::from(pair[0]) << 8) | u32::from(*pair.get(1).unwrap_or(&0)));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    /// A packet for us. Raw sockets of IPv4 show its header, those of IPv6 do not.
    fn parse(&self, packet: &[u8]) -> Option<Segment> {
        let header = if self.family == 0 { usize::from(packet.first()? & 15) * 4 } else { 0 };
        let tcp = packet.get(header..)?;
        if tcp.len() < 20 || tcp[2..4] != PORT.to_be_bytes() {
            return None;
        }
        let options = usize::from(tcp[12] >> 4) * 4;
        Some(Segment {
            port: u16::from_be_bytes([tcp[0], tcp[1]]),
            sequence: u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]),
            flags: tcp[13],
            bytes: tcp.len().saturating_sub(options) as u32,
        })
    }
}
