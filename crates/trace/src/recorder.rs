//! Curves for charts in bounded memory.

use std::collections::{BTreeMap, VecDeque};

use rampcc::Time;

use crate::{
    FlowEvent, FlowEventKind, FlowSample, FlowSeries, LinkSample, LinkSeries, Mark, MarkKind, Observer,
    RunSeries,
};

/// Limits of a [`Recorder`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecorderOptions {
    /// Points per curve, about; at least 16.
    pub points: usize,
    /// Flows under test, the first to open.
    pub flows: usize,
    /// Links to record.
    pub links: Vec<u32>,
}

impl Default for RecorderOptions {
    fn default() -> Self {
        Self { points: 1_000, flows: 8, links: Vec::new() }
    }
}

/// Keeps the shape of a run's curves, however long it is.
///
/// Time is cut into pieces that end at the squares of 1, 2, 3, … times a grain: what begins fast is drawn finely, and what lasts long
/// fits. Of each piece stay the last sample and those with the extremes. When there are too many pieces, neighbours are joined.
/// Samples next to the exit all stay.
#[derive(Debug)]
pub struct Recorder {
    options: RecorderOptions,
    flows: BTreeMap<u32, FlowRecorder>,
    links: BTreeMap<u32, Thinned<LinkPoint>>,
}

#[derive(Debug)]
struct FlowRecorder {
    opened: Time,
    curve: Thinned<FlowPoint>,
    /// The latest samples, until the exit; those next to it, afterwards.
    near_exit: VecDeque<FlowPoint>,
    left_to_keep: Option<usize>,
    marks: Vec<Mark>,
    drops: Spaced,
}

/// Samples kept on each side of the exit.
const NEAR_EXIT: usize = 32;
/// Marks other than drops; the first ones stay.
const MARKS: usize = 1_000;

impl Recorder {
    /// A recorder for one run.
    pub fn new(options: RecorderOptions) -> Self {
        let links = options.links.iter().map(|link| (*link, Thinned::new(options.points))).collect();
        Self { options, flows: BTreeMap::new(), links }
    }

    /// The run is over: its curves.
    pub fn finish(self) -> RunSeries {
        RunSeries {
            flows: self.flows.into_iter().map(|(flow, recorder)| recorder.series(flow)).collect(),
            links: self.links.into_iter().map(|(link, curve)| link_series(link, &curve)).collect(),
        }
    }
}

impl Observer for Recorder {
    fn on_flow(&mut self, sample: &FlowSample) {
        let Some(flow) = self.flows.get_mut(&sample.flow) else { return };
        let point = FlowPoint {
            now: sample.now,
            cwnd: sample.cwnd_bytes,
            in_flight: sample.in_flight_bytes,
            delivered: sample.delivered_bytes,
            rtt: sample.rtt,
        };
        flow.curve.push(point);
        match &mut flow.left_to_keep {
            None => {
                if flow.near_exit.len() == NEAR_EXIT {
                    flow.near_exit.pop_front();
                }
                flow.near_exit.push_back(point);
            }
            Some(0) => {}
            Some(left) => {
                *left -= 1;
                flow.near_exit.push_back(point);
            }
        }
    }

    fn on_link(&mut self, sample: &LinkSample) {
        if let Some(curve) = self.links.get_mut(&sample.link) {
            curve.push(LinkPoint { now: sample.now, queue: sample.queue_bytes });
        }
    }

