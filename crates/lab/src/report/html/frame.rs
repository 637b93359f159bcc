//! Parts of every page: its head, the brand, the description of the path.

use super::number::{show, show_short};
use super::summary::capital;
use super::text::{Html, Text, script_json};
use crate::{Context, Met};

const STYLE: &str = include_str!("../../../assets/report/report.css");
const PLOT_STYLE: &str = include_str!("../../../assets/vendor/uplot/uPlot.min.css");

pub(super) const PLOT_SCRIPT: &str = include_str!("../../../assets/vendor/uplot/uPlot.iife.min.js");

macro_rules! scripts {
    ($($name:literal),*) => { &[$(include_str!(concat!("../../../assets/report/", $name, ".js"))),*] };
}

/// What a page's scripts do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// All of a comparison.
    Report,
    /// A comparison that changes while the page is open.
    Live,
    /// A sweep.
    Overview,
    /// A figure that is drawn already.
    Gallery,
}

impl Script {
    /// In the order in which they build on each other.
    pub(super) fn parts(self) -> &'static [&'static str] {
        match self {
            Self::Report => {
                scripts!(
                    "core", "theme", "fold", "table", "chips", "steer", "timeline", "sizes", "rows", "lines",
                    "cdf", "tradeoff", "carries", "copy", "export", "state"
                )
            }
            // The theme and the address belong to the page around it.
            Self::Live => {
                scripts!(
                    "core", "table", "chips", "steer", "timeline", "sizes", "rows", "lines", "cdf",
                    "tradeoff", "carries", "copy", "export", "live"
                )
            }
            Self::Overview => scripts!("core", "theme", "chips", "overview", "copy"),
            Self::Gallery => scripts!("core", "theme", "copy"),
        }
    }
}

/// The report allows its own styles and scripts and nothing else: no request leaves the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// What a page that plays by itself may do beyond that: WebAssembly, in workers made of its own text, and pages from its
/// directory in frames.
const PLAYING_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; \
                              worker-src blob:; frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";

/// Everything before the body; `title` may hold anything.
pub(super) fn document_head(html: &mut Html, version: &str, title: &str) {
    head_of(html, version, title, POLICY);
}

/// The same for a page that plays.
pub(super) fn playing_head(html: &mut Html, version: &str, title: &str) {
    head_of(html, version, title, PLAYING_POLICY);
}

fn head_of(html: &mut Html, version: &str, title: &str, policy: &str) {
    html.add(format_args!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"ramp {0}\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{1} – ramp</title>\n<style>\n{PLOT_STYLE}\n{STYLE}</style>\n\
         <noscript><style>.needs-script {{ display: none; }}</style></noscript>\n</head>\n",
        Text(version),
        Text(title),
    ));
    // Before anything is painted, so that a dark page does not flash white.
    html.raw(
        "<script>document.documentElement.dataset.theme = (() => { try { return localStorage.getItem(\"ramp-report-theme\") } \
         catch { return null } })() || (matchMedia(\"(prefers-color-scheme: dark)\").matches ? \"dark\" : \"light\");</script>\n",
    );
}

/// The name with its sign.
pub(super) fn brand(html: &mut Html) {
    html.raw(
        "<span class=\"brand\"><svg viewBox=\"0 0 20 13\" aria-hidden=\"true\"><path d=\"M1 12C8 12 9 1.5 13 1.5H19\" \
         fill=\"none\" stroke=\"var(--accent)\" stroke-width=\"2.4\" stroke-linecap=\"round\"/></svg>ramp</span>",
    );
}

/// The switch between light and dark.
pub(super) fn theme_button(html: &mut Html) {
    html.raw(
        "<button type=\"button\" id=\"theme\" class=\"toggle needs-script\" aria-pressed=\"false\">Dark</button>",
    );
}

