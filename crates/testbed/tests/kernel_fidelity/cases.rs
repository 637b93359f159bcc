//! What is played by simulator and kernel: paths, rows and seeds.

use rampcc::{LINUX_LACKS, algorithms};
use rampcc_scenario::{Arm, Scenario};
use rampcc_testbed::Row;

/// A path and the download over it.
pub(crate) struct Case {
    /// As the table calls it.
    pub(crate) name: &'static str,
    /// The scenario.
    pub(crate) text: &'static str,
    /// Of [`ROWS`], those that are not played: they take long and would show nothing new.
    pub(crate) without: &'static [&'static str],
    /// Seeds 1 to this.
    pub(crate) seeds: u64,
}

/// Of each row its name and the arm of the simulator that it is held against.
pub(crate) const ROWS: [(&str, &str); 11] = [
    ("slow_start", "slow_start"),
    ("limited", "limited"),
    ("hystart", "hystart"),
    ("cubic", "hystart"),
    ("cubic_no_hystart", "slow_start"),
    ("hystartpp", "hystartpp"),
    ("best", "best"),
    ("paced", "paced"),
    ("enhanced", "enhanced"),
    ("enhanced_every_ack", "enhanced:rtt-source=every-ack"),
    ("ideal", "ideal"),
];

/// Where every other row that the kernel runs is played too, once.
const EVERY_ROW: [&str; 11] = [
    "40 Mbit/s, 100 ms, 0.5 BDP",
    "40 Mbit/s, 100 ms, 1 BDP",
    "40 Mbit/s, 100 ms, 3 BDP",
    "100 Mbit/s, 40 ms, 1 BDP",
    "10 Mbit/s, 40 ms, 2 BDP",
    "50 Mbit/s, 40 ms, 25 packets",
    "40 Mbit/s, 60 ms, CoDel",
    "40 Mbit/s, 60 ms, 0.1 % lost",
    "40 Mbit/s, 60 ms, one ACK in four",
    "40 Mbit/s, 60 ms, ACKs held for 4 ms",
    "25 Mbit/s, 150 ms, 2 BDP, 0.05 % lost",
];

const GEO_WITHOUT: &[&str] =
    &["limited", "cubic_no_hystart", "hystartpp", "paced", "enhanced", "enhanced_every_ack", "ideal"];
const GEO_JITTER_WITHOUT: &[&str] = &[
    "slow_start",
    "limited",
    "hystart",
    "cubic_no_hystart",
    "hystartpp",
    "paced",
    "enhanced",
    "enhanced_every_ack",
    "ideal",
];
const FEW: &[&str] = &["limited", "cubic_no_hystart", "hystartpp", "enhanced", "enhanced_every_ack", "ideal"];

