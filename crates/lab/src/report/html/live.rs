//! A comparison inside another page, drawn again whenever there is more of it.

use super::frame::{PLOT_SCRIPT, Script};
use super::text::Html;
use super::{data, head, page, presentable};
use crate::{Comparison, Words};

/// Parts of a page that shows a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// HTML, from the heading to the paired differences.
    pub body: String,
    /// JSON: the text of the element `report-data`, which the page has, when [`live_script`]'s function is called.
    pub data: String,
}

/// What the report shows, for a page that stays open while runs come in.
pub fn render_live(comparison: &Comparison) -> Live {
    let words = Words::of(comparison);
    let comparison = presentable(comparison);
    let mut html = Html::default();
    html.raw("<div>\n");
    head::found(&mut html, &comparison, &words);
    html.raw("</div>\n");
    page::sections(&mut html, &comparison, &words);
    let data = serde_json::to_string(&data::data(&comparison)).expect("the data block has string keys only");
    Live { body: html.into_string(), data }
}

/// The charts' scripts: uPlot, and a function `drawReport(kept)` that draws what [`Live`] has put into the page. It returns what a
/// reader has chosen and how to hear of a change of theme; `kept` is such a choice, made in an earlier drawing.
pub fn live_script() -> String {
    let parts = Script::Live.parts().concat();
    format!("{PLOT_SCRIPT}\nfunction drawReport(kept) {{\n\"use strict\";\n{parts}}}\n")
}
