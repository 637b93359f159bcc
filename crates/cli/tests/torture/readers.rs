//! Clients that ask for much and read nothing, or a little now and then: what they cost is theirs to decide, up to a bound.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use socket2::SockRef;

use crate::bench::{Bench, finish, shell, text};
use crate::tally::Tally;

const HERE: Ipv4Addr = Ipv4Addr::new(10, 79, 1, 1);
/// Some that pace, whose buffers are large at first, and some that do not.
const ALGORITHMS: [&str; 4] = ["best", "paced", "reach", "suss"];
/// A client must cost more so many times before it counts. On a busy machine Linux 6.18 was seen, in one of a hundred
/// measurements, to handle an ACK of some connections without calling any program of their congestion control; the send buffer
/// then went to its largest size, apparently by memory that was not returned.
const TRIES: usize = 3;
const TOGETHER: usize = 24;
/// More than any buffer holds.
const BYTES: usize = 32 << 20;
/// A server that could write nothing for so long waits for its client.
const STUCK: Duration = Duration::from_millis(300);
/// Kernel memory of a client that never reads, in that of the same client under the kernel's CUBIC.
const TIMES: u64 = 2;

#[derive(Clone, Copy)]
enum Reads {
    Nothing,
    /// A few packets, ten times a second.
    Slowly,
}

pub(crate) fn readers(bench: &Bench, tally: &mut Tally) {
    let plain = match measured(bench, Some("cubic"), Reads::Nothing) {
        Ok(bytes) => bytes,
        Err(error) => return tally.tried("cubic", Err(error)),
    };
    tally.most("bytes each, CUBIC", plain);
    while tally.goes_on() {
        for algorithm in ALGORITHMS {
            if tally.enough() {
                return;
            }
            let outcome = read_from(bench, algorithm, plain, tally);
            tally.tried(algorithm, outcome);
        }
    }
}

fn read_from(bench: &Bench, algorithm: &str, plain: u64, tally: &mut Tally) -> Result<(), String> {
    let output = finish(bench.attach(algorithm, &bench.scopes()[0]).spawn().expect("nsenter"), &["attach"])?;
    if !output.status.success() {
        return Err(format!("attach: {}", text(&output.stderr)));
    }
    let mut unread = u64::MAX;
    for _ in 0..TRIES {
        unread = measured(bench, None, Reads::Nothing)?;
        tally.most("bytes each, at most", unread);
        if unread <= TIMES * plain {
            break;
        }
        tally.count("measured again", 1);
    }
    let slowly = measured(bench, None, Reads::Slowly)?;
    tally.most("bytes each of those that read slowly", slowly);
    tally.count("clients", 2 * TOGETHER as u64);
    bench.restored()?;
    if unread > TIMES * plain {
        return Err(format!("a client that never reads costs {unread} bytes, with CUBIC {plain}"));
    }
    Ok(())
}

/// Bytes of kernel memory of each connection, at the server, once all of them are stuck; with this congestion control of the
/// server's own, or the one that is attached.
fn measured(bench: &Bench, own: Option<&str>, reads: Reads) -> Result<u64, String> {
    let listener = bench.within("", || TcpListener::bind((HERE, 0))).map_err(|error| error.to_string())?;
    if let Some(own) = own {
        SockRef::from(&listener).set_tcp_congestion(own.as_bytes()).map_err(|error| error.to_string())?;
    }
    let to = listener.local_addr().expect("an address");
    let over = AtomicBool::new(false);
    let clients = bench
        .within("p", || (0..TOGETHER).map(|_| TcpStream::connect(to)).collect::<Result<Vec<_>, _>>())
        .map_err(|error| format!("a client: {error}"))?;
    let servers: Vec<_> = (0..TOGETHER).map(|_| listener.accept().expect("accept").0).collect();
    thread::scope(|scope| {
        if let Reads::Slowly = reads {
            for client in &clients {
                scope.spawn(|| sip(client, &over));
            }
        }
        let writers: Vec<_> = servers.iter().map(|server| scope.spawn(|| fill(server))).collect();
        for writer in writers {
            writer.join().expect("a server");
        }
        let shown = shell(&format!("ip netns exec {} ss -tmnHO src {to}", bench.netns));
        // While they are stuck, others are not.
        let connects = bench.connects();
        over.store(true, Ordering::Relaxed);
        for end in clients.iter().chain(&servers) {
            let _ = end.shutdown(Shutdown::Both);
        }
        connects?;
        let all: Vec<u64> = shown.lines().filter_map(memory).collect();
        if all.len() != TOGETHER {
            return Err(format!("{} connections of {TOGETHER} are shown: {shown}", all.len()));
        }
        Ok(all.iter().sum::<u64>() / TOGETHER as u64)
    })
}

/// Writes until the reader is gone.
fn fill(mut server: &TcpStream) {
    server.set_write_timeout(Some(STUCK)).expect("SO_SNDTIMEO");
    let (block, mut sent) = ([7; 16 << 10], 0);
    while sent < BYTES {
        match server.write(&block) {
            Ok(count) => sent += count,
            Err(_) => return,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "reading slowly is what it is for")]
fn sip(mut client: &TcpStream, over: &AtomicBool) {
    let mut sip = [0; 4 << 10];
    client.set_read_timeout(Some(STUCK)).expect("SO_RCVTIMEO");
    while !over.load(Ordering::Relaxed) {
        let _ = client.read(&mut sip);
        thread::sleep(Duration::from_millis(100));
    }
}

/// Of `skmem:(r0,rb131072,t0,tb87040,f4096,w49152,...)`: received, set aside, and waiting to be sent or acknowledged.
fn memory(line: &str) -> Option<u64> {
    let fields = line.split_once("skmem:(")?.1.split(')').next()?;
    let of = |name: char| {
        fields.split(',').find_map(|field| field.strip_prefix(name)?.parse::<u64>().ok()).unwrap_or_default()
    };
    Some(of('r') + of('f') + of('w'))
}
