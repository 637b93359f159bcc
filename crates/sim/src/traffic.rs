//! Traffic that is drawn: when something arrives, between whom, how large.
//!
//! Draws depend on the seed and on nothing the network does, with one exception that is the point of it: a web
//! session asks for its next object when the last one has arrived.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rampcc::Time;
use rampcc_scenario::random::{Purpose, Stream};
use rampcc_scenario::{SizeDistribution, Traffic, TrafficKind};

/// One `[[traffic]]` table at work.
#[derive(Debug)]
pub(crate) struct Generator {
    pairs: Vec<(usize, usize)>,
    end: Time,
    kind: Kind,
}

/// What a generator wants done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// A TCP flow opens.
    Flow {
        /// Sending and receiving node.
        pair: (usize, usize),
        /// Payload bytes.
        size_bytes: u64,
        /// Whether the compared algorithm steers it.
        under_test: bool,
        /// Which web session to tell when it has completed.
        session: Option<u32>,
    },
    /// A stream without feedback begins.
    Stream {
        /// Sending and receiving node.
        pair: (usize, usize),
    },
    /// The stream sends a packet.
    Packet {
        /// Wire bytes.
        wire_bytes: u32,
    },
}

#[derive(Debug)]
enum Kind {
    Cbr {
        started: bool,
        next: Time,
        sent: u64,
        start: Time,
        interval_ns: f64,
        wire_bytes: u32,
        pairs: Stream,
    },
    Poisson {
        next: Time,
        mean_gap_s: f64,
        left: u64,
        arrivals: Stream,
        draws: Draws,
    },
    Web {
        pages: BinaryHeap<Reverse<(Time, u32)>>,
        sessions: Vec<Session>,
        objects: u32,
        think_s: f64,
    },
    Listed {
        flows: std::sync::Arc<[(Time, usize, usize, u64)]>,
        order: Vec<u32>,
        next: usize,
        start: Time,
        draws: Draws,
    },
}

/// What every drawn flow needs.
#[derive(Debug)]
struct Draws {
    size: SizeDistribution,
    share: f64,
    sizes: Stream,
    pairs: Stream,
    arms: Stream,
}

#[derive(Debug)]
struct Session {
    draws: Draws,
    think: Stream,
    pair: (usize, usize),
    objects_left: u32,
}

impl Generator {
    /// The generator of `traffic`, the `index`-th of the scenario.
    pub(crate) fn new(traffic: &Traffic, index: usize, seed: u64) -> Self {
        let index = index as u64;
        let stream = |purpose| Stream::new(seed, purpose, index);
        let draws = |size, share| Draws {
            size,
            share,
            sizes: stream(Purpose::Size),
            pairs: stream(Purpose::Pair),
            arms: stream(Purpose::Arm),
        };
        let kind = match &traffic.kind {
            TrafficKind::Cbr { rate, packet_bytes } => Kind::Cbr {
                started: false,
                next: if rate.bits_per_s() == 0 { Time::NEVER } else { traffic.start },
                sent: 0,
                start: traffic.start,
                interval_ns: f64::from(*packet_bytes) * 8e9 / rate.bits_per_s() as f64,
                wire_bytes: *packet_bytes,
                pairs: stream(Purpose::Pair),
            },
            TrafficKind::Poisson { flows_per_s, size, flows, under_test_share, .. } => {
                let mean_gap_s = 1.0 / flows_per_s;
                let mut arrivals = stream(Purpose::Arrival);
                let next = traffic.start + gap(&mut arrivals, mean_gap_s);
                let left = if *flows == 0 { u64::MAX } else { *flows };
                Kind::Poisson { next, mean_gap_s, left, arrivals, draws: draws(*size, *under_test_share) }
            }
            TrafficKind::Web { sessions, size, objects, think, under_test_share, .. } => {
                let think_s = think.secs_f64();
                let mut pages = BinaryHeap::new();
                let sessions = (0..*sessions)
                    .map(|i| {
                        // Sessions have streams of their own, so that one that lags does not shift the others.
                        let index = (index << 32) | u64::from(i) | 1 << 63;
                        let mut think = Stream::new(seed, Purpose::Think, index);
                        pages.push(Reverse((traffic.start + gap(&mut think, think_s), i)));
                        let draws = Draws {
                            size: *size,
                            share: *under_test_share,
                            sizes: Stream::new(seed, Purpose::Size, index),
                            pairs: Stream::new(seed, Purpose::Pair, index),
                            arms: Stream::new(seed, Purpose::Arm, index),
                        };
                        Session { draws, think, pair: (0, 0), objects_left: 0 }
                    })
                    .collect();
                Kind::Web { pages, sessions, objects: (*objects).max(1), think_s }
            }
            TrafficKind::Listed { flows, under_test_share, .. } => {
                let mut order: Vec<u32> = (0..flows.len() as u32).collect();
                order.sort_by_key(|&i| flows[i as usize].0);
                let draws = draws(SizeDistribution::Constant(0), *under_test_share);
                Kind::Listed { flows: flows.clone(), order, next: 0, start: traffic.start, draws }
            }
        };
        Self { pairs: traffic.pairs.clone(), end: traffic.end, kind }
    }

