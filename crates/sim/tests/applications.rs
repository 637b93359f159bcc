//! What applications write, and when.

mod common;

use std::sync::atomic::AtomicBool;

use common::{Log, empty, flow, link, mbit, ms, plain, play};
use rampcc::Time;
use rampcc_scenario::Source;
use rampcc_sim::simulate;
use rampcc_trace::{FlowEvent, FlowEventKind, LinkSample, Observer};

/// 100 Mbit/s, 100 ms.
fn sent(source: Source) -> (Time, Log) {
    let mut scenario = empty(2, 10.0);
    link(&mut scenario, 0, 1, plain(mbit(100), ms(50.0), 1000));
    link(&mut scenario, 1, 0, plain(mbit(100), ms(50.0), 1000));
    scenario.flows.push(flow(0, 1, source, "slow_start"));
    scenario.flows[0].sender.sampled = true;
    scenario.flows[0].sender.initial_window_packets = 10;
    scenario.flows[0].sender.handshake = true;
    let (outcome, log) = play(&scenario, 1);
    (outcome.flows[0].completed, log)
}

/// What the sender knows to have arrived by then.
fn by(log: &Log, at: Time) -> u64 {
    log.flows.iter().take_while(|sample| sample.now <= at).last().map_or(0, |sample| sample.delivered_bytes)
}

/// A TLS server's first flight is answered after a round trip; a response follows `think` later, and so does the next one.
#[test]
fn a_response_waits_for_its_request() {
    let source =
        Source::Responses { first_bytes: 4_000, response_bytes: 10_000, think: ms(30.0), responses: 2 };
    assert_eq!(source.size_bytes(), 24_000);
    let (completed, log) = sent(source);
    // Handshake to 100 ms; the first flight is acknowledged at 200, the response written at 230 and acknowledged at 330, the next
    // one written at 360; it arrives at 410.
    for (at, bytes) in [(195.0, 0), (205.0, 4_000), (325.0, 4_000), (340.0, 14_000)] {
        assert_eq!(by(&log, ms(at)), bytes, "{at} ms");
    }
    assert!(completed >= ms(410.0) && completed <= ms(414.0), "{completed:?}");
}

#[test]
fn a_first_response_without_a_handshake_of_its_own_comes_at_once() {
    let one = Source::Responses { first_bytes: 0, response_bytes: 10_000, think: ms(30.0), responses: 1 };
    assert_eq!(sent(one).0, sent(Source::Sized(10_000)).0);
}

/// Of chunks that are no round numbers, each arrival is told when it is whole.
#[test]
fn the_last_byte_of_a_chunk_is_told() {
    let source = Source::Chunks { chunk_bytes: 1_234_567, interval: ms(500.0), chunks: 4 };
    let (completed, log) = sent(source);
    let ends: Vec<u64> = (0..4).map(|sent| source.write_end(1_234_567 * sent)).collect();
    assert_eq!(ends, [1_234_567, 2_469_134, 3_703_701, 4_938_268]);
    let told = |bytes: u64| {
        let progress = log.events.iter().filter_map(|event| match event.kind {
            FlowEventKind::Received { bytes } | FlowEventKind::Completed { bytes } => {
                Some((event.now, bytes))
            }
            _ => None,
        });
        progress.into_iter().find(|(_, so_far)| *so_far >= bytes).expect("it arrives")
    };
    for (number, end) in ends.iter().enumerate() {
        let (now, bytes) = told(*end);
        assert!(bytes - end < 1_460, "a packet may hold the first of the next: {bytes} after {end}");
        assert!(now > ms(500.0 * number as f64) && now <= completed);
    }
    assert_eq!(Source::Bulk.write_end(5), u64::MAX);
    let tls = Source::Responses { first_bytes: 4_000, response_bytes: 10_000, think: ms(30.0), responses: 2 };
    assert_eq!(
        [0, 3_999, 4_000, 13_999, 14_000].map(|bytes| tls.write_end(bytes)),
        [4_000, 4_000, 14_000, 14_000, 24_000]
    );
}

/// The samples of the queue, and how many had come when the flow was complete.
#[derive(Default)]
struct Queue {
    samples: Vec<LinkSample>,
    before_completion: Option<usize>,
}

impl Observer for Queue {
    fn on_link(&mut self, sample: &LinkSample) {
        self.samples.push(*sample);
    }
    fn on_event(&mut self, event: &FlowEvent) {
        if matches!(event.kind, FlowEventKind::Completed { .. }) {
            self.before_completion = Some(self.samples.len());
        }
    }
}

/// Each chunk arrives at the bottleneck in one instant, and nothing after it: not even the last burst may be lost, nor one that is no
/// longer than the first.
#[test]
fn a_burst_is_sampled_whole_before_its_flow_is_complete() {
    let mut scenario = empty(2, 10.0);
    link(&mut scenario, 0, 1, plain(mbit(100), ms(50.0), 1000));
    link(&mut scenario, 1, 0, plain(mbit(100), ms(50.0), 1000));
    let chunk_bytes = 20 * 1_448;
    let source = Source::Chunks { chunk_bytes, interval: ms(500.0), chunks: 3 };
    scenario.flows.push(flow(0, 1, source, "slow_start"));
    scenario.flows[0].sender.sampled = true;
    scenario.flows[0].sender.initial_window_packets = 40;
    let mut queue = Queue::default();
    simulate(&scenario, 1, &mut queue, &AtomicBool::new(false)).expect("the scenario runs");
    // One is in service.
    let bursts: Vec<Time> =
        queue.samples.iter().filter(|sample| sample.queue_packets >= 19).map(|sample| sample.now).collect();
    assert_eq!(bursts, [ms(0.0), ms(500.0), ms(1000.0)]);
    assert_eq!(queue.before_completion, Some(queue.samples.len()));
}

/// When an observer is told of progress.
#[derive(Default)]
struct Told {
    every: Option<Time>,
    at: Vec<(Time, u64)>,
}

impl Observer for Told {
    fn on_event(&mut self, event: &FlowEvent) {
        if let FlowEventKind::Received { bytes } = event.kind {
            self.at.push((event.now, bytes));
        }
    }
    fn progress_every(&self) -> Time {
        self.every.unwrap_or(Time::NEVER)
    }
}

/// Three significant digits of 50 MB are 100 kB, 8 ms of this path; an observer that wants 2 ms gets 2 ms, and the round numbers.
#[test]
fn progress_is_told_at_round_numbers_and_as_often_as_an_observer_wants() {
    let mut scenario = empty(2, 6.0);
    link(&mut scenario, 0, 1, plain(mbit(100), ms(5.0), 1000));
    link(&mut scenario, 1, 0, plain(mbit(100), ms(5.0), 1000));
    scenario.flows.push(flow(0, 1, Source::Sized(80_000_000), "hystart"));
    scenario.flows[0].sender.sampled = true;
    let told = |every| {
        let mut told = Told { every, ..Told::default() };
        simulate(&scenario, 1, &mut told, &AtomicBool::new(false)).expect("the scenario runs");
        told.at
    };
    let longest = |told: &[(Time, u64)]| {
        let late = told.iter().filter(|(now, _)| (ms(4500.0)..ms(5500.0)).contains(now));
        let times: Vec<Time> = late.map(|(now, _)| *now).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap()
    };
    let (rare, often) = (told(None), told(Some(ms(2.0))));
    assert!(longest(&rare) > ms(7.0), "{:?}", longest(&rare));
    assert!(longest(&often) < ms(2.5), "{:?}", longest(&often));
    assert!(rare.iter().all(|report| often.contains(report)), "the round numbers are still there");
}
