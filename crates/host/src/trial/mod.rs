//! Two congestion controls against each other on live connections.
//!
//! [`Trial::start`] assigns each new connection of a control group to one of two arms by a draw; [`Trial::poll`] collects
//! what became of them and stops early where the arm on trial does harm; [`Trial::report`] compares the arms, block of
//! time by block of time. Nothing is pinned: however the process ends, the control group is as before, and connections
//! finish with what they were given.

mod connection;
mod file;
mod group;
mod guard;
mod judge;
mod place;
mod plan;
mod rank;
#[cfg(test)]
mod synthetic;
mod words;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use nix::time::{ClockId, clock_getres, clock_gettime};
use rampcc::Algorithm;
use rampcc::ExitReason;
use rampcc_linux::{Access, Event, LoadError, Loaded, Options, Record, load};

pub use connection::{Connection, SizeClass};
pub use group::OwnGroup;
pub use guard::{Harm, Stop};
pub use judge::{ArmFigures, Ending, How, Metric, Row, TrialReport, judge};
pub use plan::Plan;

use crate::assign::{Assign, AssignArm, AssignCounters, AssignEvent, AssignOptions, WHOLE};
use crate::error::{HostError, Result};
use crate::scope::printable;
use file::TrialFile;
use guard::{Guard, Known, Open};

/// Trials at once, each with names of its own.
const TRIALS_MAX: u32 = 9;
/// The end of one is looked for ten times a second.
const BLOCK_LEAST: Duration = Duration::from_millis(100);
/// Exits kept until their connections are done.
const EXITS_KEPT: usize = 1 << 20;

/// One of the two.
#[derive(Clone, Debug)]
pub enum TrialArm {
    /// An algorithm of ours, put in for as long as the trial lasts.
    Ours {
        /// What reports call it.
        label: String,
        /// Which.
        algorithm: &'static Algorithm,
        /// Its parameters.
        options: Box<Options>,
    },
    /// A congestion control that the kernel has.
    Kernel(String),
}

impl TrialArm {
    /// An algorithm of the registry by its id or name, or else one of the kernel's congestion controls.
    pub fn parse(name: &str) -> Self {
        let by_name = || rampcc::algorithms().iter().find(|algorithm| algorithm.name == name);
        match rampcc::algorithm(name).or_else(by_name) {
            Some(algorithm) => {
                let options = Box::new(Options::new(algorithm));
                Self::Ours { label: algorithm.id.to_owned(), algorithm, options }
            }
            None => Self::Kernel(name.to_owned()),
        }
    }

    /// What reports call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Ours { label: name, .. } | Self::Kernel(name) => name,
        }
    }
}

/// How to try.
#[derive(Clone, Debug)]
pub struct TrialOptions {
    /// The arm on trial, and what it is tried against.
    pub arms: [TrialArm; 2],
    /// Share of the arm on trial, out of [`WHOLE`].
    pub share: u32,
    /// Whose connections.
    pub cgroup: PathBuf,
    /// Also connections whose application has chosen.
    pub all: bool,
    /// For how long connections are assigned.
    pub length: Duration,
    /// What is compared with each other; `None`: a twentieth of the length, at least a second.
    pub block: Option<Duration>,
    /// After that, how long to wait for open connections; `None`: a tenth of the length, at most 30 s.
    pub drain: Option<Duration>,
    /// A smaller relative difference of times counts as none.
    pub margin: f64,
    /// Probability that an arm that does no harm is stopped.
    pub alpha: f64,
    /// Directory for a line per connection.
    pub out: Option<PathBuf>,
    /// How to do it again.
    pub command: String,
}

/// Where a trial is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Connections are assigned.
    Assigning,
    /// No more, but some are still open.
    Draining,
    /// The control group is as before.
    Over,
}

/// How it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Where it is.
    pub stage: Stage,
    /// Since it began.
    pub elapsed: Duration,
    /// Connections that each arm was given.
    pub assigned: [u64; 2],
    /// Of these, still open.
    pub open: [u64; 2],
    /// Ratio of transfer times at the last look, sizes compared with their like.
    pub ratio: Option<f64>,
    /// Looks of the guard so far, and in all.
    pub looks: [u32; 2],
}

/// A trial that has begun.
pub struct Trial {
    plan: Plan,
    drain_s: f64,
    began: Duration,
    // Fields drop in this order: nothing is assigned any more when the names go.
    assign: Option<Assign>,
    place: place::Place,
    loaded: [Option<Loaded>; 2],
    guard: Guard,
    file: Option<TrialFile>,
    done: Vec<Connection>,
    open: BTreeMap<u64, Open>,
    exits: BTreeMap<(SocketAddr, SocketAddr), ExitReason>,
    counters: AssignCounters,
    ratio: Option<f64>,
    stage: Stage,
    how: How,
    ended_s: Option<f64>,
}

