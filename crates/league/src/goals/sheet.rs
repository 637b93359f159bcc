//! The goals of a start-up, and whether they are met.

use rampcc_experiment::{Row, Steering};
use serde::Serialize;

use super::traffic::{HELD, Spread};
use super::{Played, harm, standing, yardstick};
use crate::judge::{Standing, Table};
use rampcc_lab::metric::SHARES_AFTER_S;

/// A table for a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sheet {
    /// Of the columns, the first one's left out.
    pub head: Vec<String>,
    /// In their order.
    pub lines: Vec<Line>,
}

/// A line of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// What is measured.
    pub measure: String,
    /// By column.
    pub cells: Vec<Cell>,
}

/// A value in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    /// Empty: there is none.
    pub text: String,
    /// Against its goal.
    pub judged: Judged,
}

/// A value against its goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judged {
    /// Nobody holds it to a goal.
    #[default]
    Free,
    /// Within the goal, with its whole interval: over the seeds, or over paths drawn from the same ranges.
    Met,
    /// Beyond it, as a whole.
    Missed,
    /// The goal is within the interval.
    CannotTell,
}

impl Judged {
    fn new((low, high): (f64, f64), goal: Option<f64>) -> Self {
        match goal {
            None => Self::Free,
            Some(goal) if high <= goal => Self::Met,
            Some(goal) if low > goal => Self::Missed,
            Some(_) => Self::CannotTell,
        }
    }
}

impl Cell {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), judged: Judged::Free }
    }
}

/// How a value is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// Three decimals: what is near its goal.
    Fine,
    /// Two, fewer if it is large.
    Ratio,
    Percent,
    Seconds,
    Count,
}

impl Form {
    fn write(self, value: f64) -> String {
        match (self, value) {
            (Self::Fine, _) => format!("{value:.3}"),
            (Self::Ratio, ..10.0) => format!("{value:.2}"),
            (Self::Ratio | Self::Seconds, ..100.0) => format!("{value:.1}"),
            (Self::Percent, _) => format!("{:.1} %", 100.0 * value),
            _ => format!("{value:.0}"),
        }
    }

    /// A goal, without decimals that say nothing.
    fn goal(self, value: f64) -> String {
        match self {
            Self::Percent if value > 0.0 => format!("{} %", 100.0 * value),
            _ if value > 0.0 => format!("{value}"),
            _ => "none".to_owned(),
        }
    }

    fn cell(self, value: Option<f64>, goal: Option<f64>) -> Cell {
        let Some(value) = value else { return Cell::default() };
        Cell { text: self.write(value), judged: Judged::new((value, value), goal) }
    }

    /// With where it lies for the seeds.
    fn spread(self, value: Option<Spread>, goal: Option<f64>) -> Cell {
        let Some(Spread { value, low, high }) = value else { return Cell::default() };
        let [value, low_words, high_words] = [value, low, high].map(|value| self.write(value));
        let text =
            if low_words == high_words { value } else { format!("{value} ({low_words} to {high_words})") };
        Cell { text, judged: Judged::new((low, high), goal) }
    }
}

/// Of the paths that were played: what other paths would give is not known from these.
const WORST: &str = "worst";
/// In words, what Linux does.
const LINUX: &str = "LINUX";

/// A measure of a row on a population.
struct Measure {
    /// [`LINUX`] stands for what that does.
    words: &'static str,
    goal: Option<f64>,
    form: Form,
    /// Of a row and its table.
    value: fn(&Standing, &Table) -> Option<f64>,
}

