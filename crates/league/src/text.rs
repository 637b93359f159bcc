//! The table as text.

use std::fmt::Write as _;

use rampcc::figures::{counted, fixed, span};
use rampcc_lab::report::csv_line;

use crate::columns;
use crate::judge::{Condition, NEAR, Standing, Table};
use crate::play::POOLED_FROM;

/// A table as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Headings.
    pub head: Vec<String>,
    /// One cell for each heading.
    pub rows: Vec<Vec<String>>,
}

/// Download times.
pub fn time(table: &Table) -> Cells {
    let mut head = columns::head(&columns::TIME);
    head.extend(table.sizes.iter().map(|bytes| size(*bytes)));
    let row = |s: &Standing| {
        let mut cells = vec![
            s.label.clone(),
            s.places.map_or("–".to_owned(), places),
            ratio(s.ideal.mean),
            against(s),
            ratio(s.ideal.median),
            ratio(s.ideal.p95),
            format!("{}{}", ratio(s.ideal.worst), if s.ideal.cut > 0.0 { "*" } else { "" }),
            s.clean.as_ref().map_or("–".to_owned(), |over| ratio(over.p95)),
            format!("{:.1}", s.extra_rtts[0]),
            percent(s.ideal.above_two),
            if s.yardstick { "–".to_owned() } else { percent(s.best) },
            if s.yardstick { "–".to_owned() } else { percent(s.near_best) },
            s.slow_start.as_ref().map_or("–".to_owned(), |versus| percent(versus.slower)),
        ];
        cells.extend(
            s.by_size.iter().map(|by| by.ideal.as_ref().map_or("–".to_owned(), |over| ratio(over.mean))),
        );
        cells
    };
    Cells { head, rows: lines(table).map(row).collect() }
}

/// Rows that are slow start share its line.
fn lines(table: &Table) -> impl Iterator<Item = &Standing> {
    // Who brings a header looks for its line.
    table.standings.iter().filter(|standing| standing.same_as.is_none() || standing.candidate)
}

/// Labels of the rows that do what this one does.
fn same<'a>(table: &'a Table, label: &str) -> Vec<&'a str> {
    let all = table.standings.iter();
    all.filter(|s| s.same_as.as_deref() == Some(label) && !s.candidate).map(|s| s.label.as_str()).collect()
}

/// `3`, or `3–5` where the population cannot tell.
fn places([first, last]: [usize; 2]) -> String {
    if first == last { first.to_string() } else { format!("{first}–{last}") }
}

/// By how much it is slower than the first row, and whether other paths might say otherwise.
fn against(s: &Standing) -> String {
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    match &s.over_first {
        None => "–".to_owned(),
        Some(over) if over.tied() => "tied".to_owned(),
        Some(over) => {
            let [low, high] = [over.low, over.high].map(|ratio| format!("{:.0}", percent(ratio)));
            format!("+{} %", span(&low, &high))
        }
    }
}

/// What it costs the path and others.
pub fn cost(table: &Table) -> Cells {
    let row = |s: &Standing| {
        let [mean, p95, worst] = s.cost.startup_lost.map(|value| format!("{value:.2}"));
        vec![
            s.label.clone(),
            mean,
            p95,
            worst,
            percent_fine(s.cost.lost),
            percent_fine(s.cost.again),
            milliseconds(s.cost.queue_ms[0]),
            milliseconds(s.cost.queue_ms[1]),
            s.harm.as_ref().map_or("–".to_owned(), |harm| format!("{:.2}", harm.lost[0])),
            s.harm.as_ref().map_or("–".to_owned(), |harm| format!("{:.2}", harm.lost[1])),
            s.harm.as_ref().map_or("–".to_owned(), |harm| format!("{:+.0} %", -100.0 * harm.goodput)),
            s.together.map_or("–".to_owned(), |[one, three, ten]| format!("{one:.2} {three:.2} {ten:.2}")),
        ]
    };
    Cells { head: columns::head(&columns::COST), rows: lines(table).map(row).collect() }
}

