//! What a host allows an algorithm, and what it counts of the ends that algorithms choose.

use rampcc::{Algorithm, Hint, algorithm};
use rampcc_linux::{Event, Guard, Loaded, Options, Record, load};

use crate::support::judged::{judged, require};
use crate::support::left_out::{complete, repeated};
use crate::support::path::Path;
use crate::support::{Bottleneck, Network, Open, ready, ready_in_real_time, small};
use crate::{DEEP, LOSSLESS, MEGABYTES, SHALLOW, ack, all_events};

const BYTES: u64 = 300_000;

fn row(id: &str) -> &'static Algorithm {
    algorithm(id).expect("a row")
}

fn guarded(id: &str, tag: &str, guard: Guard, change: impl FnOnce(&mut Options)) -> Loaded {
    let mut options = Options::new(row(id));
    options.name = Some(format!("rw{tag}_{id}"));
    options.record = Record::All;
    options.guard = guard;
    change(&mut options);
    load(row(id), &options).unwrap_or_else(|error| panic!("{id}: {error}\n{}", error.log()))
}

#[test]
fn short_round_trips_stay_with_cubic() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let network = Network::new(Bottleneck::None);
        for (least_rtt_us, steered) in [(60_000_000, 0), (1, 2)] {
            let guard = Guard { least_rtt_us, ..Guard::default() };
            let loaded = guarded("best", "a", guard, |_| {});
            for open in [Open::Active, Open::Passive] {
                assert_eq!(network.transfer(loaded.name(), open, BYTES), BYTES);
            }
            let (events, _) = all_events(&loaded, steered);
            let counters = loaded.counters().expect("counters");
            complete(counters.opened + counters.short_rtt >= 2, counters);
            assert_eq!((counters.opened, counters.short_rtt), (steered, 2 - steered), "{counters:?}");
            assert_eq!(events.is_empty(), steered == 0);
        }
    });
}

#[test]
fn the_window_stays_within_its_bound() {
    let Some(()) = ready() else { return };
    judged(|| {
        repeated(|| {
            let path = Path::new(DEEP);
            for bound in [0, 1] {
                let guard = Guard { window_bound: bound, ..Guard::default() };
                // With a hint of ten times what there is, it would open at once.
                let loaded =
                    guarded("ideal", "b", guard, |options| options.hint = Hint::path(960_000, 4_700_000));
                path.transfer(loaded.name(), Open::Passive, BYTES);
                let (events, counters) = all_events(&loaded, 1);
                complete(counters.opened >= 1, counters);
                let (beyond, acks) = beyond(&events);
                require(acks > 0 && (beyond == 0) == (bound == 1), || {
                    format!("{bound}: {beyond} of {acks} ACKs")
                })?;
                assert_eq!(counters.bounded, u64::from(bound), "{counters:?}");
            }
            path.stop();
            Ok(())
        })
    });
}

/// ACKs that met more in flight than the first window and the most in flight by then, and all ACKs.
fn beyond(events: &[Event]) -> (usize, usize) {
    let acks: Vec<_> = events.iter().filter_map(ack).filter_map(|call| call.ack()).collect();
    let mut flight = 0;
    let over = acks.iter().filter(|ack| {
        let most = 10 * u64::from(ack.mss_bytes) + flight;
        flight = flight.max(ack.in_flight_bytes);
        ack.in_flight_bytes > most
    });
    (over.count(), acks.len())
}

#[test]
fn ends_that_were_chosen_are_judged_by_what_came_of_them() {
    let Some(()) = ready_in_real_time() else { return };
    // With a hint of ten times what there is, `ideal` overflows the queue; with the true one it does not.
    for (text, bytes, late) in [(SHALLOW, 960_000, 1), (DEEP, 96_000, 0)] {
        judged(|| {
            repeated(|| {
                let path = Path::new(text);
                let loaded = guarded("ideal", "c", Guard::default(), |options| {
                    options.hint = Hint::path(bytes, 4_700_000);
                });
                path.transfer(loaded.name(), Open::Passive, MEGABYTES);
                let counters = all_events(&loaded, 1).1;
                complete(counters.closed >= 1, counters);
                path.stop();
                require((counters.too_late, counters.too_early) == (late, 0), || format!("{counters:?}"))
            })
        });
    }
    // A threshold of twelve packets where two hundred fit.
    judged(|| {
        repeated(|| {
            let path = Path::new(LOSSLESS);
            let loaded = guarded("slow_start", "d", Guard::default(), |options| {
                let parameters = &row("slow_start").parameters;
                let index =
                    parameters.iter().position(|p| p.name == "initial_ssthresh").expect("its parameter");
                options.parameters[index] = 12;
            });
            path.transfer(loaded.name(), Open::Passive, 4 * MEGABYTES);
            let counters = all_events(&loaded, 1).1;
            complete(counters.closed >= 1, counters);
            path.stop();
            require((counters.too_late, counters.too_early) == (0, 1), || format!("{counters:?}"))
        })
    });
}

/// Connections to a peer that reads nothing: what their send buffers hold once nothing more fits, and how large they are, bytes.
fn held_for_slow_readers(network: &Network, control: &str, count: usize) -> (u64, u64) {
    // As small as it gets: all that is sent stays with the sender.
    let narrow = |socket: &socket2::Socket| socket.set_recv_buffer_size(1).expect("SO_RCVBUF");
    let pairs: Vec<_> = (0..count).map(|_| network.pair_with(control, narrow)).collect();
    let mut taken = 0;
    for (sending, _) in &pairs {
        sending.set_nonblocking(true).expect("O_NONBLOCK");
    }
    // Until no connection takes anything for as long as an ACK may be delayed.
    let mut quiet = 0;
    while quiet < 20 {
        let before = taken;
        for (sending, _) in &pairs {
            while let Ok(sent) = sending.send(&[7; 1 << 14]) {
                taken += sent as u64;
            }
        }
        quiet = if taken == before { quiet + 1 } else { 0 };
        std::thread::park_timeout(std::time::Duration::from_millis(10));
    }
    let sizes = pairs.iter().map(|(sending, _)| sending.send_buffer_size().expect("SO_SNDBUF") as u64);
    (taken, sizes.sum())
}

#[test]
fn a_client_that_never_reads_costs_at_most_twice_what_it_costs_with_cubic() {
    let Some(()) = ready() else { return };
    let count = if small() { 20 } else { 200 };
    let network = Network::new(Bottleneck::None);
    let own = held_for_slow_readers(&network, "cubic", count);
    for id in ["reach", "paced", "jump"] {
        let loaded = guarded(id, "m", Guard::default(), |_| {});
        let held = held_for_slow_readers(&network, loaded.name(), count);
        assert!(held.0 <= 2 * own.0 && held.1 <= 2 * own.1, "{id}: {held:?} bytes, cubic {own:?}");
        assert!(loaded.counters().expect("counters").opened >= count as u64);
    }
}