/// All that the league measures of a row on each population.
const MEASURES: [Measure; 14] = [
    Measure {
        words: "download time over `ideal`: geometric mean",
        goal: Some(1.12),
        form: Form::Fine,
        value: |row, _| Some(row.ideal.mean),
    },
    Measure {
        words: "95th percentile",
        goal: Some(1.8),
        form: Form::Ratio,
        value: |row, _| Some(row.ideal.p95),
    },
    Measure { words: WORST, goal: None, form: Form::Ratio, value: |row, _| Some(row.ideal.worst) },
    Measure {
        words: "share over 2 ×",
        goal: Some(0.03),
        form: Form::Percent,
        value: |row, _| Some(row.ideal.above_two),
    },
    Measure {
        words: "clean paths, over what no sender can beat that learns from ACKs: 95th percentile",
        goal: None,
        form: Form::Ratio,
        value: |row, _| Some(row.clean.as_ref()?.p95),
    },
    Measure {
        words: "`ideal` there",
        goal: None,
        form: Form::Ratio,
        value: |row, table| {
            // Once, not in every row's column.
            other(row)?;
            Some(yardstick(table)?.clean.as_ref()?.p95)
        },
    },
    Measure {
        words: "over the larger of that and `ideal`, path by path: 95th percentile",
        goal: None,
        form: Form::Ratio,
        value: |row, _| Some(row.clean_attained.as_ref()?.p95),
    },
    Measure {
        words: "more than 5 % slower than LINUX",
        goal: None,
        form: Form::Percent,
        value: |row, _| other(row).map(|versus| versus.slower),
    },
    Measure {
        words: "of these, `ideal` is not",
        goal: Some(0.04),
        form: Form::Percent,
        value: |row, _| other(row).map(|versus| versus.slower_alone),
    },
    Measure {
        words: "more than 25 % slower than LINUX",
        goal: Some(0.01),
        form: Form::Percent,
        value: |row, _| other(row).map(|versus| versus.much_slower),
    },
    Measure {
        words: "lost in start-up over BDP + buffer: mean",
        goal: Some(0.10),
        form: Form::Fine,
        value: |row, _| Some(row.cost.startup_lost[0]),
    },
    Measure {
        words: "95th percentile",
        goal: Some(0.5),
        form: Form::Ratio,
        value: |row, _| Some(row.cost.startup_lost[1]),
    },
    Measure {
        words: WORST,
        goal: Some(1.5),
        form: Form::Ratio,
        value: |row, _| Some(row.cost.startup_lost[2]),
    },
    Measure {
        words: "a running flow's losses over those beside `slow_start`",
        goal: None,
        form: Form::Ratio,
        value: |row, table| harm(table, &row.label),
    },
];

/// Against what Linux does, unless it is that.
fn other(row: &Standing) -> Option<&crate::Versus> {
    row.cubic.as_ref().filter(|versus| versus.label != row.label)
}

/// A download over the satellite takes at most so many times as long as with slow start.
const GEO_STANDARD: f64 = 1.05;
/// And, unless its return link is the slowest of them, as with the yardstick.
const GEO_IDEAL: f64 = 1.1;
const SLOWEST: &str = "1 Mbit/s";
/// What it may keep of a connection.
const STATE_BYTES: f64 = 160.0;

/// The table of goals: columns of the row's for each population, and of what Linux does; and that of the sets, with rows as columns.
pub fn goals(played: &Played, row: &Row) -> [Sheet; 2] {
    [populations(played, &row.label), sets(played, row)]
}

fn populations(played: &Played, label: &str) -> Sheet {
    let linux = rampcc::of_cubic().id;
    let mut head = vec!["goal".to_owned()];
    for row in [label, linux] {
        head.extend(played.populations.iter().map(|table| format!("`{row}`, {}", table.population)));
    }
    let line = |measure: &Measure| {
        let mut cells = vec![Cell::plain(measure.goal.map_or(String::new(), |goal| measure.form.goal(goal)))];
        for (row, goal) in [(label, measure.goal), (linux, None)] {
            let value = |table: &Table| standing(table, row).and_then(|row| (measure.value)(row, table));
            let cell = |(table, drawn): (&Table, &Vec<Table>)| {
                let found = value(table)?;
                let mut drawn: Vec<f64> = drawn.iter().filter_map(value).collect();
                drawn.sort_by(f64::total_cmp);
                let end = |share: f64| rampcc_lab::quantile(&drawn, share);
                let sure = goal.is_none() || measure.words == WORST || drawn.is_empty();
                let [low, high] = if sure { [found; 2] } else { [end(0.025), end(0.975)] };
                Some(Spread { value: found, low, high })
            };
            let both = played.populations.iter().zip(&played.resampled);
            cells.extend(both.map(|both| measure.form.spread(cell(both), goal)));
        }
        Line { measure: measure.words.replace(LINUX, &format!("`{linux}`")), cells }
    };
    Sheet { head, lines: MEASURES.iter().map(line).collect() }
}