/// How others fare; `None`: nothing was played among others.
pub fn among(table: &Table) -> Option<Cells> {
    let front = table.front();
    let row = |s: &Standing| {
        let among = s.among?;
        let [mean, p95, p99] = among.others.map(ratio);
        let [low, high] = among.others_p95.map(ratio);
        let beaten = !front.contains(&s.label.as_str());
        let seeds = span(&low, &high);
        let drops = [among.dropped, among.starts_dropped].map(ratio);
        let [dropped, starts] = drops;
        let mark = if beaten { "" } else { "yes" };
        let cells =
            [s.label.clone(), ratio(s.ideal.mean), ratio(among.own), mean, p95, seeds, p99, dropped, starts];
        Some(cells.into_iter().chain([mark.to_owned()]).collect())
    };
    // Those whose downloads are slow start's may remember what they did among others.
    let standard = table.standings.iter().find(|s| s.label == rampcc::standard().id).and_then(|s| s.among);
    let shown = table.standings.iter().filter(|s| s.same_as.is_none() || s.among != standard);
    let rows: Vec<Vec<String>> = shown.filter_map(row).collect();
    (!rows.is_empty()).then(|| Cells { head: columns::head(&columns::AMONG), rows })
}

/// What every column shows: table, heading, meaning.
pub fn columns() -> Cells {
    let tables =
        [("times", &columns::TIME[..]), ("costs", &columns::COST), ("among others", &columns::AMONG)];
    let row = |table: &str, (heading, meaning): &columns::Column| {
        [table, heading, meaning].map(|cell| cell.replace('`', "")).to_vec()
    };
    let rows = tables.iter().flat_map(|(table, columns)| columns.iter().map(|column| row(table, column)));
    Cells { head: ["table", "column", "meaning"].map(str::to_owned).to_vec(), rows: rows.collect() }
}

/// What was compared.
pub fn legend(table: &Table) -> String {
    let pooled: Vec<String> = table.pooled.iter().map(|bytes| size(*bytes)).collect();
    let kinds: Vec<String> = table
        .weights
        .iter()
        .filter(|(_, weight)| *weight > 0.0)
        .map(|(kind, weight)| format!("{kind} {} %", format!("{:.1}", 100.0 * weight).trim_end_matches(".0")))
        .collect();
    let standard = rampcc::standard().id;
    let same = same(table, standard);
    let beside =
        table.standings.iter().find_map(|standing| standing.harm.as_ref()).map_or(0, |harm| harm.paths);
    let mut words = format!(
        "{}{} ({}), {} pooled; {beside} paths have a running flow. Differences below {:.0} % count as none.",
        table.edition.map_or(String::new(), |edition| format!("{edition}: ")),
        counted(table.paths, "path"),
        kinds.join(", "),
        pooled.join(", "),
        100.0 * NEAR,
    );
    if table.pooled.first().is_some_and(|least| *least < POOLED_FROM)
        && table.pooled.last().is_some_and(|most| *most >= POOLED_FROM)
    {
        write!(words, " Paths without a download of {} count by their smaller ones.", size(POOLED_FROM))
            .expect("a string grows");
    }
    if table.paths == 1 {
        words.push_str(" One path says nothing of others: no row has a place of its own.");
    }
    if table.standings.iter().any(|standing| standing.among.is_some()) {
        write!(
            words,
            " Among others, everything is over what {standard} does in the same place, the mean over the paths: web loads of 50 and 80 % over \
             buffers of a quarter and one BDP, half of their flows the algorithm's and the others hystart's."
        )
        .expect("a string grows");
    }
    if !same.is_empty() {
        let rows = same.join(", ");
        write!(
            words,
            " Every download takes and loses as much as with {standard}, whose line they share: {rows}."
        )
        .expect("a string grows");
    }
    if table.left_out > 0 {
        let what = if table.left_out == 1 { "path and size is" } else { "paths and sizes are" };
        write!(words, " {} {what} left out: a run of `ideal` ended before its download.", table.left_out)
            .expect("a string grows");
    }
    words
}

/// Where an algorithm fails, a sentence for each of its worst groups of paths.
pub fn fails(standing: &Standing, most: usize) -> Vec<String> {
    let all: usize = standing.fails.groups.iter().map(|group| group.paths).sum();
    let groups = standing.fails.groups.iter().zip(&standing.fails.examples).take(most);
    groups
        .filter(|(group, _)| !group.conditions.is_empty())
        .map(|(group, example)| {
            let words: Vec<String> = group.conditions.iter().map(Condition::words).collect();
            format!(
                "{}× on {} of {all} paths: {}. See league:{example}",
                ratio(group.ratio),
                group.paths,
                words.join(", ")
            )
        })
        .collect()
}

