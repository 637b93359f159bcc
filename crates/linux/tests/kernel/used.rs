//! A window that the application or the receiver keeps from being filled does not run away: every row, in bounds of what
//! it had in flight.

use std::io::{ErrorKind, Read, Write};
use std::thread;

use rampcc::{AckFlags, Algorithm, Phase, Time, Traits, algorithm};
use rampcc_emulator::{Connect, Opener};
use rampcc_linux::{CallEvent, Event, Loaded, Options, Record, load};
use rampcc_trace::Told;

use crate::beyond::{Bound, bound};
use crate::support::judged::{judged, require};
use crate::support::left_out::{complete, repeated};
use crate::support::path::Path;
use crate::support::{Open, ready, ready_in_real_time, small};
use crate::{ack, all_events, carried, half, put_in};

/// Room for all of them at once, and RTTs that jitter: no flight proves a rate.
const JITTERED: &str = "rate = '100 Mbit/s'\nrtt = '50 ms'\nbuffer = 'unlimited'\n\
                        jitter = { kind = 'uniform', max = '20 ms' }";
/// The receiver's window is a fifth of what the path holds.
const SMALL_WINDOW: &str =
    "rate = '200 Mbit/s'\nrtt = '60 ms'\nbuffer = '4 bdp'\n[receiver]\nwindow = '300 kB'";
const CHUNK: usize = 30_000;
/// Bytes that each path holds.
const BDP: [u64; 2] = [625_000, 1_500_000];
/// Rows that open the window to what they take the path to hold, and how many times that they may be wrong: Swift Start
/// believes four packets, whatever moved them.
const ESTIMATING: [(&str, u64); 4] = [("paced", 4), ("swiftstart", 40), ("reach", 4), ("ideal", 4)];

/// A window that was full when its round began may quadruple.
const QUADRUPLES: (&str, u64) = ("suss", 4);

/// Rows that pace, and one that does not, for the path of this number; in an emulated machine half of them: the machine
/// with the other kernel has the others.
fn rows(path: usize) -> Vec<&'static Algorithm> {
    let rows = carried().filter(|row| row.traits.has(Traits::PACES) || row.id == "slow_start").enumerate();
    let taken = rows.filter(|(row, _)| !small() || (row + path) % 2 == half());
    taken.map(|(_, row)| row).collect()
}

#[test]
fn an_application_that_writes_little_at_a_time_opens_no_large_window() {
    let Some(()) = ready() else { return };
    judged(|| {
        repeated(|| {
            let path = Path::new(JITTERED);
            let loaded: Vec<_> = rows(0).into_iter().map(|row| put_in(row, "u", Record::All)).collect();
            let chunks = if small() { 10 } else { 40 };
            thread::scope(|scope| {
                for loaded in &loaded {
                    scope.spawn(|| write_in_turns(&path, loaded.name(), chunks));
                }
            });
            let found = loaded.iter().try_for_each(|loaded| within(loaded, BDP[0]));
            path.stop();
            found
        })
    });
}

#[test]
fn a_small_receive_window_opens_no_large_window() {
    let Some(()) = ready() else { return };
    judged(|| {
        repeated(|| {
            let path = Path::new(SMALL_WINDOW);
            let bytes = if small() { 600_000 } else { 2_400_000 };
            let found = rows(1).into_iter().try_for_each(|row| {
                let loaded = put_in(row, "r", Record::All);
                path.transfer(loaded.name(), Open::Passive, bytes);
                within(&loaded, BDP[1])
            });
            path.stop();
            found
        })
    });
}

