//! Who spaces packets, and how exactly.

mod support;

use rampcc::{Hint, Time};
use rampcc_tcp::{Pacing, Profile};
use support::{MSS, Script, config, ms};

#[test]
fn linux_spreads_twice_the_window_over_a_round_trip() {
    let mut rules = config(Profile::Modern);
    rules.pacing = Pacing::Always;
    rules.initial_window_packets = 100;
    let mut script = Script::new(&rules);
    assert_eq!(script.sent().len(), 100, "before an RTT there is no rate");
    script.ack(ms(100), 100, &[]);
    assert_eq!(script.sender.sample(ms(100)).pacing_bytes_per_s, 2 * 200 * MSS * 10);
    let mut sent = 0;
    while script.sender.poll_timeout() < ms(151) {
        sent += script.wait().len();
    }
    assert!(
        (195..=200).contains(&(sent + 3)),
        "{sent} packets in the half round trip that twice the rate takes"
    );
}

#[test]
fn the_algorithms_gaps_are_exact() {
    let Some(paced) = rampcc::algorithm("paced") else { return };
    let mut rules = config(Profile::Era);
    rules.startup = paced;
    rules.parameters = paced.default_parameters();
    let mut script = Script::new(&rules);
    script.sent();
    script.ack(ms(100), 1, &[]);
    script.ack(ms(100) + Time::from_us(80), 2, &[]);
    let rate = script.sender.sample(script.now).pacing_bytes_per_s;
    assert!(rate > 0, "Paced Start sets a rate for its second train");
    let mut gaps = vec![];
    let mut last = script.now;
    while script.sender.poll_timeout() < ms(110) {
        if !script.wait().is_empty() {
            gaps.push(script.now - last);
            last = script.now;
        }
    }
    assert!(!gaps.is_empty());
    let gap = rampcc::Rate::from_bytes_per_s(rate).time_of(MSS);
    assert!(gaps.iter().all(|&g| g == gap), "{gaps:?} against {gap:?}");
}

#[test]
fn linux_begins_with_ten_packets_at_once_and_forgives_half_a_gap_after_a_pause() {
    let Some(ideal) = rampcc::algorithm("ideal") else { return };
    let mut rules = config(Profile::Modern);
    rules.startup = ideal;
    rules.parameters = ideal.default_parameters();
    rules.hint = Hint::path(100 * MSS, 1000 * MSS);
    let mut script = Script::with_bytes(&rules, 12 * MSS);
    assert_eq!(script.sent().len(), 10);
    assert_eq!(script.wait(), [10]);
    assert_eq!(script.now, ms(1));
    assert_eq!(script.wait(), [11]);
    assert_eq!(script.now, ms(2));
}

#[test]
fn unpaced_windows_leave_at_once() {
    let mut script = Script::warmed_up(&config(Profile::Modern), 10);
    assert_eq!(script.ack(ms(100), 10, &[]).len(), 20);
}