/// One line for each case: path, size, and what every row took.
pub fn csv(league: &crate::League) -> String {
    let times = league.times();
    let head =
        ["path", "access", "bytes", "algorithm", "seconds", "over_ideal", "over_causal", "extra_rtts", "cut"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for (index, case) in times.cases.iter().enumerate() {
        let path = &league.paths[case.path];
        for (row, over) in league.rows.iter().zip(&times.over) {
            let ratio = over[index];
            lines.push(vec![
                path.name.clone(),
                path.access.clone(),
                league.sizes[case.size].to_string(),
                row.label.clone(),
                format!("{:.6}", ratio.seconds),
                format!("{:.4}", ratio.ideal),
                format!("{:.4}", ratio.causal),
                format!("{:.2}", ratio.rtts),
                ratio.cut.to_string(),
            ]);
        }
    }
    table(&lines)
}

/// One line for each run: everything that is kept of it.
pub fn runs(league: &crate::League, version: &str, command: &str) -> String {
    let seconds = league.sizes.iter().map(|bytes| format!("seconds_{bytes}"));
    let before = ["path", "access", "algorithm", "seed", "file_bytes"];
    let after = "had_s,lost_bytes,sent_again_bytes,startup_lost,timeouts,queue_p95_s,queue_peak_s,others_lost_packets,\
                 others_goodput_mbit,exit,exit_window_bdp,estimate_bdp,estimate_off_bdp";
    let head =
        before.map(str::to_owned).into_iter().chain(seconds).chain(after.split(',').map(str::to_owned));
    let mut lines = vec![head.collect::<Vec<String>>()];
    for path in &league.paths {
        let rows = league.rows.iter().zip(&path.outcomes).map(|(row, runs)| (row.label.as_str(), runs));
        let alone = (!path.alone.is_empty()).then_some(("", &path.alone));
        for (label, runs) in rows.chain(alone) {
            for (seed, run) in path.seeds.iter().zip(runs) {
                let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value}"));
                let mut cells = vec![
                    path.name.clone(),
                    path.access.clone(),
                    label.to_owned(),
                    seed.to_string(),
                    path.file_bytes.to_string(),
                ];
                cells.extend(
                    (0..league.sizes.len()).map(|size| number(run.seconds.get(size).copied().flatten())),
                );
                cells.extend([run.had_s, run.lost_bytes, run.again_bytes].map(|value| number(Some(value))));
                cells.extend([run.startup_lost, Some(run.timeouts)].map(number));
                cells.extend([run.queue_p95_s, run.queue_peak_s].map(|value| number(Some(value))));
                cells.push(number(run.others.map(|others| others.lost_packets)));
                cells.push(number(run.others.map(|others| others.goodput_mbit)));
                cells.push(run.exit.as_ref().map_or(String::new(), |(reason, _)| reason.clone()));
                cells.push(number(run.exit.as_ref().map(|(_, window)| *window)));
                cells.extend([0, 1].map(|which| number(run.estimate.map(|both| both[which]))));
                lines.push(cells);
            }
        }
    }
    let format = rampcc_lab::report::FORMAT;
    format!("# version: {version:?}\n# command: {command:?}\n# format: {format}\n{}", table(&lines))
}

/// As CSV.
pub(crate) fn table(lines: &[Vec<String>]) -> String {
    lines.iter().map(|line| csv_line(line) + "\n").collect()
}

/// `100 kB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        1_000_000.. => format!("{} MB", bytes as f64 / 1e6),
        _ => format!("{} kB", bytes as f64 / 1e3),
    }
}

pub(crate) fn ratio(value: f64) -> String {
    match value {
        ..10.0 => fixed(value, 2),
        ..100.0 => fixed(value, 1),
        _ => fixed(value, 0),
    }
}

pub(crate) fn percent(share: f64) -> String {
    format!("{} %", fixed(100.0 * share, 0))
}

pub(crate) fn percent_fine(share: f64) -> String {
    format!("{} %", fixed(100.0 * share, 1))
}

fn milliseconds(value: f64) -> String {
    format!("{} ms", fixed(value, usize::from(value < 10.0)))
}
