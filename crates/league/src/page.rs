//! The table as one HTML file: ranks under any weights, a map over rate and round-trip time, every path.

use std::fmt::Write as _;

use rampcc::figures::counted;
use rampcc_lab::report::html::{Page, escaped, playground_place};
use serde::Serialize;

use crate::design::about;
use crate::features::FEATURES;
use crate::judge::{LARGE_BDP_PACKETS, NEAR, Standing, Table, today};
use crate::play::League;
use crate::population::PREFIX;
use crate::text::{self, percent};

const STYLE: &str = include_str!("../assets/league.css");
const SCRIPT: &str = include_str!("../assets/league.js");
/// Groups of paths on which an algorithm fails, of those that the page names.
const GROUPS: usize = 4;

/// What the script reads.
#[derive(Serialize)]
struct Data<'a> {
    /// What pages of comparisons have.
    arms: [(); 0],
    prefix: &'static str,
    /// Its address; `None`: no links.
    playground: Option<&'static str>,
    standard: &'static str,
    /// What Linux's CUBIC does.
    linux: &'static str,
    large_bdp: f64,
    near: f64,
    sizes: Vec<Size>,
    /// Sizes that are pooled on a path that has any of them.
    large: Vec<usize>,
    /// All that are pooled.
    pooled: Vec<usize>,
    access: Vec<Access<'a>>,
    features: Vec<Named>,
    paths: Vec<PathData<'a>>,
    rows: Vec<RowData>,
    cases: Vec<(usize, usize)>,
    ideal: Vec<Vec<f64>>,
    causal: Vec<Vec<f64>>,
    lost: Vec<Vec<Option<f64>>>,
    queue: Vec<Vec<f64>>,
    others: Others,
    /// By row: the 95th percentile of others' completion times over that next to plain slow start, and the lowest and highest seed's.
    among: Vec<Option<[f64; 3]>>,
    /// By row: against the first one; `None`: that one, or a yardstick.
    against: Vec<Option<Against>>,
}

#[derive(Serialize)]
struct Against {
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct Size {
    name: String,
}

#[derive(Serialize)]
struct Access<'a> {
    id: &'a str,
    what: String,
    weight: f64,
    /// In `league/today.toml`.
    today: f64,
}

#[derive(Serialize)]
struct Named {
    id: &'static str,
    name: &'static str,
    whether: bool,
}

#[derive(Serialize)]
struct PathData<'a> {
    name: &'a str,
    access: usize,
    clean: bool,
    /// So many of the sizes fit into its file.
    sizes: usize,
    f: Vec<f64>,
    /// As a scenario file, for the playground.
    text: &'a str,
}

#[derive(Serialize)]
struct RowData {
    label: String,
    yardstick: bool,
    candidate: bool,
    idea: String,
    together: Option<[f64; 3]>,
    fails: Vec<String>,
    same: Option<String>,
}

/// Paths with a running flow, and what it loses by row beyond what it loses anyway, over what pipe and buffer hold.
#[derive(Serialize)]
struct Others {
    paths: Vec<usize>,
    lost: Vec<Vec<f64>>,
}

/// The page of a judged league; `command` makes it again.
pub fn page(league: &League, table: &Table, version: &str, command: &str) -> String {
    let json = serde_json::to_string(&data(league, table)).expect("the data has string keys only");
    let title = format!("The league of start-up algorithms, {} paths", table.population);
    let mut sections = vec![
        ("standings", "Ranks"),
        ("plane", "Time and harm"),
        ("map", "Map"),
        ("fails", "Where it fails"),
        ("paths", "Paths"),
        ("again", "Method"),
    ];
    if text::among(table).is_none() {
        sections.retain(|(id, _)| *id != "plane");
    }
    Page {
        version,
        title: &title,
        sections: &sections,
        style: STYLE,
        body: &body(table, command),
        json: &json,
        script: SCRIPT,
        plays: false,
    }
    .html()
}

