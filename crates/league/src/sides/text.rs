//! Agreement as text.

use std::fmt::Write as _;

use rampcc::figures::{counted, plural};
use rampcc_lab::missing;

use super::agreement::{Agreement, Apart, Spread};
use crate::judge::Condition;
use crate::outcome::Outcome;
use crate::text::{Cells, percent, percent_fine, size, table};

/// The rows: their times and ranks on both backends.
pub fn rows(agreement: &Agreement) -> Cells {
    let [first, second] = agreement.backends;
    let head = [
        "algorithm".to_owned(),
        format!("rank, {second}"),
        format!("rank, {first}"),
        format!("× fastest, {second}"),
        format!("× fastest, {first}"),
        format!("{second} / {first}"),
        "5 %".to_owned(),
        "95 %".to_owned(),
        "within 5 %".to_owned(),
        "cases".to_owned(),
    ];
    let none = || "–".to_owned();
    let rows = agreement.rows.iter().map(|row| {
        let rank = |side: usize| row.ranks.map_or_else(none, |ranks| format!("{}", ranks[side]));
        let over = |side: usize| row.over_fastest.map_or_else(none, |over| format!("{:.3}", over[side]));
        let mut cells = vec![row.label.clone(), rank(1), rank(0), over(1), over(0)];
        cells.extend(spread(&row.ratio));
        cells
    });
    Cells { head: head.to_vec(), rows: rows.collect() }
}

/// Access types.
pub fn access(agreement: &Agreement) -> Cells {
    let [first, second] = agreement.backends;
    let head = ["access", "paths", &format!("{second} / {first}"), "5 %", "95 %", "within 5 %", "cases"];
    let row = |one: &super::Access| {
        let mut cells = vec![one.access.clone(), one.paths.to_string()];
        cells.extend(spread(&one.ratio));
        cells
    };
    Cells { head: head.map(str::to_owned).to_vec(), rows: agreement.access.iter().map(row).collect() }
}

/// The paths.
pub fn paths(agreement: &Agreement) -> Cells {
    let [first, second] = agreement.backends;
    let head = [
        "path",
        "ranks",
        &format!("{second} / {first}"),
        "5 %",
        "95 %",
        "within 5 %",
        "cases",
        "marked runs",
    ];
    let row = |one: &super::OnPath| {
        let mut cells =
            vec![one.path.clone(), one.ranks.map_or_else(|| "–".to_owned(), |tau| format!("{tau:.2}"))];
        cells.extend(spread(&one.ratio));
        cells.push(one.marked.to_string());
        cells
    };
    Cells { head: head.map(str::to_owned).to_vec(), rows: agreement.paths.iter().map(row).collect() }
}

fn spread(ratio: &Spread) -> [String; 5] {
    if ratio.cases == 0 {
        return ["–", "–", "–", "–", "0"].map(str::to_owned);
    }
    [
        format!("{:.3}", ratio.mean),
        format!("{:.2}", ratio.quantiles[0]),
        format!("{:.2}", ratio.quantiles[2]),
        percent(ratio.near),
        ratio.cases.to_string(),
    ]
}

/// Whether they agree, in sentences.
pub fn verdict(agreement: &Agreement) -> String {
    let [first, second] = agreement.backends;
    let ratio = &agreement.ratio;
    let contenders = agreement.rows.iter().filter(|row| row.ranks.is_some()).count();
    let mut words = match agreement.ranks {
        Some([spearman, kendall]) => format!(
            "Ranks of {contenders} algorithms on {second} and {first}: Spearman {spearman:.2}, Kendall {kendall:.2}."
        ),
        None => "There are no ranks: fewer than two algorithms have a case in common.".to_owned(),
    };
    if let Some([low, middle]) = agreement.ranks_by_case {
        write!(words, " Path by path: Kendall {middle:.2} at the median, {low:.2} at the lowest 5 %.")
            .expect("a string grows");
    }
    if ratio.cases > 0 {
        write!(
            words,
            " Downloads on {second} take {:.3} times as long as on {first} at the median, within 5 % in {} of {} cases.",
            ratio.quantiles[1],
            percent(ratio.near),
            ratio.cases
        )
        .expect("a string grows");
    }
    let order = &agreement.order;
    let told = order.same + order.turned;
    if told > 0.0 {
        write!(
            words,
            " Where both tell two algorithms apart by more than 5 %, they agree on the faster one in {} of cases.",
            percent_fine(order.same / told)
        )
        .expect("a string grows");
    }
    for missing in missing(&agreement.left_out) {
        words += " ";
        words += &missing;
    }
    words
}

