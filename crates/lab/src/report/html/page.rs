//! The page from its head to its scripts.

use super::carries;
use super::charts::{self, Distribution};
use super::data::{self, styles};
use super::frame::{Script, document_head, page_end};
use super::number::{show, show_short};
use super::stood_for;
use super::summary::{self, capital, reasons, swatch};
use super::tables;
use super::text::{Html, Text};
use super::{head, seeds};
use crate::verdict::is_time;
use crate::{About, ArmSummary, Comparison, Definition, ExitRecord, MetricInfo, Words, metric};

/// Panels of the time series: key, title, what is on the axis.
const PANELS: [(&str, &str, &str); 5] = [
    ("cwnd", "Congestion window", "payload bytes; ● end of start-up"),
    ("in_flight", "In flight", "payload bytes when ACKs arrive, before what these let go; ▲ end of start-up"),
    ("queue", "Bottleneck queue", "wire bytes waiting; × drops"),
    ("rtt", "Round-trip time", "of each ACK with a valid sample"),
    (
        "delivered",
        "Delivered",
        "payload bytes acknowledged, against what the path could have carried; a run ends with the last byte, before its ACK",
    ),
];

/// The panels of a comparison: of programs the bytes in flight are all that is seen of a window, and stand once.
fn panels(comparison: &Comparison) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let on_wire = comparison.on_wire();
    PANELS.into_iter().filter(move |(key, ..)| !on_wire || *key != "in_flight").map(
        move |panel| match panel {
            (key @ "cwnd", _, note) if on_wire => (key, "In flight on the wire", note),
            other => other,
        },
    )
}

/// The metric that the chooser begins with: the first of these that there is.
const FIRST_CHOICES: [Definition; 3] =
    [metric::TIME_TO_CAPACITY, metric::STARTUP_UTILISATION, metric::QUEUE_PEAK];

/// The whole document.
pub(super) fn page(comparison: &Comparison, words: &Words) -> String {
    let mut html = Html::default();
    let title = format!("{}: start-up algorithms compared", comparison.provenance.scenario);
    document_head(&mut html, &comparison.provenance.version, &title);
    head::opening(&mut html, comparison, words);
    sections(&mut html, comparison, words);
    again_section(&mut html, comparison, words);
    let json = serde_json::to_string(&data::data(comparison)).expect("the data block has string keys only");
    page_end(&mut html, &comparison.provenance.version, &json, Script::Report);
    html.into_string()
}

/// All that the runs say, from the table to the paired differences.
pub(super) fn sections(html: &mut Html, comparison: &Comparison, words: &Words) {
    summary_section(html, comparison);
    if data::has_curves(comparison) {
        time_section(html, comparison);
        rate_section(html);
    }
    carries::section(html, comparison, words);
    exits_section(html, comparison);
    if charts::sizes_of(comparison).len() > 1 {
        sizes_section(html, comparison);
    }
    tradeoff_section(html, comparison);
    distributions_section(html, comparison);
    differences_section(html, comparison);
}

/// A section whose heading opens it: what a reader does not need for the answer.
fn folded(html: &mut Html, id: &str, title: &str) {
    let class = if id == "trade-off" { " class=\"needs-script\"" } else { "" };
    html.add(format_args!(
        "<section id=\"{id}\"{class}>\n<details class=\"fold\"><summary><h2>{title}</h2></summary>\n"
    ));
}

fn folded_end(html: &mut Html) {
    html.raw("</details>\n</section>\n");
}

fn summary_section(html: &mut Html, comparison: &Comparison) {
    html.raw("<section id=\"summary\">\n<h2>Summary</h2>\n<p class=\"note\">");
    match comparison.seeds.len() {
        1 => html.raw("Values of one run. The leading value of a column is bold."),
        runs => html.add(format_args!(
            "Means over {runs} runs, with 95 % intervals below them. The leading value of a column is bold."
        )),
    }
    if let Some(yardstick) = &comparison.yardstick {
        html.add(format_args!(" <b>{}</b> knows the path: a reference, not a contender.", Text(yardstick)));
    }
    html.raw("</p>\n");
    summary::table(html, comparison);
    about(html, comparison);
    tables::all_metrics(html, comparison);
    if let Some(emulation) = &comparison.emulation {
        html.add(format_args!("<p class=\"note small\">{}</p>\n", Text(&emulation.sentence())));
        tables::emulation(html, comparison);
    }
    html.raw("</section>\n");
}

