//! draft-ietf-ccwg-ratelimited-increase: a sender that does not use its window does not widen it beyond what one window
//! of the most that was in flight would have.

use rampcc::{Ack, AckFlags, Config, Startup, algorithms};

use super::support::used::{Bound, bound};
use super::support::{MSS, config};

const RTT_NS: u64 = 50_000_000;
const PACKETS: u64 = 4;

/// The windows after each of so many writes of four packets, a round trip apart, all of them acknowledged.
fn windows(startup: &mut Startup, writes: u64) -> Vec<u64> {
    let mss = u64::from(MSS);
    let mut windows = Vec::new();
    for write in 0..writes {
        let sent_ns = 1_000_000_000 + write * 2 * RTT_NS;
        for packet in 1..=PACKETS {
            let acked = write * PACKETS + packet;
            let last = packet == PACKETS;
            startup.on_ack(&Ack {
                now_ns: sent_ns + RTT_NS + packet * 100_000,
                newest_sent_ns: sent_ns,
                sent_bytes: (write + 1) * PACKETS * mss,
                newest_acked_bytes: acked * mss,
                delivered_bytes: acked * mss,
                acked_bytes: mss,
                in_flight_bytes: (PACKETS - packet + 1) * mss,
                delivery_bytes_per_s: PACKETS * mss * 20,
                rtt_us: 50_000 + packet as u32 * 100,
                flags: if last { AckFlags::APP_LIMITED | AckFlags::RATE_APP_LIMITED } else { 0 },
                ..super::support::ack(1)
            });
        }
        windows.push(startup.decision().cwnd_bytes / mss);
    }
    windows
}

/// limit(maxFS) is 2 x maxFS in slow start, and maxFS the initial window at least. Rows that are held to what is in flight stay
/// within that, too. A row that opens the window to an estimate at once opens it beyond that, and then no further.
#[test]
fn no_row_widens_a_window_that_is_not_used() {
    for algorithm in algorithms() {
        let config = Config { handshake_rtt_us: 50_000, ..config(algorithm, 10) };
        let mut startup = Startup::new(algorithm, &config);
        let first = (startup.decision().cwnd_bytes / u64::from(MSS)).max(10);
        let windows = windows(&mut startup, 200);
        let estimates = ["reach", "swiftstart"].contains(&algorithm.id);
        let early = windows[..4].iter().copied().max().expect("four writes");
        let allowed = match bound(algorithm.id).0 {
            Bound::Flights(tenths) => first.max(tenths * PACKETS / 10),
            Bound::Acknowledged(_) => 2 * first,
        };
        assert!(estimates || early <= allowed, "{}: {early}", algorithm.id);
        assert!(windows[4..].iter().all(|window| *window <= early), "{}: {windows:?}", algorithm.id);
    }
}
