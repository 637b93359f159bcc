//! The goals of a start-up, and whether they are met.

use rampcc_experiment::{Row, Steering};
use serde::Serialize;

use super::data::{Goals, OVER_IDEAL, OVER_STANDARD};
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
    /// It has no goal.
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
    fn new(low: f64, high: f64, goal: Option<f64>) -> Self {
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

    fn goal_cell(self, value: Option<f64>) -> Cell {
        Cell::plain(value.map_or(String::new(), |value| self.goal(value)))
    }

    fn cell(self, value: Option<f64>, goal: Option<f64>) -> Cell {
        let Some(value) = value else { return Cell::default() };
        Cell { text: self.write(value), judged: Judged::new(value, value, goal) }
    }

    /// With where it lies for the seeds.
    fn spread(self, value: Option<Spread>, goal: Option<f64>) -> Cell {
        let Some(Spread { value, low, high }) = value else { return Cell::default() };
        let [value, low_words, high_words] = [value, low, high].map(|value| self.write(value));
        let text =
            if low_words == high_words { value } else { format!("{value} ({low_words} to {high_words})") };
        Cell { text, judged: Judged::new(low, high, goal) }
    }
}

/// In words, what Linux does.
const LINUX: &str = "LINUX";

/// A measure of a row on a population.
pub(super) struct Measure {
    /// [`LINUX`] stands for what that does.
    words: &'static str,
    /// In files of goals.
    pub(super) id: &'static str,
    form: Form,
    /// Of a row and its table.
    value: fn(&Standing, &Table) -> Option<f64>,
}

const fn measure(
    words: &'static str,
    id: &'static str,
    form: Form,
    value: fn(&Standing, &Table) -> Option<f64>,
) -> Measure {
    Measure { words, id, form, value }
}

/// All that the league measures of a row on each population.
pub(super) const MEASURES: [Measure; 14] = [
    measure("download time over `ideal`: geometric mean", "time_mean", Form::Fine, |row, _| {
        Some(row.ideal.mean)
    }),
    measure("95th percentile", "time_p95", Form::Ratio, |row, _| Some(row.ideal.p95)),
    measure("worst", "time_worst", Form::Ratio, |row, _| Some(row.ideal.worst)),
    measure("share over 2 ×", "time_above_two", Form::Percent, |row, _| Some(row.ideal.above_two)),
    measure(
        "clean paths, over what no sender can beat that learns from ACKs: 95th percentile",
        "clean_p95",
        Form::Ratio,
        |row, _| Some(row.clean.as_ref()?.p95),
    ),
    measure("`ideal` there", "clean_ideal_p95", Form::Ratio, |row, table| {
        // Once, not in every row's column.
        other(row)?;
        Some(yardstick(table)?.clean.as_ref()?.p95)
    }),
    measure(
        "over the larger of that and `ideal`, path by path: 95th percentile",
        "attained_p95",
        Form::Ratio,
        |row, _| Some(row.clean_attained.as_ref()?.p95),
    ),
    measure("more than 5 % slower than LINUX", "slower", Form::Percent, |row, _| {
        other(row).map(|versus| versus.slower)
    }),
    measure("of these, `ideal` is not", "slower_alone", Form::Percent, |row, _| {
        other(row).map(|versus| versus.slower_alone)
    }),
    measure("more than 25 % slower than LINUX", "much_slower", Form::Percent, |row, _| {
        other(row).map(|versus| versus.much_slower)
    }),
    measure("lost in start-up over BDP + buffer: mean", "startup_lost_mean", Form::Fine, |row, _| {
        Some(row.cost.startup_lost[0])
    }),
    measure("95th percentile", "startup_lost_p95", Form::Ratio, |row, _| Some(row.cost.startup_lost[1])),
    measure("worst", "startup_lost_worst", Form::Ratio, |row, _| Some(row.cost.startup_lost[2])),
    measure("a running flow's losses over those with `slow_start`", "harm", Form::Ratio, |row, table| {
        harm(table, &row.label)
    }),
];

/// Against what Linux does, unless it is that.
fn other(row: &Standing) -> Option<&crate::Versus> {
    row.cubic.as_ref().filter(|versus| versus.label != row.label)
}

/// Measures of the worst path that was played: what other paths would give is not known from it.
const WORST: [&str; 2] = ["time_worst", "startup_lost_worst"];

/// The table of goals: columns of the row's for each population, and of what Linux does; and that of the sets, with rows as columns.
pub fn sheets(played: &Played, row: &Row, goals: &Goals) -> [Sheet; 2] {
    [populations(played, &row.label, goals), sets(played, row, goals)]
}