fn body(table: &Table, command: &str) -> String {
    let mut html = String::new();
    write!(
        html,
        "<div>\n<h1>Start-up algorithms over <b>{}</b> of <b>{}</b>, {}</h1>\n<ul class=\"verdict leads\">{}</ul>\n</div>\n",
        counted(table.paths, "path"),
        counted(table.weights.iter().filter(|(_, weight)| *weight > 0.0).count(), "access type"),
        escaped(&table.population),
        leads(table),
    )
    .expect("a string grows");
    html += "<section id=\"standings\">\n<h2>Ranks</h2>\n<p class=\"note\">Download time over that of <b>ideal</b>, a sender that knows the \
             path. Choose what your paths are and what counts; choose an algorithm to see where it fails. The index is time<sup>a</sup> × \
             (1 + lost)<sup>b</sup> × harm<sup>c</sup>, with the exponents below: 1 is as fast as ideal, without a loss, as gentle as slow start. \
             It begins as time alone, which is the order that <code>ramp league</code> prints. The address keeps what you choose.</p>\n\
             <p id=\"announce\" class=\"visually-hidden\" aria-live=\"polite\"></p>\n\
             <div class=\"controls needs-script\"><fieldset id=\"weights\"><legend>Weights of access types</legend></fieldset>\
             <fieldset><legend>What counts</legend>\
             <label>Time (a)<input type=\"range\" id=\"count-time\" min=\"0\" max=\"2\" step=\"0.5\" value=\"1\"><output>1</output></label>\
             <label>Loss (b)<input type=\"range\" id=\"count-loss\" min=\"0\" max=\"2\" step=\"0.5\" value=\"0\"><output>0</output></label>\
             <label>Harm (c)<input type=\"range\" id=\"count-harm\" min=\"0\" max=\"2\" step=\"0.5\" value=\"0\"><output>0</output></label>\
             <p>Loss: packets lost in start-up over what pipe and buffer hold, mean. Harm: how much longer others take under a web load of \
             which the algorithm is half than with slow start in its place (95th percentile).</p>\
             <div class=\"buttons\"><label class=\"choice\">Sizes <select id=\"size\"></select></label>\
             <button type=\"button\" id=\"all-alike\">All access types alike</button>\
             <button type=\"button\" id=\"today\">Today's mix</button></div></fieldset></div>\n\
             <div class=\"scroll tall\" tabindex=\"0\" role=\"region\" aria-label=\"Ranks\">";
    html += &plain_table(&text::time(table));
    html += "</div>\n</section>\n";
    html += &plane(table);
    html += "<section id=\"map\" class=\"needs-script\">\n<h2>Who wins where</h2>\n<p class=\"note\">Rate and round-trip time of the paths; the \
             fastest algorithm of each field (+ how many others are within 5 % of it) with its time over ideal's and the number of paths, or the time of the chosen one. Choose a field \
             to list its paths.</p>\n\
             <div class=\"picked\"><span class=\"segmented\" role=\"group\" aria-label=\"What the map shows\">\
             <button type=\"button\" data-map=\"winner\" aria-pressed=\"true\">Fastest</button>\
             <button type=\"button\" data-map=\"selected\" aria-pressed=\"false\">Chosen algorithm</button></span></div>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Map\"><table class=\"heat\"><thead></thead><tbody></tbody></table></div>\n</section>\n\
             <section id=\"fails\" class=\"needs-script\">\n<h2>Where <span id=\"fails-of\"></span> takes longest</h2>\n<p class=\"note\" \
             id=\"fails-idea\"></p>\n<ul></ul>\n</section>\n\
             <section id=\"paths\" class=\"needs-script\">\n<h2>Paths</h2>\n<div class=\"picked\"><span id=\"picked\"></span>\
             <button type=\"button\" id=\"all-paths\">All paths</button></div>\n\
             <div id=\"path-detail\" hidden><h3 id=\"path-name\"></h3><p class=\"note small\" id=\"path-words\"></p><div class=\"bars\" \
             id=\"path-bars\"></div><p class=\"note small\">All about it, with curves:</p><div class=\"copy\" id=\"path-command\"><pre></pre>\
             <button type=\"button\" data-copy>Copy</button></div>\
             <p><a class=\"open\" id=\"path-open\" href=\"#paths\">Open in the playground</a></p></div>\n\
             <div class=\"scroll tall\" tabindex=\"0\" role=\"region\" aria-label=\"Paths\"><table><thead></thead><tbody></tbody></table></div>\n</section>\n";
    write!(
        html,
        "<section id=\"again\">\n<h2>Method</h2>\n<p class=\"note\">{}</p>\n<p class=\"note\">With the weights of the command: {}</p>\n<div class=\"copy\"><pre>{}</pre><button type=\"button\" \
         class=\"needs-script\" data-copy>Copy</button></div>\n<h3>What it costs</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Costs\">{}</div>\n<details><summary>What the columns show</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Columns\">{}</div></details>\n</section>\n",
        escaped(&text::legend(table).replace('`', "")),
        escaped(&verdict(table)),
        escaped(command),
        plain_table(&text::cost(table)),
        plain_table(&text::columns()),
    )
    .expect("a string grows");
    html
}