    /// When the next arrival is due; `Time::NEVER` if none is, unless a completion brings one.
    pub(crate) fn poll_timeout(&self) -> Time {
        let next = match &self.kind {
            Kind::Cbr { next, .. } => *next,
            Kind::Poisson { left: 0, .. } => Time::NEVER,
            Kind::Poisson { next, .. } => *next,
            Kind::Web { pages, .. } => pages.peek().map_or(Time::NEVER, |page| page.0.0),
            Kind::Listed { flows, order, next, start, .. } => {
                order.get(*next).map_or(Time::NEVER, |&i| *start + flows[i as usize].0)
            }
        };
        if next < self.end { next } else { Time::NEVER }
    }

    /// What arrives now; call until `None`.
    pub(crate) fn poll_arrival(&mut self, now: Time) -> Option<Arrival> {
        if self.poll_timeout() > now {
            return None;
        }
        let pairs = &self.pairs;
        match &mut self.kind {
            Kind::Cbr { started, pairs: stream, .. } if !*started => {
                *started = true;
                Some(Arrival::Stream { pair: pick(pairs, stream) })
            }
            Kind::Cbr { next, sent, start, interval_ns, wire_bytes, .. } => {
                *sent += 1;
                // From the start, so that rounding does not add up.
                *next = (*start + Time::from_ns((*sent as f64 * *interval_ns) as u64))
                    .max(*next + Time::from_ns(1));
                Some(Arrival::Packet { wire_bytes: *wire_bytes })
            }
            Kind::Poisson { next, mean_gap_s, left, arrivals, draws } => {
                *next += gap(arrivals, *mean_gap_s);
                *left -= 1;
                let pair = pick(pairs, &mut draws.pairs);
                Some(Arrival::Flow {
                    pair,
                    size_bytes: draws.size(),
                    under_test: draws.under_test(),
                    session: None,
                })
            }
            Kind::Web { pages, sessions, objects, .. } => {
                let Reverse((_, id)) = pages.pop()?;
                let session = &mut sessions[id as usize];
                if session.objects_left == 0 {
                    session.objects_left = *objects;
                    session.pair = pick(pairs, &mut session.draws.pairs);
                }
                session.objects_left -= 1;
                Some(Arrival::Flow {
                    pair: session.pair,
                    size_bytes: session.draws.size(),
                    under_test: session.draws.under_test(),
                    session: Some(id),
                })
            }
            Kind::Listed { flows, order, next, draws, .. } => {
                let (_, from, to, size_bytes) = flows[order[*next] as usize];
                *next += 1;
                Some(Arrival::Flow {
                    pair: (from, to),
                    size_bytes,
                    under_test: draws.under_test(),
                    session: None,
                })
            }
        }
    }

    /// The flow of a web session has arrived in full: the next object at once, or the next page after thinking.
    pub(crate) fn on_completed(&mut self, now: Time, session: u32) {
        if let Kind::Web { pages, sessions, think_s, .. } = &mut self.kind {
            let state = &mut sessions[session as usize];
            let at = if state.objects_left > 0 { now } else { now + gap(&mut state.think, *think_s) };
            pages.push(Reverse((at, session)));
        }
    }

    /// Whether a flow under test may still come.
    pub(crate) fn more_under_test(&self, now: Time) -> bool {
        let share = match &self.kind {
            Kind::Cbr { .. } => 0.0,
            Kind::Poisson { draws, .. } | Kind::Listed { draws, .. } => draws.share,
            Kind::Web { sessions, .. } => {
                // A session between two objects has no page pending, but goes on.
                return now < self.end && sessions.iter().any(|s| s.draws.share > 0.0);
            }
        };
        share > 0.0 && self.poll_timeout() != Time::NEVER
    }
}

impl Draws {
    fn size(&mut self) -> u64 {
        match self.size {
            SizeDistribution::Constant(bytes) => bytes,
            SizeDistribution::Exponential { mean_bytes } => self.sizes.exponential(mean_bytes) as u64,
            SizeDistribution::Pareto { mean_bytes, shape } => self.sizes.pareto(mean_bytes, shape) as u64,
        }
        .max(1)
    }

    fn under_test(&mut self) -> bool {
        self.arms.uniform() < self.share
    }
}

/// At least a nanosecond, so that even absurd arrival rates leave time moving.
fn gap(stream: &mut Stream, mean_s: f64) -> Time {
    Time::from_secs_f64(stream.exponential(mean_s)).max(Time::from_ns(1))
}

fn pick(pairs: &[(usize, usize)], stream: &mut Stream) -> (usize, usize) {
    pairs[stream.below(pairs.len() as u64) as usize]
}
