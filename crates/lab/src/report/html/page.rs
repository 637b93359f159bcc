//! The page from its head to its scripts.

use super::carries;
use super::charts::{self, Distribution};
use super::data::{self, styles};
use super::frame::{Script, brand, document_head, fact, fact_list, page_end, rate_text, theme_button};
use super::number::{show, show_short};
use super::summary::{self, capital, reasons, swatch};
use super::tables;
use super::text::{Html, Text};
use crate::{Comparison, DrawnRole, ExitRecord, MetricInfo};

/// Panels of the time series: key, title, what is on the axis.
const PANELS: [(&str, &str, &str); 5] = [
    ("cwnd", "Congestion window", "payload bytes; ● end of start-up"),
    ("in_flight", "In flight", "payload bytes; ▲ end of start-up"),
    ("queue", "Bottleneck queue", "wire bytes waiting; × drops"),
    ("rtt", "Round-trip time", "of each ACK with a valid sample"),
    ("delivered", "Delivered", "payload bytes acknowledged, against what the path could have carried"),
];

/// The metric that the chooser begins with: the first of these that there is.
const FIRST_CHOICES: [&str; 3] = ["time_to_capacity", "startup_utilisation", "queue_peak"];

/// The whole document.
pub(super) fn page(comparison: &Comparison) -> String {
    let mut html = Html::default();
    let title = format!("{}: start-up algorithms compared", comparison.provenance.scenario);
    document_head(&mut html, &comparison.provenance.version, &title);
    opening(&mut html, comparison);
    summary_section(&mut html, comparison);
    carries::section(&mut html, comparison);
    if data::has_curves(comparison) {
        time_section(&mut html, comparison);
    }
    if charts::sizes_of(comparison).len() > 1 {
        sizes_section(&mut html, comparison);
    }
    distributions_section(&mut html, comparison);
    exits_section(&mut html, comparison);
    differences_section(&mut html, comparison);
    again_section(&mut html, comparison);
    let json = serde_json::to_string(&data::data(comparison)).expect("the data block has string keys only");
    page_end(&mut html, &comparison.provenance.version, &json, Script::Report);
    html.into_string()
}

fn opening(html: &mut Html, comparison: &Comparison) {
    html.raw(
        "<body>\n<a class=\"skip\" href=\"#summary\">To the summary</a>\n<div class=\"page\">\n<header class=\"bar\">",
    );
    brand(html);
    html.raw("<nav aria-label=\"Sections\">");
    let curves = data::has_curves(comparison);
    let sizes = charts::sizes_of(comparison).len() > 1;
    let sections = [
        ("summary", "Summary", true),
        ("carries", "How far", comparison.carries.is_some()),
        ("time", "Over time", curves),
        ("sizes", "By size", sizes),
        ("distributions", "Runs", true),
        ("exits", "Exits", true),
        ("differences", "Differences", !comparison.pairs.is_empty()),
        ("again", "Make it again", true),
    ];
    for (id, name, _) in sections.iter().filter(|(_, _, there)| *there) {
        html.add(format_args!("<a href=\"#{id}\">{name}</a>"));
    }
    html.raw("</nav>");
    theme_button(html);
    html.raw("</header>\n<main>\n<div>\n");
    html.add(format_args!(
        "<h1>Start-up algorithms on <b>{}</b></h1>\n<p class=\"verdict\">{}</p>\n",
        Text(&comparison.provenance.scenario),
        named(comparison)
    ));
    if !comparison.notes.is_empty() {
        html.raw("<div class=\"warning\">");
        for note in &comparison.notes {
            html.add(format_args!("<p>{}</p>\n", Text(note.trim_start_matches("* "))));
        }
        html.raw("</div>\n");
    }
    html.raw("<dl class=\"facts\">\n");
    facts(html, comparison);
    html.raw("</dl>\n</div>\n");
}