/// Time against what others suffer; empty: nothing was played among others.
fn plane(table: &Table) -> String {
    let Some(among) = text::among(table) else { return String::new() };
    format!(
        "<section id=\"plane\">\n<h2>Time and harm</h2>\n<p class=\"note\">Across: download time over ideal's, mean. Up: under web loads of 50 and \
         80 % of which the algorithm is half, the 95th percentile of the others' completion times over what it is with slow start in \
         its place; the bar is its range over the seeds. Lower left is better. Filled: none is both as fast and as gentle.</p>\n\
         <div id=\"plane-chart\" class=\"scroll needs-script\" tabindex=\"0\" role=\"region\" aria-label=\"Time and harm\"></div>\n\
         <details><summary>The numbers</summary><div class=\"scroll tall\" tabindex=\"0\" role=\"region\" aria-label=\"Among others\">{}</div></details>\n\
         </section>\n",
        plain_table(&among)
    )
}

/// Who leads in three lines. The script fills `data-of` of each `data-lead` anew when the weights change.
fn leads(table: &Table) -> String {
    let line = |id: &str, before: &str, standing: &Standing| {
        format!(
            "<li data-lead=\"{id}\">{before}<b data-of=\"label\">{}</b>, <span data-of=\"time\">{:.2}</span> × ideal</li>",
            escaped(&standing.label),
            standing.ideal.mean
        )
    };
    let contenders = || table.standings.iter().filter(|standing| !standing.yardstick);
    let lost = |standing: &Standing| standing.cost.startup_lost[0];
    let named = |id: &str| contenders().find(|standing| standing.label == id);
    let (standard, linux) = (rampcc::standard().id, rampcc::of_cubic().id);
    let gentle = named(standard)
        .and_then(|standard| contenders().find(|standing| lost(standing) <= lost(standard)))
        .map(|standing| {
            line(
                "gentle",
                &format!("Fastest on average that loses no more in start-up than {standard}: "),
                standing,
            )
        });
    let fastest = contenders().next().map(|standing| line("fastest", "Fastest on average: ", standing));
    let linux = named(linux).map(|standing| line("linux", "Linux today: ", standing));
    [fastest, gentle, linux].into_iter().flatten().collect()
}

