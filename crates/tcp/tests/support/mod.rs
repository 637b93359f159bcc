//! A script: feed ACKs in virtual time, expect segments. A channel: two ends and an adversary between them.
#![allow(dead_code, reason = "each test file uses its part")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rampcc::Time;
use rampcc_path::Packet;
use rampcc_tcp::{Profile, Receiver, ReceiverConfig, Segment, SegmentKind, Sender, SenderConfig};
use rampcc_trace::FlowEventKind;

pub(crate) const MSS: u64 = 1000;

pub(crate) fn ms(t: u64) -> Time {
    Time::from_ms(t)
}

/// The rules of `profile` with 1000-byte segments and no handshake.
pub(crate) fn config(profile: Profile) -> SenderConfig {
    let mut config =
        SenderConfig::new(profile, rampcc::algorithm("slow_start").expect("slow start is in the registry"));
    config.mss_bytes = MSS as u32;
    config.header_bytes = 40;
    config.handshake = false;
    config
}

/// A sender with endless data and a hand to feed it ACKs.
pub(crate) struct Script {
    pub(crate) sender: Sender,
    pub(crate) now: Time,
    pub(crate) events: Vec<FlowEventKind>,
}

impl Script {
    /// Opens at time zero and offers endless data.
    pub(crate) fn new(config: &SenderConfig) -> Self {
        Self::with_bytes(config, u64::MAX)
    }

    pub(crate) fn with_bytes(config: &SenderConfig, bytes: u64) -> Self {
        let mut script = Self::offering(config, bytes);
        if bytes != u64::MAX {
            script.sender.finish(Time::ZERO);
        }
        script
    }

    /// So much at first, and perhaps more later. Calls of the algorithm are kept.
    pub(crate) fn offering(config: &SenderConfig, bytes: u64) -> Self {
        let mut sender = Sender::new(7, config);
        sender.record_decisions();
        sender.open(Time::ZERO);
        sender.write(Time::ZERO, bytes);
        Self { sender, now: Time::ZERO, events: vec![] }
    }

    /// Everything that leaves now.
    pub(crate) fn segments(&mut self) -> Vec<Segment> {
        let segments = std::iter::from_fn(|| self.sender.poll_transmit(self.now)).collect();
        self.events.extend(std::iter::from_fn(|| self.sender.poll_event()));
        segments
    }

    /// The numbers of everything that leaves now.
    pub(crate) fn sent(&mut self) -> Vec<u64> {
        self.segments().iter().map(Segment::number).collect()
    }

    /// An ACK at `at`, echoing what was sent one RTT of 100 ms ago; what leaves then.
    pub(crate) fn ack(&mut self, at: Time, number: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        self.ack_echoing(at, at - ms(100), number, blocks)
    }

    pub(crate) fn ack_echoing(
        &mut self,
        at: Time,
        echo: Time,
        number: u64,
        blocks: &[(u64, u64)],
    ) -> Vec<u64> {
        let mut segment = Segment::ack(7, 40, echo, number, u64::MAX);
        for &(start, end) in blocks {
            segment = segment.with_sack_block(start, end);
        }
        self.feed(at, &segment)
    }

    pub(crate) fn feed(&mut self, at: Time, segment: &Segment) -> Vec<u64> {
        self.now = at;
        self.sender.handle_segment(at, segment);
        self.sent()
    }

    /// Lets the next timer expire; what leaves then.
    pub(crate) fn wait(&mut self) -> Vec<u64> {
        let at = self.sender.poll_timeout();
        assert!(at < Time::NEVER, "no timer is running");
        self.now = at;
        self.sender.handle_timeout(at);
        self.sent()
    }

    /// The window in whole segments.
    pub(crate) fn cwnd(&self) -> u64 {
        self.sender.sample(self.now).cwnd_bytes / MSS
    }

    pub(crate) fn ssthresh(&self) -> u64 {
        self.sender.sample(self.now).ssthresh_bytes / MSS
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.sender.sample(self.now).in_flight_bytes / MSS
    }

    /// Sends the first `flight` segments in one round trip: everything up to there is acknowledged at 100 ms.
    pub(crate) fn warmed_up(config: &SenderConfig, flight: u64) -> Self {
        let mut config = config.clone();
        config.initial_window_packets = flight as u32;
        let mut script = Self::new(&config);
        assert_eq!(script.sent().len() as u64, flight);
        script
    }
}

/// The five operations of a small generator; its numbers are as good as a test needs.
#[derive(Clone, Debug)]
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below.max(1)
    }

    pub(crate) fn happens(&mut self, per_mille: u64) -> bool {
        self.roll(1000) < per_mille
    }
}

