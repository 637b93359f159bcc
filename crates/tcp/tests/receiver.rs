//! What a receiver answers, and when.

mod support;

use rampcc::Time;
use rampcc_tcp::{AckPolicy, Profile, ReceiveWindow, Receiver, ReceiverConfig, Segment};
use support::{config, ms};

/// No larger than what a SYN can announce: it has nothing to grow to.
const GROWN: ReceiveWindow = ReceiveWindow::Fixed(65_535);

struct Feed {
    receiver: Receiver,
    now: Time,
}

impl Feed {
    fn new(change: impl FnOnce(&mut ReceiverConfig)) -> Self {
        let mut rules = ReceiverConfig::new(Profile::Modern);
        change(&mut rules);
        Self { receiver: Receiver::new(7, &rules, &config(Profile::Modern)), now: Time::ZERO }
    }

    fn segment(&mut self, segment: Segment) -> Option<Segment> {
        self.now += Time::from_us(10);
        self.receiver.handle_segment(self.now, &segment);
        self.receiver.poll_transmit(self.now)
    }

    fn data(&mut self, number: u64) -> Option<Segment> {
        self.segment(Segment::data(7, 40, ms(number), number, 1000))
    }

    fn acks(&mut self, numbers: std::ops::Range<u64>) -> Vec<u64> {
        numbers.filter_map(|n| self.data(n)).map(|a| a.number()).collect()
    }
}

fn blocks(ack: Option<Segment>) -> Vec<(u64, u64)> {
    ack.expect("an ACK").sack_blocks().collect()
}

#[test]
fn quick_acknowledges_every_segment() {
    let mut feed = Feed::new(|c| c.ack_policy = AckPolicy::Quick);
    assert_eq!(feed.acks(0..4), [1, 2, 3, 4]);
}

#[test]
fn delayed_acknowledges_every_second_segment_or_after_its_timer() {
    let mut feed = Feed::new(|c| c.ack_policy = AckPolicy::Delayed { every: 2, timer: ms(100) });
    assert_eq!(feed.acks(0..5), [2, 4]);
    assert_eq!(feed.receiver.poll_timeout(), feed.now + ms(100));
    feed.receiver.handle_timeout(feed.now + ms(100));
    assert_eq!(feed.receiver.poll_transmit(feed.now).map(|a| a.number()), Some(5));
    assert_eq!(feed.receiver.poll_timeout(), Time::NEVER);
}

#[test]
fn freebsd_acknowledges_every_second_segment_and_what_a_burst_leaves_over() {
    let mut feed = Feed::new(|c| c.ack_policy = AckPolicy::FreeBsd { timer: ms(100) });
    let due = |feed: &mut Feed, after: Time| {
        let at = feed.now + after;
        assert_eq!(feed.receiver.poll_timeout(), at);
        feed.receiver.handle_timeout(at);
        feed.receiver.poll_transmit(at).map(|ack| ack.number())
    };
    // The third segment moves the window's edge by two once it is read.
    assert_eq!(feed.acks(0..3), [2]);
    assert_eq!(due(&mut feed, Time::from_us(125)), Some(3));
    // One alone does not.
    assert_eq!(feed.acks(3..4), [] as [u64; 0]);
    assert_eq!(due(&mut feed, ms(100)), Some(4));
    assert_eq!(feed.acks(4..11), [6, 8, 10]);
    assert_eq!(due(&mut feed, Time::from_us(125)), Some(11));
}

#[test]
fn linux_acknowledges_sixteen_at_once_and_then_every_second() {
    let mut feed = Feed::new(|c| c.window = GROWN);
    assert_eq!(feed.acks(0..16).len(), 16);
    assert_eq!(feed.acks(16..22), [18, 20, 22]);
}

#[test]
fn linux_acknowledges_at_once_as_long_as_the_window_grows() {
    let mut feed = Feed::new(|c| c.window = ReceiveWindow::Fixed(300_000));
    let growing = (300_000u64 - 65_535).div_ceil(2 * u64::from(config(Profile::Modern).mss_bytes));
    assert_eq!(feed.acks(0..growing).len() as u64, growing);
    let quick = growing + 16;
    assert_eq!(feed.acks(growing..quick).len(), 16);
    assert_eq!(feed.acks(quick..quick + 4), [quick + 2, quick + 4]);
}

#[test]
fn linux_acknowledges_at_once_again_after_a_duplicate() {
    let mut feed = Feed::new(|c| c.window = GROWN);
    feed.acks(0..20);
    assert!(feed.data(19).is_some());
    assert_eq!(feed.acks(20..28).len(), 8);
}

#[test]
fn linux_sends_one_ack_for_many_once_three_have_asked_for_what_is_missing() {
    let mut feed = Feed::new(|c| c.window = GROWN);
    feed.acks(0..20);
    let timed = |number| Segment::data(7, 40, ms(number), number, 1000).with_rtt_us(100_000);
    for number in 21..24 {
        assert!(feed.segment(timed(number)).is_some(), "a duplicate ACK");
    }
    assert!(feed.segment(timed(24)).is_none());
    let due = feed.now + ms(1);
    assert!(feed.segment(timed(25)).is_none());
    assert_eq!(feed.receiver.poll_timeout(), due);
    feed.receiver.handle_timeout(due);
    assert_eq!(blocks(feed.receiver.poll_transmit(due)), [(21, 26)]);
    assert_eq!(feed.receiver.poll_timeout(), Time::NEVER);
    assert!(feed.segment(timed(27)).is_none(), "a second range");
    assert_eq!(
        blocks(feed.segment(timed(29))),
        [(27, 28), (21, 26)],
        "before a third, one that tells of both"
    );
    assert!(feed.segment(timed(20)).is_some(), "a filled gap");
    assert!(feed.segment(timed(28)).is_some(), "now 26 is missing");
}

