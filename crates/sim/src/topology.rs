//! Which links a packet crosses, and which of them can be computed together.

use std::collections::HashMap;

use ramp_scenario::{Scenario, TrafficKind};

use crate::SimulationError;

/// Every route in use, interned by its two ends.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    ids: HashMap<(u32, u32), u32>,
    steps: Vec<Step>,
    /// Where in `steps` each route begins; one more entry than routes.
    starts: Vec<u32>,
}

/// One link of a route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) link: u32,
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
        let mut routes = Self { starts: vec![0], ..Self::default() };
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
    pub(crate) fn id(&self, from: usize, to: usize) -> u32 {
        self.ids[&(from as u32, to as u32)]
    }

    /// The links of a route, in order.
    #[inline]
    pub(crate) fn steps(&self, route: u32) -> &[Step] {
        &self.steps[self.starts[route as usize] as usize..self.starts[route as usize + 1] as usize]
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
        for route in 0..self.starts.len() as u32 - 1 {
            let steps = self.steps(route);
            for (i, &Step { link, .. }) in steps.iter().enumerate() {
                let new = if i == 0 { Feeder::Several } else { Feeder::Link(steps[i - 1].link) };
                let feeder = &mut feeders[link as usize];
                *feeder = if *feeder == Feeder::Nobody || *feeder == new { new } else { Feeder::Several };
            }
        }
        feeders
    }

    fn add(
        &mut self,
        scenario: &Scenario,
        arrived_by: &[Option<usize>],
        (from, to): (u32, u32),
    ) -> Result<(), SimulationError> {
        let begin = self.steps.len();
        let mut node = to as usize;
        while node != from as usize {
            let Some(link) = arrived_by.get(node).copied().flatten() else {
                let name =
                    |node: u32| scenario.topology.nodes.get(node as usize).cloned().unwrap_or_default();
                return Err(SimulationError::NoRoute { from: name(from), to: name(to) });
            };
            self.steps.push(Step { link: link as u32, fused: false });
            node = scenario.topology.links[link].from;
        }
        self.steps[begin..].reverse();
        self.ids.insert((from, to), self.starts.len() as u32 - 1);
        self.starts.push(self.steps.len() as u32);
        Ok(())
    }
}