impl Trial {
    /// Begins with the next connection.
    pub fn start(options: &TrialOptions) -> Result<Self> {
        let TrialOptions { arms, share, .. } = options;
        options.check()?;
        let place = place::Place::take(&options.cgroup)?;
        let [first, second] = [&arms[0], &arms[1]].map(put_in);
        let loaded = [first?, second?];
        let control = |index: usize| match (&loaded[index], &arms[index]) {
            (Some(loaded), _) => loaded.name().to_owned(),
            (None, arm) => arm.name().to_owned(),
        };
        let controls = [control(0), control(1)];
        let plan = options.plan(&controls)?;
        let file = options.out.as_deref().map(|out| TrialFile::create(out, &plan)).transpose()?;
        let shares = [*share, WHOLE - share];
        let assigned: Vec<_> =
            controls.into_iter().zip(shares).map(|(control, share)| AssignArm { control, share }).collect();
        let began = now()?;
        let following = AssignOptions { all: options.all, record: true };
        let attached = Assign::attach(&options.cgroup, &assigned, following);
        let alone = attached.and_then(|assign| place.alone(&assign).map(|()| assign));
        let assign = match alone {
            Ok(assign) => assign,
            Err(error) => {
                // Why it does not begin matters more than what may be left of its file.
                let _ = file.map(TrialFile::discard);
                return Err(error);
            }
        };
        Ok(Self {
            guard: Guard::new(&plan),
            plan,
            drain_s: options.longest_drain().as_secs_f64(),
            began,
            assign: Some(assign),
            place,
            loaded,
            file,
            done: Vec::new(),
            open: BTreeMap::new(),
            exits: BTreeMap::new(),
            counters: AssignCounters::default(),
            ratio: None,
            stage: Stage::Assigning,
            how: How::Completed,
            ended_s: None,
        })
    }

    /// What it sets out to do.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Collects what has happened, waiting up to `patience` for something, and goes on to the next stage when it is time.
    pub fn poll(&mut self, patience: Duration) -> Result<Stage> {
        self.collect(patience)?;
        let now_s = self.elapsed()?.as_secs_f64();
        match self.stage {
            Stage::Assigning => {
                if !self.place.is_there() {
                    self.end(How::Vanished, now_s)?;
                    return Ok(self.stage);
                }
                if self.guard.due(now_s) {
                    self.ratio = judge::transfer_time(&self.plan, &self.done);
                    let open: Vec<_> = self.open.values().copied().collect();
                    let known = Known { now_s, done: &self.done, open: &open };
                    if let Some(stop) = self.guard.look(&known) {
                        self.end(How::RolledBack(stop), now_s)?;
                        return Ok(self.stage);
                    }
                }
                if now_s >= self.plan.length_s {
                    self.ended_s = Some(now_s);
                    if let Some(assign) = &self.assign {
                        assign.close()?;
                    }
                    self.stage = Stage::Draining;
                }
            }
            Stage::Draining => {
                if self.open.is_empty() || now_s >= self.ended_s.unwrap_or(now_s) + self.drain_s {
                    self.end(How::Completed, now_s)?;
                }
            }
            Stage::Over => {}
        }
        Ok(self.stage)
    }

    /// Ends it now; the control group is as before when this returns.
    pub fn interrupt(&mut self) -> Result {
        if self.stage != Stage::Over {
            let now_s = self.elapsed()?.as_secs_f64();
            self.end(How::Interrupted, now_s)?;
        }
        Ok(())
    }

    /// How it goes.
    pub fn progress(&self) -> Result<Progress> {
        Ok(Progress {
            stage: self.stage,
            elapsed: self.elapsed()?,
            assigned: [self.counters.assigned[0], self.counters.assigned[1]],
            open: self.open_by_arm(),
            ratio: self.ratio,
            looks: [self.guard.looks(), self.plan.blocks()],
        })
    }

    /// What it comes to so far.
    pub fn report(&self) -> Result<TrialReport> {
        Ok(judge(&self.plan, &self.ending(self.elapsed()?.as_secs_f64()), &self.done))
    }

    /// In this order: an exit comes before the end of its connection.
    fn collect(&mut self, patience: Duration) -> Result {
        let Some(assign) = &self.assign else { return Ok(()) };
        let events = assign.drain(patience)?;
        self.counters = assign.counters()?;
        for loaded in self.loaded.iter().flatten() {
            let exits =
                loaded.drain(Duration::ZERO).map_err(HostError::system("read the ends of start-ups"))?;
            for event in exits {
                let Event::Exit(exit) = event else { continue };
                let ends = (exit.tuple.local(), exit.tuple.remote());
                if self.exits.len() < EXITS_KEPT {
                    self.exits.entry(ends).or_insert_with(|| exit.decision.exit_reason());
                }
            }
        }
        for event in events {
            match event {
                AssignEvent::Opened(opened) => {
                    let opened_s = opened.time().saturating_sub(self.began).as_secs_f64();
                    self.open.insert(opened.id, Open { arm: opened.arm as usize, opened_s });
                }
                AssignEvent::Done(done) => {
                    self.open.remove(&done.event.id);
                    let exit = self.exits.remove(&(done.tuple.local(), done.tuple.remote()));
                    let tick = Duration::from_secs_f64(self.plan.tick_s);
                    let connection = Connection::new(&done, self.began, tick, exit);
                    if let Some(file) = &mut self.file {
                        file.connection(&connection)?;
                    }
                    self.done.push(connection);
                }
            }
        }
        self.file.as_mut().map_or(Ok(()), TrialFile::flush)
    }

