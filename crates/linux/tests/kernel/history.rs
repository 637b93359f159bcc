//! What the host remembers of a place: by connections in a row, each of which begins with what the one before has left.

use rampcc::{Hint, HintSource, algorithm};
use rampcc_linux::{Event, Loaded, Options, Record, load};
use rampcc_trace::Told;

use crate::support::judged::{judged, require};
use crate::support::left_out::{complete, repeated};
use crate::support::path::Path;
use crate::support::{Open, ready};
use crate::{all_events, replayed};

/// 40 Mbit/s and 20 ms hold 100 kB, of which headers take 3 %.
const PATH: &str = "rate = '40 Mbit/s'\nrtt = '20 ms'\nbuffer = '60 kB'";
const BDP: u64 = 100_000;

/// Registered under a name of the test's own, since tests run side by side.
fn put_in(id: &str, tag: char, hint: Hint) -> Loaded {
    let row = algorithm(id).expect("a row");
    let mut options = Options::new(row);
    options.name = Some(format!("r{tag}_{id}"));
    options.record = Record::All;
    options.hint = hint;
    load(row, &options).unwrap_or_else(|error| panic!("{error}\n{}", error.log()))
}

/// What each connection was told, in the order in which they opened.
fn told(events: &[Event]) -> Vec<Hint> {
    let hint = |event: &Event| match event {
        Event::Call(call) => match &call.call.told {
            Told::Open(opening) => Some(opening.config.hint),
            _ => None,
        },
        _ => None,
    };
    events.iter().filter_map(hint).collect()
}

#[test]
fn a_connection_begins_with_what_the_one_before_it_has_left() {
    if ready() {
        judged(|| repeated(begins_with_what_is_left));
    }
}

fn begins_with_what_is_left() -> Result<(), String> {
    let loaded = put_in("careful", 'h', Hint::NONE);
    assert_eq!(loaded.places(), Some(0));
    let path = Path::new(PATH);
    for _ in 0..2 {
        path.transfer(loaded.name(), Open::Active, 2_000_000);
    }
    let (events, _) = all_events(&loaded, 2);
    complete(replayed(&events) > 20, events.len());
    let told = told(&events);
    complete(told.len() == 2, &told);
    assert_eq!(told[0], Hint::NONE, "nobody had been there");
    let Hint { window_bytes, bytes_per_s, rtt_us, age_s, .. } = told[1];
    assert_eq!((told[1].source(), loaded.places()), (HintSource::History, Some(1)));
    require((BDP / 2..=2 * BDP).contains(&window_bytes), || format!("{told:?}"))?;
    require((BDP * 25..=BDP * 75).contains(&bytes_per_s), || format!("{told:?}"))?;
    assert!(rtt_us >= 20_000, "{told:?}");
    require(rtt_us < 40_000 && age_s < 60, || format!("{told:?}"))?;
    path.stop();
    // In another namespace the same address is another place.
    let other = Path::new(PATH);
    other.transfer(loaded.name(), Open::Active, 2_000_000);
    assert_eq!(loaded.places(), Some(2));
    other.stop();
    Ok(())
}

#[test]
fn what_the_loader_was_told_counts_as_seen() {
    if !ready() {
        return;
    }
    repeated(|| {
        let mut hint = Hint::of(HintSource::History);
        (hint.window_bytes, hint.bytes_per_s, hint.rtt_us, hint.age_s) = (BDP, 5_000_000, 20_000, 30);
        let loaded = put_in("careful", 'o', hint);
        let path = Path::new(PATH);
        path.transfer(loaded.name(), Open::Active, 200_000);
        let told = told(&all_events(&loaded, 1).0);
        complete(told.len() == 1, &told);
        assert_eq!((told[0], loaded.places()), (hint, Some(1)));
        path.stop();
    });
}

#[test]
fn who_needs_no_history_keeps_none() {
    if !ready() {
        return;
    }
    assert_eq!(put_in("best", 'h', Hint::NONE).places(), None);
}
