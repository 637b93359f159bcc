//! Links that a packet crosses, and those among them that can be computed together.

use std::collections::HashMap;

use rampcc_scenario::{Scenario, TrafficKind};

use crate::SimulationError;

/// Every route in use, interned by its two ends.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    by_ends: HashMap<Between, Route>,
    steps: Vec<Step>,
}

/// The nodes of a sender and its receiver, or of a route's first and last host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Between {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Between {
    /// The other direction.
    pub(crate) fn back(self) -> Self {
        Self { from: self.to, to: self.from }
    }
}

/// A span of [`Routes::steps`], never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) first: u32,
}

/// One link of a route.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Step {
    pub(crate) link: u32,
    /// Whether a route ends here, so that the next step is the first of another.
    pub(crate) last: bool,
    /// Whether the link is computed together with the one before it.
    pub(crate) fused: bool,
    /// Whether the next link of the route is computed together with this one.
    pub(crate) onward: bool,
    /// Whether an observer is shown the link's queue.
    pub(crate) sampled: bool,
}

/// Who hands packets to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feeder {
    /// No route uses the link.
    Nobody,
    /// Every packet comes from this link.
    Link(u32),
    /// Hosts, or several links.
    Several,
}

impl Routes {
    /// The routes of everything in `scenario`, both directions.
    pub(crate) fn new(scenario: &Scenario) -> Result<Self, SimulationError> {
        let mut routes = Self::default();
        let mut by_source: Vec<Between> = Vec::new();
        let mut both = |from: usize, to: usize| {
            by_source.extend([Between { from, to }, Between { from: to, to: from }]);
        };
        scenario.flows.iter().for_each(|flow| both(flow.from, flow.to));
        for traffic in &scenario.traffic {
            match &traffic.kind {
                TrafficKind::Listed { flows, .. } => flows.iter().for_each(|f| both(f.1, f.2)),
                _ => traffic.pairs.iter().for_each(|&(from, to)| both(from, to)),
            }
        }
        by_source.sort_unstable();
        by_source.dedup();
        for group in by_source.chunk_by(|a, b| a.from == b.from) {
            let arrived_by = scenario.shortest_paths(group[0].from);
            for &between in group {
                routes.add(scenario, &arrived_by, between)?;
            }
        }
        Ok(routes)
    }

    /// The route between two nodes of the scenario.
    pub(crate) fn between(&self, ends: Between) -> Route {
        self.by_ends[&ends]
    }

    /// One step; the steps of a route follow each other.
    #[inline]
    pub(crate) fn step(&self, index: usize) -> Step {
        self.steps[index]
    }

    /// One step and all that follow, of its route and of those after that.
    #[inline]
    pub(crate) fn steps_from(&self, index: usize) -> &[Step] {
        &self.steps[index..]
    }

    /// All steps before one, of its route and of those before that.
    pub(crate) fn steps_before(&self, index: usize) -> &[Step] {
        &self.steps[..index]
    }

    /// Notes which links are computed together with the one before them.
    pub(crate) fn fuse(&mut self, fused: &[bool]) {
        let mut next_is_fused = false;
        for step in self.steps.iter_mut().rev() {
            step.fused = fused[step.link as usize];
            step.onward = next_is_fused && !step.last;
            next_is_fused = step.fused;
        }
    }

    /// Notes the link whose queue an observer is shown.
    pub(crate) fn sample(&mut self, link: u32) {
        self.steps.iter_mut().for_each(|step| step.sampled = step.link == link);
    }

    /// Who feeds each of `links` links.
    pub(crate) fn feeders(&self, links: usize) -> Vec<Feeder> {
        let mut feeders = vec![Feeder::Nobody; links];
        let mut before = None;
        for step in &self.steps {
            let new = before.map_or(Feeder::Several, Feeder::Link);
            let feeder = &mut feeders[step.link as usize];
            *feeder = if *feeder == Feeder::Nobody || *feeder == new { new } else { Feeder::Several };
            before = (!step.last).then_some(step.link);
        }
        feeders
    }

    fn add(
        &mut self,
        scenario: &Scenario,
        arrived_by: &[Option<usize>],
        ends: Between,
    ) -> Result<(), SimulationError> {
        let Between { from, to } = ends;
        let name = |node: usize| scenario.topology.nodes.get(node).cloned().unwrap_or_default();
        let no_route = || SimulationError::NoRoute { from: name(from), to: name(to) };
        let begin = self.steps.len();
        let mut node = to;
        while node != from {
            let link = arrived_by.get(node).copied().flatten().ok_or_else(no_route)?;
            let last = self.steps.len() == begin;
            self.steps.push(Step { link: link as u32, last, fused: false, onward: false, sampled: false });
            node = scenario.topology.links[link].from;
        }
        self.steps[begin..].reverse();
        // From a node to itself, there is nothing to simulate.
        if self.steps.len() == begin {
            return Err(no_route());
        }
        self.by_ends.insert(ends, Route { first: begin as u32 });
        Ok(())
    }
}
