//! How busy the hosts' processors were.

use std::collections::BTreeMap;

use rampcc_trace::CpuSample;

use super::{Better, Definition, Metric};
use crate::ledger::Ledger;

/// Loads of hosts whose processors count, from their first connection on; other runs have no value.
#[derive(Debug, Default)]
pub(super) struct Cpu {
    hosts: BTreeMap<u32, Load>,
}

#[derive(Debug, Default)]
struct Load {
    peak_permille: u32,
    /// Load in thousandths times seconds.
    sum: f64,
    total_s: f64,
    full_s: f64,
    /// Searches in thousandths times seconds.
    searched: f64,
    sends: bool,
}

/// From here on, nothing is left.
const FULL_PERMILLE: u32 = 990;

const DEFINITIONS: [Definition; 9] = [
    Definition {
        id: "cpu_peak",
        name: "processor, peak load",
        unit: "share",
        meaning: "highest load of a host's processor in 100 ms; the busiest host counts",
        better: Better::Lower,
    },
    Definition {
        id: "cpu_mean",
        name: "processor, mean load",
        unit: "share",
        meaning: "mean load of a host's processor from its first connection on; the busiest host counts",
        better: Better::Lower,
    },
    Definition {
        id: "cpu_full",
        name: "processor at full load",
        unit: "s",
        meaning: "time in which a host's processor was busy for 99 % of 100 ms and more; the busiest host counts",
        better: Better::Lower,
    },
    Definition {
        id: "cpu_sender_peak",
        name: "sender's processor, peak load",
        unit: "share",
        meaning: "highest load of a sender's processor in 100 ms; the busiest sender counts",
        better: Better::Lower,
    },
    Definition {
        id: "cpu_sender_full",
        name: "sender's processor at full load",
        unit: "s",
        meaning: "time in which a sender's processor was busy for 99 % of 100 ms and more; the busiest sender counts",
        better: Better::Lower,
    },
    Definition {
        id: "cpu_receiver_full",
        name: "receiver's processor at full load",
        unit: "s",
        meaning: "time in which the processor of a host that only receives was busy for 99 % of 100 ms and more; the busiest one counts",
        better: Better::Lower,
    },
    Definition {
        id: "cpu_full_at_sender",
        name: "processor at full load, where a sender's is full for longest",
        unit: "s",
        meaning: "time at full load of the host that has most of it, if it sends; otherwise 0",
        better: Better::Lower,
    },
    Definition {
        id: "cpu_full_at_receiver",
        name: "processor at full load, where a receiver's is full for longest",
        unit: "s",
        meaning: "time at full load of the host that has most of it, if it only receives; otherwise 0",
        better: Better::Lower,
    },
    Definition {
        id: "cpu_search",
        name: "sender's processor, search",
        unit: "share",
        meaning: "mean share of a sender's processor that looks through the queue of what is outstanding; the busiest sender counts",
        better: Better::Lower,
    },
];

impl Metric for Cpu {
    fn definitions(&self) -> &'static [Definition] {
        &DEFINITIONS
    }

    fn on_cpu(&mut self, sample: &CpuSample) {
        let load = self.hosts.entry(sample.node).or_default();
        let over_s = sample.over.secs_f64();
        load.peak_permille = load.peak_permille.max(sample.load_permille);
        load.sum += f64::from(sample.load_permille) * over_s;
        load.total_s += over_s;
        load.searched += f64::from(sample.search_permille) * over_s;
        load.sends |= sample.sends;
        if sample.load_permille >= FULL_PERMILLE {
            load.full_s += over_s;
        }
    }

    fn values(&mut self, _: &Ledger) -> Vec<Option<f64>> {
        let most = |whose: fn(&&Load) -> bool, of: fn(&Load) -> f64| {
            self.hosts.values().filter(whose).map(of).max_by(f64::total_cmp)
        };
        let busiest = |of| most(|_| true, of);
        let sender = |of| most(|load| load.sends, of);
        let longest = self.hosts.values().max_by(|a, b| a.full_s.total_cmp(&b.full_s));
        let longest_if = |sends| longest.map(|load| if load.sends == sends { load.full_s } else { 0.0 });
        vec![
            busiest(|load| f64::from(load.peak_permille) / 1e3),
            busiest(|load| load.sum / load.total_s / 1e3),
            busiest(|load| load.full_s),
            sender(|load| f64::from(load.peak_permille) / 1e3),
            sender(|load| load.full_s),
            most(|load| !load.sends, |load| load.full_s),
            longest_if(true),
            longest_if(false),
            sender(|load| load.searched / load.total_s / 1e3),
        ]
    }
}

#[cfg(test)]
mod tests {
    use rampcc::Time;

    use super::*;

    #[test]
    fn the_busiest_host_counts() {
        let mut metric = Cpu::default();
        let ledger = Ledger::new(&crate::Context::default());
        assert_eq!(metric.values(&ledger), [None; 9]);
        for (node, loads) in [(4, [300, 300, 300, 1000]), (7, [300, 989, 990, 995])] {
            for (i, load_permille) in loads.into_iter().enumerate() {
                let now = Time::from_ms(100 * (i as u64 + 1));
                let sends = node == 4;
                let search_permille = if sends { 200 } else { 0 };
                let over = Time::from_ms(100);
                metric.on_cpu(&CpuSample { now, node, over, load_permille, sends, search_permille });
            }
        }
        let values: Vec<f64> = metric.values(&ledger).into_iter().flatten().collect();
        // Host 4, the sender: mean 47.5 %, full for one sample; host 7: 81.85 %, full for two.
        for (value, expected) in values.iter().zip([1.0, 0.8185, 0.2, 1.0, 0.1, 0.2, 0.0, 0.2, 0.2]) {
            assert!((value - expected).abs() < 1e-9, "{values:?}");
        }
        assert_eq!(values.len(), 9);
    }
}
