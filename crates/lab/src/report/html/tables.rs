//! The numbers behind the charts, for screen readers and for copying.

use super::charts::{finding, sizes_of};
use super::number::{
    interval_below, interval_of, least, show, show_interval, show_mean, show_median, show_p, show_signed,
};
use super::summary::{capital, is_best};
use super::text::{Html, Text};
use crate::{Comparison, MetricInfo};

/// Every metric of every arm: mean and interval.
pub(super) fn all_metrics(html: &mut Html, comparison: &Comparison) {
    open(html, "All metrics: mean and 95 % interval", "All metrics");
    html.raw("<thead><tr><th scope=\"col\">Metric</th>");
    for arm in &comparison.arms {
        html.add(format_args!("<th scope=\"col\">{}</th>", Text(&arm.label)));
    }
    html.raw("</tr></thead>\n<tbody>\n");
    for info in &comparison.metrics {
        html.add(format_args!(
            "<tr><th scope=\"row\" title=\"{}\">{}</th>",
            Text(&info.meaning),
            Text(&capital(&info.name))
        ));
        for arm in &comparison.arms {
            let best = if is_best(comparison, arm, info) { " class=\"best\"" } else { "" };
            match arm.metric(&info.id) {
                None => html.raw("<td>–</td>"),
                Some(summary) => {
                    let interval = interval_below(interval_of(summary), &info.unit);
                    html.add(format_args!("<td{best}>{}{interval}</td>", show_mean(summary, &info.unit)));
                }
            }
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody>");
    close(html);
}

/// One metric over runs: where the middle is, how wide, whether there are two groups.
pub(super) fn distribution(html: &mut Html, comparison: &Comparison, info: &MetricInfo) {
    let name = capital(&info.name);
    open(html, "The numbers", &format!("{name} over runs"));
    headings(
        html,
        &["Algorithm", "Runs", "Mean", "95 % interval", "Median", "SD", "Smallest", "Largest", "Two groups"],
    );
    for arm in &comparison.arms {
        let Some(s) = arm.metric(&info.id) else { continue };
        let known = || s.known_or_least().into_iter().flatten();
        let value = |v: f64| show(v, &info.unit);
        // All that was cut off ends at the same time: it is the largest, and the smallest where nothing finished.
        let end = |v: f64, cut_off: bool| format!("{}{}", least(cut_off), value(v));
        html.add(format_args!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            Text(&arm.label),
            s.n,
            show_mean(s, &info.unit),
            interval_of(s).map_or("–".to_owned(), |i| show_interval(i, &info.unit)),
            show_median(s, &info.unit),
            s.sd.map_or("–".to_owned(), value),
            end(known().fold(f64::INFINITY, f64::min), s.n == 0),
            end(known().fold(f64::NEG_INFINITY, f64::max), s.unfinished() > 0),
            s.modes.map_or("no".to_owned(), |m| format!(
                "{} in {} of runs, else {} (p {})",
                value(m.low),
                show(m.low_share, "share"),
                value(m.high),
                show_p(m.p)
            )),
        ));
    }
    html.raw("</tbody>");
    close(html);
}

/// How true the path was, arm by arm.
pub(super) fn emulation(html: &mut Html, comparison: &Comparison) {
    open(html, "How true the path was", "Lateness of packets, arm by arm");
    headings(
        html,
        &[
            "Algorithm",
            "Runs",
            "Marked",
            "Played again",
            "Median late",
            "99 % late",
            "Latest",
            "Tolerated",
            "Samples",
            "Lost",
        ],
    );
    let us = |value: f64| show(value, "us");
    for arm in &comparison.arms {
        let Some(e) = &arm.emulation else { continue };
        html.add(format_args!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            Text(&arm.label),
            e.runs,
            e.marked,
            e.played_again,
            us(e.lateness_median_us),
            us(e.lateness_p99_us),
            us(e.lateness_max_us),
            us(e.tolerated_us),
            e.samples,
            e.samples_lost,
        ));
    }
    html.raw("</tbody>");
    close(html);
}

/// Mean time to the first so many bytes.
pub(super) fn sizes(html: &mut Html, comparison: &Comparison) {
    open(html, "The numbers", "Download time by size, mean and 95 % interval");
    html.raw("<thead><tr><th scope=\"col\">First</th>");
    for arm in &comparison.arms {
        html.add(format_args!("<th scope=\"col\">{}</th>", Text(&arm.label)));
    }
    html.raw("</tr></thead>\n<tbody>\n");
    for size in sizes_of(comparison) {
        html.add(format_args!("<tr><th scope=\"row\">{}</th>", show(size as f64, "bytes")));
        for arm in &comparison.arms {
            match arm.downloads.iter().find(|download| download.bytes == size) {
                None => html.raw("<td>–</td>"),
                Some(download) => {
                    let interval = interval_below(interval_of(&download.seconds), "s");
                    html.add(format_args!("<td>{}{interval}</td>", show_mean(&download.seconds, "s")));
                }
            }
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody>");
    close(html);
}

/// Every pair in the deciding metric.
pub(super) fn differences(html: &mut Html, comparison: &Comparison, info: &MetricInfo) {
    open(html, "The numbers", &format!("Paired differences in {}", info.name));
    headings(
        html,
        &[
            "Algorithm",
            "Against",
            "Pairs",
            "Difference",
            "95 % interval",
            "Ratio",
            "95 % interval",
            "p (Holm)",
            "p (equivalence)",
            "Finding",
        ],
    );
    for pair in
        comparison.pairs.iter().filter(|pair| pair.metric == info.id && comparison.arm(&pair.arm).is_some())
    {
        let dash = || "–".to_owned();
        html.add(format_args!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            Text(&pair.arm),
            Text(&pair.against),
            pair.n,
            format_args!("{}{}", least(pair.at_least), show_signed(pair.difference, &info.unit)),
            pair.difference_interval.map_or_else(dash, |i| show_interval(&i, &info.unit)),
            pair.ratio.map_or_else(dash, |r| format!("{}{r:.3}×", least(pair.at_least))),
            pair.ratio_interval.map_or_else(dash, |i| format!("{:.3}–{:.3}×", i.low, i.high)),
            pair.p.map_or_else(dash, show_p),
            pair.p_equivalence.map_or_else(dash, show_p),
            if Some(&pair.against) == comparison.yardstick.as_ref() && pair.p.is_none() { "for scale" } else { finding(pair, info) },
        ));
    }
    html.raw("</tbody>");
    close(html);
}

/// Text that a button copies.
pub(super) fn copyable(html: &mut Html, text: &str) {
    html.add(format_args!(
        "<div class=\"copy\"><pre tabindex=\"0\">{}</pre><button type=\"button\" class=\"needs-script\" data-copy>Copy</button></div>\n",
        Text(text)
    ));
}

fn headings(html: &mut Html, names: &[&str]) {
    html.raw("<thead><tr>");
    for name in names {
        html.add(format_args!("<th scope=\"col\">{name}</th>"));
    }
    html.raw("</tr></thead>\n<tbody>\n");
}

fn open(html: &mut Html, summary: &str, caption: &str) {
    html.add(format_args!(
        "<details><summary>{summary}</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\
         <table><caption class=\"visually-hidden\">{0}</caption>\n",
        Text(caption)
    ));
}

fn close(html: &mut Html) {
    html.raw("</table></div></details>\n");
}