    fn end(&mut self, how: How, now_s: f64) -> Result {
        self.how = how;
        self.ended_s.get_or_insert(now_s);
        self.stage = Stage::Over;
        self.assign = None;
        self.loaded = [None, None];
        let ending = self.ending(now_s);
        self.file.as_mut().map_or(Ok(()), |file| file.end(&ending))
    }

    fn ending(&self, now_s: f64) -> Ending {
        let how = if self.stage == Stage::Over { self.how.clone() } else { How::Interrupted };
        let counters = &self.counters;
        Ending {
            how,
            after_s: self.ended_s.unwrap_or(now_s),
            assigned: [counters.assigned[0], counters.assigned[1]],
            open: self.open_by_arm(),
            refused: [counters.refused[0], counters.refused[1]],
            chosen: counters.chosen,
            nested: counters.nested,
            without_storage: counters.without_storage,
            lost_events: counters.lost_events,
        }
    }

    fn open_by_arm(&self) -> [u64; 2] {
        [0, 1].map(|arm| self.open.values().filter(|open| open.arm == arm).count() as u64)
    }

    fn elapsed(&self) -> Result<Duration> {
        Ok(now()?.saturating_sub(self.began))
    }
}

impl TrialOptions {
    /// How long it waits for open connections.
    pub fn longest_drain(&self) -> Duration {
        self.drain.unwrap_or_else(|| (self.length / 10).min(Duration::from_secs(30)))
    }

    /// Whether it can be done at all.
    fn check(&self) -> Result {
        let refuse = |problem: &str, advice: &str| Err(HostError::input(problem, advice));
        if self.share == 0 || self.share >= WHOLE {
            return refuse("one of the arms gets no connections", "a share between 0 and 100 %");
        }
        if self.arms[0].name() == self.arms[1].name() {
            let problem = format!("{} cannot be tried against itself", self.arms[0].name());
            return refuse(&problem, "two different arms");
        }
        if self.length < Duration::from_secs(1) {
            return refuse("a trial takes at least a second", "for instance 10m");
        }
        if self.block.is_some_and(|block| block < BLOCK_LEAST || block > self.length) {
            return refuse(
                "the blocks that are compared cannot have this length",
                "from 100 ms to the length of the trial; a twentieth of it if left out",
            );
        }
        if !(self.alpha > 0.0 && self.alpha < 0.5) {
            return refuse(
                "the guard needs a probability of stopping an arm that does no harm",
                "more than 0 and less than 50 %; at 0 it would never stop, at 100 % always",
            );
        }
        if !(self.margin > 0.0 && self.margin < 1.0) {
            return refuse("no difference can be smaller than this margin", "between 0 and 100 %");
        }
        Ok(())
    }

    fn plan(&self, controls: &[String; 2]) -> Result<Plan> {
        let block = self.block.unwrap_or_else(|| (self.length / 20).max(Duration::from_secs(1)));
        let coarse =
            clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).map_err(HostError::system("ask for the tick"))?;
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(Plan {
            arms: [self.arms[0].name().to_owned(), self.arms[1].name().to_owned()],
            controls: controls.clone(),
            cgroup: printable(&self.cgroup.to_string_lossy()),
            share: self.share,
            length_s: self.length.as_secs_f64(),
            block_s: block.min(self.length).as_secs_f64(),
            margin: self.margin,
            alpha: self.alpha,
            all: self.all,
            // The coarse clock goes forward once a tick.
            tick_s: Duration::from(coarse).as_secs_f64(),
            began_s: began.as_secs(),
            command: self.command.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }
}

/// Under a name that nothing else has: what is attached to the host stays in force.
fn put_in(arm: &TrialArm) -> Result<Option<Loaded>> {
    let TrialArm::Ours { algorithm, options, .. } = arm else { return Ok(None) };
    let mut number = 1;
    loop {
        let infix = if number == 1 { String::new() } else { number.to_string() };
        let name = Some(format!("try{infix}_{}", algorithm.id));
        match load(
            algorithm,
            &Options { name, record: Record::Exits, access: Access::Privileged, ..Options::clone(options) },
        ) {
            Err(LoadError::NameTaken { .. }) if number < TRIALS_MAX => number += 1,
            loaded => return Ok(Some(loaded?)),
        }
    }
}

/// As the programs tell the time.
fn now() -> Result<Duration> {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).map_err(HostError::system("read the clock"))?;
    Ok(time.into())
}
