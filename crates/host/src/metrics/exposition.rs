//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write};

/// Content type in HTTP.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Of a family.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// Families one after another, each with its samples.
#[derive(Default)]
pub(super) struct Exposition {
    text: String,
    family: String,
}

impl Exposition {
    pub(super) fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        name.clone_into(&mut self.family);
        let help = help.replace('\\', r"\\").replace('\n', r"\n");
        self.line(&format!("# HELP {name} {help}"));
        self.line(&format!("# TYPE {name} {kind}"));
    }

    /// Of the family begun last.
    pub(super) fn sample(&mut self, suffix: &str, labels: &[(&str, String)], value: impl Display) {
        let mut line = format!("{}{suffix}{{", self.family);
        for (index, (name, value)) in labels.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let value = value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
            write!(line, "{comma}{name}=\"{value}\"").expect("writing to a string");
        }
        self.line(&format!("{line}}} {value}"));
    }

    pub(super) fn text(self) -> String {
        self.text
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}
