//! What a host visits to take in a segment, counted by hand.

use rampcc::{Time, algorithms};
use rampcc_tcp::{Profile, Receiver, ReceiverConfig, Search, Segment, Sender, SenderConfig};

const ALL: [Search; 3] = [Search::List, Search::Hint, Search::Tree];
const NOW: Time = Time::from_ms(100);

fn configs() -> (SenderConfig, ReceiverConfig) {
    let mut sender = SenderConfig::new(Profile::Era, &algorithms()[0]);
    sender.handshake = false;
    sender.initial_window_packets = 100;
    (sender, ReceiverConfig::new(Profile::Era))
}

/// Segments 0 to 99 are outstanding.
fn sender() -> Sender {
    let mut sender = Sender::new(0, &configs().0);
    sender.open(Time::ZERO);
    sender.write(Time::ZERO, u64::MAX);
    let mut sent = 0;
    while sender.poll_transmit(Time::ZERO).is_some() {
        sent += 1;
    }
    assert_eq!(sent, 100);
    sender
}

fn ack(number: u64, blocks: &[(u64, u64)]) -> Segment {
    let ack = Segment::ack(0, 40, Time::ZERO, number, u64::MAX);
    blocks.iter().fold(ack, |ack, &(start, end)| ack.with_sack_block(start, end))
}

#[test]
fn what_is_acknowledged_in_order_leaves_one_by_one() {
    let sender = sender();
    assert_eq!(ALL.map(|search| sender.visits(&ack(12, &[]), search)), [12; 3]);
    assert_eq!(ALL.map(|search| sender.visits(&ack(0, &[]), search)), [0; 3]);
    assert_eq!(ALL.map(|search| sender.visits(&ack(1000, &[]), search)), [100; 3], "no more than there is");
}

#[test]
fn blocks_are_walked_to_or_descended_to() {
    let mut sender = sender();
    let first = ack(10, &[(50, 60), (70, 80)]);
    // 10 leave; then from 10 to 60 and from 10 to 80; to 80 once; seven steps down 90 entries twice, and 20 new ones.
    assert_eq!(
        ALL.map(|search| sender.visits(&first, search)),
        [10 + 50 + 70, 10 + 70, 10 + 7 + 10 + 7 + 10]
    );
    sender.handle_segment(NOW, &first);

    // What has left the queue took the place of the last walk with it.
    let grown = ack(10, &[(50, 62), (70, 80)]);
    assert_eq!(ALL.map(|search| sender.visits(&grown, search)), [52 + 70, 52, 7 + 2 + 7]);
    sender.handle_segment(NOW, &grown);
    let grown = ack(10, &[(50, 63), (70, 80)]);
    assert_eq!(ALL.map(|search| sender.visits(&grown, search)), [53 + 70, 1, 7 + 1 + 7]);
    sender.handle_segment(NOW, &grown);

    // Another block has become the first one: the walk begins at the head again.
    let other = ack(10, &[(70, 81), (50, 63)]);
    assert_eq!(ALL.map(|search| sender.visits(&other, search)), [71 + 53, 71, 7 + 1 + 7]);
}

#[test]
fn a_timeout_visits_everything_outstanding() {
    let mut sender = sender();
    assert_eq!(sender.timeout_visits(), 100);
    sender.handle_segment(NOW, &ack(40, &[]));
    assert_eq!(sender.timeout_visits(), 60);
}

#[test]
fn a_receiver_walks_from_the_end_of_its_queue() {
    let (sender, receiver) = configs();
    let mut receiver = Receiver::new(0, &receiver, &sender);
    let data = |number| Segment::data(0, 40, NOW, number, 1000);
    for number in [0, 1] {
        assert_eq!(ALL.map(|search| receiver.visits(&data(number), search)), [0; 3]);
        receiver.handle_segment(NOW, &data(number));
    }
    for number in 10..20 {
        receiver.handle_segment(NOW, &data(number));
    }
    // Ten wait: four steps down a tree.
    assert_eq!(ALL.map(|search| receiver.visits(&data(20), search)), [1, 1, 4], "it follows the last one");
    assert_eq!(ALL.map(|search| receiver.visits(&data(5), search)), [10, 10, 4]);
    assert_eq!(ALL.map(|search| receiver.visits(&data(1), search)), [0; 3], "it is known");
    receiver.handle_segment(NOW, &data(3));
    assert_eq!(ALL.map(|search| receiver.visits(&data(2), search)), [11, 11, 5], "the tree gives one free");
    let in_order = [2, 5].map(|number| receiver.visits(&data(number), Search::HintInOrder));
    assert_eq!(in_order, [1, 10], "what fills the first gap needs no place, what fills another one does");
}
