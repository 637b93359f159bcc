//! Whose curves a page draws: the seeds, and the path that each of them met.

use super::curves::flow_shown;
use super::frame::rate_text;
use super::number::show;
use super::text::{Html, Text};
use crate::{Comparison, DrawnRole};

/// Which runs are drawn, and why those.
pub(super) fn sentence(comparison: &Comparison) -> String {
    let Some(first) = comparison.drawn.first() else { return String::new() };
    let same =
        format!("All curves are of one seed, {}, so that every algorithm met the same path", first.seed);
    let of_first = if comparison.context.of_several() {
        let mut shown = comparison.arms.iter().filter_map(|arm| flow_shown(arm.drawn(first.seed)?));
        shown.next().map_or(String::new(), |flow| {
            format!(" Of several flows they show flow {}, the first.", flow.flow)
        })
    } else {
        String::new()
    };
    match (&comparison.leader, first.role) {
        (Some(leader), DrawnRole::Median) if comparison.seeds.len() > 1 => {
            format!("{same}: in it {leader} has its median {}.{of_first}", metric_name(comparison))
        }
        _ => format!("{same}.{of_first}"),
    }
}

pub(super) fn choice(html: &mut Html, comparison: &Comparison) {
    if comparison.drawn.len() < 2 {
        return;
    }
    let leader = comparison.leader.as_deref().unwrap_or("the leader");
    html.raw("<label class=\"choice\">Runs of <select id=\"seed\">");
    for (index, drawn) in comparison.drawn.iter().enumerate() {
        let role = match drawn.role {
            DrawnRole::Median => format!("median of {leader}"),
            DrawnRole::Best => format!("most favourable to {leader}"),
            DrawnRole::Worst => format!("least favourable to {leader}"),
            DrawnRole::First => "the first".to_owned(),
        };
        html.add(format_args!("<option value=\"{index}\">seed {}: {}</option>", drawn.seed, Text(&role)));
    }
    html.raw("</select></label>");
}

/// Where every run meets a path of its own: that of each drawn seed in words.
pub(super) fn paths_met(html: &mut Html, comparison: &Comparison) {
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

fn metric_name(comparison: &Comparison) -> &str {
    let primary = comparison.metrics.iter().find(|metric| metric.id == comparison.primary);
    primary.map_or(comparison.primary.as_str(), |metric| metric.name.as_str())
}