/// A megabyte in all, and never more than a chunk at a time.
#[test]
fn the_hosts_own_bound_counts_what_was_in_flight_and_not_all_that_was_acknowledged() {
    // An emulated machine's few chunks are no more than the receiver takes at first.
    let Some(()) = ready_in_real_time() else { return };
    repeated(|| {
        let path = Path::new(JITTERED);
        let jump = algorithm("jump").expect("a row");
        let mut options = Options::new(jump);
        options.name = Some("rbound_jump".into());
        options.record = Record::Flows;
        options.guard.window_bound = 1;
        let most = jump.parameters.iter().position(|p| p.name == "max_jump").expect("its parameter");
        options.parameters[most] = 1000;
        let loaded = load(jump, &options).expect("loads");
        write_in_turns(&path, loaded.name(), if small() { 10 } else { 40 });
        let (events, counters) = all_events(&loaded, 1);
        path.stop();
        let closed =
            events.iter().find_map(|event| if let Event::Close(flow) = event { Some(flow) } else { None });
        complete(closed.is_some(), counters);
        let window = closed.expect("just seen").cwnd_packets;
        // The first ten, and a chunk of 21.
        assert!((11..=10 + 21 + 1).contains(&window), "{window} packets");
        assert_eq!(counters.bounded, 1);
    });
}

/// The next chunk leaves when the receiver has had all of the last.
fn write_in_turns(path: &Path, control: &str, chunks: usize) {
    let connection = path
        .running()
        .connect(&Connect {
            flow: 0,
            congestion_control: Some(control.to_owned()),
            opener: Opener::Receiver,
            paced: false,
            limit: Time::from_secs(30),
        })
        .expect("a connection");
    let mut block = vec![7; CHUNK];
    for _ in 0..chunks {
        write(&connection.sender, &block);
        let receiver = connection.receiver.stream().expect("the receiver's socket");
        read(receiver, &mut block);
        write(receiver, &[1]);
        read(&connection.sender, &mut [0]);
    }
}

/// Calls of the emulator's sockets give up after a tenth of a second.
fn write(mut to: &std::net::TcpStream, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("write: {error}"),
        }
    }
}

fn read(mut from: &std::net::TcpStream, bytes: &mut [u8]) {
    let mut had = 0;
    while had < bytes.len() {
        match from.read(&mut bytes[had..]) {
            Ok(0) => panic!("closed after {had} bytes"),
            Ok(count) => had += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("read: {error}"),
        }
    }
}

/// The largest window of its start-up against the bound, and what its host called window-limited.
fn within(loaded: &Loaded, bdp: u64) -> Result<(), String> {
    let id = loaded.algorithm().id;
    let (events, _): (Vec<Event>, _) = all_events(loaded, 1);
    let acks: Vec<_> = events.iter().filter_map(ack).collect();
    complete(!acks.is_empty(), id);
    let mut largest = acks[0].call.before.cwnd_bytes;
    let (first, mut flight, mut unfilled, mut limited) = (largest, 0, 0, 0);
    for CallEvent { call, .. } in acks.iter().filter(|ack| ack.call.after.phase() != Phase::Done) {
        let Told::Ack(ack) = call.told else { continue };
        largest = largest.max(call.after.cwnd_bytes);
        flight = flight.max(ack.in_flight_bytes);
        if 2 * ack.in_flight_bytes < call.before.cwnd_bytes {
            unfilled += 1;
            limited += u32::from(ack.flags & AckFlags::CWND_LIMITED != 0);
        }
    }
    let estimating = ESTIMATING.iter().find(|(row, _)| *row == id);
    let allowed = match (estimating, bound(id).0) {
        (Some((_, wrong)), _) => wrong * bdp,
        _ if id == QUADRUPLES.0 => QUADRUPLES.1 * flight,
        (None, Bound::Flights(tenths)) => tenths * flight / 10,
        (None, Bound::Acknowledged(_)) => 3 * flight,
    };
    let found = format!("{id}: {largest} with {flight} in flight; {limited} of {unfilled} ACKs limited");
    eprintln!("{found}");
    require(largest <= allowed.max(first), || found.clone())?;
    // In the simulator a tenth of them, as long as the ACK that last filled the window counts. Few packets are growth alone.
    require(small() || unfilled < 50 || 2 * limited < unfilled, || found.clone())
}
