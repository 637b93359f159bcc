//! What hosts and crowds do to a start-up, against what it does to them: each measure with its bound.

use super::sheet::Form;
use rampcc_lab::{Definition, Measures, metric};

use crate::crowds::Crowds;
use crate::outcome::Outcome;
use crate::play::League;

/// Ends the name of a path on which nothing is disturbed.
const PLAIN: &str = "-plain";
/// Access types of `league/hosts.toml` that are held to the undisturbed path.
const DISTURBED: [&str; 3] = ["handshake", "first flight", "delayed ACKs"];
/// A start-up that loses less than a packet loses nothing.
const NOTHING: f64 = 1.0;

/// What was played of [`Set::Hosts`](super::Set), [`Set::Policers`](super::Set) and [`Set::Crowds`](super::Set).
#[derive(Clone, Debug)]
pub struct Traffic {
    /// One thing each that hosts do.
    pub hosts: League,
    /// Policers.
    pub policers: League,
    /// Crowds, web loads and small writes.
    pub crowds: Crowds,
}

/// A value, and where it lies for the seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// Of all seeds together.
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Spread {
    fn one(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// Of the values for each seed.
    fn of(values: &[f64]) -> Option<Self> {
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        Some(Self { value: values.iter().sum::<f64>() / values.len() as f64, low, high })
    }

    fn worse(self, other: Self) -> Self {
        if other.value > self.value { other } else { self }
    }
}

/// A measure that a goal may be for.
pub(super) struct Held {
    pub(super) words: &'static str,
    /// In files of goals.
    pub(super) id: &'static str,
    pub(super) form: Form,
    value: fn(&Traffic, &str) -> Option<Spread>,
}

impl Held {
    pub(super) fn of(&self, traffic: &Traffic, label: &str) -> Option<Spread> {
        (self.value)(traffic, label)
    }
}

/// The other row of a comparison: the standard's start-up.
fn slow_start() -> &'static str {
    rampcc::standard().id
}

/// The other row of a comparison: that of Linux's CUBIC.
fn of_cubic() -> &'static str {
    rampcc::of_cubic().id
}

pub(super) const HELD: [Held; 15] = [
    Held {
        words: "writes of 1 to 9 packets: largest window over the first",
        id: "writes_window",
        form: Form::Ratio,
        value: |all, row| all.crowds.worst("small writes", row, metric::WINDOW_GROWTH),
    },
    Held {
        words: "of these, start-ups that ended",
        id: "writes_ended",
        form: Form::Count,
        value: |all, row| all.crowds.worst("small writes", row, metric::STARTUPS_ENDED),
    },
    Held {
        words: "policers: lost in start-up over `slow_start`'s, worst path",
        id: "policers_lost",
        form: Form::Ratio,
        value: |all, row| all.policed(row),
    },
    Held {
        words: "handshakes 15 ms quicker to 60 ms slower, first flights, delayed ACKs: time over the undisturbed, worst",
        id: "disturbed_time",
        form: Form::Ratio,
        value: |all, row| all.disturbed(row),
    },
    Held {
        words: "of these, packets lost in start-up where the undisturbed loses none",
        id: "disturbed_lost",
        form: Form::Count,
        value: |all, row| all.losses_of_disturbance(row),
    },
    Held {
        words: "an ACK for 4 to 32 packets: time over `hystart`'s, worst",
        id: "stretch_time",
        form: Form::Ratio,
        value: |all, row| all.against("stretch ACKs", row, of_cubic()),
    },
    Held {
        words: "4 responses on a connection, 2 s apart: time over `hystart`'s, worst",
        id: "warm_time",
        form: Form::Ratio,
        value: |all, row| all.against("warm connection", row, of_cubic()),
    },
    Held {
        words: "5 starts in two round trips: drops over `slow_start`'s, worst of three paths",
        id: "starts_5_drops",
        form: Form::Ratio,
        value: |all, row| all.crowds.over("5 starts", row, slow_start(), metric::DROPPED_PACKETS),
    },
    Held {
        words: "20 starts: the same",
        id: "starts_20_drops",
        form: Form::Ratio,
        value: |all, row| all.crowds.over("20 starts", row, slow_start(), metric::DROPPED_PACKETS),
    },
    Held {
        words: "5 and 20 starts: Jain's index after 3 s below `slow_start`'s by, worst",
        id: "starts_fairness",
        form: Form::Ratio,
        value: |all, row| {
            let less = |access| all.crowds.less(access, slow_start(), row, metric::FAIRNESS);
            Some(less("5 starts")?.worse(less("20 starts")?))
        },
    },
    Held {
        words: "web load of 50 and 80 %, all flows: mean completion time over `hystart`'s, worst of four",
        id: "web_mean",
        form: Form::Ratio,
        value: |all, row| all.crowds.over(WEB_ALL, row, of_cubic(), metric::FLOWS_TIME),
    },
    Held {
        words: "the same, 95th percentile",
        id: "web_p95",
        form: Form::Ratio,
        value: |all, row| all.crowds.over(WEB_ALL, row, of_cubic(), metric::FLOWS_TIME_P95),
    },
    Held {
        words: "the same, drops over `slow_start`'s",
        id: "web_drops",
        form: Form::Ratio,
        value: |all, row| all.crowds.over(WEB_ALL, row, slow_start(), metric::DROPPED_PACKETS),
    },
    Held {
        words: "half of the flows: their mean over `hystart`'s in their place, worst of four",
        id: "web_half_own",
        form: Form::Ratio,
        value: |all, row| all.crowds.over(WEB_HALF, row, of_cubic(), metric::FLOWS_TIME),
    },
    Held {
        words: "the others' 95th percentile over what it is with `hystart` in their place",
        id: "web_half_others_p95",
        form: Form::Ratio,
        value: |all, row| all.crowds.over(WEB_HALF, row, of_cubic(), metric::OTHERS_TIME_P95),
    },
];