/// The verdict with the algorithms' names set off: `best` and `ideal` are words, too.
fn named(comparison: &Comparison) -> String {
    let part_of_name = |c: char| c.is_alphanumeric() || "_+-@=.:".contains(c);
    let mut html = Html::default();
    let mut rest = comparison.verdict.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c| !part_of_name(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if comparison.arms.iter().any(|arm| arm.label == word) {
            html.add(format_args!("<b>{}</b>", Text(word)));
        } else {
            html.add(format_args!("{}", Text(word)));
        }
        let next = after.find(part_of_name).unwrap_or(after.len());
        html.add(format_args!("{}", Text(&after[..next])));
        rest = &after[next..];
    }
    html.into_string()
}

fn facts(html: &mut Html, comparison: &Comparison) {
    fact_list(html, &comparison.context);
    let seeds = match (comparison.seeds.first(), comparison.seeds.last()) {
        (Some(first), Some(last)) if first != last => format!("seeds {first} to {last}"),
        (Some(only), _) => format!("seed {only}"),
        _ => "none".to_owned(),
    };
    fact(html, "Runs per algorithm", &comparison.seeds.len().to_string(), &seeds);
    if let Some(emulation) = &comparison.emulation {
        fact(html, "Played by", &emulation.kernel, "in real time");
    }
}

fn summary_section(html: &mut Html, comparison: &Comparison) {
    html.raw("<section id=\"summary\">\n<h2>Summary</h2>\n<p class=\"note\">");
    html.add(format_args!(
        "Means over {} runs, with 95 % intervals below them. The best of a column is bold.",
        comparison.seeds.len()
    ));
    if let Some(yardstick) = &comparison.yardstick {
        html.add(format_args!(
            " <b>{}</b> knows the path and is no contender: it shows what could be had.",
            Text(yardstick)
        ));
    }
    html.raw("</p>\n");
    summary::table(html, comparison);
    tables::all_metrics(html, comparison);
    if let Some(emulation) = &comparison.emulation {
        html.add(format_args!("<p class=\"note small\">{}</p>\n", Text(&emulation.sentence())));
        tables::emulation(html, comparison);
    }
    html.raw("</section>\n");
}

fn time_section(html: &mut Html, comparison: &Comparison) {
    html.raw("<section id=\"time\">\n<h2>Over time</h2>\n<p class=\"note\">");
    html.add(format_args!(
        "{} Time counts from the opening of the connection.",
        Text(&drawn_sentence(comparison))
    ));
    html.raw(
        " <span class=\"keys\">Drag to zoom, double-click for start-up. In a focused chart <kbd>←</kbd> <kbd>→</kbd> read values, \
         with <kbd>Shift</kbd> they pan; <kbd>+</kbd> <kbd>−</kbd> zoom; <kbd>Home</kbd> start-up, <kbd>End</kbd> everything.</span></p>\n\
         <noscript><p class=\"warning\">The charts need scripts; the tables on this page do not.</p></noscript>\n\
         <div class=\"tools needs-script\" role=\"toolbar\" aria-label=\"Algorithms and time range\">\
         <div class=\"chips\" id=\"chips\" role=\"group\" aria-label=\"Algorithms shown in all charts\"></div>\
         <button type=\"button\" id=\"show-all\" disabled>All</button><span class=\"spacer\"></span>",
    );
    seed_choice(html, comparison);
    html.raw("<span class=\"segmented\" role=\"group\" aria-label=\"Time range\">");
    if data::has_two_views(comparison) {
        html.raw("<button type=\"button\" data-view=\"startup\" aria-pressed=\"true\">Start-up</button>");
    }
    html.raw(
        "<button type=\"button\" data-view=\"whole\" aria-pressed=\"false\">Whole<span class=\"wide\"> transfer</span></button></span>\
         <span class=\"segmented\" role=\"group\" aria-label=\"Zoom and pan\">\
         <button type=\"button\" id=\"pan-left\" aria-label=\"Earlier\">←</button>\
         <button type=\"button\" id=\"zoom-out\" aria-label=\"Zoom out\">−</button>\
         <button type=\"button\" id=\"zoom-in\" aria-label=\"Zoom in\">+</button>\
         <button type=\"button\" id=\"pan-right\" aria-label=\"Later\">→</button></span></div>\n\
         <p id=\"announce\" class=\"visually-hidden\" aria-live=\"polite\"></p>\n",
    );
    paths_met(html, comparison);
    for (key, title, note) in PANELS {
        html.add(format_args!(
            "<div class=\"chart needs-script\" data-panel=\"{key}\"><header><h3>{title}</h3><p>{note}</p>"
        ));
        if key == "cwnd" {
            html.raw("<span class=\"segmented\"><button type=\"button\" data-log aria-pressed=\"false\">Logarithmic</button></span>");
        }
        html.add(format_args!(
            "</header><div class=\"plot\" tabindex=\"0\" role=\"application\" aria-roledescription=\"chart\" \
             aria-label=\"{title} against time. Arrow keys read values, plus and minus zoom.\"></div>\
             <div class=\"values\" aria-hidden=\"true\"></div></div>\n"
        ));
    }
    html.raw("</section>\n");
}

