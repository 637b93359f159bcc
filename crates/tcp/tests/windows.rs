//! Receive window, send buffer, application limits, idle periods.

mod support;

use rampcc::{Hint, Time};
use rampcc_tcp::{Profile, Segment, SegmentKind};
use support::{MSS, Script, config, ms};

fn ack(number: u64, window: u64, at: Time) -> Segment {
    Segment::ack(7, 40, at - ms(100), number, window)
}

#[test]
fn no_more_leaves_than_the_receiver_allows() {
    let mut script = Script::warmed_up(&config(Profile::Modern), 10);
    assert_eq!(script.feed(ms(100), &ack(10, 4 * MSS, ms(100))), [10, 11, 12, 13]);
    assert_eq!(script.sender.sample(ms(100)).receive_window_bytes, 4 * MSS);
}

#[test]
fn a_window_smaller_than_a_segment_is_used_when_nothing_else_is_under_way() {
    let mut script = Script::warmed_up(&config(Profile::Modern), 10);
    script.sender.handle_segment(ms(100), &ack(10, 300, ms(100)));
    script.now = ms(100);
    let segments = script.segments();
    assert_eq!(segments.iter().map(Segment::payload_bytes).collect::<Vec<_>>(), [300]);
}

#[test]
fn a_closed_window_is_probed_ever_more_slowly_until_it_opens() {
    let mut script = Script::warmed_up(&config(Profile::Modern), 10);
    assert!(script.feed(ms(100), &ack(10, 0, ms(100))).is_empty());
    let mut waits = vec![];
    for _ in 0..3 {
        let before = script.now;
        let at = script.sender.poll_timeout();
        script.now = at;
        script.sender.handle_timeout(at);
        let probes = script.segments();
        assert_eq!(probes.iter().map(Segment::kind).collect::<Vec<_>>(), [SegmentKind::WindowProbe]);
        waits.push((at - before).ns() / 1_000_000);
    }
    assert_eq!(waits, [300, 600, 1200]);
    let at = script.now + ms(100);
    assert_eq!(script.feed(at, &ack(10, 2 * MSS, at)), [10, 11]);
}

#[test]
fn the_send_buffer_bounds_what_is_unacknowledged() {
    let mut rules = config(Profile::Modern);
    rules.send_buffer_bytes = 6 * MSS;
    let mut script = Script::new(&rules);
    assert_eq!(script.sent().len(), 6);
    assert_eq!(script.ack(ms(100), 2, &[]), [6, 7]);
}

#[test]
fn the_send_buffer_grows_to_two_windows() {
    let mut rules = config(Profile::Modern);
    rules.send_buffer_bytes = 6 * MSS;
    rules.send_buffer_max_bytes = 12 * MSS;
    let mut script = Script::new(&rules);
    script.sent();
    assert_eq!(script.ack(ms(100), 6, &[]).len(), 12);
}

#[test]
fn what_the_application_does_not_fill_does_not_grow() {
    let mut script = Script::with_bytes(&config(Profile::Modern), 0);
    let mut cwnd = vec![];
    let rules = config(Profile::Modern);
    script.sender = rampcc_tcp::Sender::new(7, &rules);
    script.sender.open(Time::ZERO);
    for i in 0..4u64 {
        script.sender.write(ms(100 * i), 2 * MSS);
        script.now = ms(100 * i);
        script.sent();
        script.ack(ms(100 * i + 99), 2 * i + 2, &[]);
        cwnd.push(script.cwnd());
    }
    assert_eq!(cwnd, [10; 4]);
}

#[test]
fn partial_segments_leave_at_once() {
    let mut script = Script::with_bytes(&config(Profile::Modern), 0);
    script.sender = rampcc_tcp::Sender::new(7, &config(Profile::Modern));
    script.sender.open(Time::ZERO);
    script.sender.write(Time::ZERO, 1500);
    let sizes: Vec<u32> = script.segments().iter().map(Segment::payload_bytes).collect();
    assert_eq!(sizes, [1000, 500]);
    script.sender.finish(Time::ZERO);
    let last = script.segments();
    assert_eq!(last.len(), 1, "the end of the data has its own segment if it comes late");
    assert!(last[0].last() && last[0].payload_bytes() == 0);
}

#[test]
fn starts_over_from_the_initial_window_after_a_long_pause() {
    for (restart, expected) in [(true, 10), (false, 20)] {
        let mut rules = config(Profile::Modern);
        rules.idle_restart = restart;
        let mut script = Script::with_bytes(&rules, 0);
        script.sender = rampcc_tcp::Sender::new(7, &rules);
        script.sender.open(Time::ZERO);
        script.sender.write(Time::ZERO, 10 * MSS);
        script.sent();
        script.ack(ms(100), 10, &[]);
        assert_eq!(script.cwnd(), 20);
        script.now = Time::from_secs(5);
        script.sender.write(script.now, 100 * MSS);
        assert_eq!(script.sent().len() as u64, expected);
    }
}

#[test]
fn delivery_rate_is_measured_over_a_flight() {
    let mut script = Script::warmed_up(&config(Profile::Modern), 10);
    script.ack(ms(100), 10, &[]);
    assert_eq!(script.sender.sample(ms(100)).delivery_bytes_per_s, 10 * MSS * 10);
}

#[test]
fn a_window_opened_at_once_waits_for_the_receivers_first_ack_and_stays_paced() {
    let mut rules = config(Profile::Modern);
    rules.handshake = true;
    rules.startup = rampcc::algorithm("ideal").expect("the registry has the yardstick");
    rules.parameters = rules.startup.default_parameters();
    rules.hint = Hint::path(300 * MSS, 300 * MSS * 10);
    let mut script = Script::new(&rules);
    let syn = script.segments()[0];
    let mut sent = script.feed(ms(100), &Segment::syn_ack(&syn, 40, 65_535, true)).len();
    assert_eq!(sent, 10, "Linux paces from the tenth packet on");
    while script.sender.poll_timeout() < ms(200) {
        sent += script.wait().len();
    }
    assert_eq!(sent, 65);
    // The rest of the window is allowed now, and leaves at the path's rate: three packets a millisecond.
    assert_eq!(script.feed(ms(200), &ack(2, u64::MAX, ms(200))).len(), 1);
    let mut most = 0;
    while script.sender.poll_timeout() < ms(250) {
        most = most.max(script.wait().len());
        sent += 1;
    }
    assert_eq!(most, 1);
    assert!((212..=216).contains(&sent), "{sent}");
}
