//! An algorithm outside the registry, by one header and one row: `crates/ramp/tests/scratch`.

use rampcc::{EventKind, ExitReason, Phase};
use rampcc_linux::{Event, Options, Record, load};
use rampcc_trace::Told;

use crate::algorithms::{careful, object, remembered};
use crate::support::judged::{judged, require};
use crate::support::left_out::{complete, repeated};
use crate::support::path::Path;
use crate::support::ready::unobstructed;
use crate::support::{NO_COMPILER, Open, ready, small};
use crate::{ack, all_events, exits, replayed};

/// What 40 Mbit/s and 20 ms hold.
const BDP: u64 = 100_000;

/// A transfer's events, each decision of which is the native core's.
fn events(rtt_us: u32, window_bytes: u64, tag: &str) -> Vec<Event> {
    let mut options = Options::new(careful());
    options.name = Some(format!("r{tag}_careful"));
    options.record = Record::All;
    options.hint = remembered(window_bytes, rtt_us);
    options.object = Some(object(careful()));
    let loaded = load(careful(), &options).unwrap_or_else(|error| panic!("{error}\n{}", error.log()));
    let path = Path::new("rate = '40 Mbit/s'\nrtt = '20 ms'\nbuffer = '60 kB'");
    path.transfer(loaded.name(), Open::Passive, 3_000_000);
    let (events, _) = all_events(&loaded, 1);
    path.stop();
    complete(replayed(&events) > 20, events.len());
    events
}

fn phases(events: &[Event]) -> impl Iterator<Item = Phase> + '_ {
    events.iter().filter_map(ack).map(|e| e.call.after.phase())
}

#[test]
fn it_jumps_where_the_handshake_is_as_remembered_and_lands_where_that_was_too_much() {
    let Some(()) = ready().and_then(|()| unobstructed(small().then_some(NO_COMPILER))) else { return };
    judged(|| {
        repeated(|| {
            let unlike = events(300_000, BDP, "u");
            let jumped = |event: &Event| ack(event).is_some_and(|e| e.call.after.pacing_bytes_per_s > 0);
            require(!unlike.iter().any(jumped), || "the handshake took 20 ms, not 300".into())
        })
    });
    judged(|| {
        repeated(|| {
            let events = events(20_000, 16 * BDP, "j");
            let Some(jump) = events.iter().filter_map(ack).find(|e| e.call.after.pacing_bytes_per_s > 0)
            else {
                return Err(format!("it jumps: {:?}", &events[..events.len().min(3)]));
            };
            let window = (8 * BDP).min(jump.ack().expect("an ACK").receive_window_bytes);
            assert_eq!(jump.call.after.cwnd_bytes, window);
            let least = window * 1_000_000 / 40_000;
            require((least..=window * 50).contains(&jump.call.after.pacing_bytes_per_s), || {
                format!("over 20 to 40 ms: {jump:?}")
            })?;
            let told = |kind| move |event: &Event| matches!(event, Event::Call(e) if matches!(&e.call.told, Told::Event(event) if event.kind == kind));
            complete(events.iter().any(told(EventKind::Loss)), exits(&events));
            require(phases(&events).any(|phase| phase == Phase::Leaving), || {
                "it has a say while the kernel repairs".into()
            })?;
            require(events.iter().any(told(EventKind::Recovered)), || {
                "it is told of the repair's end".into()
            })?;
            let exits = exits(&events);
            complete(!exits.is_empty(), events.len());
            require(exits[0].decision.exit_reason() == ExitReason::Loss, || format!("{exits:?}"))?;
            let landed = u64::from(exits[0].cwnd_packets) * u64::from(exits[0].mss_bytes);
            let goal = exits[0].decision.ssthresh_bytes;
            require(landed <= goal + 2 * u64::from(exits[0].mss_bytes), || {
                format!("PRR went where it was told: {landed}, {goal}")
            })
        })
    });
}