/// Which runs are drawn, and why those.
fn drawn_sentence(comparison: &Comparison) -> String {
    let Some(first) = comparison.drawn.first() else { return String::new() };
    let same =
        format!("All curves are of one seed, {}, so that every algorithm met the same path", first.seed);
    match (&comparison.leader, first.role) {
        (Some(leader), DrawnRole::Median) if comparison.seeds.len() > 1 => {
            format!("{same}: in it {leader} has its median {}.", metric_name(comparison))
        }
        _ => format!("{same}."),
    }
}

/// A choice between the seeds that are drawn.
fn seed_choice(html: &mut Html, comparison: &Comparison) {
    if comparison.drawn.len() < 2 {
        return;
    }
    let leader = comparison.leader.as_deref().unwrap_or("the leader");
    html.raw("<label class=\"choice\">Runs of <select id=\"seed\">");
    for (index, drawn) in comparison.drawn.iter().enumerate() {
        let role = match drawn.role {
            DrawnRole::Median => format!("median of {leader}"),
            DrawnRole::Best => format!("best of {leader}"),
            DrawnRole::Worst => format!("worst of {leader}"),
            DrawnRole::First => "the first".to_owned(),
        };
        html.add(format_args!("<option value=\"{index}\">seed {}: {}</option>", drawn.seed, Text(&role)));
    }
    html.raw("</select></label>");
}

/// Where every run meets a path of its own: that of each drawn seed in words.
fn paths_met(html: &mut Html, comparison: &Comparison) {
    for (index, drawn) in comparison.drawn.iter().enumerate() {
        let met = comparison.arms.iter().filter_map(|arm| arm.drawn(drawn.seed)?.path.as_ref());
        let Some(path) = met.max_by_key(|path| path.capacity.len()) else { continue };
        let hidden = if index == 0 { "" } else { " hidden" };
        html.add(format_args!(
            "<p class=\"note small\" data-drawn=\"{index}\"{hidden}>Seed {} met {} on average (payload), a base RTT of {}, a BDP of {}{}; \
             lines and multiples of the BDP are of this run.</p>\n",
            drawn.seed,
            rate_text(path.mean_bytes_per_s),
            show(path.base_rtt_s, "s"),
            show(path.bdp_bytes as f64, "bytes"),
            path.buffer_bytes.map_or(String::new(), |buffer| format!(" and a buffer of {}", show(buffer as f64, "bytes")))
        ));
    }
}