/// What each row is, and which rows are left out because they are the same.
fn about(html: &mut Html, comparison: &Comparison) {
    let told = |arm: &&ArmSummary| arm.about.is_some() || !stood_for(comparison, arm).is_empty();
    if !comparison.arms.iter().any(|arm| told(&arm)) {
        return;
    }
    // A long list is opened by who wants it.
    let open = if comparison.arms.len() <= 12 { " open" } else { "" };
    html.add(format_args!("<details{open}><summary>What the rows are</summary><dl class=\"about\">\n"));
    for (arm, style) in comparison.arms.iter().zip(styles(&comparison.arms)).filter(|(arm, _)| told(arm)) {
        html.raw("<div><dt>");
        swatch(html, arm, style);
        let about = arm.about.as_ref().map(About::words).unwrap_or_default();
        html.add(format_args!("{}</dt><dd>{}", Text(&arm.label), Text(&about)));
        let others = stood_for(comparison, arm);
        if !others.is_empty() {
            html.add(format_args!(
                " <span class=\"alike\">The same in every run and shown once: {}.</span>",
                Text(&others.join(", "))
            ));
        }
        html.raw("</dd></div>\n");
    }
    html.raw("</dl></details>\n");
}

fn time_section(html: &mut Html, comparison: &Comparison) {
    html.raw("<section id=\"time\">\n<h2>Over time</h2>\n<p class=\"note\">");
    html.add(format_args!(
        "{} Time counts from the opening of the connection.",
        Text(&seeds::sentence(comparison))
    ));
    html.raw(
        " <span class=\"keys\">Drag to zoom, double-click for start-up. In a focused chart <kbd>←</kbd> <kbd>→</kbd> read values, \
         with <kbd>Shift</kbd> they pan; <kbd>+</kbd> <kbd>−</kbd> zoom; <kbd>Home</kbd> start-up, <kbd>End</kbd> everything.</span></p>\n\
         <noscript><p class=\"warning\">The charts need scripts; the tables on this page do not.</p></noscript>\n\
         <div class=\"tools needs-script\" role=\"toolbar\" aria-label=\"Algorithms and time range\">\
         <div class=\"chips\" id=\"chips\" role=\"group\" aria-label=\"Algorithms shown in all charts\"></div>\
         <button type=\"button\" id=\"show-all\" disabled>All</button><span class=\"spacer\"></span>",
    );
    seeds::choice(html, comparison);
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
         <button type=\"button\" id=\"pan-right\" aria-label=\"Later\">→</button></span>\
         <button type=\"button\" id=\"copy-link\" title=\"An address that shows this seed, stretch of time and choice of rows\">Copy link</button></div>\n\
         <p id=\"announce\" class=\"visually-hidden\" aria-live=\"polite\"></p>\n",
    );
    seeds::paths_met(html, comparison);
    for (key, title, note) in panels(comparison) {
        panel(html, key, title, note);
    }
    html.raw("</section>\n");
}

