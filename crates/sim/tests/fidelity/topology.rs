//! The oracles' single bottleneck: side link, bottleneck, side link, each way, as ns-2's scripts build it.

use std::ops::Range;

use rampcc::{Rate, Time};
use rampcc_path::{
    Capacity, DelayConfig, Limit, LinkConfig, LossConfig, Propagation, QueueConfig, QuickStartPolicy, Ties,
};
use rampcc_scenario::{
    FlowConfig, NamedLink, OfSender, Scenario, Source, Steering, Stop, Topology, Traffic, TrafficKind,
};
use rampcc_tcp::{Profile, ReceiverConfig, SenderConfig};

use crate::common::empty;

/// The path of one oracle run.
pub(crate) struct Bottleneck {
    pub(crate) rate: Rate,
    pub(crate) delay: Time,
    pub(crate) side_rate: Rate,
    pub(crate) side_delay: Time,
    pub(crate) queue_packets: u64,
}

pub(crate) const SENDER: usize = 0;
pub(crate) const RECEIVER: usize = 3;
pub(crate) const CROSS_SENDER: usize = 4;
pub(crate) const CROSS_RECEIVER: usize = 5;
/// Data packets on the wire. Sizes other than these are as much shorter on both links.
const PACKET_BYTES: u64 = 1040;
/// The link whose drops count.
pub(crate) const BOTTLENECK: usize = 1;
const NODES: [&str; 6] = ["sender", "left", "right", "receiver", "cbr-sender", "cbr-receiver"];

impl Bottleneck {
    /// How long an ACK of 40 bytes takes back.
    pub(crate) fn return_delay(&self) -> Time {
        let serialisation = self.rate.time_of(40) + self.side_rate.time_of(40) + self.side_rate.time_of(40);
        self.delay + self.side_delay + self.side_delay + serialisation
    }

    /// One flow over this path, with a CBR flow of `cbr` next to it (rate 0: none), from `start` to `end`.
    pub(crate) fn scenario(
        &self,
        sender: SenderConfig,
        receiver: ReceiverConfig,
        span: Range<Time>,
        cbr: Rate,
    ) -> Scenario {
        let links = self.links(Limit::Unlimited, [self.side_delay; 4]);
        let mut traffic = Vec::new();
        if cbr > Rate::default() {
            traffic.push(constant_rate([CROSS_SENDER, CROSS_RECEIVER], cbr, Time::ZERO..Time::NEVER));
        }
        let flow = bulk_flow([SENDER, RECEIVER], span.start, sender, receiver);
        scenario(links, vec![flow], traffic, span.end)
    }

    /// All links, there and back. The queue on the way back holds `back`; `sides` are the delays to sender, receiver,
    /// and the two other hosts.
    pub(crate) fn links(&self, back: Limit, sides: [Time; 4]) -> Vec<NamedLink> {
        let [near, far, cross_left, cross_right] = sides.map(|delay| (self.side_rate, delay));
        let middle = (self.rate, self.delay);
        let over_the_side = self.side_rate.time_of(PACKET_BYTES) + sides[0];
        let ties = first_planned(over_the_side, self.rate.time_of(PACKET_BYTES));
        let mut links = Vec::new();
        for (from, to, (rate, delay), limit) in [
            (0, 1, near, Limit::Unlimited),
            (1, 2, middle, Limit::Packets(self.queue_packets)),
            (2, 3, far, Limit::Unlimited),
            (3, 2, far, Limit::Unlimited),
            (2, 1, middle, back),
            (1, 0, near, Limit::Unlimited),
            (4, 1, cross_left, Limit::Unlimited),
            (2, 5, cross_right, Limit::Unlimited),
            (5, 2, cross_right, Limit::Unlimited),
            (1, 4, cross_left, Limit::Unlimited),
        ] {
            links.push(NamedLink {
                name: format!("{}-{}", NODES[from], NODES[to]),
                from,
                to,
                config: LinkConfig {
                    capacity: Capacity::Constant(rate),
                    queue: QueueConfig::DropTail { limit },
                    delay: DelayConfig {
                        propagation: Propagation::Constant(delay),
                        jitter: None,
                        reordering: None,
                    },
                    loss: LossConfig::None,
                    ack_filter: None,
                    quick_start: QuickStartPolicy::Unaware,
                    ties: if (from, to) == (1, 2) { ties } else { Ties::Departure },
                },
            });
        }
        links
    }
}

/// What ns-2 handles first at one instant, which is what it planned first.
pub(crate) fn first_planned(over_the_side: Time, service: Time) -> Ties {
    if over_the_side > service { Ties::Arrival } else { Ties::Departure }
}

/// A flow without end.
pub(crate) fn bulk_flow(
    [from, to]: [usize; 2],
    start: Time,
    sender: SenderConfig,
    receiver: ReceiverConfig,
) -> FlowConfig {
    FlowConfig {
        name: "flow".into(),
        from,
        to,
        start,
        start_jitter: Time::ZERO,
        source: Source::Bulk,
        sender,
        receiver,
        under_test: true,
    }
}

/// Packets of 1000 bytes at a constant rate.
pub(crate) fn constant_rate([from, to]: [usize; 2], rate: Rate, span: Range<Time>) -> Traffic {
    Traffic {
        name: "cbr".into(),
        pairs: vec![(from, to)],
        start: span.start,
        end: span.end,
        rtt: None,
        kind: TrafficKind::Cbr { rate, packet_bytes: 1000 },
    }
}

/// What one run of an oracle is to us.
pub(crate) fn scenario(
    links: Vec<NamedLink>,
    flows: Vec<FlowConfig>,
    traffic: Vec<Traffic>,
    end: Time,
) -> Scenario {
    let sender = &flows[0].sender;
    let steering =
        Steering { algorithm: sender.startup, parameters: sender.parameters, sender: OfSender::default() };
    Scenario {
        name: "oracle".into(),
        profile: Profile::Modern,
        topology: Topology { nodes: NODES.iter().map(ToString::to_string).collect(), links },
        bottleneck: BOTTLENECK,
        flows,
        traffic,
        stop: Stop { after: end, when_complete: false },
        steering,
        ..empty(0, 0.0)
    }
}