#[test]
fn quick_and_delayed_receivers_tell_of_every_gap() {
    for policy in [AckPolicy::Quick, AckPolicy::Delayed { every: 2, timer: ms(100) }] {
        let mut feed = Feed::new(|c| c.ack_policy = policy);
        assert!((1..100).all(|number| feed.data(number).is_some()));
    }
}

#[test]
fn linux_limits_the_first_ones_by_the_window() {
    let mut feed = Feed::new(|c| c.window = ReceiveWindow::Fixed(12_000));
    assert_eq!(feed.acks(0..6).len(), 6);
    assert_eq!(feed.acks(6..10), [8, 10]);
}

#[test]
fn the_end_of_the_data_is_acknowledged_at_once() {
    let mut feed = Feed::new(|c| c.ack_policy = AckPolicy::Delayed { every: 2, timer: ms(200) });
    assert!(feed.segment(Segment::data(7, 40, ms(0), 0, 10).with_last(true)).is_some());
    assert!(feed.receiver.completed());
    assert_eq!(feed.receiver.received_bytes(), 10);
}

#[test]
fn the_most_recent_block_comes_first() {
    let mut feed = Feed::new(|_| ());
    assert_eq!(blocks(feed.data(2)), [(2, 3)]);
    assert_eq!(blocks(feed.data(4)), [(4, 5), (2, 3)]);
    assert_eq!(blocks(feed.data(6)), [(6, 7), (4, 5), (2, 3)]);
    assert_eq!(blocks(feed.data(8)), [(8, 9), (6, 7), (4, 5)]);
    assert_eq!(blocks(feed.data(3)), [(2, 5), (8, 9), (6, 7)], "two blocks become one");
    assert_eq!(blocks(feed.data(0)), [(2, 5), (8, 9), (6, 7)]);
    assert_eq!(blocks(feed.data(1)), [(8, 9), (6, 7)]);
}

#[test]
fn a_segment_that_comes_twice_is_reported() {
    let mut feed = Feed::new(|_| ());
    feed.data(0);
    assert_eq!(feed.data(0).and_then(|a| a.duplicate()), Some((0, 1)));
    feed.data(5);
    let ack = feed.data(5).expect("an ACK");
    assert_eq!(ack.duplicate(), Some((5, 6)));
    assert_eq!(blocks(Some(ack)), [(5, 6)]);
    assert_eq!(feed.data(1).and_then(|a| a.duplicate()), None, "once only");
}

#[test]
fn without_sack_there_are_no_blocks() {
    let mut feed = Feed::new(|c| c.sack_blocks = 0);
    assert_eq!(feed.data(2).map(|a| a.block_count()), Some(0));
}

#[test]
fn a_suppressing_receiver_stops_sacking_and_discards_what_is_out_of_order() {
    let mut feed = Feed::new(|c| c.sack_suppression_segments = 3);
    assert_eq!(blocks(feed.data(1)), [(1, 2)]);
    assert_eq!(blocks(feed.data(2)), [(1, 3)]);
    assert!(blocks(feed.data(3)).is_empty(), "the limit is reached");
    assert!(blocks(feed.data(4)).is_empty());
    assert_eq!(feed.data(0).map(|a| a.number()), Some(4), "4 was discarded");
}

#[test]
fn echoes_the_time_stamp_of_what_moved_the_edge() {
    let mut feed = Feed::new(|c| c.ack_policy = AckPolicy::Delayed { every: 2, timer: ms(200) });
    feed.data(0);
    assert_eq!(feed.data(1).map(|a| a.timestamp()), Some(ms(0)), "of the first segment not acknowledged yet");
    assert_eq!(feed.data(5).map(|a| a.timestamp()), Some(ms(0)), "not of what is out of order");
    assert_eq!(feed.data(2).map(|a| a.timestamp()), Some(ms(2)));
}

#[test]
fn answers_window_probes() {
    let mut feed = Feed::new(|_| ());
    assert!(feed.segment(Segment::window_probe(7, 40, ms(1))).is_some());
}

#[test]
fn a_syn_announces_what_sixteen_bits_can_say_and_the_first_ack_all_of_it() {
    let windows = |profile, window| {
        let rules = ReceiverConfig { window, ..ReceiverConfig::new(profile) };
        let mut receiver = Receiver::new(7, &rules, &config(profile));
        let mut answer = |segment: &Segment| {
            receiver.handle_segment(ms(1), segment);
            receiver.poll_transmit(ms(1)).expect("an answer").window_bytes()
        };
        [answer(&Segment::syn(7, 40, ms(0))), answer(&Segment::data(7, 40, ms(0), 0, 1000))]
    };
    assert_eq!(windows(Profile::Modern, ReceiveWindow::Unlimited), [65_535, u64::MAX]);
    assert_eq!(windows(Profile::Modern, ReceiveWindow::Fixed(1 << 20)), [65_535, 1 << 20]);
    assert_eq!(windows(Profile::Modern, ReceiveWindow::Fixed(1000)), [1000, 1000]);
    assert_eq!(windows(Profile::Era, ReceiveWindow::Unlimited), [u64::MAX, u64::MAX]);
}
