//! Which links a packet crosses, and which of them can be computed together.

use std::collections::HashMap;

use ramp_scenario::{Scenario, TrafficKind};

use crate::SimulationError;

/// Every route in use, interned by its two ends.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    by_ends: HashMap<(u32, u32), Route>,
    steps: Vec<Step>,
}

/// A span of [`Routes::steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) first: u32,
    /// How many links; never 0.
    pub(crate) length: u32,
}

/// One link of a route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) link: u32,
    /// Whether a route begins here.
    pub(crate) first: bool,
    /// Whether the link is computed together with the one before it.
    pub(crate) fused: bool,
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
        let mut by_source: Vec<(u32, u32)> = Vec::new();
        let mut both = |(from, to): (usize, usize)| {
            by_source.push((from as u32, to as u32));
            by_source.push((to as u32, from as u32));
        };
        scenario.flows.iter().for_each(|flow| both((flow.from, flow.to)));
        for traffic in &scenario.traffic {
            match &traffic.kind {
                TrafficKind::Listed { flows, .. } => flows.iter().for_each(|f| both((f.1, f.2))),
                _ => traffic.pairs.iter().for_each(|&pair| both(pair)),
            }
        }
        by_source.sort_unstable();
        by_source.dedup();
        for group in by_source.chunk_by(|a, b| a.0 == b.0) {
            let from = group[0].0;
            let arrived_by = scenario.shortest_paths(from as usize);
            for &(_, to) in group {
                routes.add(scenario, &arrived_by, (from, to))?;
            }
        }
        Ok(routes)
    }

    /// The route between two nodes of the scenario.
    pub(crate) fn between(&self, from: usize, to: usize) -> Route {
        self.by_ends[&(from as u32, to as u32)]
    }

    /// All routes, one after the other.
    #[inline]
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Notes which links are computed together with the one before them.
    pub(crate) fn fuse(&mut self, fused: &[bool]) {
        for step in &mut self.steps {
            step.fused = fused[step.link as usize];
        }
    }

    /// Who feeds each of `links` links.
    pub(crate) fn feeders(&self, links: usize) -> Vec<Feeder> {
        let mut feeders = vec![Feeder::Nobody; links];
        let mut before = None;
        for step in &self.steps {
            let new = match before {
                Some(link) if !step.first => Feeder::Link(link),
                _ => Feeder::Several,
            };
            let feeder = &mut feeders[step.link as usize];
            *feeder = if *feeder == Feeder::Nobody || *feeder == new { new } else { Feeder::Several };
            before = Some(step.link);
        }
        feeders
    }

    fn add(
        &mut self,
        scenario: &Scenario,
        arrived_by: &[Option<usize>],
        (from, to): (u32, u32),
    ) -> Result<(), SimulationError> {
        let name = |node: u32| scenario.topology.nodes.get(node as usize).cloned().unwrap_or_default();
        let no_route = || SimulationError::NoRoute { from: name(from), to: name(to) };
        let begin = self.steps.len();
        let mut node = to as usize;
        while node != from as usize {
            let link = arrived_by.get(node).copied().flatten().ok_or_else(no_route)?;
            self.steps.push(Step { link: link as u32, first: false, fused: false });
            node = scenario.topology.links[link].from;
        }
        self.steps[begin..].reverse();
        // From a node to itself, there is nothing to simulate.
        self.steps.get_mut(begin).ok_or_else(no_route)?.first = true;
        let route = Route { first: begin as u32, length: (self.steps.len() - begin) as u32 };
        self.by_ends.insert((from, to), route);
        Ok(())
    }
}