pub(crate) const CASES: [Case; 17] = [
    Case {
        name: "40 Mbit/s, 100 ms, 0.5 BDP",
        text: "size = '10 MB'\n[path]\nrate = '40 Mbit/s'\nrtt = '100 ms'\nbuffer = '0.5 bdp'\n",
        without: &[],
        seeds: 3,
    },
    Case {
        name: "40 Mbit/s, 100 ms, 1 BDP",
        text: "size = '10 MB'\n[path]\nrate = '40 Mbit/s'\nrtt = '100 ms'\nbuffer = '1 bdp'\n",
        without: &[],
        seeds: 3,
    },
    Case {
        name: "40 Mbit/s, 100 ms, 3 BDP",
        text: "size = '10 MB'\n[path]\nrate = '40 Mbit/s'\nrtt = '100 ms'\nbuffer = '3 bdp'\n",
        without: &[],
        seeds: 3,
    },
    Case {
        name: "100 Mbit/s, 40 ms, 1 BDP",
        text: "size = '20 MB'\n[path]\nrate = '100 Mbit/s'\nrtt = '40 ms'\nbuffer = '1 bdp'\n",
        without: &[],
        seeds: 3,
    },
    Case {
        name: "10 Mbit/s, 40 ms, 2 BDP",
        text: "size = '4 MB'\n[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\nbuffer = '2 bdp'\n",
        without: &[],
        seeds: 3,
    },
    Case {
        name: "GEO, 1.5 BDP",
        text: "size = '80 MB'\n[path]\nrate = '150 Mbit/s'\nrtt = '600 ms'\nbuffer = '1.5 bdp'\n",
        without: GEO_WITHOUT,
        seeds: 2,
    },
    Case {
        name: "GEO, 0.25 BDP",
        text: "size = '80 MB'\n[path]\nrate = '150 Mbit/s'\nrtt = '600 ms'\nbuffer = '0.25 bdp'\n",
        without: GEO_WITHOUT,
        seeds: 2,
    },
    Case {
        name: "50 Mbit/s, 40 ms, 25 packets",
        text: "size = '10 MB'\n[path]\nrate = '50 Mbit/s'\nrtt = '40 ms'\nbuffer = '25 packets'\n",
        without: &[],
        seeds: 3,
    },
    Case {
        name: "40 Mbit/s, 60 ms, CoDel",
        text: "size = '10 MB'\n[path]\nrate = '40 Mbit/s'\nrtt = '60 ms'\nbuffer = '4 bdp'\nqueue = 'codel'\n",
        without: &[],
        seeds: 3,
    },
    Case {
        name: "40 Mbit/s, 60 ms, 0.1 % lost",
        text: "size = '10 MB'\n[path]\nrate = '40 Mbit/s'\nrtt = '60 ms'\nloss = '0.1 %'\n",
        without: FEW,
        seeds: 5,
    },
    Case {
        name: "40 Mbit/s, 60 ms, one ACK in four",
        text: "size = '10 MB'\n[path]\nrate = '40 Mbit/s'\nrtt = '60 ms'\n\
               [path.reverse]\nack-filter = { kind = 'thin', keep = 4 }\n",
        without: FEW,
        seeds: 3,
    },
    Case {
        name: "40 Mbit/s, 60 ms, ACKs held for 4 ms",
        text: "size = '10 MB'\n[path]\nrate = '40 Mbit/s'\nrtt = '60 ms'\n\
               [path.reverse]\nack-filter = { kind = 'aggregate', count = 16, hold = '4 ms' }\n",
        without: FEW,
        seeds: 3,
    },
    Case {
        name: "LTE, 3 to 40 Mbit/s",
        text: include_str!("../../../../scenarios/lte.toml"),
        without: FEW,
        seeds: 5,
    },
    Case {
        name: "GEO, ACKs wait up to 30 ms",
        // The scenario `geo-jitter` as it was when the kernel was recorded.
        text: "size = '80 MB'\nduration = '120 s'\n[path]\nrate = '150 Mbit/s'\nrtt = '600 ms'\nbuffer = '1 bdp'\n\
               [path.reverse]\nrate = '5 Mbit/s'\njitter = { kind = 'grant', period = '20 ms', jitter = '10 ms' }\n",
        without: GEO_JITTER_WITHOUT,
        seeds: 3,
    },
    Case {
        name: "20 Mbit/s, 200 ms, Linux's buffers",
        text: "size = '10 MB'\n[path]\nrate = '20 Mbit/s'\nrtt = '200 ms'\nbuffer = '2 bdp'\n\
               [receiver]\nwindow = 'autotuned'\nwindow-initial = '80 kB'\nwindow-max = '3.9 MB'\n",
        without: FEW,
        seeds: 3,
    },
    Case {
        name: "60 Mbit/s, 75 ms, 0.7 BDP, 2 ms of jitter",
        text: "size = '10 MB'\n[path]\nrate = '60 Mbit/s'\nrtt = '75 ms'\nbuffer = '0.7 bdp'\njitter = '2 ms'\n",
        without: &[],
        seeds: 5,
    },
    Case {
        name: "25 Mbit/s, 150 ms, 2 BDP, 0.05 % lost",
        text: "size = '10 MB'\n[path]\nrate = '25 Mbit/s'\nrtt = '150 ms'\nbuffer = '2 bdp'\nloss = '0.05 %'\n",
        without: &[],
        seeds: 5,
    },
];

impl Case {
    /// The rows that are played, and their arms.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        let every = EVERY_ROW.contains(&self.name);
        ROWS.into_iter()
            .filter(|(row, _)| !self.without.contains(row))
            .chain(others().filter(move |_| every).map(|row| (row, row)))
    }

    /// Seeds 1 to this.
    pub(crate) fn seeds(&self, row: &str) -> u64 {
        if ROWS.iter().any(|(name, _)| *name == row) { self.seeds } else { 1 }
    }

    /// What both play: the scenario steered by `arm`.
    pub(crate) fn scenario(&self, arm: &str) -> Scenario {
        let scenario = Scenario::parse(self.name, self.text, None);
        let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error:?}", self.name));
        let arm = Arm::parse(arm).expect("rows have algorithms of the registry");
        let mut scenario = scenario.with_arm(&arm);
        scenario.flows[0].sender.sampled = true;
        scenario
    }
}

/// The rows that the kernel runs besides [`ROWS`], in the registry's order, and Linux's own BBR against ours.
pub(crate) fn others() -> impl Iterator<Item = &'static str> {
    let named = |id: &str| ROWS.iter().any(|(_, arm)| *arm == id);
    let ours = algorithms().iter().filter(move |row| row.runs_without(LINUX_LACKS) && !named(row.id));
    ours.map(|row| row.id).chain(["bbr"])
}

pub(crate) fn steering(row: &str) -> Row {
    Row::of_kernel(row).unwrap_or(Row::Core)
}