    fn on_event(&mut self, event: &FlowEvent) {
        if let FlowEventKind::Opened { under_test: true, .. } = event.kind {
            if self.flows.len() < self.options.flows {
                self.flows
                    .entry(event.flow)
                    .or_insert_with(|| FlowRecorder::new(event.now, self.options.points));
            }
            return;
        }
        let Some(flow) = self.flows.get_mut(&event.flow) else { return };
        let kind = match event.kind {
            FlowEventKind::Established => MarkKind::Established,
            FlowEventKind::StartupExit { .. } => {
                flow.left_to_keep.get_or_insert(NEAR_EXIT);
                MarkKind::StartupExit
            }
            FlowEventKind::RecoveryStart { .. } => MarkKind::RecoveryStart,
            FlowEventKind::RecoveryEnd => MarkKind::RecoveryEnd,
            FlowEventKind::Timeout { .. } => MarkKind::Timeout,
            FlowEventKind::Undone => MarkKind::Undone,
            FlowEventKind::StartupResumed => return flow.take_exit_back(),
            FlowEventKind::Completed { .. } => MarkKind::Completed,
            FlowEventKind::Dropped { data: true, .. } => return flow.drops.push(event.now),
            _ => return,
        };
        let last_word = matches!(kind, MarkKind::StartupExit | MarkKind::Completed);
        if flow.marks.len() < MARKS || last_word {
            flow.marks.push(Mark { time_s: seconds(event.now), kind });
        }
    }
}

impl FlowRecorder {
    fn new(opened: Time, points: usize) -> Self {
        Self {
            opened,
            curve: Thinned::new(points),
            near_exit: VecDeque::new(),
            left_to_keep: None,
            marks: Vec::new(),
            drops: Spaced::new(points / 2),
        }
    }

    fn take_exit_back(&mut self) {
        self.left_to_keep = None;
        self.near_exit.clear();
        self.marks.retain(|mark| mark.kind != MarkKind::StartupExit);
    }

    fn series(mut self, flow: u32) -> FlowSeries {
        let near_exit = if self.left_to_keep.is_some() { self.near_exit } else { VecDeque::new() };
        let mut points = self.curve.points();
        points.extend(near_exit);
        points.sort_by_key(FlowPoint::order);
        points.dedup();
        self.marks.extend(self.drops.at.iter().map(|at| Mark { time_s: seconds(*at), kind: MarkKind::Drop }));
        self.marks.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        FlowSeries {
            flow,
            under_test: true,
            opened_s: seconds(self.opened),
            time_s: points.iter().map(|p| seconds(p.now)).collect(),
            cwnd_bytes: points.iter().map(|p| p.cwnd).collect(),
            in_flight_bytes: points.iter().map(|p| p.in_flight).collect(),
            delivered_bytes: points.iter().map(|p| p.delivered).collect(),
            rtt_ms: points.iter().map(|p| (p.rtt != Time::ZERO).then(|| p.rtt.us() as f64 / 1e3)).collect(),
            marks: self.marks,
            grain_s: self.curve.grain_s(),
        }
    }
}

fn link_series(link: u32, curve: &Thinned<LinkPoint>) -> LinkSeries {
    let points = curve.points();
    LinkSeries {
        link,
        time_s: points.iter().map(|p| seconds(p.now)).collect(),
        queue_bytes: points.iter().map(|p| p.queue).collect(),
        grain_s: curve.grain_s(),
    }
}

/// Whole microseconds, which keeps files small.
fn seconds(time: Time) -> f64 {
    time.us() as f64 / 1e6
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FlowPoint {
    now: Time,
    cwnd: u64,
    in_flight: u64,
    delivered: u64,
    rtt: Time,
}

impl FlowPoint {
    fn order(&self) -> (Time, u64) {
        (self.now, self.delivered)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LinkPoint {
    now: Time,
    queue: u64,
}

/// A point of a curve with the values whose extremes must survive.
trait Point: Copy + PartialEq + 'static {
    fn now(&self) -> Time;
    /// Smallest first, of each value that a chart draws; a missing one is never an extreme.
    fn extremes() -> &'static [fn(&Self) -> Option<i128>];
}

impl Point for FlowPoint {
    fn now(&self) -> Time {
        self.now
    }
    fn extremes() -> &'static [fn(&Self) -> Option<i128>] {
        &[
            |p| Some(i128::from(p.cwnd)),
            |p| Some(-i128::from(p.cwnd)),
            |p| (p.rtt != Time::ZERO).then(|| -i128::from(p.rtt.ns())),
        ]
    }
}

impl Point for LinkPoint {
    fn now(&self) -> Time {
        self.now
    }
    fn extremes() -> &'static [fn(&Self) -> Option<i128>] {
        &[|p| Some(i128::from(p.queue)), |p| Some(-i128::from(p.queue))]
    }
}

