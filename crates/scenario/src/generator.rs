//! Traffic that is drawn: when something arrives, between whom, how large.
//!
//! Draws depend on the seed and on nothing the network does, with one exception that is the point of it: a web
//! session asks for its next object when the last one has arrived.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::model::{RoundTrips, Sessions, SizeDistribution, Traffic, TrafficKind};
use crate::random::{Pareto, Purpose, Stream};
use rampcc::Time;

/// One `[[traffic]]` table at work.
#[derive(Debug)]
pub struct Generator {
    pairs: Vec<(usize, usize)>,
    end: Time,
    kind: Kind,
}

/// What a generator wants done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
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
        /// Its round trip, if it is drawn.
        rtt: Option<Time>,
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
        coming: Option<Coming>,
        maker: Maker,
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
    size: Sizes,
    share: f64,
    rtt: Option<RoundTrips>,
    sizes: Stream,
    pairs: Stream,
    arms: Stream,
    rtts: Stream,
}

/// A distribution of sizes, ready to be drawn from.
#[derive(Clone, Copy, Debug)]
enum Sizes {
    Constant(u64),
    Exponential { mean_bytes: f64 },
    Pareto(Pareto),
}

#[derive(Debug)]
struct Session {
    draws: Draws,
    think: Stream,
    pair: (usize, usize),
    rtt: Option<Time>,
    objects_left: u32,
    /// This one included.
    pages_left: u32,
}

/// Web sessions to come.
#[derive(Debug)]
struct Coming {
    next: Time,
    mean_gap_s: f64,
    pages: u32,
    /// The generator's.
    index: u64,
    arrivals: Stream,
}

/// What drawn flows have in common.
#[derive(Clone, Copy, Debug)]
struct Maker {
    seed: u64,
    size: Sizes,
    share: f64,
    rtt: Option<RoundTrips>,
}

impl Maker {
    /// With streams of their own for `index`.
    fn draws(self, index: u64) -> Draws {
        let Self { seed, size, share, rtt } = self;
        let stream = |purpose| Stream::new(seed, purpose, index);
        Draws {
            size,
            share,
            rtt,
            sizes: stream(Purpose::Size),
            pairs: stream(Purpose::Pair),
            arms: stream(Purpose::Arm),
            rtts: stream(Purpose::RoundTrip),
        }
    }

    /// The session `number` of the generator `index`. Sessions have streams of their own, so that one that lags does not
    /// shift the others.
    fn session(self, index: u64, number: u32, pages: u32) -> Session {
        let index = (index << 32) | u64::from(number) | 1 << 63;
        Session {
            draws: self.draws(index),
            think: Stream::new(self.seed, Purpose::Think, index),
            pair: (0, 0),
            rtt: None,
            objects_left: 0,
            pages_left: pages,
        }
    }
}

impl Generator {
    /// The generator of `traffic`, the `index`-th of the scenario.
    pub fn new(traffic: &Traffic, index: usize, seed: u64) -> Self {
        let index = index as u64;
        let stream = |purpose| Stream::new(seed, purpose, index);
        let maker = |size, share| Maker { seed, size, share, rtt: traffic.rtt };
        let draws = |size, share| maker(size, share).draws(index);
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
                Kind::Poisson {
                    next,
                    mean_gap_s,
                    left,
                    arrivals,
                    draws: draws(Sizes::of(*size), *under_test_share),
                }
            }
            TrafficKind::Web { sessions, size, objects, think, under_test_share, .. } => {
                let objects = (*objects).max(1);
                let maker = maker(Sizes::of(*size), *under_test_share);
                let page_bytes = f64::from(objects) * size.mean_bytes();
                web(
                    traffic.start,
                    index,
                    maker,
                    &Web { sessions: *sessions, page_bytes, objects, think: *think },
                )
            }
            TrafficKind::Listed { flows, under_test_share, .. } => {
                let mut order: Vec<u32> = (0..flows.len() as u32).collect();
                order.sort_by_key(|&i| flows[i as usize].0);
                let draws = draws(Sizes::Constant(0), *under_test_share);
                Kind::Listed { flows: flows.clone(), order, next: 0, start: traffic.start, draws }
            }
        };
        Self { pairs: traffic.pairs.clone(), end: traffic.end, kind }
    }

    /// When the next arrival is due; `Time::NEVER` if none is, unless a completion brings one.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        let next = match &self.kind {
            Kind::Cbr { next, .. } => *next,
            Kind::Poisson { left: 0, .. } => Time::NEVER,
            Kind::Poisson { next, .. } => *next,
            Kind::Web { pages, coming, .. } => {
                let page = pages.peek().map_or(Time::NEVER, |page| page.0.0);
                coming.as_ref().map_or(page, |coming| page.min(coming.next))
            }
            Kind::Listed { flows, order, next, start, .. } => {
                order.get(*next).map_or(Time::NEVER, |&i| *start + flows[i as usize].0)
            }
        };
        if next < self.end { next } else { Time::NEVER }
    }

    /// What arrives now; call until `None`.
    #[inline]
    pub fn poll_arrival(&mut self, now: Time) -> Option<Arrival> {
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
                    rtt: draws.round_trip(),
                })
            }
            Kind::Web { pages, sessions, coming, maker, objects, .. } => {
                if let Some(coming) = coming.as_mut().filter(|coming| coming.next <= now) {
                    pages.push(Reverse((coming.next, sessions.len() as u32)));
                    sessions.push(maker.session(coming.index, sessions.len() as u32, coming.pages));
                    coming.next += gap(&mut coming.arrivals, coming.mean_gap_s);
                }
                let Reverse((_, id)) = pages.pop()?;
                let session = &mut sessions[id as usize];
                if session.objects_left == 0 {
                    session.objects_left = *objects;
                    session.pair = pick(pairs, &mut session.draws.pairs);
                    session.rtt = session.draws.round_trip();
                }
                session.objects_left -= 1;
                Some(Arrival::Flow {
                    pair: session.pair,
                    size_bytes: session.draws.size(),
                    under_test: session.draws.under_test(),
                    session: Some(id),
                    rtt: session.rtt,
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
                    rtt: draws.round_trip(),
                })
            }
        }
    }

    /// The flow of a web session has arrived in full: the next object at once, or the next page, if there is one, after
    /// thinking.
    pub fn on_completed(&mut self, now: Time, session: u32) {
        if let Kind::Web { pages, sessions, think_s, .. } = &mut self.kind {
            let state = &mut sessions[session as usize];
            if state.objects_left > 0 {
                pages.push(Reverse((now, session)));
                return;
            }
            if state.pages_left != FOR_EVER {
                state.pages_left -= 1;
            }
            if state.pages_left > 0 {
                pages.push(Reverse((now + gap(&mut state.think, *think_s), session)));
            }
        }
    }

    /// Whether a flow under test may still come.
    pub fn more_under_test(&self, now: Time) -> bool {
        let share = match &self.kind {
            Kind::Cbr { .. } => 0.0,
            Kind::Poisson { draws, .. } | Kind::Listed { draws, .. } => draws.share,
            // A session between two objects has no page pending, but goes on.
            Kind::Web { maker, .. } => return now < self.end && maker.share > 0.0,
        };
        share > 0.0 && self.poll_timeout() != Time::NEVER
    }
}

