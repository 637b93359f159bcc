//! What a real stack does in the middle of start-up: new keys, a client that moves, early data that a server rejects. Every row that
//! noq carries meets it, over TLS in virtual time, and its controller stays sane.

mod pair;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pair::{Identity, Pair, Sends};
use rampcc::{Algorithm, ExitReason, Phase, Time, algorithms};
use rampcc_quic::noq::Factory;
use rampcc_quic::{Connection, Observer, Rules};

const MTU: u64 = 1472;
const BYTES: u64 = 2_000_000;
/// Path and queue hold 200 kB; no start-up needs twenty times that.
const WINDOW_MAX: u64 = 4_000_000;

fn rows() -> impl Iterator<Item = &'static Algorithm> {
    algorithms().iter().filter(|row| Rules::unmet(row, true).is_none())
}

/// Holds a controller to what must always be so, and keeps how it left start-up.
#[derive(Debug, Default)]
struct Watch(Mutex<Seen>);

#[derive(Clone, Debug, Default)]
struct Seen {
    changes: u64,
    exits: Vec<(ExitReason, u64)>,
    started: bool,
    wrong: Option<String>,
}

impl Observer for Watch {
    fn on_change(&self, now: Time, connection: &Connection) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.changes += 1;
        seen.started |= connection.phase() == Phase::Startup;
        let exit = connection.exit().map(|exit| (exit.reason, exit.window_bytes));
        if let Some(exit) = exit.filter(|exit| seen.exits.last() != Some(exit)) {
            seen.exits.push(exit);
        }
        let window = connection.window_bytes();
        let (sent, delivered, lost) =
            (connection.sent_bytes(), connection.delivered_bytes(), connection.lost_bytes());
        let rate = connection.pacing_bytes_per_s().unwrap_or(1);
        let sane = (MTU..=WINDOW_MAX).contains(&window)
            && delivered <= sent
            && lost <= sent
            && connection.in_flight_bytes() <= WINDOW_MAX
            && rate > 0;
        if !sane && seen.wrong.is_none() {
            let in_flight = connection.in_flight_bytes();
            seen.wrong = Some(format!(
                "{now}: window {window}, in flight {in_flight}, sent {sent}, delivered {delivered}, lost {lost}, pace {rate}"
            ));
        }
    }
}

impl Watch {
    /// What was seen, where nothing was wrong.
    fn seen(&self, row: &str) -> Seen {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        assert_eq!(seen.wrong, None, "{row}");
        assert!(seen.changes > 100 && seen.started, "{row}: {seen:?}");
        seen
    }
}

fn factory(row: &'static Algorithm) -> (Arc<Factory>, Arc<Watch>) {
    let watch = Arc::new(Watch::default());
    let factory = Factory::new(Rules::of(row)).expect("noq meets its needs");
    (Arc::new(factory.observed(watch.clone())), watch)
}

fn download(row: &'static Algorithm, each: impl FnMut(&mut Pair)) -> (Seen, Duration) {
    let identity = Identity::new();
    let (factory, watch) = factory(row);
    let mut pair = Pair::new(&factory, &identity.client, &identity.server(), Sends::Server, BYTES);
    let began = pair.now;
    pair.run(each);
    assert_eq!(pair.received, BYTES, "{}", row.id);
    (watch.seen(row.id), pair.now - began)
}

/// Keys have no say in what leaves when: a start-up with six updates is the same but for the few bytes by which handshakes differ.
#[test]
fn new_keys_change_nothing() {
    for row in rows() {
        let plain = download(row, |_| {});
        let mut updates = 0;
        let mut next = None;
        let updated = download(row, |pair| {
            let now = pair.now;
            if updates < 6 && now >= *next.get_or_insert(now + Duration::from_millis(100)) {
                next = Some(now + Duration::from_millis(60));
                updates += 1;
                pair.client().force_key_update();
            }
        });
        assert_eq!(updates, 6, "{}", row.id);
        assert_eq!(updated.0.exits, plain.0.exits, "{}", row.id);
        let apart = updated.1.abs_diff(plain.1);
        assert!(apart < Duration::from_micros(100), "{}: {apart:?} apart", row.id);
    }
}

/// At another port the path is most likely the same, at another address it is a new one: what was on the way to where the client
/// was is lost, and the download goes on.
#[test]
fn a_client_that_moves_gets_everything() {
    for row in rows() {
        for address in [false, true] {
            let mut moves = 0;
            let mut next = None;
            let (_, took) = download(row, |pair| {
                let now = pair.now;
                if moves < 2 && now >= *next.get_or_insert(now + Duration::from_millis(130)) {
                    next = Some(now + Duration::from_millis(200));
                    moves += 1;
                    pair.move_client(address);
                }
            });
            assert_eq!(moves, 2, "{}", row.id);
            assert!(took > Duration::from_millis(800), "{}: 2 MB at 2.5 MB/s", row.id);
        }
    }
}

/// A client sends with its first flight to a server that has lost its tickets. All of that leaves the flight without a word, and is
/// sent again.
#[test]
fn rejected_early_data_is_sent_again() {
    for row in rows() {
        let identity = Identity::new();
        let knows = identity.server();
        // Once for the ticket.
        let (first, _) = factory(row);
        let mut pair = Pair::new(&first, &identity.client, &knows, Sends::Client, 20_000);
        pair.run(|_| {});
        assert_eq!(pair.early_data_accepted, None, "{}: the first has none", row.id);
        pair.close();
        for (server, accepted) in [(&knows, true), (&identity.server(), false)] {
            let (second, watch) = factory(row);
            let mut pair = Pair::new(&second, &identity.client, server, Sends::Client, BYTES);
            pair.run(|_| {});
            assert_eq!(pair.early_data_accepted, Some(accepted), "{}", row.id);
            assert_eq!(pair.received, BYTES, "{}", row.id);
            watch.seen(row.id);
        }
    }
}

/// The path of these tests is one on which start-up matters: classic slow start overshoots it.
#[test]
fn the_path_ends_slow_start_by_a_loss() {
    let row = rampcc::algorithm("slow_start").expect("a row");
    let mut dropped = 0;
    let (seen, _) = download(row, |pair| dropped = pair.dropped());
    assert_eq!(seen.exits.first().map(|exit| exit.0), Some(ExitReason::Loss));
    assert!(dropped > 10, "{dropped} packets");
}
