//! The table as text.

use std::fmt::Write as _;

use crate::judge::{Condition, NEAR, Standing, Table};

/// Heads and cells of a table.
pub type Cells = (Vec<String>, Vec<Vec<String>>);

/// Download times.
pub fn time(table: &Table) -> Cells {
    let mut head: Vec<String> = [
        "algorithm",
        "× ideal",
        "median",
        "95 %",
        "worst",
        "× causal 95 %",
        "extra RTTs",
        "> 2×",
        "best",
        "within 5 %",
        "slower than slow start",
    ]
    .map(str::to_owned)
    .to_vec();
    head.extend(table.sizes.iter().map(|bytes| size(*bytes)));
    let row = |s: &Standing| {
        let mut cells = vec![
            s.label.clone(),
            ratio(s.ideal.mean),
            ratio(s.ideal.median),
            ratio(s.ideal.p95),
            format!("{}{}", ratio(s.ideal.worst), if s.ideal.cut > 0.0 { "*" } else { "" }),
            ratio(s.causal.p95),
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
    (head, table.standings.iter().map(row).collect())
}

/// What it costs the path and others.
pub fn cost(table: &Table) -> Cells {
    let head = [
        "algorithm",
        "lost in start-up",
        "95 %",
        "worst",
        "lost",
        "sent again",
        "queue",
        "95 % of paths",
        "running flow's losses",
        "its goodput",
        "two together",
    ]
    .map(str::to_owned)
    .to_vec();
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
            s.harm.as_ref().map_or("–".to_owned(), |harm| format!("{:.2}×", harm.lost)),
            s.harm.as_ref().map_or("–".to_owned(), |harm| format!("{:+.0} %", -100.0 * harm.goodput)),
            s.together.map_or("–".to_owned(), |[one, three, ten]| format!("{one:.2} {three:.2} {ten:.2}")),
        ]
    };
    (head, table.standings.iter().map(row).collect())
}

/// What the columns are.
pub fn legend(table: &Table) -> String {
    let pooled: Vec<String> = table.pooled.iter().map(|bytes| size(*bytes)).collect();
    let kinds: Vec<String> =
        table.weights.iter().map(|(kind, weight)| format!("{kind} {:.0} %", 100.0 * weight)).collect();
    let cut = table.standings.iter().any(|standing| standing.ideal.cut > 0.0);
    format!(
        "{} paths ({}), {} pooled. Download time over that of `ideal`, which knows the path: geometric mean, median, 95th \
         percentile, worst; over the causal bound, 1.5 RTT + 1 RTT + size/rate or `ideal` if that is longer; round trips more than \
         `ideal`. Lost in start-up: packets over those that pipe and buffer hold together. A running flow's losses in the \
         first {} round trips of the download, and its goodput, are compared with those beside `ideal`. Two together: larger over smaller share after 1, 3 and 10 s, medians. \
         Differences below {:.0} % count as none.{}",
        table.paths,
        kinds.join(", "),
        pooled.join(", "),
        crate::BESIDE_RTTS,
        100.0 * NEAR,
        if cut { " * Some downloads were cut off by the end of a run: at least so much." } else { "" }
    )
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
    let mut text =
        String::from("path,access,bytes,algorithm,seconds,over_ideal,over_causal,extra_rtts,cut\n");
    for (index, case) in times.cases.iter().enumerate() {
        let path = &league.paths[case.path];
        for (row, over) in league.rows.iter().zip(&times.over) {
            let ratio = over[index];
            writeln!(
                text,
                "{},{},{},\"{}\",{:.6},{:.4},{:.4},{:.2},{}",
                path.name,
                path.access,
                league.sizes[case.size],
                row.label.replace('"', "\"\""),
                ratio.seconds,
                ratio.ideal,
                ratio.causal,
                ratio.rtts,
                ratio.cut
            )
            .expect("a string grows");
        }
    }
    text
}

/// `100 kB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        1_000_000.. => format!("{} MB", bytes as f64 / 1e6),
        _ => format!("{} kB", bytes as f64 / 1e3),
    }
}

fn ratio(value: f64) -> String {
    match value {
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn percent_fine(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn milliseconds(value: f64) -> String {
    if value < 10.0 { format!("{value:.1} ms") } else { format!("{value:.0} ms") }
}