fn sizes_section(html: &mut Html, comparison: &Comparison) {
    html.raw(
        "<section id=\"sizes\">\n<h2>Download time by size</h2>\n<p class=\"note\">How long the first N bytes took: \
         a web page meets the left end, a film the right. Bands are 95 % intervals.</p>\n\
         <div class=\"chart needs-script\" data-sizes><header><h3>Time to the first N bytes</h3><p>mean over runs</p>",
    );
    if comparison.yardstick.is_some() {
        html.raw(
            "<span class=\"segmented\" role=\"group\" aria-label=\"Scale\">\
             <button type=\"button\" data-relative=\"no\" aria-pressed=\"true\">Time</button>\
             <button type=\"button\" data-relative=\"yes\" aria-pressed=\"false\">Multiple of the yardstick</button></span>",
        );
    }
    html.raw(
        "</header><div class=\"plot\" tabindex=\"0\" role=\"application\" aria-roledescription=\"chart\" \
         aria-label=\"Download time by size. Arrow keys go from size to size.\"></div>\
         <div class=\"values\" aria-hidden=\"true\"></div></div>\n",
    );
    tables::sizes(html, comparison);
    html.raw("</section>\n");
}

fn distributions_section(html: &mut Html, comparison: &Comparison) {
    let distributions = charts::distributions(comparison);
    if distributions.is_empty() {
        return;
    }
    let shown = charts::shown_at_once(comparison).max(1).min(distributions.len());
    html.raw(
        "<section id=\"distributions\">\n<h2>Every run</h2>\n<p class=\"note\">A dot is a run, the diamond the mean, \
         the bar its 95 % interval. A mean hides two groups of runs; where a test finds two, the row says so.</p>\n<div class=\"grid-3\">\n",
    );
    for (index, distribution) in distributions.iter().take(shown).enumerate() {
        let info = comparison.metrics.iter().find(|metric| metric.id == distribution.id);
        figure(html, comparison, index, distribution, info);
    }
    html.raw("</div>\n");
    if shown < distributions.len() {
        html.raw("<div class=\"figure needs-script\" data-other><header><h3><label for=\"other\">Another metric</label></h3><select id=\"other\">");
        let rest = || distributions.iter().enumerate().skip(shown);
        let first =
            FIRST_CHOICES.iter().find_map(|id| rest().find(|(_, d)| d.id == *id)).map(|(index, _)| index);
        for (index, distribution) in rest() {
            let selected = if first == Some(index) { " selected" } else { "" };
            html.add(format_args!(
                "<option value=\"{index}\"{selected}>{}</option>",
                Text(&capital(&distribution.title))
            ));
        }
        html.raw("</select><p id=\"other-meaning\"></p></header><div class=\"rows\"></div></div>\n");
    }
    html.raw("</section>\n");
}

fn figure(
    html: &mut Html,
    comparison: &Comparison,
    index: usize,
    distribution: &Distribution,
    info: Option<&MetricInfo>,
) {
    html.add(format_args!(
        "<div class=\"figure\" data-distribution=\"{index}\"><header><h3>{}</h3><p>{}</p></header>\
         <div class=\"rows needs-script\"></div>",
        Text(&capital(&distribution.title)),
        Text(&distribution.meaning)
    ));
    if let Some(info) = info {
        tables::distribution(html, comparison, info);
    }
    html.raw("</div>\n");
}

fn exits_section(html: &mut Html, comparison: &Comparison) {
    html.raw(
        "<section id=\"exits\">\n<h2>Why each one left start-up</h2>\n<p class=\"note\">In the runs that are drawn above; \
         beside each name, the reasons of all runs.</p>\n",
    );
    for (index, drawn) in comparison.drawn.iter().enumerate() {
        let hidden = if index == 0 { "" } else { " hidden" };
        html.add(format_args!("<ul class=\"exits\" data-drawn=\"{index}\"{hidden}>\n"));
        for (arm, style) in comparison.arms.iter().zip(styles(&comparison.arms)) {
            let Some(run) = arm.drawn(drawn.seed) else { continue };
            html.raw("<li><h3>");
            swatch(html, arm, style);
            html.add(format_args!(
                "{}<span class=\"tag\">{}</span></h3><p>{}</p><p class=\"ledger\">{}</p></li>\n",
                Text(&arm.label),
                Text(&reasons(&arm.exits)),
                Text(&sentence(&run.explanation)),
                Text(&ledger(run.exit.as_ref(), run.seed))
            ));
        }
        html.raw("</ul>\n");
    }
    html.raw("</section>\n");
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let stop = if text.is_empty() || text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{stop}", capital(text))
}