const WEB_ALL: &str = "web load, all";
const WEB_HALF: &str = "web load, half";

impl Crowds {
    /// By path of an access type and seed: the runs of these rows side by side.
    fn pairs<'a>(
        &'a self,
        access: &'a str,
        row: &str,
        other: &str,
    ) -> Option<impl Iterator<Item = Vec<(&'a Measures, &'a Measures)>>> {
        let place = |label: &str| self.rows.iter().position(|row| row == label);
        let (row, other) = (place(row)?, place(other)?);
        let of_access = self.access.iter().zip(&self.runs).filter(move |(kind, _)| *kind == access);
        Some(of_access.map(move |(_, runs)| runs[row].iter().zip(&runs[other]).collect()))
    }

    fn worst(&self, access: &str, row: &str, of: Definition) -> Option<Spread> {
        let paths = self.pairs(access, row, row)?;
        let spread = |runs: Vec<(&Measures, &Measures)>| {
            Spread::of(&runs.iter().map(|(run, _)| run.value(of)).collect::<Option<Vec<f64>>>()?)
        };
        paths.filter_map(spread).reduce(Spread::worse)
    }

    /// The ratio of both rows' means, and that of each seed: the path where it is largest.
    fn over(&self, access: &str, row: &str, other: &str, of: Definition) -> Option<Spread> {
        let spread = |runs: Vec<(&Measures, &Measures)>| {
            let both: Option<Vec<(f64, f64)>> =
                runs.iter().map(|(row, other)| Some((row.value(of)?, other.value(of)?))).collect();
            let both = both?;
            let ratio = |(row, other): (f64, f64)| row / other.max(1e-9);
            let all = Spread::of(&both.iter().map(|both| ratio(*both)).collect::<Vec<f64>>())?;
            let sum = both.iter().fold((0.0, 0.0), |sum, both| (sum.0 + both.0, sum.1 + both.1));
            Some(Spread { value: ratio(sum), ..all })
        };
        self.pairs(access, row, other)?.filter_map(spread).reduce(Spread::worse)
    }

    /// By how much the first of these rows has more.
    fn less(&self, access: &str, row: &str, other: &str, of: Definition) -> Option<Spread> {
        let spread = |runs: Vec<(&Measures, &Measures)>| {
            let less = runs.iter().map(|(more, less)| Some(more.value(of)? - less.value(of)?));
            Spread::of(&less.collect::<Option<Vec<f64>>>()?)
        };
        self.pairs(access, row, other)?.filter_map(spread).reduce(Spread::worse)
    }
}

/// Seconds to the largest size of a path, or what the run had.
fn seconds(run: &Outcome) -> f64 {
    run.seconds.iter().flatten().last().copied().unwrap_or(run.had_s)
}

