//! The oracles' single bottleneck: side link, bottleneck, side link, each way, as ns-2's scripts build it.

use ramp::{Rate, Time};
use ramp_path::{Capacity, DelayConfig, Limit, LinkConfig, LossConfig, Propagation, QueueConfig};
use ramp_scenario::{
    FlowConfig, NamedLink, Scenario, Source, Steering, Stop, Topology, Traffic, TrafficKind,
};
use ramp_tcp::{ReceiverConfig, SenderConfig};

/// The path of one oracle run.
pub(crate) struct Bottleneck {
    pub(crate) rate: Rate,
    pub(crate) delay: Time,
    pub(crate) side_rate: Rate,
    pub(crate) side_delay: Time,
    pub(crate) queue_packets: u64,
}

const SENDER: usize = 0;
const RECEIVER: usize = 3;
const NODES: [&str; 6] = ["sender", "left", "right", "receiver", "cbr-sender", "cbr-receiver"];

impl Bottleneck {
    /// How long an ACK of 40 bytes takes back.
    pub(crate) fn return_delay(&self) -> Time {
        let serialisation = self.rate.time_of(40) + self.side_rate.time_of(40) + self.side_rate.time_of(40);
        self.delay + self.side_delay + self.side_delay + serialisation
    }

    /// One flow over this path, with a CBR flow of `cbr` beside it (rate 0: none), from `start` to `end`.
    pub(crate) fn scenario(
        &self,
        sender: SenderConfig,
        receiver: ReceiverConfig,
        (start, end): (Time, Time),
        cbr: Rate,
    ) -> Scenario {
        let side = (self.side_rate, self.side_delay);
        let middle = (self.rate, self.delay);
        let mut links = Vec::new();
        for (from, to, (rate, delay), limit) in [
            (0, 1, side, Limit::Unlimited),
            (1, 2, middle, Limit::Packets(self.queue_packets)),
            (2, 3, side, Limit::Unlimited),
            (3, 2, side, Limit::Unlimited),
            (2, 1, middle, Limit::Unlimited),
            (1, 0, side, Limit::Unlimited),
            (4, 1, side, Limit::Unlimited),
            (2, 5, side, Limit::Unlimited),
            (5, 2, side, Limit::Unlimited),
            (1, 4, side, Limit::Unlimited),
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
                },
            });
        }
        let mut traffic = Vec::new();
        if cbr > Rate::default() {
            traffic.push(Traffic {
                name: "cbr".into(),
                pairs: vec![(4, 5)],
                start: Time::ZERO,
                end: Time::NEVER,
                kind: TrafficKind::Cbr { rate: cbr, packet_bytes: 1000 },
            });
        }
        let steering = Steering { algorithm: sender.startup, parameters: sender.parameters };
        Scenario {
            name: "oracle".into(),
            description: String::new(),
            text: String::new(),
            topology: Topology { nodes: NODES.iter().map(ToString::to_string).collect(), links },
            bottleneck: 1,
            flows: vec![FlowConfig {
                name: "flow".into(),
                from: SENDER,
                to: RECEIVER,
                start,
                start_jitter: Time::ZERO,
                source: Source::Bulk,
                sender,
                receiver,
                under_test: true,
            }],
            traffic,
            stop: Stop { after: end, when_complete: false },
            runs: 1,
            seed: 1,
            steering,
            settings: Vec::new(),
            trace_offset_range: Time::ZERO,
            files: Vec::new(),
            directory: None,
            uncertain: Vec::new(),
        }
    }
}