/// The figures behind the sentence.
fn ledger(exit: Option<&ExitRecord>, seed: u64) -> String {
    let mut parts = vec![format!("seed {seed}")];
    if let Some(exit) = exit {
        let bytes = |bytes: u64| show(bytes as f64, "bytes");
        if exit.cwnd_before_bytes == exit.cwnd_bytes {
            parts.push(format!("window {}", bytes(exit.cwnd_bytes)));
        } else {
            parts.push(format!(
                "window {} before, {} after",
                bytes(exit.cwnd_before_bytes),
                bytes(exit.cwnd_bytes)
            ));
        }
        if let Some(rtt) = exit.min_rtt_s {
            parts.push(format!("smallest RTT {}", show(rtt, "s")));
        }
        if let Some(wait) = exit.queueing_s {
            parts.push(format!("peak queueing delay until then: {}", show(wait, "s")));
        }
    }
    parts.join(" · ")
}

fn differences_section(html: &mut Html, comparison: &Comparison) {
    let groups = charts::differences(comparison);
    let info = comparison.metrics.iter().find(|metric| metric.id == comparison.primary);
    let (Some(info), false) = (info, groups.is_empty()) else { return };
    html.add(format_args!(
        "<section id=\"differences\">\n<h2>Paired differences</h2>\n<p class=\"note\">All algorithms met the same random numbers, so {} \
         is compared seed by seed. An interval inside the shaded band means that a difference, if any, is below {}; \
         one that crosses the band’s edge leaves it open.</p>\n<div class=\"figure\" data-differences><header>",
        Text(&info.name),
        show_short(comparison.margin, "share")
    ));
    html.add(format_args!(
        "<h3>{}</h3><span class=\"segmented needs-script\" role=\"group\" aria-label=\"Against\">",
        Text(&capital(&info.name))
    ));
    for (index, group) in groups.iter().enumerate() {
        html.add(format_args!(
            "<button type=\"button\" data-against=\"{index}\" aria-pressed=\"{}\">against {} ({})</button>",
            index == 0,
            Text(&group.against),
            group.role
        ));
    }
    html.raw("</span></header><div class=\"rows needs-script\"></div>");
    tables::differences(html, comparison, info);
    html.raw("</div>\n</section>\n");
}

fn again_section(html: &mut Html, comparison: &Comparison) {
    let from = &comparison.provenance;
    html.raw("<section id=\"again\">\n<h2>Make it again</h2>\n");
    tables::copyable(html, &from.command);
    html.add(format_args!(
        "<p class=\"note small\">ramp {} · backend {} · scenario <code>{}</code>, digest <code>{}</code> · first seed {}</p>\n",
        Text(&from.version),
        Text(&from.backend),
        Text(&from.scenario),
        Text(&from.scenario_hash),
        from.seed
    ));
    html.raw("<details open><summary>The scenario</summary>");
    tables::copyable(html, &from.scenario_text);
    html.raw("</details>\n<h3>How the numbers were made</h3>\n<ul class=\"method\">\n");
    for sentence in &comparison.method {
        html.add(format_args!("<li>{}</li>\n", Text(sentence)));
    }
    if let Some(yardstick) = &comparison.yardstick {
        html.add(format_args!(
            "<li><b>{}</b> is told the path’s rate and BDP. It takes no part in the search for the best; a contender may still \
             beat it where the path varies.</li>\n",
            Text(yardstick)
        ));
    }
    html.raw(
        "<li>Curves are thinned to what a screen can show; of every stretch the lowest and the highest point stay.</li>\n\
         <li>Bytes, windows and rates count payload unless they say wire; 1 MB is 10⁶ bytes.</li>\n</ul>\n</section>\n",
    );
}

fn metric_name(comparison: &Comparison) -> &str {
    let primary = comparison.metrics.iter().find(|metric| metric.id == comparison.primary);
    primary.map_or(comparison.primary.as_str(), |metric| metric.name.as_str())
}