fn sets(played: &Played, judged: &Row) -> Sheet {
    let label = judged.label.as_str();
    let (standard, linux) = (rampcc::standard().id, rampcc::of_cubic().id);
    let ideal = yardstick(&played.beside).map_or("", |row| row.label.as_str());
    let rows = [label, linux, standard, ideal];
    let mut head = vec!["goal".to_owned()];
    head.extend(rows.map(|row| format!("`{row}`")));
    let line = |measure: String, goal: String, cell: &dyn Fn(&str, bool) -> Cell| {
        let cells = rows.iter().enumerate().map(|(place, row)| cell(row, place == 0));
        Line { measure, cells: std::iter::once(Cell::plain(goal)).chain(cells).collect() }
    };
    let beside = line(
        format!("a running flow's losses over those beside `{standard}`, on {} paths", played.beside.paths),
        String::new(),
        &|row, _| Form::Ratio.cell(harm(&played.beside, row), None),
    );
    let mut lines: Vec<Line> = Vec::new();
    if let Some(traffic) = &played.traffic {
        lines.extend(HELD.iter().map(|held| {
            line(held.words.to_owned(), held.form.goal(held.goal), &|row, mine| {
                held.form.spread(held.of(traffic, row), Some(held.goal).filter(|_| mine))
            })
        }));
    }
    lines.push(beside);
    if let Some(table) = played.populations.first() {
        let shares = |row: &str| standing(table, row).and_then(|row| row.together);
        for (index, after) in SHARES_AFTER_S.iter().enumerate() {
            lines.push(line(
                format!("two together, larger over smaller share after {after} s"),
                String::new(),
                &|row, _| Form::Ratio.cell(shares(row).map(|shares| shares[index]), None),
            ));
        }
    }
    for geo in &played.geo {
        let seconds = |row: &str| geo.of(row).map_or(0.0, |row| row.seconds);
        let slowest = geo.access.ends_with(&format!("with {SLOWEST}"));
        let most = if slowest { f64::INFINITY } else { GEO_IDEAL * seconds(ideal) };
        let goal = (GEO_STANDARD * seconds(standard)).min(most);
        lines.push(line(
            format!("GEO, {}: slowest download, s", geo.access),
            Form::Seconds.write(goal),
            &|row, held| Form::Seconds.cell(geo.of(row).map(|row| row.seconds), Some(goal).filter(|_| held)),
        ));
        if geo.is_fast() {
            let words = "packets lost there in start-up, at most".to_owned();
            lines.push(line(words, String::new(), &|row, _| {
                Form::Count.cell(geo.of(row).map(|row| row.lost_packets), None)
            }));
        }
    }
    if let Steering::Core(arm) = &judged.steering {
        lines.push(line("state, bytes".to_owned(), format!("{STATE_BYTES}"), &|row, held| {
            let of = if held { Some(arm.algorithm) } else { rampcc::algorithm(row) };
            let bytes = of
                .filter(|of| !of.traits.has(rampcc::Traits::KNOWS_PATH))
                .map(rampcc::Algorithm::state_bytes);
            Form::Count.cell(bytes.map(|bytes| bytes as f64), Some(STATE_BYTES).filter(|_| held))
        }));
    }
    Sheet { head, lines }
}
