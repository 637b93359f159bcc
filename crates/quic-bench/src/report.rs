//! What a bench finds.

use std::fmt;

use rampcc_league::{Interval, League, Standing, Table, Weights, text};

/// By more than this share, a download is slower or faster.
const NEAR: f64 = 0.05;

/// Every row on every path, compared pair by pair. As text it is a Markdown table.
#[derive(Clone, Debug)]
pub struct Report {
    name: &'static str,
    league: League,
    table: Table,
}

/// How a row did compared with the author's, over the same downloads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// Downloads that are compared.
    pub downloads: usize,
    /// Of them, those in which the author's takes over 5 % longer.
    pub slower: usize,
    /// And those in which it takes over 5 % less.
    pub faster: usize,
    /// Downloads that the row did not finish, because its connection was lost or the run ended.
    pub unfinished: usize,
}

impl Report {
    pub(crate) fn new(name: &'static str, league: League) -> Self {
        let table = league.judge(&Weights::default());
        Self { name, league, table }
    }

    /// Download time of one row over that of another: geometric mean over paths and sizes of 1 MB and more (all, if there are none),
    /// with its 95 % interval over paths drawn from the same ranges. `None`: one of them is no row.
    pub fn ratio(&self, row: &str, over: &str) -> Option<Interval> {
        self.league.paired(row, over)
    }

    /// The whole table, as `ramp league` has it.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Download by download; `None`: it is no row.
    pub fn beside(&self, row: &str) -> Option<Beside> {
        let times = self.league.times();
        let of = |label: &str| self.league.rows.iter().position(|row| row.label == label);
        let (own, other) = (&times.over[of(self.name)?], &times.over[of(row)?]);
        let count = |holds: &dyn Fn(f64, f64) -> bool| {
            own.iter().zip(other).filter(|(own, other)| holds(own.seconds, other.seconds)).count()
        };
        Some(Beside {
            downloads: times.cases.len(),
            slower: count(&|own, other| own > other * (1.0 + NEAR)),
            faster: count(&|own, other| other > own * (1.0 + NEAR)),
            unfinished: other.iter().filter(|ratio| ratio.cut).count(),
        })
    }

    fn line(&self, standing: &Standing) -> Vec<String> {
        let label = &standing.label;
        let beside = self.beside(label).expect("every standing is of a row");
        let ratio = self.ratio(self.name, label).filter(|_| label != self.name);
        let mut cells = vec![
            format!("`{label}`"),
            format!("{:.2}", standing.ideal.mean),
            ratio.map_or("–".to_owned(), |of| format!("{:.3} ({:.3} to {:.3})", of.ratio, of.low, of.high)),
        ];
        let counts = if ratio.is_some() {
            [beside.slower, beside.faster].map(|count| count.to_string())
        } else {
            ["–", "–"].map(str::to_owned)
        };
        cells.extend(counts);
        cells.push(beside.unfinished.to_string());
        cells.extend(
            standing
                .by_size
                .iter()
                .map(|by| by.ideal.as_ref().map_or("–".to_owned(), |over| format!("{:.2}", over.mean))),
        );
        cells
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        let mut head = vec![
            "row".to_owned(),
            "× ideal".to_owned(),
            format!("`{name}` over it"),
            "slower".to_owned(),
            "faster".to_owned(),
            "not finished".to_owned(),
        ];
        head.extend(self.table.sizes.iter().map(|bytes| text::size(*bytes)));
        let lines: Vec<Vec<String>> =
            self.table.standings.iter().map(|standing| self.line(standing)).collect();
        let widths: Vec<usize> = (0..head.len())
            .map(|column| {
                lines.iter().chain([&head]).map(|line| line[column].chars().count()).max().unwrap_or(0)
            })
            .collect();
        let row = |cells: &[String]| {
            let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            format!("| {} |", padded.collect::<Vec<_>>().join(" | "))
        };
        writeln!(f, "{}", row(&head))?;
        writeln!(f, "{}", row(&widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>()))?;
        for line in &lines {
            writeln!(f, "{}", row(line))?;
        }
        let downloads = self.beside(name).map_or(0, |beside| beside.downloads);
        writeln!(
            f,
            "\nDownload times over those of `ideal`, which knows the path, on {} paths of `{}`: geometric means, those of each size \
             last. `{name}` over the row's, pair by pair, with the 95 % interval; of {downloads} downloads, in how many `{name}` is over \
             5 % slower and faster, and how many the row did not finish.",
            self.table.paths, self.table.population,
        )
    }
}