/// Who leads, by how much and at what price, who leads of those that lose no more than slow start, and what Linux does.
pub(crate) fn verdict(table: &Table) -> String {
    let contenders = || table.standings.iter().filter(|standing| !standing.yardstick);
    let Some(first) = contenders().next() else { return String::new() };
    let price = |standing: &Standing| {
        let harm = standing.among.map_or(String::new(), |among| {
            let [_, p95, _] = among.others;
            format!(
                ", and under a web load others take {p95:.2} times as long with it as with {} (95th percentile)",
                rampcc::standard().id
            )
        });
        format!(
            "in start-up it loses {:.2} times what pipe and buffer hold, on average{harm}",
            standing.cost.startup_lost[0]
        )
    };
    let tied = contenders().filter(|standing| standing.over_first.is_some_and(|over| over.tied())).count();
    let tied = match tied {
        0 => String::new(),
        1 => " One row is tied with it.".to_owned(),
        rows => format!(" {rows} rows are tied with it."),
    };
    let mut words = format!(
        "{} is fastest over these paths: {:.2} times the download time of a sender that knows the path, at the 95th percentile {:.2} times. It is \
         within {:.0} % of the fastest on {} of paths and sizes; {}.{tied}",
        first.label,
        first.ideal.mean,
        first.ideal.p95,
        100.0 * NEAR,
        percent(first.near_best),
        price(first)
    );
    let lost = |standing: &Standing| standing.cost.startup_lost[0];
    if let Some(standard) = contenders().find(|standing| standing.label == rampcc::standard().id) {
        let gentle =
            contenders().find(|standing| lost(standing) <= lost(standard)).filter(|s| s.label != first.label);
        if let Some(gentle) = gentle {
            write!(
                words,
                " Of those that lose no more in start-up than {} ({:.2}), {} is the fastest: {:.2} times, {:.2} lost.",
                standard.label,
                lost(standard),
                gentle.label,
                gentle.ideal.mean,
                lost(gentle)
            )
            .expect("a string grows");
        }
    }
    if let [first, rest @ .., gentlest] = table.front().as_slice() {
        let before =
            if rest.is_empty() { first.to_string() } else { format!("{first}, {}", rest.join(", ")) };
        write!(words, " None is both as fast and as gentle to others as {before} or {gentlest}.")
            .expect("a string grows");
    }
    let linux = rampcc::of_cubic().id;
    if let Some(standing) = contenders().skip(1).find(|standing| standing.label == linux) {
        let worse = standing.ideal.mean / first.ideal.mean - 1.0;
        write!(
            words,
            " Linux's {linux} takes {:.2} times, {:.0} % more, and loses {:.2}.",
            standing.ideal.mean,
            100.0 * worse,
            lost(standing)
        )
        .expect("a string grows");
    }
    words
}

pub(crate) fn plain_table(cells: &text::Cells) -> String {
    let mut html = String::from("<table><thead><tr>");
    for cell in &cells.head {
        write!(html, "<th scope=\"col\">{}</th>", escaped(cell)).expect("a string grows");
    }
    html += "</tr></thead><tbody>";
    for row in &cells.rows {
        html += "<tr>";
        for (index, cell) in row.iter().enumerate() {
            let text = escaped(cell);
            let cell = if index == 0 {
                format!("<th scope=\"row\">{text}</th>")
            } else {
                format!("<td>{text}</td>")
            };
            html += &cell;
        }
        html += "</tr>";
    }
    html + "</tbody></table>"
}

