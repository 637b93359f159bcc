//! What a decision can say of spacing, each form by itself: when the kernel's packets leave.

use std::io::{ErrorKind, Read, Write};

use rampcc::{Ack, Decision, Time};
use rampcc_emulator::{Connect, Download, Opener};
use rampcc_linux::{Loaded, Options, Record, load};

use crate::algorithms::{forms, object};
use crate::support::judged::{judged, require};
use crate::support::left_out::{complete, repeated};
use crate::support::path::Path;
use crate::support::ready_in_real_time;
use crate::{ack, all_events, replayed};

const MSS: u64 = 1448;
/// Fits into the receiver's first window.
const WINDOW: u64 = 40;
const PATH: &str = "rate = '100 Mbit/s'\nrtt = '50 ms'\nbuffer = '2 bdp'";
/// 1448 bytes in 724 us: 30 packets in 22 ms.
const RATE: u64 = 2_000_000;
const GAP_US: u64 = 724;

fn load_forms(said: &[(&str, u64)], tag: &str) -> Loaded {
    let (algorithm, parameters) = forms(said);
    let mut options = Options::new(algorithm);
    options.name = Some(format!("r{tag}_forms"));
    options.record = Record::All;
    options.parameters = parameters;
    options.object = Some(object(algorithm));
    load(algorithm, &options).unwrap_or_else(|error| panic!("{error}\n{}", error.log()))
}

/// Its ACKs and what was decided on them, once each decision was found to be the native core's.
fn acks(loaded: &Loaded) -> Vec<(Ack, Decision)> {
    let (events, _) = all_events(loaded, 1);
    replayed(&events);
    let acks: Vec<_> =
        events.iter().filter_map(ack).filter_map(|e| Some((*e.ack()?, e.call.after))).collect();
    complete(acks.len() >= 15, acks.len());
    acks
}