/// Where they do not agree, a sentence each; `most` of each kind.
pub fn differences(agreement: &Agreement, most: usize) -> Vec<String> {
    let [first, second] = agreement.backends;
    let mut lines = Vec::new();
    let all: usize = agreement.groups.iter().map(|group| group.paths).sum();
    for (group, example) in agreement.groups.iter().zip(&agreement.examples).take(most) {
        let words: Vec<String> = group.conditions.iter().map(Condition::words).collect();
        if !words.is_empty() {
            let apart = 100.0 * (group.ratio - 1.0);
            lines.push(format!(
                "{apart:.1} % apart on {} of {all} paths: {}. See league:{example}",
                group.paths,
                words.join(", ")
            ));
        }
    }
    lines.extend(agreement.apart.iter().take(most).map(|one| apart(one, agreement.backends)));
    for (faster, slower, cases) in agreement.order.most.iter().take(most) {
        let cases = if *cases == 1 { "one case".to_owned() } else { format!("{cases} cases") };
        lines.push(format!(
            "{faster} is faster than {slower} on {second}, and slower on {first}, each by more than 5 %, in {cases}"
        ));
    }
    lines
}

/// One case in words.
pub(super) fn apart(one: &Apart, [first, second]: [&str; 2]) -> String {
    let seconds =
        |side: usize| format!("{}{:.3} s", if one.cut[side] { "over " } else { "" }, one.seconds[side]);
    let left = |side: usize| one.exits[side].clone().unwrap_or_else(|| "not seen".to_owned());
    format!(
        "{} takes {} for {} on {second} and {} on {first} on {} (left start-up: {}, {}){}",
        one.label,
        seconds(1),
        size(one.bytes),
        seconds(0),
        one.path,
        left(1),
        left(0),
        if one.marked { "; marked" } else { "" }
    )
}

/// What was played, and how well.
pub fn method(agreement: &Agreement) -> String {
    let pooled: Vec<String> = agreement.pooled.iter().map(|bytes| size(*bytes)).collect();
    let [common, all] = agreement.cases;
    let mut words = format!(
        "{} of `{}` that {} can carry; downloads of {}. {} on {}, of which {} {} marked: the emulator was later than \
         the path tolerates.",
        counted(agreement.paths.len(), "path"),
        agreement.population,
        agreement.backends[1],
        pooled.join(", "),
        counted(agreement.runs, "run"),
        agreement.identity,
        agreement.marked,
        plural(agreement.marked, "is", "are")
    );
    if !agreement.refused.is_empty() {
        write!(words, " {} refused and missing.", counted(agreement.refused.len(), "run"))
            .expect("a string grows");
    }
    write!(
        words,
        " A case is a path and a size. Ranks are by the geometric mean over the {common} of {all} cases that every algorithm has \
         on both; path by path, times less than 5 % apart are equal."
    )
    .expect("a string grows");
    words
}

/// One line for each path, size and row.
pub fn csv(sides: &super::Sides) -> String {
    let [first, second] = sides.backends;
    let mut head = ["path", "access", "bytes", "algorithm", "seed"].map(str::to_owned).to_vec();
    head.extend([first, second].map(|backend| format!("{backend}_seconds")));
    head.extend([first, second].map(|backend| format!("{backend}_left")));
    head.extend(["lateness_p99_us", "tolerated_us", "marked"].map(str::to_owned));
    let mut lines = vec![head];
    for path in &sides.paths {
        for ((label, _), runs) in sides.rows.iter().zip(&path.runs) {
            for (size, bytes) in sides.sizes.iter().enumerate().take(path.sizes) {
                for seed in 0..runs[0].len().max(runs[1].len()) {
                    let at = |side: usize| runs[side].get(seed);
                    let seconds = |side: usize| {
                        let found = at(side).and_then(|run| run.seconds.get(size).copied().flatten());
                        found.map_or(String::new(), |seconds| format!("{seconds:.6}"))
                    };
                    let left = |side: usize| {
                        at(side).and_then(|run| run.exit.as_ref()).map_or("", |(reason, _)| reason).to_owned()
                    };
                    let late = at(1).and_then(|run| run.emulation.as_ref());
                    let late = late.map(|late| [late.lateness_p99_us, late.tolerated_us]);
                    let mut line =
                        vec![path.name.clone(), path.access.clone(), bytes.to_string(), label.clone()];
                    line.push((seed + 1).to_string());
                    line.extend([0, 1].map(seconds));
                    line.extend([0, 1].map(left));
                    line.extend(
                        [0, 1].map(|at| late.map_or(String::new(), |late| format!("{:.1}", late[at]))),
                    );
                    line.push(at(1).is_some_and(Outcome::is_marked).to_string());
                    lines.push(line);
                }
            }
        }
    }
    table(&lines)
}