fn populations(played: &Played, label: &str, goals: &Goals) -> Sheet {
    let linux = rampcc::of_cubic().id;
    let mut head = vec!["goal".to_owned()];
    for row in [label, linux] {
        head.extend(played.populations.iter().map(|table| format!("`{row}`, {}", table.population)));
    }
    let line = |measure: &Measure| {
        let own = goals.of_population(measure.id);
        let mut cells = vec![measure.form.goal_cell(own)];
        for (row, goal) in [(label, own), (linux, None)] {
            let value = |table: &Table| standing(table, row).and_then(|row| (measure.value)(row, table));
            let cell = |(table, drawn): (&Table, &Vec<Table>)| {
                let found = value(table)?;
                let mut drawn: Vec<f64> = drawn.iter().filter_map(value).collect();
                drawn.sort_by(f64::total_cmp);
                let end = |share: f64| rampcc_lab::quantile(&drawn, share);
                let sure = goal.is_none() || WORST.contains(&measure.id) || drawn.is_empty();
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

fn sets(played: &Played, judged: &Row, goals: &Goals) -> Sheet {
    let label = judged.label.as_str();
    let (standard, linux) = (rampcc::standard().id, rampcc::of_cubic().id);
    let ideal = yardstick(&played.beside).map_or("", |row| row.label.as_str());
    let rows = [label, linux, standard, ideal];
    let mut head = vec!["goal".to_owned()];
    head.extend(rows.map(|row| format!("`{row}`")));
    let line = |measure: String, goal: Cell, cell: &dyn Fn(&str, bool) -> Cell| {
        let cells = rows.iter().enumerate().map(|(place, row)| cell(row, place == 0));
        Line { measure, cells: std::iter::once(goal).chain(cells).collect() }
    };
    let beside = line(
        format!("a running flow's losses over those with `{standard}`, on {} paths", played.beside.paths),
        Cell::default(),
        &|row, _| Form::Ratio.cell(harm(&played.beside, row), None),
    );
    let mut lines: Vec<Line> = Vec::new();
    if let Some(traffic) = &played.traffic {
        lines.extend(HELD.iter().map(|held| {
            let goal = goals.of_traffic(held.id);
            line(held.words.to_owned(), held.form.goal_cell(goal), &|row, mine| {
                held.form.spread(held.of(traffic, row), goal.filter(|_| mine))
            })
        }));
    }
    lines.push(beside);
    if let Some(table) = played.populations.first() {
        let shares = |row: &str| standing(table, row).and_then(|row| row.together);
        for (index, after) in SHARES_AFTER_S.iter().enumerate() {
            lines.push(line(
                format!("two together, larger over smaller share after {after} s"),
                Cell::default(),
                &|row, _| Form::Ratio.cell(shares(row).map(|shares| shares[index]), None),
            ));
        }
    }
    for geo in &played.geo {
        let seconds = |row: &str| geo.of(row).map_or(0.0, |row| row.seconds);
        let slowest = played.geo.iter().all(|other| other.return_mbit >= geo.return_mbit * (1.0 - 1e-9));
        let over = |goal: Option<f64>, row: &str| goal.map(|goal| goal * seconds(row));
        let most = over(goals.of_geo(OVER_IDEAL), ideal).filter(|_| !slowest);
        let goal = over(goals.of_geo(OVER_STANDARD), standard).into_iter().chain(most).reduce(f64::min);
        lines.push(line(
            format!("GEO, {}: slowest download, s", geo.access),
            Cell::plain(goal.map_or(String::new(), |goal| Form::Seconds.write(goal))),
            &|row, held| Form::Seconds.cell(geo.of(row).map(|row| row.seconds), goal.filter(|_| held)),
        ));
        if geo.is_fast() {
            let words = "packets lost there in start-up, at most".to_owned();
            lines.push(line(words, Cell::default(), &|row, _| {
                Form::Count.cell(geo.of(row).map(|row| row.lost_packets), None)
            }));
        }
    }
    if let Steering::Core(arm) = &judged.steering {
        let goal = goals.state_bytes();
        lines.push(line("state, bytes".to_owned(), Form::Count.goal_cell(goal), &|row, held| {
            let of = if held { Some(arm.algorithm) } else { rampcc::algorithm(row) };
            let bytes = of
                .filter(|of| !of.traits.has(rampcc::Traits::KNOWS_PATH))
                .map(rampcc::Algorithm::state_bytes);
            Form::Count.cell(bytes.map(|bytes| bytes as f64), goal.filter(|_| held))
        }));
    }
    Sheet { head, lines }
}