/// One window on a path of 50 ms: after how many packets in all each one known by its ACK left, and when, counted from
/// the first known; and when the first ACK came.
fn one_window(said: &[(&str, u64)], paced: bool, tag: &str) -> (Vec<(u64, Time)>, Time) {
    let loaded = load_forms(said, tag);
    let path = Path::new(PATH);
    let wanted = Connect {
        flow: 0,
        congestion_control: Some(loaded.name().to_owned()),
        opener: Opener::Receiver,
        paced,
        limit: Time::from_secs(10),
    };
    let connection = path.running().connect(&wanted).expect("it connects");
    let data = vec![7; (WINDOW * MSS) as usize];
    (&connection.sender).write_all(&data).expect("the send buffer holds a window");
    let mut received = 0;
    let mut buffer = vec![0; 65_536];
    while received < data.len() {
        match connection.receiver.stream().and_then(|mut stream| stream.read(&mut buffer)) {
            Ok(bytes) => received += bytes,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
    }
    drop(connection);
    let acks = acks(&loaded);
    path.stop();
    let first_sent = acks[0].0.newest_sent_ns;
    let mut left: Vec<_> = acks
        .iter()
        .map(|(ack, _)| (ack.newest_acked_bytes / MSS, Time::from_ns(ack.newest_sent_ns - first_sent)))
        .collect();
    left.dedup_by_key(|&mut (packets, _)| packets); // the ACK of the FIN delivers no more of them
    assert!(left.last().is_some_and(|&(packets, _)| packets == WINDOW), "{left:?}");
    (left, Time::from_ns(acks[0].0.now_ns - first_sent))
}

/// The first `unspaced` leave together, and the others at the rate, the first ACK not awaited.
fn is_a_burst_and_a_paced_rest(said: &[(&str, u64)], unspaced: u64, tag: &str) -> Result<(), String> {
    let (left, first_ack) = one_window(said, false, tag);
    for &(packets, at) in &left {
        if packets < unspaced {
            require(at < Time::from_us(unspaced * GAP_US / 2), || {
                format!("packet {packets} at {at}: {left:?}")
            })?;
            continue;
        }
        let due = Time::from_us((packets - unspaced) * GAP_US);
        // Half a gap is forgiven to a packet that left late.
        let least = Time::from_ns(due.ns().saturating_sub(GAP_US * 1000));
        require(at >= least && at <= due + Time::from_ms(15), || {
            format!("packet {packets} at {at}, due at {due}: {left:?}")
        })?;
    }
    let (_, last) = left[left.len() - 1];
    require(last < first_ack, || {
        format!("the last left at {last}, the first ACK came at {first_ack}: {left:?}")
    })
}

#[test]
fn a_burst_is_followed_by_a_paced_rest_in_the_same_round() {
    let Some(()) = ready_in_real_time() else { return };
    let said = [("window", WINDOW), ("rate", RATE), ("burst", 20)];
    judged(|| repeated(|| is_a_burst_and_a_paced_rest(&said, 20, "b")));
}

#[test]
fn a_rate_from_the_first_packet_on_waits_for_no_ack() {
    let Some(()) = ready_in_real_time() else { return };
    let said = [("window", WINDOW), ("rate", RATE)];
    judged(|| repeated(|| is_a_burst_and_a_paced_rest(&said, 10, "n")));
}

#[test]
fn several_leave_at_once_and_the_rate_stays() {
    let Some(()) = ready_in_real_time() else { return };
    judged(|| {
        repeated(|| {
            let said = [("window", WINDOW), ("rate", RATE), ("together", 5)];
            let (left, first_ack) = one_window(&said, false, "s");
            let (_, last) = left[left.len() - 1];
            // The first ten are never spaced, and five leave with each gap after.
            let least = Time::from_us(25 * GAP_US);
            require(last >= least && last < first_ack, || format!("{last}, at least {least}: {left:?}"))?;
            let mut times: Vec<_> = left.iter().map(|&(_, at)| at).collect();
            times.dedup_by(|later, earlier| *later - *earlier < Time::from_us(GAP_US));
            require(times.len() <= 9, || format!("eight times five: {left:?}"))
        })
    });
}

#[test]
fn back_to_back_holds_on_a_host_that_paces_by_itself() {
    let Some(()) = ready_in_real_time() else { return };
    // As the host likes: twice the window per round trip, from the eleventh packet on.
    let own = Time::from_us(30 * 50_000 / (2 * WINDOW));
    judged(|| {
        repeated(|| {
            let (left, _) = one_window(&[("window", WINDOW)], true, "h");
            let (_, last) = left[left.len() - 1];
            require(last > Time::from_ns(own.ns() / 2), || format!("{last}, not {own}: {left:?}"))?;
            let (left, _) = one_window(&[("window", WINDOW), ("rate", 1)], true, "o");
            let (_, last) = left[left.len() - 1];
            require(last < Time::from_ns(own.ns() / 4), || format!("{last}: {left:?}"))
        })
    });
}

/// At half of cwnd / RTT half of the window is in flight.
#[test]
fn a_share_of_the_window_spaces_packets_in_and_after_start_up() {
    let Some(()) = ready_in_real_time() else { return };
    judged(|| {
        repeated(|| {
            let loaded = load_forms(&[("window", 300), ("percent", 50), ("leave", 700)], "p");
            let path = Path::new(PATH);
            let mut samples = Vec::new();
            let download = Download {
                size_bytes: 3_500_000,
                congestion_control: Some(loaded.name().to_owned()),
                opener: Opener::Receiver,
                ..Download::default()
            };
            path.running().download(&download, |sample| samples.push(*sample)).expect("it arrives");
            let acks = acks(&loaded);
            path.stop();
            let exit = acks[acks.len() - 1].1;
            complete(exit.phase() == rampcc::Phase::Done, exit);
            require(exit.pacing_percent == 50, || format!("{exit:?}"))?;
            // Before the exit at 1 MB, and after it; the receiver's window has opened by the first.
            for span in [600_000..1_000_000, 1_400_000..3_000_000] {
                let mut shares: Vec<_> = samples
                    .iter()
                    .filter(|s| span.contains(&s.sent_bytes))
                    .map(|s| s.in_flight_bytes * 100 / s.cwnd_bytes)
                    .collect();
                shares.sort_unstable();
                require(!shares.is_empty(), || format!("no look within {span:?}"))?;
                let middle = shares[shares.len() / 2];
                eprintln!("{span:?}: {middle} % of the window in flight, {} samples", shares.len());
                require((40..=60).contains(&middle), || format!("{span:?}: {shares:?}"))?;
            }
            Ok(())
        })
    });
}