/// Extremes that any kind of point may have.
const EXTREMES: usize = 3;

#[derive(Debug)]
struct Thinned<P> {
    pieces: Vec<Piece<P>>,
    most: usize,
    /// Time of the first point.
    begin: Time,
    /// How long the first piece is, ns.
    grain: u64,
}

#[derive(Clone, Copy, Debug)]
struct Piece<P> {
    number: u64,
    first: P,
    last: P,
    /// The sequence decides between points of one instant.
    extremes: [Option<P>; EXTREMES],
}

impl<P: Point> Thinned<P> {
    fn new(points: usize) -> Self {
        let most = (points / (P::extremes().len() + 1)).max(4);
        Self { pieces: Vec::with_capacity(most + 1), most, begin: Time::NEVER, grain: 1 }
    }

    fn push(&mut self, point: P) {
        self.begin = self.begin.min(point.now());
        let number = ((point.now() - self.begin).ns() / self.grain).isqrt();
        match self.pieces.last_mut() {
            Some(piece) if piece.number == number => piece.join(&Piece::new(number, point)),
            _ => self.pieces.push(Piece::new(number, point)),
        }
        while self.pieces.len() > self.most {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.grain = self.grain.saturating_mul(4);
        let mut joined: Vec<Piece<P>> = Vec::with_capacity(self.most + 1);
        for mut piece in self.pieces.drain(..) {
            piece.number /= 2;
            match joined.last_mut() {
                Some(before) if before.number == piece.number => before.join(&piece),
                _ => joined.push(piece),
            }
        }
        self.pieces = joined;
    }

    fn grain_s(&self) -> f64 {
        Time::from_ns(self.grain).secs_f64()
    }

    /// What is left, in order of time; the very first point always is.
    fn points(&self) -> Vec<P> {
        let mut points: Vec<P> = self.pieces.first().map(|piece| piece.first).into_iter().collect();
        for piece in &self.pieces {
            let mut kept: Vec<P> = piece.extremes.iter().copied().flatten().chain([piece.last]).collect();
            kept.sort_by_key(Point::now);
            points.extend(kept);
        }
        points.dedup();
        points
    }
}

impl<P: Point> Piece<P> {
    fn new(number: u64, point: P) -> Self {
        let mut extremes = [None; EXTREMES];
        for (extreme, value) in extremes.iter_mut().zip(P::extremes()) {
            *extreme = value(&point).map(|_| point);
        }
        Self { number, first: point, last: point, extremes }
    }

    fn join(&mut self, later: &Self) {
        self.last = later.last;
        for ((mine, theirs), value) in self.extremes.iter_mut().zip(later.extremes).zip(P::extremes()) {
            let (Some(theirs), mine_value) = (theirs, mine.as_ref().and_then(value)) else { continue };
            if mine_value.is_none_or(|mine| value(&theirs).is_some_and(|theirs| theirs < mine)) {
                *mine = Some(theirs);
            }
        }
    }
}

/// Instants that keep a distance, which grows when there are too many.
#[derive(Debug)]
struct Spaced {
    at: Vec<Time>,
    most: usize,
    spacing: u64,
}

impl Spaced {
    fn new(most: usize) -> Self {
        Self { at: Vec::new(), most: most.max(4), spacing: 0 }
    }

    fn push(&mut self, now: Time) {
        if self.at.last().is_some_and(|last| (now - *last).ns() < self.spacing) {
            return;
        }
        self.at.push(now);
        while self.at.len() > self.most {
            self.spacing = self.spacing.saturating_mul(2).max(1_000);
            let mut last: Option<Time> = None;
            let spacing = self.spacing;
            self.at.retain(|at| {
                let keep = last.is_none_or(|last| (*at - last).ns() >= spacing);
                if keep {
                    last = Some(*at);
                }
                keep
            });
        }
    }
}
