//! One bulk flow over one bottleneck against one row of ns-2 or ns-3.

use rampcc::{Rate, Time};
use rampcc_scenario::Source;
use rampcc_tcp::{ReceiverConfig, SenderConfig};

use crate::measure::Measured;
use crate::oracle::{find, number, table};
use crate::topology::Bottleneck;

/// A run and the row it is compared with.
pub(crate) struct Bulk {
    pub(crate) name: String,
    pub(crate) path: Bottleneck,
    pub(crate) sender: SenderConfig,
    pub(crate) receiver: ReceiverConfig,
    pub(crate) start: Time,
    pub(crate) end: Time,
    pub(crate) cbr: Rate,
    pub(crate) source: Source,
    pub(crate) oracle: Oracle,
    pub(crate) allowed: Allowed,
}

/// What it is compared with.
pub(crate) enum Oracle {
    Row(OracleRow),
    /// A run that is in no table: throughput, drops and timeouts.
    Known {
        throughput_mbps: f64,
        drops: f64,
        timeouts: f64,
    },
}

pub(crate) struct OracleRow {
    pub(crate) file: &'static str,
    pub(crate) row: Vec<(&'static str, String)>,
    /// The 10 ms series of the same run.
    pub(crate) series: Option<String>,
    pub(crate) columns: Columns,
}

/// What a simulator's script calls things.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) timeouts: &'static str,
    pub(crate) exit_s: &'static str,
    pub(crate) exit_cwnd: &'static str,
}

/// ns-2's scripts.
pub(crate) const NS2: Columns =
    Columns { timeouts: "timeouts", exit_s: "ss_exit_s", exit_cwnd: "ss_exit_cwnd" };
/// ns-3's scripts.
pub(crate) const NS3: Columns = Columns { timeouts: "rto", exit_s: "exit_s", exit_cwnd: "exit_cwnd_segs" };

/// Largest relative differences; infinity: not compared, and why.
#[derive(Clone, Copy)]
pub(crate) struct Allowed {
    pub(crate) throughput: f64,
    pub(crate) drops: f64,
    pub(crate) first_drop: f64,
    pub(crate) exit_cwnd: f64,
    /// Area between the window curves.
    pub(crate) curve: f64,
    /// Largest difference of the windows until the first drop or the exit, of the largest window until then.
    pub(crate) startup: f64,
    /// Whether the retransmission timer must expire as often.
    pub(crate) timeouts: bool,
    /// The rule behind whatever exceeds 5 %: the heading in the document.
    pub(crate) reason: &'static str,
}

/// What came out, ours and theirs.
pub(crate) struct Compared {
    pub(crate) name: String,
    pub(crate) throughput: Pair,
    pub(crate) drops: Pair,
    pub(crate) first_drop: Pair,
    pub(crate) exit_cwnd: Pair,
    pub(crate) timeouts: Pair,
    pub(crate) curve: Option<f64>,
    pub(crate) startup: Option<f64>,
    pub(crate) allowed: Allowed,
}

/// Ours and theirs; `None`: it did not happen, or is not known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) ours: Option<f64>,
    pub(crate) theirs: Option<f64>,
}

impl Pair {
    /// Relative difference, signed; `None` where either is missing.
    pub(crate) fn difference(self) -> Option<f64> {
        let (ours, theirs) = (self.ours?, self.theirs?);
        Some(if ours.total_cmp(&theirs).is_eq() { 0.0 } else { ours / theirs - 1.0 })
    }

    pub(crate) fn exceeds(self, allowed: f64) -> bool {
        if allowed.is_infinite() {
            return false;
        }
        match self.difference() {
            Some(difference) => difference.abs() > allowed,
            None => self.ours.is_some() != self.theirs.is_some(),
        }
    }
}