impl Traffic {
    /// Paths of an access type: seconds and packets lost in start-up of a row, without chance.
    fn hosts<'a>(&'a self, access: &'a [&str], label: &str) -> Option<Vec<(&'a str, f64, f64)>> {
        let row = self.hosts.row_of(label)?;
        let paths = self.hosts.paths.iter().filter(|path| access.contains(&path.access.as_str()));
        let of = |path: &'a crate::PlayedPath| {
            let run = path.outcomes[row].first()?;
            let lost = run.startup_lost.unwrap_or(0.0) * path.holds_packets.unwrap_or(0.0);
            Some((path.name.as_str(), seconds(run), lost))
        };
        paths.map(of).collect()
    }

    /// Each disturbed path with its undisturbed one: seconds, and packets lost.
    fn with_plain(&self, label: &str) -> Option<Vec<([f64; 2], [f64; 2])>> {
        let plain = self.hosts(&["undisturbed"], label)?;
        let beside = |(name, seconds, lost): (&str, f64, f64)| {
            let of_it = |(other, ..): &&(&str, f64, f64)| {
                other.strip_suffix(PLAIN).is_some_and(|stem| name.starts_with(stem))
            };
            let (_, plain_seconds, plain_lost) = plain.iter().find(of_it)?;
            Some(([seconds, *plain_seconds], [lost, *plain_lost]))
        };
        self.hosts(&DISTURBED, label)?.into_iter().map(beside).collect()
    }

    fn disturbed(&self, label: &str) -> Option<Spread> {
        let all = self.with_plain(label)?;
        all.into_iter().map(|([seconds, plain], _)| seconds / plain).reduce(f64::max).map(Spread::one)
    }

    fn losses_of_disturbance(&self, label: &str) -> Option<Spread> {
        let all = self.with_plain(label)?;
        let new = |(_, [lost, plain]): &([f64; 2], [f64; 2])| if *plain < NOTHING { *lost } else { 0.0 };
        all.iter().map(new).reduce(f64::max).map(Spread::one)
    }

    fn against(&self, access: &str, label: &str, other: &str) -> Option<Spread> {
        let access = [access];
        let (own, other) = (self.hosts(&access, label)?, self.hosts(&access, other)?);
        let ratios = own.iter().zip(&other).map(|((_, own, _), (_, other, _))| own / other);
        ratios.reduce(f64::max).map(Spread::one)
    }

    fn policed(&self, label: &str) -> Option<Spread> {
        let (row, other) = (self.policers.row_of(label)?, self.policers.row_of(slow_start())?);
        let lost = |path: &crate::PlayedPath, row: usize| -> f64 {
            let runs = &path.outcomes[row];
            let lost: f64 = runs.iter().filter_map(|run| run.startup_lost).sum();
            lost * path.holds_packets.unwrap_or(0.0) / runs.len().max(1) as f64
        };
        let ratio = |path: &crate::PlayedPath| lost(path, row) / lost(path, other).max(NOTHING);
        self.policers.paths.iter().map(ratio).reduce(f64::max).map(Spread::one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowds() -> Crowds {
        let crowd = |own: f64, dropped, jain| -> Measures {
            let values = [
                (metric::FLOWS_TIME, own),
                (metric::FLOWS_TIME_P95, 2.0 * own),
                (metric::DROPPED_PACKETS, dropped),
                (metric::FAIRNESS, jain),
            ];
            values.into_iter().map(|(metric, value)| (metric.id.to_owned(), value)).collect()
        };
        Crowds {
            rows: vec!["mine".to_owned(), slow_start().to_owned()],
            access: vec!["a".to_owned(), "b".to_owned(), "a".to_owned()],
            runs: vec![
                vec![
                    vec![crowd(1.0, 30.0, 0.9), crowd(2.0, 10.0, 0.7)],
                    vec![crowd(1.0, 10.0, 0.9), crowd(1.0, 30.0, 0.8)],
                ],
                vec![vec![crowd(9.0, 900.0, 0.1)], vec![crowd(1.0, 1.0, 1.0)]],
                vec![vec![crowd(1.0, 5.0, 1.0)], vec![crowd(1.0, 10.0, 1.0)]],
            ],
        }
    }

    #[test]
    fn the_worst_path_counts_and_its_seeds_are_the_spread() {
        let crowds = crowds();
        let drops = crowds.over("a", "mine", slow_start(), metric::DROPPED_PACKETS).unwrap();
        assert_eq!(drops, Spread { value: 1.0, low: 1.0 / 3.0, high: 3.0 });
        let own = crowds.over("a", "mine", slow_start(), metric::FLOWS_TIME).unwrap();
        assert_eq!(own, Spread { value: 1.5, low: 1.0, high: 2.0 });
        let jain = crowds.less("a", slow_start(), "mine", metric::FAIRNESS).unwrap();
        assert!((jain.value - 0.05).abs() < 1e-12 && (jain.high - 0.1).abs() < 1e-12, "{jain:?}");
        assert!(crowds.over("a", "nobody", slow_start(), metric::FAIRNESS).is_none());
        assert!(crowds.over("c", "mine", slow_start(), metric::FAIRNESS).is_none());
    }
}
