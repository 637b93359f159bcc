//! How two flows divide a path between them soon after both have begun.

use rampcc::Time;
use rampcc_trace::{FlowEvent, FlowEventKind};

use super::{Better, Definition, Metric};
use crate::ledger::Ledger;

/// Seconds after the second flow's opening at which shares are compared.
pub const SHARES_AFTER_S: [u64; 3] = [1, 3, 10];

/// Larger over smaller share of two flows, at each of [`SHARES_AFTER_S`].
pub const SHARES: [Definition; 3] = [
    definition(
        "shares_1s",
        "shares after 1 s",
        "what the one of two flows had received 1 s after the second opened, over what the other had; no value of traffic at a constant rate",
    ),
    definition("shares_3s", "shares after 3 s", "the same 3 s after the second opened"),
    definition("shares_10s", "shares after 10 s", "the same 10 s after the second opened"),
];

/// A smaller share than a full segment is one.
const LEAST_BYTES: u64 = 1448;

/// What two flows had received at each of [`SHARES_AFTER_S`]; more or fewer flows have no value.
#[derive(Debug, Default)]
pub(super) struct Shares {
    /// Of the flows in the order of opening, received bytes.
    received: Vec<(u32, u64)>,
    both_since: Option<Time>,
    then: Vec<[u64; 2]>,
}

const fn definition(id: &'static str, name: &'static str, meaning: &'static str) -> Definition {
    Definition { id, name, unit: "ratio", meaning, better: Better::Lower }
}

impl Shares {
    fn look(&mut self, now: Time) {
        let (Some(since), [(_, first), (_, second)]) = (self.both_since, self.received.as_slice()) else {
            return;
        };
        let shares = [*first, *second];
        while let Some(after) = SHARES_AFTER_S.get(self.then.len())
            && now >= since + Time::from_secs(*after)
        {
            self.then.push(shares);
        }
    }
}

impl Metric for Shares {
    fn definitions(&self) -> &'static [Definition] {
        &SHARES
    }

    fn on_event(&mut self, _: &Ledger, event: &FlowEvent) {
        if self.received.len() > 2 {
            return;
        }
        // What the event itself brings comes after the instant that was due before it.
        self.look(event.now);
        match event.kind {
            FlowEventKind::Opened { .. } => {
                self.received.push((event.flow, 0));
                if self.received.len() == 2 {
                    self.both_since = Some(event.now);
                }
            }
            FlowEventKind::Received { bytes } => {
                if let Some((_, received)) = self.received.iter_mut().find(|(flow, _)| *flow == event.flow) {
                    *received = (*received).max(bytes);
                }
            }
            _ => {}
        }
    }

    fn values(&mut self, ledger: &Ledger) -> Vec<Option<f64>> {
        if ledger.under_test().count() + ledger.other_transfers().count() < 2 {
            return vec![None; SHARES.len()];
        }
        let [(_, first), (_, second)] = self.received[..] else { return vec![None; SHARES.len()] };
        let ratio = |shares: [u64; 2]| {
            let (larger, smaller) = (shares[0].max(shares[1]), shares[0].min(shares[1]));
            (larger.max(1) as f64 / smaller.max(LEAST_BYTES) as f64).max(1.0)
        };
        // A run that ends before has what it had.
        let at = |number: usize| self.then.get(number).copied().unwrap_or([first, second]);
        (0..SHARES.len()).map(|number| Some(ratio(at(number)))).collect()
    }
}