fn data<'a>(league: &'a League, table: &'a Table) -> Data<'a> {
    let times = league.times();
    let by_row = |of: &dyn Fn(&crate::Ratio) -> f64| -> Vec<Vec<f64>> {
        times.over.iter().map(|cases| cases.iter().map(|ratio| short(of(ratio))).collect()).collect()
    };
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let outcomes = |row: usize| league.paths.iter().map(move |path| &path.outcomes[row]);
    let rows = 0..league.rows.len();
    let lost = |runs: &Vec<crate::Outcome>| {
        let values: Option<Vec<f64>> = runs.iter().map(|run| run.startup_lost).collect();
        values.map(|values| short(mean(values)))
    };
    let queue =
        |runs: &Vec<crate::Outcome>| short(mean(runs.iter().map(|run| run.queue_p95_s * 1e3).collect()));
    let beside: Vec<usize> =
        (0..league.paths.len()).filter(|path| !league.paths[*path].alone.is_empty()).collect();
    let suffered = |row: usize| {
        let of = |path: &usize| {
            let path = &league.paths[*path];
            let lost = |runs: &[crate::Outcome]| {
                mean(runs.iter().map(|run| run.others.map_or(0.0, |others| others.lost_packets)).collect())
            };
            short(
                (lost(&path.outcomes[row]) - lost(&path.alone)) / path.holds_packets.unwrap_or(f64::INFINITY),
            )
        };
        beside.iter().map(of).collect()
    };
    let against = |label: &str| {
        let standing = table.standings.iter().find(|standing| standing.label == label)?;
        let over = standing.over_first.as_ref()?;
        Some(Against { low: short(over.low), high: short(over.high) })
    };
    let suffers = |label: &str| {
        let among = table.standings.iter().find(|standing| standing.label == label)?.among?;
        Some([among.others[1], among.others_p95[0], among.others_p95[1]].map(short))
    };
    Data {
        arms: [],
        prefix: PREFIX,
        playground: playground_place(),
        standard: rampcc::standard().id,
        linux: rampcc::of_cubic().id,
        large_bdp: LARGE_BDP_PACKETS,
        near: NEAR,
        sizes: league.sizes.iter().map(|bytes| Size { name: text::size(*bytes) }).collect(),
        large: league.pooled(),
        pooled: (0..league.sizes.len()).filter(|size| table.pooled.contains(&league.sizes[*size])).collect(),
        access: (table.weights.iter())
            .map(|(id, weight)| Access {
                id,
                what: about(id).map_or_else(|| id.clone(), |(what, _)| what),
                weight: *weight,
                today: today(id),
            })
            .collect(),
        features: FEATURES.iter().map(|f| Named { id: f.id, name: f.name, whether: f.whether }).collect(),
        paths: (league.paths.iter())
            .map(|path| PathData {
                name: &path.name,
                access: table.weights.iter().position(|(kind, _)| *kind == path.access).unwrap_or(0),
                clean: path.features.is_clean(),
                sizes: path.sizes,
                f: path.features.0.iter().map(|value| short(*value)).collect(),
                text: &path.text,
            })
            .collect(),
        rows: league.rows.iter().map(|row| row_data(row, table)).collect(),
        cases: times.cases.iter().map(|case| (case.path, case.size)).collect(),
        ideal: by_row(&|ratio| ratio.ideal),
        causal: by_row(&|ratio| ratio.causal),
        lost: rows.clone().map(|row| outcomes(row).map(lost).collect()).collect(),
        queue: rows.clone().map(|row| outcomes(row).map(queue).collect()).collect(),
        among: league.rows.iter().map(|row| suffers(&row.label)).collect(),
        others: Others { lost: rows.map(suffered).collect(), paths: beside },
        against: league.rows.iter().map(|row| against(&row.label)).collect(),
    }
}

fn row_data(row: &crate::PlayedRow, table: &Table) -> RowData {
    let standing = table.standings.iter().find(|standing| standing.label == row.label);
    RowData {
        label: row.label.clone(),
        yardstick: row.yardstick,
        candidate: row.candidate,
        idea: rampcc::algorithm(&row.label)
            .map_or(String::new(), |algorithm| format!("{}: {}.", algorithm.name, algorithm.idea)),
        together: standing.and_then(|standing| standing.together),
        fails: standing.map_or_else(Vec::new, |standing| text::fails(standing, GROUPS)),
        same: standing.and_then(|standing| standing.same_as.clone()),
    }
}

/// Four significant digits, which is more than differences of single runs mean.
fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 3 - libm::floor(libm::log10(value.abs())) as i32;
    let scale = libm::pow(10.0, f64::from(digits.abs()));
    if digits >= 0 { (value * scale).round() / scale } else { (value / scale).round() * scale }
}
