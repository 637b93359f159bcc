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
}

/// From here on, nothing is left.
const FULL_PERMILLE: u32 = 990;

const DEFINITIONS: [Definition; 3] = [
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
        if sample.load_permille >= FULL_PERMILLE {
            load.full_s += over_s;
        }
    }

    fn values(&mut self, _: &Ledger) -> Vec<Option<f64>> {
        let busiest = |of: fn(&Load) -> f64| self.hosts.values().map(of).max_by(f64::total_cmp);
        vec![
            busiest(|load| f64::from(load.peak_permille) / 1e3),
            busiest(|load| load.sum / load.total_s / 1e3),
            busiest(|load| load.full_s),
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
        assert_eq!(metric.values(&ledger), [None; 3]);
        for (node, loads) in [(4, [300, 300, 300, 1000]), (7, [300, 989, 990, 600])] {
            for (i, load_permille) in loads.into_iter().enumerate() {
                let now = Time::from_ms(100 * (i as u64 + 1));
                metric.on_cpu(&CpuSample { now, node, over: Time::from_ms(100), load_permille });
            }
        }
        let values: Vec<f64> = metric.values(&ledger).into_iter().flatten().collect();
        // Host 4: mean 47.5 %; host 7: 71.975 %. Each was full for one sample.
        for (value, expected) in values.iter().zip([1.0, 0.71975, 0.1]) {
            assert!((value - expected).abs() < 1e-9, "{values:?}");
        }
        assert_eq!(values.len(), 3);
    }
}
