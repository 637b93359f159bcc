//! Paced Start's trains and what they find, on paths whose answer is known.

use rampcc::algorithm;
use rampcc_linux::{Event, FlowEvent, Options, Record, load};

use crate::support::judged::{judged, require};
use crate::support::left_out::{complete, repeated};
use crate::support::path::Path;
use crate::support::{Open, ready_in_real_time};
use crate::{all_events, exits};

const BYTES: u64 = 3_000_000;

fn exit_on(path: &str, tag: &str) -> FlowEvent {
    repeated(|| one_exit_on(path, tag))
}

fn one_exit_on(path: &str, tag: &str) -> FlowEvent {
    let paced = algorithm("paced").expect("a row");
    let mut options = Options::new(paced);
    options.name = Some(format!("r{tag}_paced"));
    options.record = Record::Flows;
    let loaded = load(paced, &options).expect("loads");
    let path = Path::new(path);
    path.transfer(loaded.name(), Open::Passive, BYTES);
    let (events, _): (Vec<Event>, _) = all_events(&loaded, 1);
    path.stop();
    let exits = exits(&events);
    complete(!exits.is_empty(), &events);
    *exits[0]
}

/// 7/8 of the path's bandwidth-delay product, within a fifth. A machine too busy to keep the gaps of one run gets
/// two more; a train that is not sent as it should be misses by a factor of two and more, every time.
#[test]
fn whole_trains_with_exact_gaps_find_the_path() {
    let Some(()) = ready_in_real_time() else { return };
    for (mbit, rtt_ms, tag) in [(40, 100, "x"), (100, 50, "y")] {
        let path = format!("rate = '{mbit} Mbit/s'\nrtt = '{rtt_ms} ms'\nbuffer = '1 bdp'");
        let expected = mbit * rtt_ms * 125 / 1500 * 7 / 8;
        judged(|| {
            let exit = exit_on(&path, tag);
            let found = (exit.decision.exit_reason(), exit.cwnd_packets);
            eprintln!("{mbit} Mbit/s, {rtt_ms} ms: {found:?}, expected {expected}");
            require((expected * 4 / 5..=expected * 6 / 5).contains(&exit.cwnd_packets), || {
                format!("{found:?}, expected {expected}")
            })
        });
    }
}

/// ACKs that come in bunches tell the bunches' gaps, not the path's. Without its checks Paced Start took them at
/// their word and opened the window to two hundred times the path.
#[test]
fn bunched_acks_do_not_open_the_window() {
    let Some(()) = ready_in_real_time() else { return };
    let path = "rate = '40 Mbit/s'\nrtt = '100 ms'\nbuffer = '1 bdp'\n[path.reverse]\n\
                jitter = { kind = 'grant', period = '40 ms' }";
    judged(|| {
        let exit = exit_on(path, "z");
        // 333 packets, and as many in the queue; those held back on the return way count as well.
        require(exit.cwnd_packets <= 1000, || format!("{exit:?}"))
    });
}

/// Linux defers packets of a large write while ACKs come in (`tcp_tso_should_defer`): of a window shown packet by
/// packet it let go no more than 255 at a time, `tcp_tso_win_divisor` of the emulator's hosts.
#[test]
fn a_paced_window_is_filled_while_acks_come_in() {
    let Some(()) = ready_in_real_time() else { return };
    let reach = algorithm("reach").expect("a row");
    judged(|| {
        let in_flight: u64 = repeated(|| {
            let mut options = Options::new(reach);
            options.name = Some("rfill_reach".into());
            options.record = Record::Flows;
            let loaded = load(reach, &options).expect("loads");
            let path = Path::new("rate = '100 Mbit/s'\nrtt = '150 ms'\nbuffer = '1 bdp'"); // 1250 packets
            path.transfer(loaded.name(), Open::Passive, 8_000_000);
            let (events, _): (Vec<Event>, _) = all_events(&loaded, 1);
            path.stop();
            let exits = exits(&events);
            complete(!exits.is_empty(), &events);
            (exits[0].sent_bytes - exits[0].acked_bytes) / u64::from(exits[0].mss_bytes)
        });
        require(in_flight >= 2 * 255, || format!("{in_flight} packets in flight at the exit"))
    });
}