/// From the end of the main part to the end of the page; `json` is what the scripts read.
pub(super) fn page_end(html: &mut Html, version: &str, json: &str, script: Script) {
    html.add(format_args!(
        "</main>\n<footer>Made by ramp {}. This file needs no network.{}</footer>\n</div>\n\
         <script type=\"application/json\" id=\"report-data\">",
        Text(version),
        if script == Script::Report { " Charts over time: uPlot, © Leon Sorokin, MIT licence." } else { "" }
    ));
    html.raw(&script_json(json));
    html.raw("</script>\n");
    if script == Script::Report {
        html.raw("<script>\n");
        html.raw(PLOT_SCRIPT);
        html.raw("\n</script>\n");
    }
    html.raw("<script>\n(() => {\n\"use strict\";\n");
    for part in script.parts() {
        html.raw(part);
    }
    html.raw("})();\n</script>\n</body>\n</html>\n");
}

/// Of a path, or of those that the runs met where each met its own.
pub(super) fn fact_list(html: &mut Html, path: &Context, met: Option<&Met>) {
    let first = path.capacity.first().map_or(0.0, |step| step.bytes_per_s);
    let varies = path.varies() || met.is_some();
    let bdp = met.map_or(path.bdp_bytes as f64, |met| met.bdp_bytes.mean);
    let mean = if path.base_rtt_s > 0.0 { bdp / path.base_rtt_s } else { first };
    let rate = met.map_or(if varies { mean } else { first }, |met| met.bytes_per_s.mean);
    let mut fact = |name: &str, value: &str, note: &str| fact(html, name, value, note);
    fact("Rate", &rate_text(rate), if varies { "payload, mean; it varies" } else { "payload" });
    fact("Base RTT", &show(path.base_rtt_s, "s"), "empty queues");
    let packets = if path.mss_bytes > 0 { (bdp / f64::from(path.mss_bytes)).floor() } else { 0.0 };
    fact("BDP", &show(bdp, "bytes"), &format!("{packets:.0} packets"));
    match path.buffer_bytes {
        None => fact("Buffer", "unlimited", ""),
        Some(bytes) => {
            let share =
                if path.over_bdp(1.0).is_some() { show(bytes as f64 / bdp, "BDP") } else { String::new() };
            let before = if share.is_empty() { "" } else { ", " };
            let share = match path.buffer_stated_bdp {
                Some(stated) if show(stated, "BDP") != share && !varies && !path.policed() => {
                    format!("{share}; {stated} bdp, of the delay alone")
                }
                _ => share,
            };
            let early =
                if path.early_drops.is_empty() { String::new() } else { format!("; {}", path.early_drops) };
            fact("Buffer", &show(bytes as f64, "bytes"), &format!("payload{before}{share}{early}"));
        }
    }
    if let Some(writes) = path.writes {
        let each = format!("{} each", show_short(writes.bytes as f64, "bytes"));
        fact(&capital(writes.what()), &each, &writes.when());
        return;
    }
    match path.size_bytes {
        _ if path.generated => fact("Transfer", "generated flows", &format!("for {}", show(path.end_s, "s"))),
        Some(bytes) => fact("Transfer", &show_short(bytes as f64, "bytes"), &flows(path.flows_under_test)),
        None => {
            fact("Transfer", &format!("{} at most", show(path.end_s, "s")), &flows(path.flows_under_test));
        }
    }
}

pub(super) fn rate_text(bytes_per_s: f64) -> String {
    let bits = bytes_per_s * 8.0;
    let (value, unit) = match bits {
        b if b >= 0.9995e9 => (b / 1e9, "Gbit/s"),
        b if b >= 0.9995e6 => (b / 1e6, "Mbit/s"),
        b if b >= 0.9995e3 => (b / 1e3, "kbit/s"),
        b => (b, "bit/s"),
    };
    show(value, unit)
}

fn flows(count: u32) -> String {
    if count == 1 { "one flow".to_owned() } else { format!("{count} flows together") }
}

/// One fact with a note below it.
pub(super) fn fact(html: &mut Html, name: &str, value: &str, note: &str) {
    html.add(format_args!(
        "<div><dt>{name}</dt><dd>{}<small>{}</small></dd></div>\n",
        Text(value),
        Text(note.trim_start_matches("* "))
    ));
}