impl Bulk {
    /// Plays it and compares it with the row.
    pub(crate) fn compare(&self) -> Compared {
        let span = self.start..self.end;
        let mut scenario = self.path.scenario(self.sender.clone(), self.receiver, span, self.cbr);
        scenario.flows[0].source = self.source;
        let ours = Measured::play(scenario, self.path.return_delay());

        let mut compared = Compared {
            name: self.name.clone(),
            throughput: Pair { ours: Some(ours.throughput_mbps), theirs: None },
            drops: Pair { ours: Some(ours.drops), theirs: None },
            first_drop: Pair { ours: ours.first_drop_s, theirs: None },
            exit_cwnd: Pair { ours: ours.exit_cwnd, theirs: None },
            timeouts: Pair { ours: Some(ours.timeouts as f64), theirs: None },
            curve: None,
            startup: None,
            allowed: self.allowed,
        };
        match &self.oracle {
            Oracle::Known { throughput_mbps, drops, timeouts } => {
                compared.throughput.theirs = Some(*throughput_mbps);
                compared.drops.theirs = Some(*drops);
                compared.timeouts.theirs = Some(*timeouts);
            }
            Oracle::Row(oracle) => oracle.put_beside(&ours, self.start, &mut compared),
        }
        compared
    }
}

impl OracleRow {
    fn put_beside(&self, ours: &Measured, start: Time, compared: &mut Compared) {
        let rows = table(self.file);
        let wanted: Vec<_> = self.row.iter().map(|(c, v)| (*c, v.as_str())).collect();
        let row = find(&rows, &wanted);
        compared.throughput.theirs = number(row, "thr_mbps");
        compared.drops.theirs = number(row, "drops");
        compared.first_drop.theirs = number(row, "first_drop_s");
        // ns-3's script writes 0 for a flow that never left.
        compared.exit_cwnd.theirs = number(row, self.columns.exit_cwnd).filter(|cwnd| *cwnd > 0.0);
        compared.timeouts.theirs = number(row, self.columns.timeouts);
        if let Some(series) = &self.series {
            let left = compared.first_drop.theirs.or(number(row, self.columns.exit_s));
            let until = left.unwrap_or(f64::INFINITY) + start.secs_f64();
            let (curve, startup) = curves(ours, &table(series), until);
            compared.curve = Some(curve);
            compared.startup = Some(startup);
        }
    }
}

impl Compared {
    /// What exceeds its tolerance.
    pub(crate) fn faults(&self) -> Vec<String> {
        let allowed = &self.allowed;
        let mut faults = Vec::new();
        for (what, pair, limit) in [
            ("throughput", self.throughput, allowed.throughput),
            ("drops", self.drops, allowed.drops),
            ("time of the first drop", self.first_drop, allowed.first_drop),
            ("window at the exit", self.exit_cwnd, allowed.exit_cwnd),
            ("timeouts", self.timeouts, if allowed.timeouts { 0.0 } else { f64::INFINITY }),
        ] {
            if pair.exceeds(limit) {
                let name = &self.name;
                faults.push(format!("{name}: {what} {:?}, {:?} expected", pair.ours, pair.theirs));
            }
        }
        for (what, value, limit) in
            [("window curve", self.curve, allowed.curve), ("start-up", self.startup, allowed.startup)]
        {
            if let Some(value) = value.filter(|value| *value > limit) {
                faults.push(format!("{}: {what} differs by {:.1} %", self.name, 100.0 * value));
            }
        }
        faults
    }
}

/// Area between the window curves over that under theirs, and the largest difference before `until` seconds over the
/// largest window there.
fn curves(ours: &Measured, theirs: &[crate::oracle::Row], until: f64) -> (f64, f64) {
    let (mut between, mut under, mut deviation, mut peak) = (0.0, 0.0, 0.0_f64, 0.0_f64);
    for (row, ours) in theirs.iter().zip(&ours.window) {
        let theirs = number(row, "cwnd0").expect("a window in every row");
        let difference = (ours - theirs).abs();
        between += difference;
        under += theirs;
        if number(row, "t_s").expect("a time in every row") < until {
            deviation = deviation.max(difference);
            peak = peak.max(theirs);
        }
    }
    (between / under, deviation / peak)
}
