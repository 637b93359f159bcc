//! The frame of every page, for pages of other crates.

use super::frame::{brand, document_head, playing_head, theme_button};
use super::text::{Html, Text, script_json};

/// Numbers, elements and colours; light and dark; buttons that copy.
const SCRIPTS: [&str; 3] = [
    include_str!("../../../assets/report/core.js"),
    include_str!("../../../assets/report/theme.js"),
    include_str!("../../../assets/report/copy.js"),
];

/// A page that is not a comparison's.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Of ramp.
    pub version: &'a str,
    /// May hold anything.
    pub title: &'a str,
    /// Identifiers of sections with their names, for the bar at the top.
    pub sections: &'a [(&'a str, &'a str)],
    /// Styles beyond those of every page.
    pub style: &'a str,
    /// HTML of the main part; text that is not ours is [`escaped`].
    pub body: &'a str,
    /// What the script reads as `data`; it has a list `arms`, which may be empty.
    pub json: &'a str,
    /// Script beyond those of every page.
    pub script: &'a str,
    /// True if the script starts workers that run WebAssembly.
    pub plays: bool,
}

impl Page<'_> {
    /// The file: it needs nothing else and asks the network for nothing.
    pub fn html(&self) -> String {
        let mut head = Html::default();
        let begin = if self.plays { playing_head } else { document_head };
        begin(&mut head, self.version, self.title);
        let style = format!("<style>\n{}</style>\n</head>", self.style);
        let mut html = Html::default();
        html.raw(&head.into_string().replacen("</head>", &style, 1));
        html.raw("<body>\n<a class=\"skip\" href=\"#main\">To the results</a>\n<div class=\"page\">\n<header class=\"bar\">");
        brand(&mut html);
        html.raw("<nav aria-label=\"Sections\">");
        for (id, name) in self.sections {
            html.add(format_args!("<a href=\"#{id}\">{}</a>", Text(name)));
        }
        html.raw("</nav>");
        theme_button(&mut html);
        html.raw("</header>\n<main id=\"main\">\n");
        html.raw(self.body);
        html.add(format_args!(
            "</main>\n<footer>Made by ramp {}. This file needs no network.</footer>\n</div>\n\
             <script type=\"application/json\" id=\"report-data\">",
            Text(self.version)
        ));
        html.raw(&script_json(self.json));
        html.raw("</script>\n<script>\n(() => {\n\"use strict\";\n");
        for part in SCRIPTS.iter().chain([&self.script]) {
            html.raw(part);
        }
        html.raw("})();\n</script>\n</body>\n</html>\n");
        html.into_string()
    }
}

/// Text that may hold anything, safe in elements and in quoted attributes.
pub fn escaped(text: &str) -> String {
    Text(text).to_string()
}