/// What the channel does to packets, per mille.
#[derive(Clone, Debug)]
pub(crate) struct Adversary {
    pub(crate) seed: u64,
    pub(crate) loss: u64,
    pub(crate) ack_loss: u64,
    pub(crate) duplication: u64,
    pub(crate) reordering: u64,
    /// Packets that the bottleneck's queue holds, and the time it takes for each.
    pub(crate) buffer: u64,
    pub(crate) service: Time,
    pub(crate) one_way: Time,
}

impl Default for Adversary {
    fn default() -> Self {
        Self {
            seed: 1,
            loss: 0,
            ack_loss: 0,
            duplication: 0,
            reordering: 0,
            buffer: 100,
            service: Time::from_us(100),
            one_way: ms(20),
        }
    }
}

/// How a transfer went.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub(crate) finished: Option<Time>,
    pub(crate) received: u64,
    pub(crate) data_packets: u64,
    pub(crate) dropped: u64,
    pub(crate) timeouts: u64,
    pub(crate) events: Vec<(Time, FlowEventKind)>,
    pub(crate) sender: Sender,
}

/// Sends `bytes` through the adversary until both ends are done or `until`.
pub(crate) fn transfer(
    sender: &SenderConfig,
    receiver: &ReceiverConfig,
    bytes: u64,
    adversary: &Adversary,
    until: Time,
) -> Transfer {
    let mut to = Sender::new(1, sender);
    let mut from = Receiver::new(1, receiver, sender);
    let mut dice = Dice(adversary.seed);
    let mut under_way: BinaryHeap<Reverse<(Time, u64, bool)>> = BinaryHeap::new();
    let mut packets: Vec<Segment> = vec![];
    let mut server_free = Time::ZERO;
    let mut result = Transfer {
        finished: None,
        received: 0,
        data_packets: 0,
        dropped: 0,
        timeouts: 0,
        events: vec![],
        sender: to.clone(),
    };
    let mut now = Time::ZERO;
    to.record_decisions();
    to.open(now);
    to.write(now, bytes);
    to.finish(now);
    let mut steps = 0u64;
    loop {
        steps += 1;
        assert!(steps < 20_000_000, "the transfer does not end: {adversary:?}");
        while let Some(segment) = to.poll_transmit(now) {
            assert!(segment.to_receiver());
            result.data_packets += u64::from(segment.kind() == SegmentKind::Data);
            let backlog = (server_free - now).ns() / adversary.service.ns().max(1);
            if dice.happens(adversary.loss) || backlog > adversary.buffer {
                result.dropped += 1;
                continue;
            }
            server_free = server_free.max(now) + adversary.service;
            let copies = 1 + u64::from(dice.happens(adversary.duplication));
            for _ in 0..copies {
                let late = if dice.happens(adversary.reordering) {
                    Time::from_us(dice.roll(5000))
                } else {
                    Time::ZERO
                };
                packets.push(segment);
                under_way.push(Reverse((
                    server_free + adversary.one_way + late,
                    packets.len() as u64 - 1,
                    true,
                )));
            }
        }
        while let Some(event) = to.poll_event() {
            result.timeouts += u64::from(matches!(event, FlowEventKind::Timeout { .. }));
            result.events.push((now, event));
        }
        while let Some(segment) = from.poll_transmit(now) {
            assert!(!segment.to_receiver());
            if dice.happens(adversary.ack_loss) {
                continue;
            }
            let copies = 1 + u64::from(dice.happens(adversary.duplication));
            for _ in 0..copies {
                let late = if dice.happens(adversary.reordering) {
                    Time::from_us(dice.roll(5000))
                } else {
                    Time::ZERO
                };
                packets.push(segment);
                under_way.push(Reverse((now + adversary.one_way + late, packets.len() as u64 - 1, false)));
            }
        }
        if from.completed() && result.finished.is_none() {
            result.finished = Some(now);
        }
        if to.completed() && from.completed() {
            break;
        }
        let next = under_way.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at);
        let next = next.min(to.poll_timeout()).min(from.poll_timeout());
        if next > until {
            break;
        }
        assert!(next >= now, "time goes back from {now:?} to {next:?}");
        now = next;
        if under_way.peek().is_some_and(|Reverse((at, ..))| *at == now) {
            let Some(Reverse((_, index, data))) = under_way.pop() else { unreachable!() };
            let segment = packets[index as usize];
            assert!(segment.wire_bytes() >= 40);
            if data {
                from.handle_segment(now, &segment);
                assert!(from.received_bytes() >= result.received, "received bytes go back");
                result.received = from.received_bytes();
            } else {
                to.handle_segment(now, &segment);
            }
        } else if to.poll_timeout() <= now {
            to.handle_timeout(now);
        } else {
            from.handle_timeout(now);
        }
    }
    result.received = from.received_bytes();
    result.sender = to;
    result
}