fn panel(html: &mut Html, key: &str, title: &str, note: &str) {
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

/// The slope of *delivered*, in which a drop below the capacity shows when the path was not filled.
fn rate_section(html: &mut Html) {
    folded(html, "rate", "Delivery rate");
    html.raw(
        "<p class=\"note\">How much of the path each algorithm used, and when: what a drop of the window cost shows as a gap below \
         the capacity. Seed, rows and stretch of time are those chosen above.</p>\n",
    );
    panel(
        html,
        "rate",
        "Delivery rate",
        "payload acknowledged within a base RTT, against the capacity; above it where ACKs come in bunches",
    );
    folded_end(html);
}

fn sizes_section(html: &mut Html, comparison: &Comparison) {
    folded(html, "sizes", "Download time by size");
    html.raw(
        "<p class=\"note\">How long the first N bytes took: \
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
    folded_end(html);
}

/// Metrics that a result may cost, in order of preference.
const COSTS: [Definition; 6] = [
    metric::QUEUE_PEAK,
    metric::STARTUP_LOST_PACKETS,
    metric::RETRANSMISSIONS,
    metric::QUEUE_P95,
    metric::HARM_GOODPUT,
    metric::HARM_DOWNLOAD_TIME,
];

/// The metric that decides against what it costs.
fn tradeoff_section(html: &mut Html, comparison: &Comparison) {
    let distributions = charts::distributions(comparison);
    let place = |id: &str| distributions.iter().position(|distribution| distribution.id == id);
    let Some(across) = place(&comparison.primary) else { return };
    let costs = COSTS.iter().filter_map(|metric| place(metric.id)).filter(|index| *index != across);
    let others = (0..distributions.len()).filter(|index| *index != across);
    let mut order: Vec<usize> = costs.collect();
    order.extend(others.filter(|index| COSTS.iter().all(|cost| cost.id != distributions[*index].id)));
    if order.is_empty() || comparison.arms.len() < 2 {
        return;
    }
    folded(html, "trade-off", "What it costs");
    html.add(format_args!(
        "<p class=\"note\">Means with 95 % intervals: who is \
         {} and gentle at once?</p>\n<div class=\"chart\" data-tradeoff=\"{across}\"><header><h3>{} against another metric</h3>\
         <label class=\"choice\">Upwards <select>",
        if comparison.primary_info().is_some_and(is_time) { "fast" } else { "good" },
        Text(&capital(&distributions[across].title))
    ));
    for index in order {
        html.add(format_args!(
            "<option value=\"{index}\">{}</option>",
            Text(&capital(&distributions[index].title))
        ));
    }
    html.raw("</select></label></header><div class=\"plot\"></div><div class=\"values\"></div></div>\n");
    folded_end(html);
}

/// The share of runs within a time.
fn cdf(html: &mut Html, comparison: &Comparison) {
    let distributions = charts::distributions(comparison);
    let place = distributions.iter().position(|distribution| distribution.id == comparison.primary);
    let (Some(index), true) = (place, comparison.seeds.len() > 1) else { return };
    html.add(format_args!(
        "<div class=\"chart needs-script\" data-cdf=\"{index}\"><header><h3>{} over runs</h3><p>share of runs that had finished by then; those that did not \
         finish are in the total</p></header><div class=\"plot\" tabindex=\"0\" role=\"application\" aria-roledescription=\"chart\" \
         aria-label=\"Cumulative distribution. Arrow keys go from run to run.\"></div><div class=\"values\" aria-hidden=\"true\"></div></div>\n",
        Text(&capital(&distributions[index].title))
    ));
}

fn distributions_section(html: &mut Html, comparison: &Comparison) {
    let distributions = charts::distributions(comparison);
    if distributions.is_empty() {
        return;
    }
    let shown = charts::shown_at_once(comparison).max(1).min(distributions.len());
    folded(html, "distributions", "Every run");
    html.raw(
        "<p class=\"note\">A dot is a run, the diamond the mean, \
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
        let first = FIRST_CHOICES
            .iter()
            .find_map(|metric| rest().find(|(_, d)| d.id == metric.id))
            .map(|(index, _)| index);
        for (index, distribution) in rest() {
            let selected = if first == Some(index) { " selected" } else { "" };
            html.add(format_args!(
                "<option value=\"{index}\"{selected}>{}</option>",
                Text(&capital(&distribution.title))
            ));
        }
        html.raw("</select><p id=\"other-meaning\"></p></header><div class=\"rows\"></div></div>\n");
    }
    cdf(html, comparison);
    html.raw(
        "<p class=\"needs-script\"><button type=\"button\" id=\"all-runs\">Every metric of every run as CSV</button></p>\n",
    );
    folded_end(html);
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
    let what = if comparison.on_wire() { "in flight" } else { "window" };
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
                Text(&sentence(&run.explanation.to_string())),
                Text(&ledger(run.exit.as_ref(), run.seed, what))
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
fn ledger(exit: Option<&ExitRecord>, seed: u64, what: &str) -> String {
    let mut parts = vec![format!("seed {seed}")];
    if let Some(exit) = exit {
        let bytes = |bytes: u64| show(bytes as f64, "bytes");
        if exit.cwnd_before_bytes == exit.cwnd_bytes {
            parts.push(format!("{what} {}", bytes(exit.cwnd_bytes)));
        } else {
            parts.push(format!(
                "{what} {} before, {} after",
                bytes(exit.cwnd_before_bytes),
                bytes(exit.cwnd_bytes)
            ));
        }
        if let Some(rtt) = exit.min_rtt_s {
            parts.push(format!("smallest RTT {}", show(rtt, "s")));
        }
        if let Some(wait) = exit.queueing_s {
            parts.push(format!("wait in the queue: at most {}", show(wait, "s")));
        }
    }
    parts.join(" · ")
}

fn differences_section(html: &mut Html, comparison: &Comparison) {
    let groups = charts::differences(comparison);
    let info = comparison.metrics.iter().find(|metric| metric.id == comparison.primary);
    let (Some(info), false) = (info, groups.is_empty()) else { return };
    folded(html, "differences", "Paired differences");
    html.add(format_args!(
        "<p class=\"note\">All algorithms met the same random numbers, so {} \
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
    html.raw("</div>\n");
    folded_end(html);
}

fn again_section(html: &mut Html, comparison: &Comparison, words: &Words) {
    let from = &comparison.provenance;
    html.raw("<section id=\"again\">\n<h2>Reproduce</h2>\n");
    tables::copyable(html, &from.command);
    html.add(format_args!(
        "<p class=\"note small\">ramp {} · backend {} · scenario <code>{}</code>, digest <code>{}</code> · first seed {}</p>\n",
        Text(&from.version),
        Text(&from.backend),
        Text(&from.scenario),
        Text(&from.scenario_hash),
        from.seed
    ));
    html.raw("<details><summary>The scenario</summary>");
    tables::copyable(html, &from.scenario_text);
    html.raw("</details>\n<details><summary>How the numbers were made</summary>\n<ul class=\"method\">\n");
    for sentence in &words.method {
        html.add(format_args!("<li>{}</li>\n", Text(sentence)));
    }
    if let Some(yardstick) = &comparison.yardstick {
        html.add(format_args!(
            "<li><b>{}</b> knows the path’s rate and BDP. It is no contender, though one may \
             beat it where the path varies.</li>\n",
            Text(yardstick)
        ));
    }
    html.raw(
        "<li>Curves are thinned to what a screen can show; of every stretch the lowest and the highest point stay.</li>\n\
         <li>Bytes, windows and rates count payload unless they say wire; 1 MB is 10⁶ bytes.</li>\n</ul></details>\n</section>\n",
    );
}
