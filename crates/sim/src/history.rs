//! What the hosts of a run remember of each other.

use std::collections::BTreeMap;

use rampcc::{Hint, HintSource, Memory, Seen, Time};

use crate::topology::Between;

/// When a run begins by the clock of memories, so that what is remembered from before has a time too: 146 years.
const BEGINNING_NS: u64 = 1 << 62;

/// The histories of all hosts, by sending and receiving node.
#[derive(Debug, Default)]
pub(crate) struct History(BTreeMap<Between, Memory>);

impl History {
    /// The hint for a flow that opens now. `before`: what the scenario says is remembered from before the run.
    pub(crate) fn recall(&mut self, place: Between, before: &Hint, now: Time) -> Hint {
        let memory = self.0.entry(place).or_insert_with(|| match before.source() {
            HintSource::History => Memory::of(before, BEGINNING_NS),
            _ => Memory::default(),
        });
        memory.recall(BEGINNING_NS + now.ns()).unwrap_or(Hint::NONE)
    }

    /// Takes in how a flow stands.
    pub(crate) fn remember(&mut self, place: Between, seen: &Seen) {
        let now_ns = BEGINNING_NS + seen.now_ns;
        self.0.entry(place).or_default().remember(&Seen { now_ns, ..*seen });
    }
}