impl Draws {
    fn size(&mut self) -> u64 {
        match &self.size {
            Sizes::Constant(bytes) => *bytes,
            Sizes::Exponential { mean_bytes } => self.sizes.exponential(*mean_bytes) as u64,
            Sizes::Pareto(pareto) => self.sizes.pareto(pareto) as u64,
        }
        .max(1)
    }

    fn round_trip(&mut self) -> Option<Time> {
        let RoundTrips { median, sigma, min, max } = self.rtt?;
        let drawn = Time::from_secs_f64(self.rtts.lognormal(median.secs_f64(), sigma));
        Some(drawn.max(min).min(max))
    }

    fn under_test(&mut self) -> bool {
        self.arms.uniform() < self.share
    }
}

impl Sizes {
    fn of(size: SizeDistribution) -> Self {
        match size {
            SizeDistribution::Constant(bytes) => Self::Constant(bytes),
            SizeDistribution::Exponential { mean_bytes } => Self::Exponential { mean_bytes },
            SizeDistribution::Pareto { mean_bytes, shape, max_bytes } => {
                Self::Pareto(Pareto::new(mean_bytes, shape, max_bytes))
            }
        }
    }
}

/// A session that does not end.
const FOR_EVER: u32 = u32::MAX;

/// Web sessions as the scenario has them.
struct Web {
    sessions: Sessions,
    page_bytes: f64,
    objects: u32,
    think: Time,
}

/// Web sessions from `start` on. Where they come and go, there are some in the midst of theirs at the start, so that the load
/// is the same from then on.
fn web(start: Time, index: u64, maker: Maker, web: &Web) -> Kind {
    let think_s = web.think.secs_f64();
    let mut pages = BinaryHeap::new();
    let mut sessions = Vec::new();
    let mut begin = |pages_left| {
        let number = sessions.len() as u32;
        let mut session = maker.session(index, number, pages_left);
        pages.push(Reverse((start + gap(&mut session.think, think_s), number)));
        sessions.push(session);
    };
    let coming = match web.sessions {
        Sessions::Constant(count) => {
            (0..count).for_each(|_| begin(FOR_EVER));
            None
        }
        Sessions::Arriving { pages: of_each, .. } => {
            let per_s = web.sessions.per_s(web.page_bytes);
            let mut arrivals = Stream::new(maker.seed, Purpose::Arrival, index);
            // Of the sessions that think, each has as likely one page to come as any other number below all. Thinking times
            // are exponential, so that what is left of one is as long as a whole one.
            let thinking = per_s * think_s * f64::from(of_each - 1);
            let mut passed = arrivals.exponential(1.0);
            while passed < thinking {
                begin(1 + arrivals.below(u64::from(of_each - 1)) as u32);
                passed += arrivals.exponential(1.0);
            }
            let mean_gap_s = 1.0 / per_s;
            let next = start + gap(&mut arrivals, mean_gap_s);
            Some(Coming { next, mean_gap_s, pages: of_each, index, arrivals })
        }
    };
    Kind::Web { pages, sessions, coming, maker, objects: web.objects, think_s }
}

/// At least a nanosecond, so that even absurd arrival rates leave time moving.
fn gap(stream: &mut Stream, mean_s: f64) -> Time {
    Time::from_secs_f64(stream.exponential(mean_s)).max(Time::from_ns(1))
}

fn pick(pairs: &[(usize, usize)], stream: &mut Stream) -> (usize, usize) {
    pairs[stream.below(pairs.len() as u64) as usize]
}
